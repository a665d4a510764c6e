//! Mistakes that the explorer must find, each with the shortest way to it; and mistakes that turn
//! out to be harmless as long as something else is right.

use incumbent_sim::model::explore;
use incumbent_sim::model::fenced::{Budget, Flaw, Level, Setup};

use super::{PLAIN, world};

const STALE: &str = "a write that commits after the claim of a higher term";
/// The takeover gets in between what the work does last and its commit.
const RACE: &str = "Begin(0) Bid(1) \
    Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) \
    Reach(Ask(1)) Answer(Ask(1)) Reach(Ask(1)) Commit(Ask(1)) \
    Commit(Work(0))";
const LOCKED: &str = "a lock that is never released";

fn flawed(flaw: Flaw, level: Level, budget: Budget) -> Setup {
    Setup { flaw: Some(flaw), ..world(level, 2, budget) }
}

/// Explores a world in which something is wrong, and must be found in so many steps.
fn found(setup: &Setup, problem: &str, way: &str) {
    let report = explore(setup);
    let (found, steps) = report.problem.expect("a flaw that nobody finds");
    assert_eq!((found, told(&steps).as_str()), (problem, way));
}

/// The way, as a person would write it down.
fn told(steps: &[incumbent_sim::model::fenced::Step]) -> String {
    let words: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    words.join(" ")
}

fn harmless(setup: &Setup) {
    let report = explore(setup);
    assert_eq!(report.problem, None, "{report}");
}

#[test]
fn a_guard_at_the_beginning_only_is_found() {
    for level in [Level::ReadCommitted, Level::Snapshot] {
        found(&flawed(Flaw::GuardAtBegin, level, PLAIN), STALE, RACE);
    }
}

#[test]
fn a_guard_at_the_beginning_is_enough_where_there_is_one_writer() {
    harmless(&flawed(Flaw::GuardAtBegin, Level::OneWriter, PLAIN));
}

#[test]
fn a_guard_without_a_lock_is_found() {
    for level in [Level::ReadCommitted, Level::Snapshot] {
        found(&flawed(Flaw::GuardWithoutLock, level, PLAIN), STALE, RACE);
    }
}

#[test]
fn a_lock_on_a_row_that_takeovers_do_not_write_is_found() {
    for level in [Level::ReadCommitted, Level::Snapshot] {
        found(&flawed(Flaw::OtherRowLocked, level, PLAIN), STALE, RACE);
    }
}

#[test]
fn a_guard_apart_from_its_commit_blocks_takeovers_for_as_long_as_the_leader_is_stopped() {
    for level in [Level::ReadCommitted, Level::Snapshot] {
        let apart = |budget| flawed(Flaw::GuardApart, level, budget);
        // With the server's timeout it is slow, and nothing worse.
        harmless(&apart(Budget { stops: 2, ..PLAIN }));
        let alone = apart(Budget { bids: 0, stops: 1, ..PLAIN });
        found(
            &Setup { idle_timeout: false, ..alone.clone() },
            LOCKED,
            "Begin(0) Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) Answer(Work(0)) Stop(0) \
         Reach(Work(0))",
        );
        harmless(&Setup { idle_timeout: false, goes_on: true, ..alone });
    }
}

#[test]
fn a_refusal_that_keeps_its_lock_blocks_takeovers_for_as_long_as_the_old_leader_is_stopped() {
    // The term ends by a resignation; without bids nobody else can be the one who blocks.
    let budget = Budget { bids: 0, resignations: 1, stops: 1, ..PLAIN };
    let keeps = flawed(Flaw::RefusalKeepsLock, Level::ReadCommitted, budget);
    harmless(&keeps);
    let forever = Setup { idle_timeout: false, ..keeps };
    harmless(&Setup { flaw: None, ..forever.clone() });
    harmless(&Setup { goes_on: true, ..forever.clone() });
    let way = "Begin(0) Resign(0) \
        Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) Answer(Work(0)) Stop(0) \
        Reach(Ask(0)) Reach(Work(0))";
    found(&forever, LOCKED, way);
}

#[test]
fn a_guard_together_with_its_commit_blocks_nobody_even_without_the_timeout() {
    // The bids are left out: a challenger that stops between its lock and its write blocks others
    // until the timeout, whatever leaders do.
    let budget = Budget { bids: 0, stops: 2, unknown: 1, ..PLAIN };
    for level in [Level::ReadCommitted, Level::Snapshot] {
        harmless(&Setup { idle_timeout: false, ..world(level, 2, budget) });
    }
}

#[test]
fn a_challenger_that_stops_with_its_lock_needs_the_timeout_of_the_server() {
    let budget = Budget { works: 0, stops: 1, ..PLAIN };
    let setup = world(Level::ReadCommitted, 2, budget);
    harmless(&setup);
    found(&Setup { idle_timeout: false, ..setup }, LOCKED, "Bid(1) Stop(1)");
}

#[test]
fn the_one_writer_that_stops_blocks_everybody_until_it_goes_on() {
    let setup = world(Level::OneWriter, 2, Budget { stops: 1, ..PLAIN });
    harmless(&setup);
    let budget = Budget { bids: 0, ..setup.budget };
    found(&Setup { budget, goes_on: false, ..setup }, LOCKED, "Begin(0) Stop(0) Reach(Work(0))");
}

#[test]
fn a_takeover_that_decides_on_what_it_read_before_its_lock_is_found() {
    let budget = Budget { renewals: 1, ..PLAIN };
    let problem = "a takeover of a mark that it was not decided on";
    found(
        &flawed(Flaw::StaleTakeover, Level::ReadCommitted, budget),
        problem,
        "Renew(0) Bid(1) Reach(Ask(1)) Reach(Ask(0)) Grant(Ask(1)) Answer(Ask(1)) \
         Reach(Ask(1)) Commit(Ask(1))",
    );
    let two = Budget { bids: 2, ..PLAIN };
    let setup = Setup { candidates: 3, ..flawed(Flaw::StaleTakeover, Level::ReadCommitted, two) };
    found(
        &setup,
        "a term that does not exceed all before it",
        "Bid(1) Bid(2) Reach(Ask(1)) Grant(Ask(1)) Answer(Ask(1)) Reach(Ask(1)) \
         Reach(Ask(2)) Commit(Ask(1)) Grant(Ask(2)) Answer(Ask(2)) Reach(Ask(2)) \
         Commit(Ask(2))",
    );
}

#[test]
fn the_same_takeover_is_harmless_if_it_compares_the_mark_when_it_writes() {
    let budget = Budget { renewals: 1, bids: 2, ..PLAIN };
    harmless(&flawed(Flaw::StaleTakeoverCompared, Level::ReadCommitted, budget));
}

#[test]
fn an_unknown_outcome_that_counts_as_refused_or_as_committed_is_found() {
    let budget = Budget { unknown: 1, ..PLAIN };
    let level = Level::ReadCommitted;
    let refused = "work that was told to be refused is in the store";
    found(
        &flawed(Flaw::UnknownTakenForRefused, level, budget),
        refused,
        "Begin(0) Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) Answer(Work(0)) \
         Reach(Work(0)) Commit(Work(0)) GiveUp(Work(0))",
    );
    let committed = "work that was told to be committed is not in the store";
    found(
        &flawed(Flaw::UnknownTakenForCommitted, level, budget),
        committed,
        "Begin(0) Reach(Work(0)) Answer(Work(0)) Reach(Work(0)) Answer(Work(0)) \
         GiveUp(Work(0))",
    );
}
