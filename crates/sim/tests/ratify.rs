//! Complete state spaces of small worlds of ratification: registers that a majority keeps, an election
//! on top of one, and voters that change meanwhile.
//!
//! The numbers of states are asserted, as those of the other small worlds are. Mistakes that the
//! explorer must find are in `ratify/mistakes.rs`, each with the shortest way to it.

#[path = "ratify/mistakes.rs"]
mod mistakes;
#[path = "ratify/stateright.rs"]
mod second_opinion;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::Change;
use incumbent_sim::model::explore;
use incumbent_sim::model::ratify::Setup;

const ADD_SECOND: Change = Change::Add(NodeId::given(1));
const ADD_THIRD: Change = Change::Add(NodeId::given(2));
const ADD_FOURTH: Change = Change::Add(NodeId::given(3));
const REMOVE_FIRST: Change = Change::Remove(NodeId::given(0));
const REMOVE_SECOND: Change = Change::Remove(NodeId::given(1));

/// Explores a world in which nothing may be wrong and these sights must occur.
fn explored(setup: &Setup, states: usize, sights: &[&str]) {
    let report = explore(setup);
    assert_eq!(report.problem, None, "{report}");
    for sight in sights {
        let seen = report.sights.iter().find(|(name, _)| name == sight);
        assert!(seen.is_some_and(|(_, seen)| *seen > 0), "no {sight}: {report}");
    }
    assert_eq!(report.states, states, "{report}");
}

#[test]
fn two_writers_and_three_voters_with_a_crash_and_lost_answers() {
    let setup = Setup { losses: 2, crashes: 1, ..Setup::new(3, &[1, 1]) };
    let sights = ["a change upon a change of somebody else", "a writer is overruled"];
    explored(&setup, 12_383, &sights);
}

#[test]
fn a_writer_with_two_attempts_at_once_against_another_one() {
    let sights = ["a shortcut is taken", "a change upon a change of somebody else"];
    explored(&Setup { at_once: true, ..Setup::new(2, &[3, 1]) }, 64_952, &sights);
}

#[test]
fn a_leader_that_renews_by_shortcuts_against_bids() {
    let setup = Setup { election: true, losses: 1, ..Setup::new(3, &[2, 1]) };
    explored(&setup, 33_012, &["a shortcut is taken", "a term follows a term"]);
}

#[test]
fn a_relay_beside_a_leader_that_renews_by_shortcuts_and_a_bid() {
    let setup = Setup { election: true, relays: 1, ..Setup::new(3, &[2, 1]) };
    explored(&setup, 85_010, &["a shortcut is taken", "a term follows a term"]);
}

#[test]
fn a_relay_while_voters_come_and_go() {
    let sights = ["a change of the voters is complete", "a writer learns of other voters"];
    let changes = &[ADD_SECOND, REMOVE_FIRST];
    let setup = Setup { nodes: 2, changes, learns: true, relays: 1, ..Setup::new(1, &[1, 1]) };
    explored(&setup, 60_681, &sights);
    let setup = Setup { changes: &[REMOVE_FIRST], relays: 1, ..Setup::new(3, &[1]) };
    explored(&setup, 17_714, &sights);
}

#[test]
fn a_relay_while_a_voter_comes() {
    let sights = ["a change of the voters is complete", "a writer learns of other voters"];
    let setup = Setup { nodes: 3, changes: &[ADD_THIRD], relays: 1, ..Setup::new(2, &[1]) };
    explored(&setup, 7_777, &sights);
}

#[test]
fn one_voter_becomes_two_becomes_another_one_while_two_write() {
    let changes = &[ADD_SECOND, REMOVE_FIRST];
    let setup = Setup { nodes: 2, changes, learns: true, retries: 1, ..Setup::new(1, &[1, 1]) };
    let sights = [
        "all changes of the voters are complete",
        "a writer learns of other voters",
        "a change upon a change of somebody else",
    ];
    explored(&setup, 34_577, &sights);
}

#[test]
fn two_voters_become_three_while_one_writes() {
    let setup = Setup { nodes: 3, changes: &[ADD_THIRD], losses: 1, ..Setup::new(2, &[1]) };
    explored(
        &setup,
        9_784,
        &["a change of the voters is complete", "a writer learns of other voters"],
    );
}

#[test]
fn three_voters_become_two_while_one_writes() {
    let setup = Setup { changes: &[REMOVE_FIRST], ..Setup::new(3, &[1]) };
    explored(
        &setup,
        6_340,
        &["a change of the voters is complete", "a writer learns of other voters"],
    );
}

#[test]
fn three_voters_become_four_become_three_others() {
    let changes = &[ADD_FOURTH, REMOVE_FIRST];
    let setup = Setup { nodes: 4, changes, retries: 1, ..Setup::new(3, &[]) };
    explored(&setup, 27_041, &["all changes of the voters are complete"]);
}

#[test]
fn two_change_the_voters_at_the_same_time() {
    let changes = &[ADD_SECOND, Change::Complete];
    let setup = Setup { nodes: 2, changes, in_turn: false, retries: 1, ..Setup::new(1, &[1]) };
    explored(&setup, 6_718, &["all changes of the voters are complete"]);
}
