//! Mistakes that the explorer must find, each with the shortest way to it.

use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_protocol::ratify::amend::Change;
use incumbent_sim::model::explore;
use incumbent_sim::model::ratify::Setup;

use super::{ADD_SECOND, REMOVE_FIRST, REMOVE_SECOND};

const APART: &str = "two chosen values of which neither follows the other";
const UNTRUE: &str = "a proposal that is told to be chosen and is not";

/// Explores a world in which a mistake is made and must be found this way, and in which nothing else
/// is wrong.
fn found(bug: Bug, setup: &Setup, problem: &str, way: &str) {
    let right = explore(setup);
    assert_eq!(right.problem, None, "{right}");
    let report = while_planted(bug, || explore(setup));
    let (found, steps) = report.problem.expect("a mistake that nobody finds");
    let words: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!((found, words.join(" ").as_str()), (problem, way));
}

#[test]
fn half_of_the_voters_are_no_majority() {
    found(Bug::HalfIsEnough, &Setup::new(2, &[1]), UNTRUE, "Write(0) Reach(0, 0) Reach(1, 0)");
}

#[test]
fn a_promise_that_was_not_kept_is_forgotten_in_a_crash() {
    let setup = Setup { crashes: 1, ..Setup::new(1, &[1, 1]) };
    found(
        Bug::PromiseNotKept,
        &setup,
        APART,
        "Write(0) Write(1) Reach(0, 0) Reach(1, 0) Crash(0) Reach(2, 0) Reach(3, 0)",
    );
}

#[test]
fn a_ballot_below_the_one_that_is_heeded_must_be_refused() {
    found(
        Bug::BallotIgnored,
        &Setup::new(1, &[1, 1]),
        APART,
        "Write(0) Write(1) Reach(0, 0) Reach(2, 0) Reach(1, 0) Reach(3, 0)",
    );
}

#[test]
fn a_ballot_that_is_heeded_in_advance_must_not_be_that_of_another_attempt() {
    let setup = Setup { at_once: true, ..Setup::new(1, &[3]) };
    found(
        Bug::BallotReused,
        &setup,
        "two values for one ballot",
        "Write(0) Write(0) Reach(0, 0) Reach(2, 0) Write(0) Reach(1, 0)",
    );
}

fn replaced() -> Setup {
    let changes = &[ADD_SECOND, REMOVE_FIRST];
    Setup { nodes: 2, changes, learns: true, retries: 1, ..Setup::new(1, &[1, 1]) }
}

#[test]
fn voters_that_were_replaced_must_not_answer() {
    found(
        Bug::OldElectorate,
        &replaced(),
        APART,
        "Write(0) Amend(0) Reach(1, 0) Reach(2, 0) Reach(2, 1) Reach(3, 0) Reach(4, 0) \
         Reach(5, 0) Reach(5, 1) Reach(6, 0) Reach(6, 1) Reach(7, 0) Reach(7, 1) Amend(1) \
         Reach(8, 0) Reach(9, 0) Reach(10, 0) Reach(11, 0) Reach(0, 0) Reach(1, 0) \
         Reach(12, 1) Reach(13, 0) Reach(13, 1) Reach(14, 0) Reach(14, 1) Reach(15, 1) \
         Reach(16, 0) Reach(16, 1) Reach(17, 0) Reach(17, 1) Learn(1) Write(1) \
         Reach(2, 1) Reach(3, 1)",
    );
}

#[test]
fn a_change_of_the_voters_is_not_settled_before_registers_were_rewritten() {
    found(
        Bug::SettledTooSoon,
        &replaced(),
        APART,
        "Write(0) Amend(0) Reach(0, 0) Reach(1, 0) Reach(2, 0) Reach(3, 0) Reach(3, 1) \
         Reach(4, 0) Reach(5, 0) Reach(6, 0) Reach(6, 1) Reach(7, 0) Reach(7, 1) \
         Reach(8, 0) Reach(8, 1) Amend(1) Reach(9, 0) Reach(10, 0) Reach(11, 0) \
         Reach(11, 1) Reach(12, 1) Reach(13, 0) Reach(13, 1) Reach(14, 0) Reach(14, 1) \
         Learn(1) Write(1) Reach(2, 1) Reach(3, 1)",
    );
}

#[test]
fn an_electorate_must_be_chosen_before_it_is_used() {
    let changes = &[REMOVE_SECOND, Change::Complete];
    let setup = Setup { changes, in_turn: false, retries: 1, ..Setup::new(2, &[]) };
    let problem = "an electorate is in use that was not chosen";
    found(
        Bug::UnchosenElectorate,
        &setup,
        problem,
        "Amend(0) Amend(1) Reach(0, 0) Reach(0, 1) Reach(1, 0) Reach(2, 0) Reach(2, 1) \
         Reach(3, 0) Reach(4, 0) Reach(5, 0) Reach(5, 1)",
    );
}
