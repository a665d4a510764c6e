//! Mistakes that the model must find: without these tests nobody would know whether it can.

use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_sim::model::{Budget, Flaw, Protocol, Setup, explore};

use super::{NONE, world};

/// Explores a world in which something is wrong, and must be found, whatever the protocol.
fn found(setup: &Setup) {
    for protocol in [Protocol::Lease, Protocol::Rounds] {
        // A lease of rounds is a tick longer, and begins a step later.
        let horizon = setup.horizon + if protocol == Protocol::Rounds { 3 } else { 0 };
        let report = explore(&Setup { horizon, ..setup.clone().with(protocol) });
        let (problem, way) = report.problem.expect("a flaw that nobody finds");
        assert_eq!(problem, "two valid leases at one instant", "{protocol:?}: {way:?}");
    }
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

#[test]
fn an_evicted_candidate_that_takes_its_old_place_is_found() {
    let setup = world(2, 12, Budget { evictions: 1, ..NONE }).with(Protocol::Rounds);
    let report = while_planted(Bug::EvictedKeepsId, || explore(&setup));
    let (problem, way) = report.problem.expect("a mistake that nobody finds");
    assert_eq!(problem, "an id that does not exceed all before it", "{way:?}");
}
