//! What "Leader election using `MySQL`" (code.openark.org, 2015) claims for its one-row election, claim by claim.
//!
//! Each test names the heading of the document that it honours. Where the document is wrong, or silent about something that
//! hurts, `errata` says what happens instead.
//!
//! Assumes: a store in memory that runs the same decisions as the real ones. Promises: nothing here looks inside the protocol;
//! all of it is what a candidate, an operator or a bystander can see.

mod support;

#[path = "seed_001_claims/errata.rs"]
mod errata;
#[path = "seed_001_claims/service.rs"]
mod service;

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::lease::row::Sight;
use incumbent_protocol::rules::Expiry;
use incumbent_protocol::standing::Standing;
use service::Services;
use support::ms;
use support::post::Kind;

/// *Terms of the solution*: one leader out of several nodes.
#[test]
fn one_leader_is_elected_out_of_many() {
    let mut services = Services::of(10, Expiry::Observed);
    services.all_contend();
    services.run(ms(60_000));
    assert_eq!(services.leaders().len(), 1);
    assert_eq!(services.terms().len(), 1, "and it stays the leader");
}

/// *Terms of the solution*: the leader reaffirms its leadership periodically.
#[test]
fn the_leader_reaffirms_its_leadership_periodically() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let before = services.asked(0, Kind::Renew);
    services.run(ms(20_000));
    assert_eq!(services.asked(0, Kind::Renew) - before, 4, "four times a lease of 20 s");
    assert_eq!(services.asked(1, Kind::Renew), 0);
}

/// *Terms of the solution*: a new leader is elected once the present one has not reaffirmed for X seconds, and not before.
#[test]
fn a_silent_leader_is_replaced_after_the_timeout_and_not_before() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(30_000));
    let last_beat = services.last_renewal(0);
    services.world.crash(0);
    services.run_until(last_beat + services.lease().saturating_sub(ms(1)));
    assert!(services.leaders().is_empty());
    services.run_until(last_beat + services.timing().failover_bound());
    assert_eq!(services.leaders(), ["service_1"]);
}

/// *Attempt election*: the first ever service succeeds in registering.
#[test]
fn the_first_ever_service_wins_at_once() {
    let mut services = Services::of(1, Expiry::Observed);
    services.all_contend();
    services.run(ms(2));
    assert_eq!(services.leaders(), ["service_0"]);
    assert_eq!(services.openings(), [Opening::First]);
}

/// *Attempt election*: the next service does not update anything.
#[test]
fn the_next_service_changes_nothing() {
    let mut services = Services::of(2, Expiry::Observed);
    services.contend(0);
    services.run(ms(100));
    let before = services.world.store.record().cloned();
    services.contend(1);
    services.run(ms(100));
    assert_eq!(services.asked(1, Kind::Bid), 1, "it did try");
    assert_eq!(services.world.store.record().cloned(), before);
}

/// *Attempt election*: while it is alive and keeps on polling, it remains the leader.
#[test]
fn a_leader_that_lives_remains_the_leader() {
    let mut services = Services::of(3, Expiry::Observed);
    services.all_contend();
    services.run(ms(3_600_000));
    assert_eq!(services.leaders(), ["service_0"]);
    assert_eq!(services.terms().len(), 1);
}

/// *Attempt election*: expiry is judged by the clock of the database, so that a newcomer need not wait. Offered as an option.
#[test]
fn the_clock_of_the_database_may_judge_expiry() {
    let mut services = Services::of(2, Expiry::Database);
    services.contend(0);
    services.run(ms(1_000));
    services.world.crash(0);
    services.run(ms(25_000));
    services.contend(1);
    services.run(ms(2));
    assert_eq!(services.leaders(), ["service_1"], "at once: the beat is older than a lease");
    assert!(Expiry::Database.trusts().contains("wall clock"), "and it says what it trusts");
}

/// *Forcibly assume leadership*: a certain service becomes the leader, and keeps it.
#[test]
fn leadership_is_forcibly_assumed_for_a_named_candidate() {
    let mut services = Services::of(5, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let successor = CandidateName::new("service_3").expect("a good name");
    services.order(&Order::Takeover { successor }).expect("an order");
    services.run(ms(15_000));
    assert_eq!(services.leaders(), ["service_3"]);
    services.run(ms(120_000));
    assert_eq!(services.leaders(), ["service_3"]);
}

/// *Force re-elections*: the existing leader is demoted, and the next service to attempt wins.
#[test]
fn re_elections_are_forced_by_demoting_the_leader() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    services.order(&Order::DEMOTE).expect("an order");
    services.run(ms(15_000));
    assert_eq!(services.leaders(), ["service_1"]);
    assert_eq!(services.openings(), [Opening::First, Opening::Released]);
}

/// *Am I the leader?*: a service can easily tell.
#[test]
fn a_service_can_tell_whether_it_leads() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    assert_eq!(services.world.processes[0].standing(), Some(Standing::Leading));
    assert_eq!(services.world.processes[1].standing(), Some(Standing::Following));
}

/// *Who is the leader?*: anyone can tell, whether it takes part or not.
#[test]
fn anyone_can_tell_who_leads() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let Sight::Led { leader, remaining } = services.sight() else {
        panic!("somebody leads");
    };
    assert_eq!(leader.id.name.as_str(), "service_0");
    assert!(remaining <= services.lease());
    assert_eq!(services.world.processes[1].sees(), Some(&leader));
}

/// *SQL solution*: an identity is human readable, so that people see which service leads.
#[test]
fn identities_are_human_readable() {
    let mut services = Services::of(1, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    let sight = services.sight();
    let leader = sight.leader().expect("a leader");
    assert!(leader.to_string().starts_with("service_0 (term "), "{leader}");
    assert!(leader.id.to_string().starts_with("service_0#"), "{}", leader.id);
}

/// *SQL solution*: a service that restarts may be called a new service on the same host. It is.
#[test]
fn a_restarted_service_is_a_new_candidate() {
    let mut services = Services::of(1, Expiry::Observed);
    services.all_contend();
    services.run(ms(10_000));
    let last_beat = services.last_renewal(0);
    services.world.crash(0);
    services.world.start(0);
    services.contend(0);
    services.run_until(last_beat + services.lease().saturating_sub(ms(1)));
    assert!(services.leaders().is_empty(), "it does not inherit the lease of its former life");
    services.run(ms(20_000));
    assert_eq!(services.leaders(), ["service_0"]);
    assert_eq!(services.terms().len(), 2);
}

/// *What of `GET_LOCK()`?*: a service that hangs, but does not die, must not keep the leadership.
#[test]
fn a_service_that_hangs_does_not_keep_the_leadership() {
    let mut services = Services::of(2, Expiry::Observed);
    services.all_contend();
    services.run(ms(1_000));
    services.world.stop(0, ms(3_600_000));
    services.run(ms(40_000));
    assert_eq!(services.leaders(), ["service_1"]);
}
