//! Properties of the `lease` and `rounds` protocols under arbitrary faults and interleavings.
//!
//! Assumes: clocks run within the margin of each other; everything else may go wrong.
//! Promises: a failing case is printed in its smallest form. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` choose other runs.

mod support;

#[path = "properties/chaos.rs"]
mod chaos;
#[path = "properties/tally.rs"]
mod tally;

use std::cell::RefCell;

use chaos::Chaos;
use incumbent_protocol::candidacy::{Candidacy, Input, Wish};
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::time::Time;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use support::clock::{Clock, TRUE_RATE};
use support::log::{Entry, What};
use support::post::Kind;
use support::world::World;
use support::{ms, referee};
use tally::Tally;

fn runner() -> TestRunner {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    config.cases = config.cases.max(512);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    TestRunner::new(config)
}

fn wrong(text: impl Into<String>) -> TestCaseError {
    TestCaseError::fail(text.into())
}

#[test]
fn at_most_one_lease_is_valid_at_any_instant_and_a_leader_stands_soon_after_the_last_fault() {
    let tally = RefCell::new(Tally::default());
    let result = runner().run(&chaos::strategy(), |chaos| {
        let mut world = chaos.world();
        chaos.play(&mut world);
        referee::judge(&world.log).map_err(wrong)?;
        terms_grow(&world)?;
        a_leader_stands_soon(&chaos, &mut world)?;
        nothing_changes_in_peace(&chaos, &mut world)?;
        referee::judge(&world.log).map_err(wrong)?;
        tally.borrow_mut().count(&world);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    tally.borrow().assert_everything_happened();
}

#[test]
fn in_rounds_at_most_one_lease_is_valid_and_a_leader_stands_soon_after_the_last_fault() {
    let tally = RefCell::new(Tally::default());
    let result = runner().run(&chaos::strategy_in_rounds(), |chaos| {
        let mut world = chaos.world();
        chaos.play(&mut world);
        referee::judge(&world.log).map_err(wrong)?;
        terms_grow(&world)?;
        a_leader_stands_soon(&chaos, &mut world)?;
        nothing_changes_in_peace(&chaos, &mut world)?;
        referee::judge(&world.log).map_err(wrong)?;
        tally.borrow_mut().count(&world);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    tally.borrow().assert_everything_happened();
    tally.borrow().assert_rounds_happened();
}

#[test]
fn in_rounds_terms_grow_even_when_the_store_goes_back_or_is_lost() {
    let result = runner().run(&chaos::strategy_in_rounds_with_a_store_that_goes_back(), |chaos| {
        let mut world = chaos.world();
        chaos.play(&mut world);
        referee::every_gain_has_one_loss(&world.log).map_err(wrong)?;
        terms_grow(&world)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// The bound that the timings state for a crash, with round trips as slow as the timeout allows.
#[test]
fn a_crashed_leader_is_succeeded_within_the_stated_bound() {
    let timing = Timing::of_lease(ms(1_000)).expect("timing");
    let whens = (0..1_000_u64, 2_000..3_000_u64, 0..166_u64, 0..166_u64);
    let result = runner().run(&whens, |(joins, crashes, near, far)| {
        let mut world = World::default();
        for (name, round_trip) in [("alice", near), ("bob", far)] {
            let who = world.add(name, timing, Clock::new(ms(0), TRUE_RATE));
            world.processes[who].post.set_usual(ms(round_trip) / 2);
            world.tell(who, Input::Wish(Wish::Lead));
            world.run_until(ms(joins));
        }
        world.run_until(ms(crashes));
        let leader = world.processes.iter().position(support::process::Process::leads);
        world.crash(leader.expect("a leader"));
        world.run_until(ms(crashes) + timing.failover_bound());
        prop_assert!(world.processes.iter().any(support::process::Process::leads));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn terms_grow_even_when_the_store_goes_back_or_is_lost() {
    let result = runner().run(&chaos::strategy_with_a_store_that_goes_back(), |chaos| {
        let mut world = chaos.world();
        chaos.play(&mut world);
        referee::every_gain_has_one_loss(&world.log).map_err(wrong)?;
        terms_grow(&world)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_removed_election_has_one_lease_at_a_time_and_its_terms_grow() {
    let removals = RefCell::new(0);
    let result = runner().run(&chaos::strategy_with_removals(), |chaos| {
        let mut world = chaos.world();
        chaos.play(&mut world);
        *removals.borrow_mut() += world.store.removals;
        referee::judge(&world.log).map_err(wrong)?;
        terms_grow(&world)?;
        a_leader_stands_soon(&chaos, &mut world)?;
        nothing_changes_in_peace(&chaos, &mut world)?;
        referee::judge(&world.log).map_err(wrong)?;
        terms_grow(&world)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let removals = removals.into_inner();
    assert!(removals > 50, "{removals} removals");
}

#[test]
fn the_same_script_gives_the_same_log() {
    let result = runner().run(&chaos::strategy(), |chaos| {
        let (mut one, mut two) = (chaos.world(), chaos.world());
        chaos.play(&mut one);
        chaos.play(&mut two);
        prop_assert_eq!(one.log, two.log);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_candidate_that_wants_nothing_asks_for_nothing() {
    let inputs = prop_oneof![
        Just(Input::Wake),
        Just(Input::Bell),
        Just(Input::ClockJumped),
        Just(Input::Wish(Wish::Nothing)),
    ];
    let script = (any::<bool>(), prop::collection::vec((0..2_000_u64, inputs), 0..20));
    let result = runner().run(&script, |(begun, inputs)| {
        let mut candidacy = candidacy(1);
        let mut now = Time::from_nanos(77);
        if begun {
            candidacy.begin(now);
        }
        for (gap, input) in inputs {
            now = now + ms(gap);
            candidacy.handle(now, input);
            prop_assert_eq!(candidacy.poll_effect(), None);
            prop_assert_eq!(candidacy.poll_notice(), None);
            prop_assert_eq!(candidacy.wake_at(), None);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Two elections of one process are two candidacies with one incarnation on one clock.
#[test]
fn elections_of_one_process_beat_at_the_same_instants() {
    let starts = (any::<u128>(), 0..5_000_u64, 0..5_000_u64, 0..40_u64, 0..40_u64);
    let result = runner().run(&starts, |(bits, first, second, near, far)| {
        let beats = |start: u64, round_trip: u64| -> Vec<Time> {
            let mut asks = lone_asks(bits, ms(start), ms(round_trip));
            asks.retain(|&at| at >= Time::ZERO + ms(5_300) && at < Time::ZERO + ms(9_000));
            asks
        };
        let (one, two) = (beats(first, near), beats(second, far));
        prop_assert!(one.len() >= 14, "{} beats", one.len());
        prop_assert_eq!(one, two);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// The referee must be able to say no: clocks that differ by more than the margin do break the lease.
#[test]
fn clocks_beyond_the_margin_break_the_lease_and_the_referee_says_so() {
    let timing = Timing::of_lease(ms(1_000)).expect("timing");
    let mut world = World::default();
    let slow = world.add("slow", timing, Clock::new(ms(0), TRUE_RATE / 2));
    let fast = world.add("fast", timing, Clock::new(ms(0), TRUE_RATE * 2));
    world.tell(slow, Input::Wish(Wish::Lead));
    world.run_until(ms(100));
    world.tell(fast, Input::Wish(Wish::Lead));
    world.stop(slow, ms(5_000));
    world.run_until(ms(5_000));
    let verdict = referee::judge(&world.log).expect_err("an overlap");
    assert!(verdict.starts_with("two leases at once"), "{verdict}");
    terms_grow(&world).expect("tokens do not depend on clocks");
}

fn candidacy(bits: u128) -> Candidacy {
    let name = CandidateName::new("solo").expect("a good name");
    let id = CandidateId::new(name, Incarnation::from_random(bits));
    Candidacy::new(id, Timing::of_lease(ms(1_000)).expect("timing"))
}

/// When a lone candidate asks, in a store of its own.
fn lone_asks(
    bits: u128,
    start: core::time::Duration,
    round_trip: core::time::Duration,
) -> Vec<Time> {
    let mut world = World::default();
    let timing = Timing::of_lease(ms(1_000)).expect("timing");
    let who = world.add("solo", timing, Clock::new(ms(0), TRUE_RATE));
    world.processes[who].post.set_usual(round_trip / 2);
    world.processes[who].life.as_mut().expect("alive").candidacy = candidacy(bits);
    world.run_until(start);
    let reading = world.processes[who].clock.read(start);
    let life = world.processes[who].life.as_mut().expect("alive");
    life.candidacy.begin(reading);
    world.tell(who, Input::Wish(Wish::Lead));
    world.run_until(ms(10_000));
    let renewals = world.log.iter().filter(|entry| matches!(entry.what, What::Asked(Kind::Renew)));
    renewals.map(|entry| world.processes[who].clock.read(entry.at)).collect()
}

fn terms_grow(world: &World) -> Result<(), TestCaseError> {
    let terms: Vec<_> = world.store.claims().map(|claim| claim.term).collect();
    prop_assert!(terms.is_sorted_by(|a, b| a < b), "terms {:?}", terms);
    Ok(())
}

/// Mends everything, and demands a leader within the bound that the timings state, plus one beat.
fn a_leader_stands_soon(chaos: &Chaos, world: &mut World) -> Result<(), TestCaseError> {
    Chaos::heal(world);
    let mended = world.now;
    let bound = chaos.patience(world);
    while !world.processes.iter().any(support::process::Process::leads) {
        prop_assert!(world.now < mended + bound, "nobody leads {:?} after {mended:?}", bound);
        world.run_until(world.now + ms(5));
    }
    Ok(())
}

/// Once orders and hold-offs have worked themselves out, nothing changes without a cause.
fn nothing_changes_in_peace(chaos: &Chaos, world: &mut World) -> Result<(), TestCaseError> {
    world.run_until(world.now + chaos.patience(world) * 2);
    let quiet_from = world.log.len();
    world.run_until(world.now + chaos.timing().rules().lease() * 3);
    let change = |entry: &&Entry| tally::is_change(&entry.what);
    let first = world.log[quiet_from..].iter().find(change);
    prop_assert_eq!(first, None);
    let leaders = world.processes.iter().filter(|process| process.leads());
    prop_assert_eq!(leaders.count(), 1);
    Ok(())
}
