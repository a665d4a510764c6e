//! Where the document is wrong, or silent about something that hurts: what happens here instead.

use core::time::Duration;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::{Order, OrderError};
use incumbent_protocol::lease::request::{Done, Holding, Opening, Request};
use incumbent_protocol::lease::row::Sight;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rules::Expiry;
use incumbent_protocol::standing::Reason;

use crate::service::Services;
use crate::support::log::What;
use crate::support::{ms, referee};

/// The upsert is right only where assignments are evaluated from left to right; elsewhere a
/// takeover keeps the old time of the last beat, and the next contender steals the leadership at
/// once. Here a takeover is one fresh row.
#[test]
fn a_takeover_leaves_a_fresh_beat_so_that_nobody_steals_it() {
    for expiry in [Expiry::Observed, Expiry::Database] {
        let mut services = Services::of(3, expiry);
        services.all_contend();
        services.run(ms(1_000));
        services.world.crash(0);
        services.run(services.timing().failover_bound() + ms(1_000));
        assert_eq!(services.terms().len(), 2, "{expiry}: one takeover");
        let now = services.world.store.snapshot(services.world.now).now;
        let record = services.world.store.record().expect("a row");
        assert!(now.since(record.beaten_at) < services.timing().beat() * 2, "{expiry}");
        services.run(ms(60_000));
        assert_eq!(services.terms().len(), 2, "{expiry}: and no theft");
    }
}

/// The queries for the leader ignore the time of the last beat, so that a dead leader is named
/// until somebody takes over.
#[test]
fn a_dead_leader_is_not_named_once_its_lease_has_run_out() {
    let mut services = Services::of(1, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    services.world.crash(0);
    services.run(services.lease() * 2);
    let sight = services.sight();
    assert!(matches!(sight, Sight::Overdue { .. }), "{sight:?}");
    assert_eq!(sight.leader(), None);
}

/// An election that was never held has no leader, instead of one without a name.
#[test]
fn an_election_without_a_row_is_vacant() {
    let services = Services::of(1, Expiry::Observed);
    assert_eq!(services.sight(), Sight::Vacant);
}

/// With times of whole seconds and a count of changed rows, the second of two beats in one second
/// looks like a loss.
#[test]
fn beating_twice_at_one_instant_keeps_leading() {
    let mut services = Services::of(1, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let record = services.world.store.record().expect("a row").clone();
    let renew = Request::Renew(Holding { candidate: record.holder, term: record.term });
    let now = services.world.now;
    for beat in 1..=2 {
        let outcome = services.world.store.execute(now, &renew);
        assert_eq!(outcome, Outcome::Committed(Done::Renewed));
        let row = services.world.store.record().expect("a row");
        assert_eq!(row.beat, record.beat + beat, "every beat is seen");
    }
}

/// `replace into` hands the row to a service that may be dead, and blocks everyone for a whole
/// timeout after each order. Here the order ends one term and reserves one; two leases later at
/// most, anyone may lead.
#[test]
fn a_forced_candidate_that_is_dead_does_not_block_for_ever() {
    for expiry in [Expiry::Observed, Expiry::Database] {
        let mut services = Services::of(2, expiry);
        services.all_contend();
        services.run(ms(1_000));
        let successor = CandidateName::new("service_99").expect("a good name");
        services.order(&Order::Takeover { successor }).expect("an order");
        services.world.crash(0);
        services.run(services.lease() + services.timing().failover_bound());
        assert_eq!(services.leaders(), ["service_1"], "{expiry}");
    }
}

/// `replace into` makes a second leader while the first still acts. Here the order says for how
/// long that may be, and the new leader comes after it.
#[test]
fn a_forced_leader_waits_until_the_old_one_has_stopped() {
    let mut services = Services::of(2, Expiry::Observed);
    services.world.processes[0].stopping = ms(1_500);
    services.all_contend();
    services.run(ms(1_000));
    let successor = CandidateName::new("service_1").expect("a good name");
    let decree = services.order(&Order::Takeover { successor }).expect("an order");
    assert!(decree.may_act > Duration::ZERO && decree.may_act <= services.lease());
    services.run(ms(30_000));
    assert_eq!(services.leaders(), ["service_1"]);
    assert_eq!(referee::judge(&services.world.log), Ok(()));
}

/// The document's leader believes in itself until the database tells it otherwise, however long
/// that takes.
#[test]
fn a_leader_that_cannot_reach_the_store_stops_by_its_own_clock() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(10_000));
    let asked = services.last_renewal(0);
    services.world.processes[0].post.cut(true);
    services.run(ms(60_000));
    let lost = services.world.log.iter().find_map(|entry| match entry.what {
        What::Told { notice: Notice::Lost { reason, .. }, .. } => Some((entry.at, reason)),
        _ => None,
    });
    let (at, reason) = lost.expect("a loss");
    assert_eq!(reason, Reason::Ending);
    assert!(at < asked + services.timing().rules().span(), "before the lease ends");
    assert_eq!(services.leaders(), ["service_1"]);
    assert_eq!(referee::judge(&services.world.log), Ok(()));
}

/// The document has no number that a resource could check. Here every leadership has one, and it
/// grows: after a resignation, an order, a crash of everyone, a lost store and a wall clock that
/// was set back.
#[test]
fn every_leadership_has_a_token_above_all_before() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    services.world.resign(0);
    services.run(ms(30_000));
    services.order(&Order::DEMOTE).expect("an order");
    services.run(ms(60_000));
    services.world.store.step_clock(-3_600_000_000);
    services.world.crash(0);
    services.world.crash(1);
    for who in [0, 1] {
        services.world.start(who);
        services.contend(who);
    }
    services.run(ms(60_000));
    services.world.store.lose_all();
    services.run(ms(60_000));
    let tokens: Vec<u64> = services.terms().iter().map(|term| term.token().get()).collect();
    assert!(tokens.len() >= 5, "{tokens:?}");
    assert!(tokens.is_sorted_by(|a, b| a < b), "{tokens:?}");
    assert_eq!(services.leaders().len(), 1);
}

/// `delete from service_election` hits whoever leads by then. An order may name the term that it is
/// meant for.
#[test]
fn an_order_for_one_leader_never_hits_its_successor() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let meant = services.terms()[0];
    services.world.crash(0);
    services.run(ms(60_000));
    let found = services.terms()[1];
    let now = services.world.now;
    let error = services.world.store.order(now, &Order::DEMOTE, Some(meant));
    assert_eq!(error, Err(OrderError::OtherTerm { meant, found }));
    assert_eq!(services.leaders(), ["service_1"]);
}

/// The deposed leader is as likely as anyone to win the re-election that was meant to be rid of it.
/// Here it waits.
#[test]
fn the_demoted_leader_lets_others_go_first() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    services.order(&Order::DEMOTE).expect("an order");
    services.run(services.lease());
    assert_eq!(services.leaders(), ["service_1"]);
    assert_eq!(services.openings(), [Opening::First, Opening::Released]);
}
