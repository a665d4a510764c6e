//! What the seed assumes away, and calls future improvements: it happens here, and an election ends all the same.

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Input, Run};
use incumbent_protocol::ring::{Message, Rejoin, Ring, Timeouts, Word};

use crate::lockstep::{Lockstep, Sent, UNIT, node};
use crate::{LONG, Net, is_election, ring};

fn assert_all_picked(net: &Net, nominee: u64, what: &str) {
    let nominees = net.nominees();
    assert!(nominees.iter().all(|picked| *picked == Some(node(nominee))), "{what}: {nominees:?}");
}

/// *Assumption 3*: "no failure in the ring during the election". Any one fails, at any moment, and one that lives is picked by all:
/// the highest, unless the highest is who failed.
#[test]
fn any_node_may_fail_at_any_moment_of_an_election() {
    let order = [3, 5, 1, 4, 2];
    for victim in order {
        for moment in 0..20 {
            let mut net = ring(&order);
            net.tell(node(2), Input::Vacant);
            net.run(moment);
            net.dead.insert(node(victim));
            net.run(LONG);
            if net
                .nodes
                .iter()
                .any(|(id, ring)| *id != node(victim) && ring.nominee() == Some(node(victim)))
            {
                // Picked before it failed: who watches it finds it dead.
                net.tell_all(&Input::Unreachable(node(victim)));
                net.tell_all(&Input::Vacant);
                net.run(LONG);
            }
            // Whoever began the only run may have failed before anybody heard of it.
            if net.nominees().iter().any(Option::is_none) {
                net.tell_all(&Input::Vacant);
                net.run(LONG);
            }
            let nominees = net.nominees();
            let first = nominees[0].expect("somebody is picked");
            assert!(nominees.iter().all(|nominee| *nominee == Some(first)), "{nominees:?}");
            assert_ne!(first, node(victim));
        }
    }
}

/// "We covered the situation where the successor is an old ECS": here any number of neighbours may be dead, known to be or not.
#[test]
fn several_dead_neighbours_are_passed_over() {
    for known in [true, false] {
        let mut net = ring(&[1, 6, 7, 8, 2, 3, 9]);
        for dead in [6, 7, 8, 9] {
            net.dead.insert(node(dead));
            if known {
                net.tell_all(&Input::Unreachable(node(dead)));
            }
        }
        net.tell(node(1), Input::Vacant);
        net.run(if known { 9 } else { LONG });
        assert_all_picked(&net, 3, if known { "known to be dead" } else { "found to be" });
        if known {
            assert_eq!(
                net.count(is_election),
                5,
                "1 to 2, 2 to 3, and 3 all the way round the three"
            );
        }
    }
}

/// *Assumption 1*: "the first should be started beforehand". Here all start at one instant, and ask each other first.
#[test]
fn all_may_start_for_the_first_time_at_once() {
    for count in [1, 2, 3, 25] {
        let timeouts = Timeouts::of_message_time(UNIT).expect("good");
        let order: Vec<NodeId> = (1..=count).map(node).collect();
        let mut net = Lockstep::new(&order, |id| Ring::new(id, timeouts, Rejoin::Sticky));
        net.tell_all(&Input::Vacant);
        net.run(LONG);
        assert_all_picked(&net, count, "simultaneous first starts");
        assert_eq!(net.ever_picked().len(), 1, "nobody else was picked on the way");
    }
}

/// In the original a block was never removed, and no second failover could begin.
#[test]
fn a_second_failover_follows_the_first_and_a_third_the_second() {
    let mut net = ring(&[2, 5, 3, 1, 4]);
    net.tell(node(1), Input::Vacant);
    for (leader, run) in [(5, 1), (4, 2), (3, 3), (2, 4), (1, 5)] {
        net.run(LONG);
        assert_all_picked(&net, leader, "failover");
        assert!(net.live().iter().all(|id| net.nodes[id].run() == Run(run)), "one run each");
        net.dead.insert(node(leader));
        net.tell_all(&Input::Unreachable(node(leader)));
        net.tell_all(&Input::Vacant);
    }
}

/// The leader fails before it could remove the block.
#[test]
fn a_node_that_nobody_unblocks_unblocks_itself() {
    let mut net = ring(&[1, 2, 3]);
    net.tell(node(3), Input::Vacant);
    net.run(5);
    assert!(net.nodes[&node(2)].is_blocked());
    net.dead.insert(node(3));
    net.tell(node(1), Input::Unreachable(node(3)));
    net.tell(node(1), Input::Vacant);
    assert_eq!(net.nodes[&node(1)].run(), Run(1), "blocked");
    net.run(LONG);
    assert_all_picked(&net, 2, "after the block");
}

/// No terms in the original: a late elected message overrides a newer leader. Here it is answered with the newest run.
#[test]
fn a_late_elected_message_is_answered_with_what_is_current() {
    let mut net = ring(&[1, 2, 3]);
    for _ in 0..2 {
        net.tell(node(1), Input::Vacant);
        net.run(LONG);
    }
    net.sent.clear();
    let late = Message::Hop(Word::Elected { run: Run(1), nominee: node(2) });
    net.tell(node(1), Input::Message { from: node(3), message: late });
    let answers: Vec<Message> = net.sent.iter().map(|sent| sent.message).collect();
    let current = Message::Current { run: Run(2), nominee: Some(node(3)) };
    assert_eq!(answers, [Message::Ack(late_word(late)), current]);
    assert_all_picked(&net, 3, "after the late message");
}

/// The same message, lost once on every hop in turn: the run ends all the same, or another one does.
#[test]
fn any_one_message_may_be_lost() {
    for lost in 0..24 {
        let mut net = ring(&[3, 1, 4, 2]);
        net.tell(node(2), Input::Vacant);
        // What the clock of the network shows when the message leaves, counted in messages.
        let start = net.now;
        while net.sent.len() <= lost && net.now.since(start) < UNIT * 40 {
            net.run(1);
        }
        net.loses = |_: &Sent<Message>| true;
        net.run(1);
        net.loses = |_: &Sent<Message>| false;
        net.run(LONG);
        let nominees = net.nominees();
        assert!(nominees[0].is_some(), "after {lost}");
        assert!(
            nominees.iter().all(|nominee| *nominee == nominees[0]),
            "after {lost}: {nominees:?}"
        );
    }
}

/// A node joins while an election is under way, and learns of its end.
#[test]
fn a_node_may_join_during_an_election() {
    for moment in 0..14 {
        let mut net = ring(&[1, 2, 3, 4]);
        net.tell(node(1), Input::Vacant);
        net.run(moment);
        let timeouts = Timeouts::of_message_time(UNIT).expect("good");
        net.nodes.insert(node(9), Ring::new(node(9), timeouts, Rejoin::Sticky));
        let order: Vec<NodeId> = [1, 2, 9, 3, 4].map(node).to_vec();
        net.tell_all(&Input::Nodes(order));
        net.tell(node(9), Input::Vacant);
        net.run(LONG);
        let nominees = net.nominees();
        assert!(nominees[0].is_some(), "joined after {moment}");
        assert!(nominees.iter().all(|picked| *picked == nominees[0]), "{moment}: {nominees:?}");
    }
}

fn late_word(message: Message) -> Word {
    match message {
        Message::Hop(word) => word,
        other => panic!("{other:?} is no word"),
    }
}
