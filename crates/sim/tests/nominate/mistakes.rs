//! Mistakes that the explorer must find, each with the shortest way to it.

use incumbent_protocol::bully::Bully;
use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_protocol::ring::Ring;
use incumbent_sim::model::explore;
use incumbent_sim::model::nominate::{Nominator, Setup};

use super::{CRASH, LOSS, preempting};

const NOT_HIGHEST: &str = "all is quiet, and whoever is picked is not the highest";

/// Explores a world in which a mistake is made and must be found this way, and in which nothing else
/// is wrong.
fn found<P: Nominator>(bug: Bug, setup: &Setup<P>, problem: &str, way: &str) {
    let right = explore(setup);
    assert_eq!(right.problem, None, "{right}");
    let report = while_planted(bug, || explore(setup));
    let (found, steps) = report.problem.expect("a mistake that nobody finds");
    let words: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!((found, words.join(" ").as_str()), (problem, way));
}

/// The second begins and its number is swallowed by the third, which began too.
#[test]
fn a_participant_must_swallow_a_smaller_number() {
    found::<Ring>(
        Bug::ForwardsSmaller,
        &Setup { ordered: true, runs: 2, ..preempting(&[1, 2]) },
        "two that live are picked in one run",
        "Begin(1) Begin(2) Arrive(0) Arrive(0) Arrive(2) Arrive(1) Arrive(1) Arrive(5)",
    );
}

#[test]
fn a_number_must_come_round_before_it_is_elected() {
    found::<Ring>(
        Bug::ElectedAtFirst,
        &preempting(&[0]),
        NOT_HIGHEST,
        "Begin(0) Arrive(1) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) \
         Arrive(0) Arrive(0) Arrive(0)",
    );
}

fn dies_untold() -> Setup<Ring> {
    Setup { ordered: true, told: false, budget: CRASH, runs: 2, ..preempting(&[0]) }
}

/// The run ends in vain, and so do those after it.
#[test]
fn a_dead_neighbour_must_be_passed_over() {
    found(
        Bug::DeadNeighbour,
        &dies_untold(),
        "more runs than there is trouble",
        "Begin(0) Crash(1) Pass Pass Pass Pass Pass Pass Pass Pass Pass Pass Pass Pass Pass Pass \
         Pass Pass",
    );
}

#[test]
fn a_block_must_end_though_whoever_would_remove_it_is_dead() {
    found(
        Bug::BlockedForGood,
        &dies_untold(),
        "all is quiet, and whoever is picked is dead",
        "Begin(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) \
         Arrive(1) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Crash(2) Find(0) Find(1) Pass \
         Arrive(0) Arrive(0)",
    );
}

/// The second hears that the third lives, and never that it was picked.
#[test]
fn a_wait_for_a_coordinator_must_end() {
    found::<Bully>(
        Bug::NoCoordinatorTimeout,
        &Setup { budget: LOSS, runs: 2, ..preempting(&[1]) },
        "all is quiet, and there is no agreement",
        "Begin(1) Arrive(0) Arrive(0) Arrive(0) Lose(0)",
    );
}

/// It already shows where a coordinator is of a newer run, which the mistake does not look at either.
#[test]
fn a_coordinator_counts_in_its_own_run_alone() {
    found::<Bully>(
        Bug::StaleCoordinator,
        &Setup { budget: CRASH, runs: 2, ..preempting(&[2]) },
        "somebody is taken to be picked that is not",
        "Begin(2) Arrive(0)",
    );
}

#[test]
fn ten_is_more_than_nine() {
    let numbers = [8, 9, 10];
    found::<Bully>(
        Bug::IdsAsText,
        &Setup { numbers, ..preempting(&[0]) },
        NOT_HIGHEST,
        "Begin(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0)",
    );
    found::<Ring>(
        Bug::IdsAsText,
        &Setup { numbers, ..preempting(&[0]) },
        NOT_HIGHEST,
        "Begin(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) \
         Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0) Arrive(0)",
    );
}
