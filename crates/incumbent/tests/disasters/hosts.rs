//! A URL names several servers: the one that can be written to is used, and another one after a promotion.

use std::time::Duration;

use incumbent::{Backend, Config, Doctor, Election, Schema, Verdict};
use incumbent_audit::audit;
use incumbent_testbed::{MariaDb, Postgres, Proxy, Standby, Way, free_port};

use crate::server::Server;
use crate::support::{LEASE, soon, until};
use crate::troupe::{BILLING, NAMES};

/// The URL of the first server, with these ports instead of its own.
pub(crate) fn at_ports(url: &str, own: u16, ports: &[u16]) -> String {
    let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    url.replacen(&format!("127.0.0.1:{own}"), &hosts.join(","), 1)
}

pub(crate) async fn enter(url: &str, config: &Config) -> Election {
    let opens = async {
        loop {
            match Backend::open_with(url, config).await {
                Ok(backend) => return backend,
                // The machine may be too slow for the lease at first.
                Err(error) => tracing::info!(%error, "not open yet"),
            }
        }
    };
    soon("the backend opens", opens).await.election(BILLING).await.expect("the election opens")
}

async fn refused(url: &str) -> String {
    let config = Config::new().lease(Duration::from_mins(1));
    Backend::open_with(url, &config).await.map(drop).expect_err("refused").to_string()
}

#[tokio::test]
async fn candidates_find_the_primary_among_several_hosts_and_follow_a_promotion() {
    let mut primary = Postgres::start().await.expect("the server starts");
    Schema::of(&primary.url()).expect("a URL").apply().await.expect("the tables are made");
    let standby = primary.standby(Standby::Synchronous).await.expect("a standby");
    let nobody = free_port().expect("a free port");
    let ports = [nobody, standby.port(), primary.port()];
    let url = at_ports(&primary.url(), primary.port(), &ports);
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [0, 1].map(|at| folder.path().join(NAMES[at]));
    let config = |at: usize| Config::new().name(NAMES[at]).lease(LEASE * 3).history(&paths[at]);
    let (one, two) = (enter(&url, &config(0)).await, enter(&url, &config(1)).await);
    let first = soon("a leadership", one.campaign()).await.expect("won");
    let waiting = two.clone();
    let campaign = tokio::spawn(async move { waiting.campaign().await });
    primary.kill();
    standby.promote().await.expect("promoted");
    // Whoever leads goes on if the lease outlived the change; somebody leads on the promoted server in any case.
    let beats = "SELECT coalesce(max(beat), 0) FROM incumbent_beat WHERE incarnation IS NOT NULL";
    let newer = format!(
        "SELECT coalesce(max(term), 0) FROM incumbent_beat WHERE term > {}",
        first.token().get()
    );
    let before = Server::sql(&standby, beats).await;
    until("renewals or a successor on the promoted server", async || {
        Server::sql(&standby, beats).await != before || Server::sql(&standby, &newer).await != "0"
    })
    .await;
    drop(first);
    let second = soon("a successor", campaign).await.expect("no panic").expect("won");
    let bells =
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'incumbent (bell)'";
    until("listeners on the promoted server", async || Server::sql(&standby, bells).await == "t")
        .await;
    drop(second);
    for election in [one, two] {
        election.backend().clone().close().await;
    }
    let report = audit(&paths).expect("readable");
    assert!(report.is_clean(), "{report}");
}

#[tokio::test]
async fn candidates_leave_a_server_that_became_read_only_for_the_one_that_can_be_written_to() {
    let (old, new) = (MariaDb::start().await, MariaDb::start().await);
    let (old, new) = (old.expect("the server starts"), new.expect("the server starts"));
    for server in [&old, &new] {
        Schema::of(&server.url()).expect("a URL").apply().await.expect("the tables are made");
    }
    Server::sql(&new, "SET GLOBAL read_only = 1").await;
    let url = at_ports(&new.url(), new.port(), &[new.port(), old.port()]);
    let config = Config::new().name("one").lease(LEASE * 3);
    let election = enter(&url, &config).await;
    drop(soon("a leadership", election.campaign()).await.expect("won"));
    let terms = "SELECT COUNT(*) FROM incumbent_term";
    assert_eq!(Server::sql(&old, terms).await, "1");
    // Connections stay open.
    Server::sql(&old, "SET GLOBAL read_only = 1").await;
    Server::sql(&new, "SET GLOBAL read_only = 0").await;
    drop(soon("a leadership on the other", election.campaign()).await.expect("won"));
    assert_eq!(Server::sql(&new, terms).await, "1");
    election.backend().clone().close().await;
}

#[tokio::test]
async fn a_host_that_says_nothing_holds_nobody_up() {
    let server = Postgres::start().await.expect("the server starts");
    Schema::of(&server.url()).expect("a URL").apply().await.expect("the tables are made");
    let proxy = Proxy::start(server.address()).await.expect("a proxy");
    proxy.silence(Way::Both);
    let url = at_ports(&server.url(), server.port(), &[proxy.port(), server.port()]);
    let election = enter(&url, &Config::new().lease(LEASE * 3)).await;
    drop(soon("a leadership", election.campaign()).await.expect("won"));
    election.backend().clone().close().await;
}

#[tokio::test]
async fn whoever_can_use_none_of_several_hosts_is_told_why_of_each() {
    let primary = Postgres::start().await.expect("the server starts");
    Schema::of(&primary.url()).expect("a URL").apply().await.expect("the tables are made");
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    let nobody = free_port().expect("a free port");
    let ports = [nobody, standby.port()];
    let url = at_ports(&primary.url(), primary.port(), &ports);
    let said = refused(&url).await;
    for (port, why) in [(nobody, "refused"), (standby.port(), "it is a read-only standby")] {
        let host = format!("127.0.0.1:{port}: ");
        let at = said.find(&host).unwrap_or_else(|| panic!("{host} is missing: {said}"));
        assert!(said[at..].contains(why), "{said}");
    }
    assert!(!said.contains(primary.password()), "{said}");
    // To look, a standby will do.
    let looks = Backend::open_existing(&url, &Config::new()).await.expect("opens");
    assert!(looks.statuses().await.expect("readable").is_empty());
    looks.close().await;
}

#[tokio::test]
async fn two_primaries_at_once_are_both_named_and_neither_is_used() {
    let primary = Postgres::start().await.expect("the server starts");
    Schema::of(&primary.url()).expect("a URL").apply().await.expect("the tables are made");
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    standby.catch_up_with(&primary).await.expect("caught up");
    let (one, other) = (primary.port(), standby.port());
    let url = at_ports(&primary.url(), one, &[one, other]);
    let config = Config::new().lease(Duration::from_mins(1));
    let checkup = Doctor::examine(&url, &config).await.expect("examined");
    assert!(checkup.is_fit(), "{checkup:#?}");
    let hosts = checkup.findings.iter().filter(|found| found.probe == "host");
    let hosts: Vec<_> = hosts.map(|found| found.said.as_str()).collect();
    let said = |at: usize, port: u16, words: &str| {
        hosts[at].starts_with(&format!("127.0.0.1:{port}: PostgreSQL "))
            && hosts[at].contains(words)
    };
    assert!(hosts.len() == 2 && said(0, one, "can be written to"), "{hosts:?}");
    assert!(said(1, other, "read-only standby"), "{hosts:?}");

    standby.promote().await.expect("promoted");
    let said = refused(&url).await;
    let both = format!("127.0.0.1:{one} and 127.0.0.1:{other} can each be written to");
    assert!(said.contains(&both), "{said}");
    let checkup = Doctor::examine(&url, &config).await.expect("examined");
    let split = checkup.findings.iter().find(|found| found.probe == "hosts").expect("looked at");
    assert_eq!(split.verdict, Verdict::Refuse);
    assert!(split.said.contains(&both), "{split:?}");
    // One server under two names is one.
    let twice = Proxy::start(primary.address()).await.expect("a proxy");
    let url = at_ports(&primary.url(), one, &[one, twice.port()]);
    Backend::open_with(&url, &config).await.expect("opens").close().await;
}
