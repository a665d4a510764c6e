//! Worlds of a bully election.

use incumbent_protocol::bully::Bully;
use incumbent_sim::model::nominate::Setup;

use super::*;

fn sticky(initiators: &'static [u8]) -> Setup<Bully> {
    Setup::new(initiators)
}

#[test]
fn one_begins_and_one_dies_and_all_are_told() {
    for (initiator, states) in EACH.into_iter().zip([5_528, 821, 311]) {
        explored(&Setup { budget: CRASH, runs: 2, ..sticky(initiator) }, states, &[DIED, FOLLOWS]);
    }
}

/// Whoever waits for an answer that was lost takes a higher node for dead.
#[test]
fn one_begins_and_one_dies_untold_while_messages_are_lost_and_doubled() {
    for (initiator, states) in EACH.into_iter().zip([17_414, 3_136, 1_280]) {
        let setup = Setup { budget: TROUBLE, told: false, runs: 3, ..sticky(initiator) };
        explored(&setup, states, &[LOST, DIED, FOLLOWS, TWO]);
    }
}

#[test]
fn one_begins_and_messages_are_late() {
    for (initiator, states) in EACH.into_iter().zip([65_226, 351]) {
        let setup = Setup { budget: DELAY, runs: 2, ..sticky(initiator) };
        explored(&setup, states, &[LATE, FOLLOWS, TWO]);
    }
    // The highest waits for nobody but those whom it asks who leads.
    explored(&Setup { budget: DELAY, ..sticky(&[2]) }, 62, &[LATE]);
}

#[test]
fn one_begins_and_everything_goes_wrong() {
    for (initiator, states) in EACH.into_iter().skip(1).zip([30_261, 6_043]) {
        let budget = Budget { delays: 1, ..TROUBLE };
        let world = Setup { ordered: true, told: false, repeats: true, ..sticky(initiator) };
        let setup = Setup { budget, runs: 4, ..world };
        explored(&setup, states, &[LOST, LATE, DIED, FOLLOWS, TWO]);
    }
}

/// The third overrules the second, and the first never hears of it.
#[test]
fn where_a_message_is_late_and_another_one_lost_whoever_was_picked_must_say_so_again() {
    let budget = Budget { delays: 1, ..LOSS };
    let setup = Setup { budget, runs: 3, ..sticky(&[1]) };
    let (problem, way) = explore(&setup).problem.expect("nobody repeats anything");
    assert_eq!(problem, "all is quiet, and there is no agreement");
    assert_eq!(way.len(), 12, "{way:?}");
    explored(&Setup { repeats: true, ..setup }, 1_431, &[LOST, LATE, FOLLOWS, TWO]);
}

#[test]
fn all_begin_at_once_and_messages_arrive_in_any_order() {
    explored::<Bully>(&Setup { runs: 3, ..preempting(ALL) }, 97_476, &[FOLLOWS]);
}

#[test]
fn all_begin_and_one_dies_untold() {
    let setup = Setup { ordered: true, told: false, budget: CRASH, runs: 4, ..sticky(ALL) };
    explored(&setup, 56_325, &[DIED, FOLLOWS]);
}

#[test]
fn all_begin_at_once_and_one_dies_and_all_are_told() {
    let setup = Setup { ordered: true, budget: CRASH, runs: 4, ..preempting(ALL) };
    explored::<Bully>(&setup, 195_145, &[DIED, FOLLOWS]);
}

#[test]
fn all_begin_at_once_and_a_message_is_lost() {
    let setup = Setup { ordered: true, budget: LOSS, runs: 4, ..preempting(ALL) };
    explored::<Bully>(&setup, 34_303, &[LOST, FOLLOWS, TWO]);
}

#[test]
fn one_begins_while_another_one_joins() {
    let setup = Setup { joins: true, repeats: true, runs: 2, ..sticky(&[0, 2]) };
    explored(&setup, 11_234, &[FOLLOWS, TWO]);
}
