//! Ratification under arbitrary schedules: letters that are lost, late, doubled and out of order,
//! voters that crash with their disks or before they kept anything, writers that start again, and
//! voters that come and go.
//!
//! Promises: a failing case is printed in its smallest form. `PROPTEST_CASES` and
//! `PROPTEST_RNG_SEED` choose other runs.

#[path = "ratify/batches.rs"]
mod batches;
#[path = "ratify/judge.rs"]
mod judge;
#[path = "ratify/lost_disk.rs"]
mod lost_disk;
#[path = "ratify/units.rs"]
mod units;
#[path = "ratify/world.rs"]
mod world;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use world::{Happening, World};

fn runner(shrinks: bool) -> TestRunner {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    config.cases = config.cases.max(1_000);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if !shrinks {
        config.max_shrink_iters = 0;
    }
    TestRunner::new(config)
}

/// What may happen to registers 1 and 2.
fn register() -> BoxedStrategy<Happening> {
    prop_oneof![
        4 => (any::<u8>(), 1..=2_u8).prop_map(|(who, key)| Happening::Write(who, key)),
        1 => (any::<u8>(), 1..=2_u8).prop_map(|(who, key)| Happening::Ask(who, key)),
        1 => (any::<u8>(), 1..=2_u8).prop_map(|(who, key)| Happening::Read(who, key)),
        1 => (any::<u8>(), 0..=2_u8, 0..5_u8)
            .prop_map(|(who, key, away)| Happening::Relay(who, key, away)),
        2 => (any::<u8>(), 0..5_u8).prop_map(|(who, away)| Happening::Finish(who, away)),
        40 => any::<u16>().prop_map(Happening::Deliver),
        4 => any::<u16>().prop_map(Happening::Double),
        3 => any::<u16>().prop_map(Happening::Lose),
        1 => any::<u8>().prop_map(Happening::Crash),
        1 => any::<u16>().prop_map(Happening::CrashBeforeKeeping),
        1 => any::<u8>().prop_map(Happening::Restart),
    ]
    .boxed()
}

/// What may happen where voters change, too.
fn amended() -> BoxedStrategy<Happening> {
    prop_oneof![
        20 => register(),
        2 => any::<u8>().prop_map(Happening::Amend),
        6 => (any::<u8>(), 0..5_u8).prop_map(|(who, away)| Happening::Finish(who, away)),
        3 => (0..2_u8).prop_map(Happening::Remind),
        1 => (0..2_u8).prop_map(Happening::Abandon),
    ]
    .boxed()
}

type Bounds = (u8, u8, usize);

/// Plays random schedules; says how often what was of interest happened.
fn played(
    happening: BoxedStrategy<Happening>,
    worlds: BoxedStrategy<Bounds>,
    length: usize,
    shrinks: bool,
) -> Result<[usize; 4], String> {
    let total = [const { Cell::new(0) }; 4];
    let schedules = (worlds, proptest::collection::vec(happening, 0..length));
    let result = runner(shrinks).run(&schedules, |((nodes, voters, writers), happenings)| {
        let mut world = World::new(nodes, voters, writers);
        for happening in happenings {
            world.play(happening);
        }
        for (total, seen) in total.iter().zip(world.seen) {
            total.set(total.get() + seen);
        }
        let wrong = world.judge.wrong.clone();
        wrong.map_or(Ok(()), Err).map_err(TestCaseError::fail)?;
        world.ends_well(2).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => Ok(total.map(Cell::into_inner)),
        Err(TestError::Fail(why, case)) => Err(format!("{why}: {case:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn registers(shrinks: bool) -> Result<[usize; 4], String> {
    let worlds = (1..=5_u8, 1..=3_usize).prop_map(|(nodes, writers)| (nodes, nodes, writers));
    played(register(), worlds.boxed(), 300, shrinks)
}

fn amendments(shrinks: bool) -> Result<[usize; 4], String> {
    let worlds = (1..=4_u8, 1..=3_usize).prop_map(|(voters, writers)| (4, voters, writers));
    played(amended(), worlds.boxed(), 500, shrinks)
}

#[test]
fn a_register_is_one_chain_of_changes_and_can_be_written_in_peace() {
    let [shortcuts, reads, _, relays] = registers(true).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(shortcuts > 1_000 && reads > 1_000, "{shortcuts} shortcuts, {reads} reads");
    assert!(relays > 1_000, "{relays} relays");
}

#[test]
fn registers_are_chains_of_changes_while_voters_come_and_go() {
    let [shortcuts, reads, changes, relays] =
        amendments(true).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(shortcuts > 100 && reads > 100, "{shortcuts} shortcuts, {reads} reads");
    assert!(changes > 100 && relays > 100, "{changes} changes of the voters, {relays} relays");
}

/// Tests of a build that can make mistakes.
#[cfg(feature = "planted")]
mod mistakes {
    use incumbent_protocol::planted::{Bug, while_planted};

    use super::{amendments, registers};

    #[test]
    fn those_of_voters_and_proposers_are_caught() {
        for bug in [Bug::HalfIsEnough, Bug::PromiseNotKept, Bug::BallotIgnored, Bug::BallotReused] {
            let caught = while_planted(bug, || registers(false));
            assert!(caught.is_err(), "{bug:?} broke nothing");
        }
    }

    #[test]
    fn those_of_changes_of_the_voters_are_caught() {
        for bug in [Bug::OldElectorate, Bug::SettledTooSoon, Bug::UnchosenElectorate] {
            let caught = while_planted(bug, || amendments(false));
            assert!(caught.is_err(), "{bug:?} broke nothing");
        }
    }
}
