//! Groups that hear each other without a network.

use std::collections::BTreeMap;

use super::*;
use crate::{bully, ring};

const MESSAGE: Duration = Duration::from_millis(50);

fn algorithms() -> [caucus::Manner; 2] {
    let bully = bully::Timeouts::of_message_time(MESSAGE).expect("waits");
    let ring = ring::Timeouts::of_message_time(MESSAGE).expect("waits");
    [caucus::Manner::Bully(bully), caucus::Manner::Ring(ring)]
}

const fn manner(algorithm: caucus::Manner) -> Manner {
    Manner {
        algorithm,
        rejoin: caucus::Rejoin::Sticky,
        patience: Duration::from_secs(6),
        unratified: true,
    }
}

/// What a driver says that sees this one lead, in the term of that number.
fn led(by: Option<(u128, u64)>) -> Told {
    let (leader, term) = by.map(|(node, term)| (NodeId::given(node), term)).unzip();
    Told { eligible: true, leader, reachable: leader.is_some(), term }
}

#[test]
fn whoever_hears_that_a_term_ended_does_not_wait_until_it_looked() {
    for algorithm in algorithms() {
        let mut now = Time::from_nanos(1);
        let manner = Manner { unratified: false, ..manner(algorithm) };
        let nodes = [1, 2, 3].map(NodeId::given);
        let mut groups: BTreeMap<NodeId, Group> =
            nodes.map(|node| (node, Group::new(node, &manner, now))).into();
        for group in groups.values_mut() {
            group.nodes(now, nodes.to_vec());
            group.tell(now, led(Some((1, 50))));
        }
        let nominee = |groups: &BTreeMap<NodeId, Group>| groups.values().map(Group::nominee).max();
        run(&mut groups, &mut now);
        for group in groups.values_mut() {
            group.ended(now, 49);
        }
        run(&mut groups, &mut now);
        assert_eq!(nominee(&groups), Some(Some(nodes[0])), "an older one: nothing is new");
        for group in groups.values_mut() {
            group.ended(now, 50);
        }
        // Whoever has not looked since says once more what it saw.
        for group in groups.values_mut() {
            group.tell(now, led(Some((1, 50))));
        }
        run(&mut groups, &mut now);
        for group in groups.values() {
            assert_eq!(group.nominee(), Some(nodes[2]), "nobody leads: the highest is picked");
        }
        for group in groups.values_mut() {
            group.tell(now, led(Some((1, 51))));
        }
        run(&mut groups, &mut now);
        assert_eq!(nominee(&groups), Some(Some(nodes[0])), "it leads again, in a newer term");
    }
}

/// Lets time pass and messages arrive for a while.
fn run(groups: &mut BTreeMap<NodeId, Group>, now: &mut Time) {
    steps(groups, now, 200);
}

fn steps(groups: &mut BTreeMap<NodeId, Group>, now: &mut Time, count: u32) {
    for _ in 0..count {
        *now = *now + Duration::from_millis(10);
        for group in groups.values_mut() {
            group.wake(*now);
        }
        let mut said = Vec::new();
        for (from, group) in groups.iter_mut() {
            while let Some((to, message)) = group.poll_message() {
                said.push((*from, to, message));
            }
            group.poll_nomination();
        }
        for (from, to, message) in said {
            if let Some(group) = groups.get_mut(&to) {
                group.handle(*now, caucus::Input::Message { from, message });
            }
        }
    }
}

#[test]
fn without_ratification_those_who_led_alone_agree_once_they_meet() {
    for algorithm in algorithms() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [3, 1, 2]] {
            meet(algorithm, order.map(NodeId::given), &[3]);
            meet(algorithm, order.map(NodeId::given), &[2, 3]);
        }
    }
}

/// Each is alone at first; then so many of them meet at a time.
fn meet(algorithm: caucus::Manner, nodes: [NodeId; 3], meetings: &[usize]) {
    let mut now = Time::from_nanos(1);
    let mut groups = BTreeMap::new();
    for node in &nodes {
        let mut group = Group::new(*node, &manner(algorithm), now);
        group.tell(now, led(None));
        group.nodes(now, vec![*node]);
        groups.insert(*node, group);
    }
    run(&mut groups, &mut now);
    for (node, group) in &groups {
        assert_eq!(group.nominee(), Some(*node), "alone, each picks itself");
    }
    for count in meetings {
        let mut there = nodes[..*count].to_vec();
        there.sort_unstable();
        for node in &there {
            groups.get_mut(node).expect("node").nodes(now, there.clone());
        }
        run(&mut groups, &mut now);
        for node in &there {
            assert_eq!(groups[node].nominee(), there.last().copied(), "{node} of {nodes:?}");
        }
    }
}

#[test]
fn a_leader_that_is_linked_again_is_not_suspected_any_more() {
    let [one, two, leader] = [1, 2, 3].map(NodeId::given);
    for algorithm in algorithms() {
        let manner = Manner { unratified: false, ..manner(algorithm) };
        let parted = Told { reachable: false, ..led(Some((3, 50))) };
        let mut now = Time::from_nanos(1);
        let mut groups = BTreeMap::new();
        for node in [one, two] {
            let mut group = Group::new(node, &manner, now);
            group.tell(now, parted);
            group.nodes(now, vec![one, two]);
            groups.insert(node, group);
        }
        run(&mut groups, &mut now);
        for group in groups.values() {
            assert_eq!(group.nominee(), Some(two), "the highest of those who are linked");
        }
        for group in groups.values_mut() {
            group.nodes(now, vec![one, two, leader]);
            group.tell(now, Told { reachable: true, ..parted });
        }
        run(&mut groups, &mut now);
        for (node, group) in &groups {
            assert_eq!(group.nominee(), Some(leader), "as {node} sees it");
        }
    }
}

/// A node of the group went away, as every other one finds out.
fn leave(groups: &mut BTreeMap<NodeId, Group>, now: Time, gone: NodeId) {
    groups.remove(&gone);
    let there: Vec<NodeId> = groups.keys().copied().collect();
    for group in groups.values_mut() {
        group.handle(now, caucus::Input::Unreachable(gone));
        group.nodes(now, there.clone());
        group.handle(now, caucus::Input::Suspected(gone));
    }
}

#[test]
fn whoever_comes_back_soon_takes_part_in_the_next_run() {
    for algorithm in algorithms() {
        let mut now = Time::from_nanos(1);
        let manner = Manner { unratified: false, ..manner(algorithm) };
        let nodes: Vec<NodeId> = (1..=5).map(NodeId::given).collect();
        let mut groups: BTreeMap<NodeId, Group> =
            nodes.iter().map(|node| (*node, Group::new(*node, &manner, now))).collect();
        for (term, leader) in [5, 4, 5, 4].into_iter().enumerate() {
            let back = nodes.iter().find(|node| !groups.contains_key(node));
            if let Some(back) = back {
                groups.insert(*back, Group::new(*back, &manner, now));
            }
            for group in groups.values_mut() {
                group.nodes(now, nodes.clone());
                group.tell(now, led(Some((leader, 50 + term as u64))));
            }
            steps(&mut groups, &mut now, 20);
            leave(&mut groups, now, NodeId::given(leader));
            steps(&mut groups, &mut now, 20);
            let highest = groups.keys().last().copied();
            for (node, group) in &groups {
                assert_eq!(group.nominee(), highest, "{algorithm:?}: {node} when {leader} died");
            }
        }
    }
}
