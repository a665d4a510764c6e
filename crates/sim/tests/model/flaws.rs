//! Mistakes that the model must find: without these tests nobody would know whether it can.

use incumbent_sim::model::{Budget, Flaw, Setup, explore};

use super::{NONE, world};

/// Explores a world in which something is wrong, and must be found.
fn found(setup: &Setup) {
    let report = explore(setup);
    let (problem, way) = report.problem.expect("a flaw that nobody finds");
    assert_eq!(problem, "two valid leases at one instant", "{way:?}");
}

#[test]
fn clocks_that_differ_by_more_than_the_margin_are_found() {
    let budget = Budget { pauses: 1, ..NONE };
    found(&Setup { rates: vec![1_000, 2_000], ..world(2, 9, budget) });
}

#[test]
fn a_lease_that_counts_from_the_answer_is_found() {
    let budget = Budget { delays: 2, pauses: 1, ..NONE };
    found(&Setup { flaw: Some(Flaw::LeaseStampedLate), ..world(2, 9, budget) });
}

#[test]
fn an_observation_that_counts_from_the_question_is_found() {
    let budget = Budget { delays: 2, pauses: 1, ..NONE };
    found(&Setup { flaw: Some(Flaw::ObservationStampedEarly), ..world(2, 9, budget) });
}

#[test]
fn a_renewal_of_unknown_outcome_that_counts_as_done_is_found() {
    let budget = Budget { unknown: 2, ..NONE };
    found(&Setup { flaw: Some(Flaw::UnknownTakenForCommitted), ..world(2, 9, budget) });
}

#[test]
fn a_pause_that_is_taken_for_death_is_found() {
    let budget = Budget { pauses: 1, ..NONE };
    found(&Setup { proof: true, flaw: Some(Flaw::PauseTakenForDeath), ..world(2, 9, budget) });
}
