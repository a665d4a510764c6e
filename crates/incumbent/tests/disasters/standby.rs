//! A standby of PostgreSQL takes the place of its primary.

use std::time::Duration;

use incumbent::{Backend, Config, Protocol, Schema};
use incumbent_audit::audit;
use incumbent_testbed::{Postgres, Proxy, Standby, Way};

use crate::judge::Memory;
use crate::restore::lead;
use crate::server::{Server, guarded};
use crate::support::{LEASE, soon, until};
use crate::troupe::{BILLING, ELECTIONS, NAMES, Troupe};

pub(crate) async fn promoted_in_sync(protocol: Protocol) {
    let mut primary = Postgres::start().await.expect("the server starts");
    let mut troupe = Troupe::of_three(&primary, protocol).await;
    let standby = primary.standby(Standby::Synchronous).await.expect("a standby");
    troupe.work().await;
    primary.kill();
    standby.promote().await.expect("promoted");
    troupe.retarget(standby.address());
    // Leases that outlived the change go on: the standby knows them.
    troupe.judge("synchronous standby promoted", &standby, Memory::Whole).await;
}

#[tokio::test]
async fn a_promoted_synchronous_standby_is_led_and_has_everything() {
    promoted_in_sync(Protocol::Lease).await;
}

/// Longer than a promotion takes, so that the old leaders are still valid when newcomers look.
const LONG: Duration = Duration::from_secs(5);

pub(crate) async fn promoted_behind(protocol: Protocol) {
    let mut primary = Postgres::start().await.expect("the server starts");
    let mut troupe = Troupe::<Postgres>::empty(&primary, LONG).await.by(protocol);
    troupe.join_three().await;
    troupe.work().await;
    troupe.rest(&primary).await;
    // The standby shall know one election as vacant, one as held and one not at all; and the clock of
    // the primary shall have been a minute ahead of its own.
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    let state = |state: &str| {
        format!("UPDATE incumbent_election SET state = '{state}' WHERE name = 'ledger'")
    };
    let forget = "DELETE FROM incumbent_election WHERE name = 'mail'; DELETE FROM incumbent_beat WHERE name = 'mail'";
    let ahead = "UPDATE incumbent_beat SET beaten_us = beaten_us + 60000000";
    for statement in [forget, ahead, &state("held")] {
        Server::sql(&primary, statement).await;
    }
    standby.catch_up_with(&primary).await.expect("caught up");
    standby.disconnect().await.expect("cut off");
    Server::sql(&primary, &state("released")).await;

    troupe.wake();
    troupe.work().await;
    let missed = ELECTIONS.map(|election| troupe.log.led(election).1.expect("led"));
    primary.kill();
    standby.promote().await.expect("promoted");
    // The standby shows a leadership of the past as if it stood, and nobody has noticed yet.
    let past = "SELECT term FROM incumbent_election WHERE name = 'ledger' AND state = 'held'";
    let past = Server::sql(&standby, past).await.trim().parse().expect("a term");
    let refused = guarded(&standby, "ledger", past).await;
    assert!(refused.as_ref().is_err_and(|error| error.contains("not confirmed")), "{refused:?}");
    troupe.retarget(standby.address());
    for past in &missed {
        // Leaders do not hear of it yet, or they would stop at once.
        let leader = &troupe.candidates[past.candidate];
        leader.network(|proxy| proxy.retarget(primary.address()));
    }
    // It has seen nothing, and the store that it meets knows nothing of the last leaders.
    troupe.join("newcomer").await;
    for past in &missed {
        let successor = troupe.succession(past).await;
        assert!(successor.term > past.term, "a token came back");
    }
    troupe.retarget(standby.address());
    troupe.judge("asynchronous standby promoted", &standby, Memory::Gaps).await;
}

#[tokio::test]
async fn a_promoted_standby_that_missed_the_last_election_is_not_led_on_before_that_leader_is_gone()
{
    promoted_behind(Protocol::Lease).await;
}

/// The standby fell behind before all candidates were given a longer lease, and whoever leads under that one does not
/// hear of the promotion.
#[tokio::test]
async fn a_promoted_standby_with_a_shorter_lease_is_not_led_on_too_soon() {
    let mut primary = Postgres::start().await.expect("the server starts");
    Schema::of(&primary.url()).expect("a URL").apply().await.expect("the tables are made");
    let (old, leadership) = lead(&primary.url(), LEASE).await;
    soon("the end of a term", leadership.resign()).await.expect("it lets go");
    old.close().await;
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    standby.catch_up_with(&primary).await.expect("caught up");
    standby.disconnect().await.expect("cut off");
    let (_cut_off, before) = lead(&primary.url(), LEASE * 8).await;
    primary.kill();
    standby.promote().await.expect("promoted");
    let (_newcomer, after) = lead(&Server::url(&standby), LEASE * 8).await;
    assert!(!before.is_valid(), "two lead");
    assert!(after.term() > before.term(), "a token came back");
}

/// Somebody who lost on the primary lets go on the standby, which never heard of the successor. That
/// must not make the office look vacant while the successor may still act.
#[tokio::test]
async fn a_late_resignation_on_a_promoted_standby_does_not_open_the_office_early() {
    let mut primary = Postgres::start().await.expect("the server starts");
    Schema::of(&primary.url()).expect("a URL").apply().await.expect("the tables are made");
    let folder = tempfile::tempdir().expect("a folder");
    let paths = NAMES.map(|name| folder.path().join(name));
    let config = |at: usize| Config::new().name(NAMES[at]).lease(LONG).history(&paths[at]);
    let mut links = Vec::new();
    for _ in NAMES {
        links.push(Proxy::start(primary.address()).await.expect("a proxy"));
    }
    let url = primary.url();
    let enter = async |at: usize| {
        let backend = Backend::open_with(&links[at].url(&url), &config(at)).await;
        backend.expect("opens").election(BILLING).await.expect("the election opens")
    };
    let first = enter(0).await;
    let lost = soon("a leadership", first.campaign()).await.expect("won");
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    standby.catch_up_with(&primary).await.expect("caught up");
    standby.disconnect().await.expect("cut off");
    links[0].silence(Way::Both);
    let second = enter(1).await;
    let missed = soon("a leadership", second.campaign()).await.expect("won");
    missed.extended().await;

    primary.kill();
    standby.promote().await.expect("promoted");
    for at in [0, 2] {
        // The second one still looks for the old primary.
        links[at].retarget(standby.address());
        links[at].silence(Way::None);
    }
    drop(lost);
    let state = "SELECT state FROM incumbent_election";
    until("the late resignation", async || Server::sql(&standby, state).await == "released").await;
    tracing::info!(valid = missed.is_valid(), "the missed leadership when the office looks vacant");
    let third = enter(2).await;
    let newest = soon("a leadership", third.campaign()).await.expect("won");
    assert!(!missed.is_valid(), "two leaders");
    assert!(newest.token() > missed.token(), "a token came back");
    for election in [first, second, third] {
        election.backend().clone().close().await;
    }
    let report = audit(&paths).expect("readable");
    assert!(report.is_clean(), "{report}");
}

pub(crate) async fn primary_hangs(protocol: Protocol) {
    let primary = Postgres::start().await.expect("the server starts");
    let mut troupe = Troupe::of_three(&primary, protocol).await;
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    let past = troupe.leader(BILLING).await;
    // It takes connections and says nothing, for ever; nobody resets them.
    primary.freeze();
    tokio::time::sleep(LEASE).await;
    standby.promote().await.expect("promoted");
    troupe.retarget(standby.address());
    troupe.succession(&past).await;
    troupe.judge("primary hangs", &standby, Memory::Gaps).await;
}

#[tokio::test]
async fn candidates_leave_a_primary_that_hangs_for_its_promoted_standby() {
    primary_hangs(Protocol::Lease).await;
}
