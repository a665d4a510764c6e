//! Mistakes on purpose among peers: each is caught by what the seeds claim, or by what a detector promises.
//!
//! Assumes: the feature `planted`; without it there are no mistakes to catch, and this file is empty.
//! Promises: the same check passes without the mistake and fails with it.

#![cfg(feature = "planted")]

#[path = "support/lockstep.rs"]
mod lockstep;

use core::time::Duration;
use std::collections::BTreeSet;

use incumbent_protocol::bully::{self, Bully};
use incumbent_protocol::caucus::Rejoin;
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Input, Run};
use incumbent_protocol::planted::{Bug, while_planted};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ring::{self, Ring};
use incumbent_protocol::time::Time;
use lockstep::{Lockstep, UNIT, node};

const LONG: u32 = 400;

fn rings(order: &[u64]) -> Lockstep<Ring, ring::Message> {
    let timeouts = ring::Timeouts::of_message_time(UNIT).expect("good");
    let order: Vec<NodeId> = order.iter().map(|id| node(*id)).collect();
    let mut net = Lockstep::new(&order, |id| Ring::new(id, timeouts, Rejoin::Sticky));
    net.tell_all(&Input::Led(node(1_000)));
    net
}

fn bullies(count: u64) -> Lockstep<Bully, bully::Message> {
    let timeouts = bully::Timeouts::of_message_time(UNIT).expect("good");
    let order: Vec<NodeId> = (1..=count).map(node).collect();
    let mut net = Lockstep::new(&order, |id| Bully::new(id, timeouts, Rejoin::Sticky));
    net.tell_all(&Input::Led(node(count)));
    net.dead.insert(node(count));
    net
}

/// The check holds, and with the mistake it does not.
fn assert_caught(bug: Bug, check: fn() -> bool) {
    assert!(check(), "without the mistake");
    assert!(!while_planted(bug, check), "{}", bug.as_str());
}

#[test]
fn a_participant_that_forwards_a_smaller_number_is_caught() {
    assert_caught(Bug::ForwardsSmaller, || {
        let mut net = rings(&[1, 2, 3]);
        net.tell_all(&Input::Vacant);
        net.run(LONG);
        let words = net.count(|sent| matches!(sent.message, ring::Message::Hop(_)));
        words == 2 * 3 - 1 + 3
    });
}

#[test]
fn a_node_that_proclaims_itself_before_its_number_came_round_is_caught() {
    assert_caught(Bug::ElectedAtFirst, || {
        let mut net = rings(&[1, 2, 3]);
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
        net.ever_picked() == BTreeSet::from([node(3)])
    });
}

#[test]
fn a_neighbour_that_is_never_passed_over_is_caught() {
    assert_caught(Bug::DeadNeighbour, || {
        let mut net = rings(&[1, 3, 2]);
        net.dead.insert(node(3));
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
        net.nominees() == [Some(node(2)); 2]
    });
}

#[test]
fn a_block_that_is_never_removed_is_caught() {
    assert_caught(Bug::BlockedForGood, || {
        let mut net = rings(&[1, 2, 3]);
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
        net.dead.insert(node(3));
        net.tell_all(&Input::Unreachable(node(3)));
        net.tell_all(&Input::Vacant);
        net.run(LONG);
        net.nominees() == [Some(node(2)); 2]
    });
}

#[test]
fn waiting_for_ever_for_a_coordinator_is_caught() {
    assert_caught(Bug::NoCoordinatorTimeout, || {
        let mut net = bullies(3);
        net.tell(node(1), Input::Vacant);
        net.run(2);
        net.dead.insert(node(2));
        net.run(LONG);
        net.nominees() == [Some(node(1))]
    });
}

#[test]
fn a_coordinator_of_an_old_run_that_counts_is_caught() {
    assert_caught(Bug::StaleCoordinator, || {
        let mut net = bullies(4);
        for _ in 0..2 {
            net.tell(node(1), Input::Vacant);
            net.run(40);
        }
        let message = bully::Message::Coordinator { run: Run(1) };
        net.tell(node(1), Input::Message { from: node(4), message });
        net.nodes[&node(1)].nominee() == Some(node(3))
    });
}

#[test]
fn numbers_compared_as_text_are_caught_in_a_ring_and_among_bullies() {
    assert_caught(Bug::IdsAsText, || {
        let mut net = rings(&[8, 9, 10]);
        net.tell(node(9), Input::Vacant);
        net.run(LONG);
        net.nominees() == [Some(node(10)); 3]
    });
    assert_caught(Bug::IdsAsText, || {
        let mut net = bullies(11);
        net.tell(node(9), Input::Vacant);
        net.run(LONG);
        net.nominees() == [Some(node(10)); 10]
    });
}

#[test]
fn a_late_reply_that_masks_a_miss_is_caught() {
    assert_caught(Bug::LateReply, || {
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let manner = detector::Manner::of_timeout(Duration::from_millis(300)).expect("good");
        let mut detector = Detector::new(manner);
        detector.begin(at(0));
        detector.handle(at(0), detector::Input::Watch(BTreeSet::from([node(2)])));
        let mut first = None;
        for millis in 0..600 {
            detector.handle(at(millis), detector::Input::Wake);
            while let Some(detector::Effect::Send { message, .. }) = detector.poll_effect() {
                if let detector::Message::Ping(number) = message {
                    first.get_or_insert(number);
                }
            }
            // The first ping is answered, late, again and again; no other ever is.
            let message = detector::Message::Pong(first.expect("a ping"));
            if millis % 150 == 149 {
                let input = detector::Input::Message { from: node(2), message };
                detector.handle(at(millis), input);
            }
        }
        detector.is_suspected(node(2))
    });
}
