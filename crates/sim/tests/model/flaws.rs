//! Mistakes that the model must find: without these tests nobody would know whether it can.

use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_sim::model::{Budget, Flaw, Protocol, Setup, explore};

use super::{NONE, explored, world};

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

/// A row is removed once both have seen its term, and nothing notes it.
fn removed(protocol: Protocol) -> Setup {
    let budget = Budget { delays: 1, removals: 1, ..NONE };
    Setup { calm: 4, ..world(2, 11, budget).with(protocol) }
}

/// A store goes back to before the round grew, once both have seen the longer round.
fn rewound() -> Setup {
    let budget = Budget { pauses: 1, rewinds: 1, ..NONE };
    let world = world(2, 13, budget).with(Protocol::GrownRounds);
    Setup { calm: 4, rates: vec![1_000, 1_200], ..world }
}

/// Explores a world in which the protocol makes a mistake that drawn worlds hardly ever show.
fn found_while_planted(bug: Bug, setup: &Setup) {
    assert!(Bug::OF_OWN_WORLDS.contains(&bug));
    let report = while_planted(bug, || explore(setup));
    let (problem, way) = report.problem.unwrap_or_else(|| panic!("{bug:?} is in no state"));
    assert_eq!(problem, "two valid leases at one instant", "{bug:?}: {way:?}");
}

#[test]
fn a_row_that_is_removed_makes_no_second_leader() {
    explored(&removed(Protocol::Lease), 8_803, &["a takeover after expiry"]);
    explored(&removed(Protocol::Rounds), 14_419, &["a takeover after expiry"]);
    found_while_planted(Bug::MissingAsFirst, &removed(Protocol::Lease));
}

#[test]
fn a_store_that_goes_back_to_a_shorter_round_makes_no_second_leader() {
    explored(&rewound(), 74_414, &["a takeover after expiry"]);
    found_while_planted(Bug::EarlierPaceClaimed, &rewound());
}

#[test]
fn an_evicted_candidate_that_takes_its_old_place_is_found() {
    let setup = world(2, 12, Budget { evictions: 1, ..NONE }).with(Protocol::Rounds);
    let report = while_planted(Bug::EvictedKeepsId, || explore(&setup));
    let (problem, way) = report.problem.expect("a mistake that nobody finds");
    assert_eq!(problem, "an id that does not exceed all before it", "{way:?}");
}
