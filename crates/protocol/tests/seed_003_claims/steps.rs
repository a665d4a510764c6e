//! The steps of the seed, one after the other.

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Input, Notice, Run};
use incumbent_protocol::ring::{Message, Rejoin, Ring, Timeouts, Word};

use crate::lockstep::{Lockstep, UNIT, node};
use crate::{LONG, is_elected, is_election, ring};

/// *Step 1 and 2*: all are nonparticipants at first; whoever notices the lack of a leader sends its number to its successor.
#[test]
fn whoever_notices_the_lack_of_a_leader_sends_its_number_clockwise() {
    let mut net = ring(&[3, 1, 2]);
    assert!(!net.nodes.values().any(Ring::is_participant));
    net.tell(node(1), Input::Vacant);
    let sent = net.sent[0];
    assert_eq!((sent.from, sent.to), (node(1), node(2)));
    assert_eq!(sent.message, Message::Hop(Word::Election { run: Run(1), best: Some(node(1)) }));
    assert!(net.nodes[&node(1)].is_participant());
    assert!(!net.nodes[&node(2)].is_participant());
}

/// *Step 3 and 4*: larger numbers are forwarded and smaller ones replaced, and whoever does either is a participant.
#[test]
fn a_larger_number_is_forwarded_and_a_smaller_one_is_replaced() {
    let mut net = ring(&[2, 1, 3, 4]);
    net.tell(node(2), Input::Vacant);
    net.run(3);
    let numbers: Vec<(NodeId, Message)> =
        net.sent.iter().filter(|sent| is_election(sent)).map(|s| (s.from, s.message)).collect();
    let said = |from, best| {
        (node(from), Message::Hop(Word::Election { run: Run(1), best: Some(node(best)) }))
    };
    assert_eq!(numbers, [said(2, 2), said(1, 2), said(3, 3), said(4, 4)]);
    assert!(net.nodes.values().all(Ring::is_participant));
}

/// *Step 4*: a participant discards a smaller number.
#[test]
fn a_participant_discards_a_smaller_number() {
    let mut net = ring(&[1, 2, 3]);
    net.tell(node(3), Input::Vacant);
    net.tell(node(2), Input::Vacant);
    net.tell(node(1), Input::Vacant);
    net.run(1);
    let elections = net.count(is_election);
    assert_eq!(elections, 4, "three of their own, and only 3 went on, past 1");
    net.run(LONG);
    assert_eq!(net.nominees(), [Some(node(3)); 3]);
}

/// *Step 4, second stage*: whoever has its own number back leads, is no participant any more, and sends an elected message;
/// whoever receives that is none either, takes note, is blocked, and forwards it unchanged.
#[test]
fn the_elected_message_blocks_whomever_it_passes() {
    let mut net = ring(&[1, 2, 3]);
    net.tell(node(3), Input::Vacant);
    net.run(3);
    assert_eq!(net.told.last().map(|told| told.2), Some(picked(1, 3)));
    assert!(!net.nodes[&node(3)].is_participant());
    assert!(net.nodes[&node(1)].is_participant());
    net.run(1);
    let first = &net.nodes[&node(1)];
    assert!(first.is_blocked() && !first.is_participant());
    assert_eq!(first.nominee(), Some(node(3)));
    assert!(!net.nodes[&node(2)].is_blocked());
    let elected = |net: &crate::Net| {
        let elected = net.sent.iter().filter(|sent| is_elected(sent));
        elected.map(|sent| sent.message).collect::<Vec<_>>()
    };
    let word = Message::Hop(Word::Elected { run: Run(1), nominee: node(3) });
    net.run(1);
    assert_eq!(elected(&net), [word; 3]);
}

/// *Second stage*: a blocked node takes part in nothing of that run, and begins none, until the leader removes the block.
#[test]
fn a_blocked_node_begins_no_election_until_the_block_is_removed() {
    let mut net = ring(&[1, 2, 3]);
    net.tell(node(3), Input::Vacant);
    net.run(4);
    assert!(net.nodes[&node(1)].is_blocked());
    let before = net.count(is_election);
    net.tell(node(1), Input::Vacant);
    let late = Message::Hop(Word::Election { run: Run(1), best: Some(node(2)) });
    net.tell(node(1), Input::Message { from: node(3), message: late });
    assert_eq!(net.count(is_election), before, "nothing was begun or forwarded");
    net.run(2);
    assert!(net.nodes[&node(1)].is_blocked(), "the leader has its message back");
    let unblocked: Vec<NodeId> = net
        .sent
        .iter()
        .filter(|sent| matches!(sent.message, Message::Unblock { .. }))
        .map(|sent| sent.to)
        .collect();
    assert_eq!(unblocked, [node(1), node(2)], "a broadcast");
    net.run(1);
    assert!(!net.nodes.values().any(Ring::is_blocked));
    assert_eq!(net.nodes[&node(1)].run(), Run(2), "what it learned meanwhile was not forgotten");
}

/// *Unique identification*: the MD5 of address and port; whoever has the highest digest leads, wherever it stands.
#[test]
fn numbers_are_digests_of_addresses_and_the_highest_leads() {
    let timeouts = Timeouts::of_message_time(UNIT).expect("good").without_repeats();
    for count in 2..=64_u32 {
        let address = |n| format!("10.0.0.{n}:5555");
        let mut order: Vec<NodeId> = (1..=count).map(|n| NodeId::of_address(&address(n))).collect();
        order.sort_unstable();
        let highest = *order.last().expect("somebody");
        let mut net = Lockstep::new(&order, |id| Ring::new(id, timeouts, Rejoin::Sticky));
        net.tell_all(&Input::Led(node(1)));
        net.tell(order[0], Input::Vacant);
        net.run(LONG);
        assert!(net.nominees().iter().all(|nominee| *nominee == Some(highest)));
        let total = net.count(is_election) + net.count(is_elected);
        assert_eq!(total, u64::from(3 * count - 1), "lowest to highest is all the way round");
    }
}

fn picked(run: u64, nominee: u64) -> Notice {
    Notice::Picked { run: Run(run), nominee: node(nominee) }
}
