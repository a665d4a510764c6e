//! Worlds of a ring. Where there is trouble, messages from one node to another arrive in order.

use incumbent_protocol::ring::Ring;
use incumbent_sim::model::nominate::Setup;

use super::*;

fn ordered(initiators: &'static [u8]) -> Setup<Ring> {
    Setup { ordered: true, ..Setup::new(initiators) }
}

#[test]
fn one_begins_and_messages_arrive_in_any_order() {
    for (initiator, states) in EACH.into_iter().zip([1_288, 648, 328]) {
        explored(&Setup::<Ring>::new(initiator), states, &[]);
    }
}

#[test]
fn one_begins_and_one_dies_and_all_are_told() {
    for (initiator, states) in EACH.into_iter().zip([10_358, 8_611, 4_165]) {
        let setup = Setup { budget: CRASH, runs: 2, ..ordered(initiator) };
        explored(&setup, states, &[DIED, FOLLOWS]);
    }
}

#[test]
fn one_begins_and_one_dies_untold_while_messages_are_lost_and_doubled() {
    for (initiator, states) in EACH.into_iter().zip([57_072, 40_932, 30_875]) {
        let setup = Setup { budget: TROUBLE, told: false, runs: 3, ..ordered(initiator) };
        explored(&setup, states, &[LOST, DIED, FOLLOWS]);
    }
}

#[test]
fn the_same_the_other_way_round() {
    for (initiator, states) in EACH.into_iter().zip([41_407, 31_411, 57_326]) {
        let numbers = [1, 3, 2];
        let setup = Setup { numbers, budget: TROUBLE, told: false, runs: 3, ..ordered(initiator) };
        explored(&setup, states, &[LOST, DIED, FOLLOWS]);
    }
}

/// Whoever is passed over because its acknowledgement is late can be picked all the same.
#[test]
fn one_begins_and_messages_are_late() {
    let setup = Setup { budget: DELAY, runs: 2, ..ordered(&[1]) };
    explored(&setup, 146_599, &[LATE, FOLLOWS, TWO]);
    explored(&Setup { budget: DELAY, ..ordered(&[2]) }, 28_557, &[LATE]);
}

#[test]
fn one_begins_and_messages_are_late_and_lost() {
    let budget = Budget { delays: 1, ..LOSS };
    let setup = Setup { budget, repeats: true, runs: 2, ..ordered(&[2]) };
    explored(&setup, 196_540, &[LOST, LATE, FOLLOWS, TWO]);
}

#[test]
fn all_begin() {
    explored(&Setup { runs: 3, ..ordered(ALL) }, 152_802, &[FOLLOWS]);
}

#[test]
fn all_begin_at_once_and_one_dies_untold() {
    let setup = Setup { ordered: true, told: false, budget: CRASH, runs: 4, ..preempting(ALL) };
    explored::<Ring>(&setup, 97_144, &[DIED, FOLLOWS]);
}

#[test]
fn one_begins_while_another_one_joins() {
    explored(&Setup { joins: true, runs: 3, ..ordered(&[0, 2]) }, 37_660, &[FOLLOWS, TWO]);
}
