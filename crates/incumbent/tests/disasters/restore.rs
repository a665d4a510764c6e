//! An older backup is restored over the running database.

use std::path::Path;
use std::process::Stdio;

use incumbent::{Backend, Config, Leadership, Protocol, Schema};
use incumbent_testbed::{MariaDb, Postgres, Proxy};
use tokio::process::Command;

use crate::judge::Memory;
use crate::server::{Server, guarded};
use crate::support::{LEASE, run, soon, until};
use crate::troupe::{BILLING, ELECTIONS, Troupe};

/// What the tools of a server do.
pub(crate) trait Backup: Server {
    fn save(&self, file: &Path) -> Command;
    fn restore(&self, file: &Path) -> Command;
}

impl Backup for Postgres {
    fn save(&self, file: &Path) -> Command {
        let mut command = Command::new("pg_dump");
        command.args(["--clean", "--if-exists", "--dbname", &self.superuser_url(), "--file"]);
        command.arg(file);
        command
    }

    fn restore(&self, file: &Path) -> Command {
        let mut command = Command::new("psql");
        command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", &self.superuser_url(), "-f"]);
        command.arg(file);
        command
    }
}

impl Backup for MariaDb {
    fn save(&self, file: &Path) -> Command {
        let mut command = tool(self, "mariadb-dump");
        // The candidates go on meanwhile: whatever they write into a table that was just made anew is
        // overwritten by the backup.
        command.args(["--single-transaction", "--replace", "--routines", "incumbent"]);
        command.arg("--result-file");
        command.arg(file);
        command
    }

    fn restore(&self, file: &Path) -> Command {
        let mut command = tool(self, "mariadb");
        let file = std::fs::File::open(file).expect("the backup");
        command.arg("incumbent").stdin(Stdio::from(file));
        command
    }
}

fn tool(server: &MariaDb, name: &str) -> Command {
    let mut command = Command::new(name);
    command.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--user=root"]);
    command.arg(format!("--port={}", server.port())).env("MYSQL_PWD", server.password());
    command
}

pub(crate) async fn restored<S: Backup>(protocol: Protocol) {
    let server = S::begin().await;
    let mut troupe = Troupe::of_three(&server, protocol).await;
    troupe.work().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup.sql");
    run(server.save(&file)).await;
    let early = ELECTIONS.map(|election| troupe.log.led(election).1.expect("led"));
    for candidate in &troupe.candidates {
        candidate.resign();
    }
    let mut late = Vec::new();
    for past in &early {
        late.push(troupe.succession(past).await);
    }
    // So that everyone has seen the terms that are about to be forgotten.
    troupe.work().await;
    run(server.restore(&file)).await;
    for past in &late {
        let successor = troupe.succession(past).await;
        assert!(successor.term > past.term, "a token came back");
    }
    troupe.join("newcomer").await;
    for candidate in &troupe.candidates {
        candidate.resign();
    }
    troupe.judge("older backup restored", &server, Memory::Gaps).await;
}

#[tokio::test]
async fn tokens_grow_on_when_an_older_backup_of_postgres_is_restored() {
    restored::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn tokens_grow_on_when_an_older_backup_of_mariadb_is_restored() {
    restored::<MariaDb>(Protocol::Lease).await;
}

/// The backup is from before all candidates were given a longer lease, and whoever leads under that one
/// does not hear of it.
async fn restored_to_a_shorter_lease<S: Backup>() {
    let server = S::begin().await;
    Schema::of(&server.url()).expect("a URL").apply().await.expect("the tables are made");
    let (_old, leadership) = lead(&server.url(), LEASE).await;
    soon("the end of a term", leadership.resign()).await.expect("it lets go");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup.sql");
    run(server.save(&file)).await;
    let proxy = Proxy::start(server.address()).await.expect("a proxy");
    let (_cut_off, before) = lead(&proxy.url(&server.url()), LEASE * 8).await;
    proxy.refuse(true);
    proxy.reset();
    // MariaDB knows to the second when a table was made, which tells a restored one from the one before.
    tokio::time::sleep(LEASE).await;
    run(server.restore(&file)).await;
    let (_newcomer, after) = lead(&server.url(), LEASE * 8).await;
    assert!(!before.is_valid(), "two lead");
    assert!(after.term() > before.term(), "a token came back");
}

/// The backup shows a leadership of the past as if it still stood.
async fn restored_to_a_past_leader<S: Backup>() {
    let server = S::begin().await;
    Schema::of(&server.url()).expect("a URL").apply().await.expect("the tables are made");
    let (_past, first) = lead(&server.url(), LEASE).await;
    let past = first.token().get();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup.sql");
    run(server.save(&file)).await;
    soon("the end of a term", first.resign()).await.expect("it lets go");
    let (_present, second) = lead(&server.url(), LEASE).await;
    let present = second.token().get();
    guarded(&server, BILLING, present).await.expect("it leads");
    guarded(&server, BILLING, past).await.expect_err("it is over");
    // MariaDB knows to the second when a table was made, which tells a restored one from the one before.
    tokio::time::sleep(LEASE).await;
    run(server.restore(&file)).await;
    guarded(&server, BILLING, past).await.expect_err("a leader of the past wrote");
    guarded(&server, BILLING, present).await.expect_err("its term is lost");
    soon("the loss", second.lost()).await;
    let (_newcomer, third) = lead(&server.url(), LEASE).await;
    guarded(&server, BILLING, past).await.expect_err("it is over");
    guarded(&server, BILLING, third.token().get()).await.expect("it leads");
}

/// The backup shows the leadership that still stands.
async fn restored_under_a_leader<S: Backup>() {
    let server = S::begin().await;
    Schema::of(&server.url()).expect("a URL").apply().await.expect("the tables are made");
    let (_backend, leadership) = lead(&server.url(), LEASE * 30).await;
    // Whoever waits looks at every beat, and notices.
    let (config, url) = (Config::new().lease(LEASE * 30).single_writer(), server.url());
    let other = Backend::open_with(&url, &config).await.expect("it opens");
    let election = other.election(BILLING).await.expect("the election opens");
    let waiting = tokio::spawn(async move { election.campaign().await.map(drop) });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup.sql");
    run(server.save(&file)).await;
    tokio::time::sleep(LEASE).await;
    run(server.restore(&file)).await;
    let token = leadership.token().get();
    until("the leader writes again", async || guarded(&server, BILLING, token).await.is_ok()).await;
    assert!(leadership.is_valid());
    waiting.abort();
}

#[tokio::test]
async fn a_past_leader_does_not_write_to_a_restored_postgres() {
    restored_to_a_past_leader::<Postgres>().await;
}

#[tokio::test]
async fn a_past_leader_does_not_write_to_a_restored_mariadb() {
    restored_to_a_past_leader::<MariaDb>().await;
}

#[tokio::test]
async fn a_leader_whose_term_is_in_the_backup_of_postgres_writes_again_after_a_renewal() {
    restored_under_a_leader::<Postgres>().await;
}

#[tokio::test]
async fn a_leader_whose_term_is_in_the_backup_of_mariadb_writes_again_after_a_renewal() {
    restored_under_a_leader::<MariaDb>().await;
}

pub(crate) async fn lead(url: &str, lease: std::time::Duration) -> (Backend, Leadership) {
    let config = Config::new().lease(lease).single_writer();
    let backend = Backend::open_with(url, &config).await.expect("it opens");
    let election = backend.election(BILLING).await.expect("the election opens");
    let leadership = soon("a leader", election.campaign()).await.expect("it leads");
    (backend, leadership)
}

#[tokio::test]
async fn a_backup_of_postgres_with_a_shorter_lease_is_not_led_on_too_soon() {
    restored_to_a_shorter_lease::<Postgres>().await;
}

#[tokio::test]
async fn a_backup_of_mariadb_with_a_shorter_lease_is_not_led_on_too_soon() {
    restored_to_a_shorter_lease::<MariaDb>().await;
}
