//! Who takes part, in ring order, and who of them cannot be reached at present.
//!
//! Assumes: nothing; the list may name this node or not, and may change at any time.
//! Promises: whoever was lost counts again once it is heard of, and after a while in any case: two
//! that take each other for lost would else never speak again.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use crate::node::NodeId;
use crate::time::Time;

/// The peers of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Peers {
    me: NodeId,
    /// Clockwise, this node among them.
    order: Vec<NodeId>,
    /// Who cannot be reached, and until when that is believed.
    lost: BTreeMap<NodeId, Time>,
    /// Whether this node may be picked.
    pub(crate) eligible: bool,
}

impl Peers {
    /// A node that knows of nobody else.
    pub(crate) fn new(me: NodeId) -> Self {
        Peers { me, order: vec![me], lost: BTreeMap::new(), eligible: true }
    }

    pub(crate) const fn me(&self) -> NodeId {
        self.me
    }

    /// How many take part.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.order.len()).unwrap_or(u32::MAX)
    }

    /// Takes the list of those who take part.
    pub(crate) fn set(&mut self, order: Vec<NodeId>) {
        let mut seen = BTreeSet::new();
        let order = order.into_iter().filter(|node| seen.insert(*node)).collect();
        let before = core::mem::replace(&mut self.order, order);
        if !self.order.contains(&self.me) {
            self.order.push(self.me);
        }
        // Whoever is new among them was heard of, also if it was lost before it left.
        self.lost.retain(|node, _| seen.contains(node) && before.contains(node));
    }

    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.order.contains(&node)
    }

    /// It cannot be reached: until it is heard of, or at most until then.
    pub(crate) fn lose(&mut self, node: NodeId, until: Time) {
        if node != self.me {
            self.lost.insert(node, until);
        }
    }

    /// It was heard of.
    pub(crate) fn reach(&mut self, node: NodeId) {
        self.lost.remove(&node);
    }

    /// Tries those again who were lost long ago.
    pub(crate) fn forgive(&mut self, now: Time) {
        self.lost.retain(|_, until| *until > now);
    }

    pub(crate) fn is_lost(&self, node: NodeId) -> bool {
        self.lost.contains_key(&node)
    }

    /// Everybody else, clockwise from this node.
    pub(crate) fn others(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.clockwise(self.me).filter(|node| *node != self.me)
    }

    /// Everybody else who can be reached, clockwise from this node.
    pub(crate) fn within_reach(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.others().filter(|node| !self.is_lost(*node))
    }

    /// The next neighbour clockwise from `node` who can be reached; `None` if that is this node
    /// itself.
    pub(crate) fn next_after(&self, node: NodeId) -> Option<NodeId> {
        let mut clockwise = self.clockwise(node);
        let next = clockwise.find(|next| *next == self.me || !self.is_lost(*next));
        next.filter(|next| *next != self.me)
    }

    /// A share of `span` that is this node's own, so that not all wake at one instant.
    pub(crate) fn jitter(&self, span: Duration) -> Duration {
        let share = u32::try_from(self.me.number() % 997).unwrap_or(0);
        span * share / 997
    }

    /// All of them, beginning after `node` and ending with it. Where it left, beginning after this
    /// node.
    fn clockwise(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let place = |wanted| self.order.iter().position(|node| *node == wanted);
        let at = place(node).or_else(|| place(self.me)).map_or(0, |at| at + 1);
        self.order[at..].iter().chain(&self.order[..at]).copied()
    }
}

/// Who was asked whether anybody leads, and has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inquiry {
    pub(crate) until: Time,
    pub(crate) awaited: BTreeSet<NodeId>,
}

impl Inquiry {
    /// Whether all answered, or were given time enough.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.awaited.is_empty() || self.until <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u128) -> NodeId {
        NodeId::given(number)
    }

    fn four() -> Peers {
        let mut peers = Peers::new(node(2));
        peers.set([4, 2, 3, 1].map(node).to_vec());
        peers
    }

    #[test]
    fn neighbours_are_clockwise_and_the_lost_are_passed_over() {
        let mut peers = four();
        assert_eq!(peers.others().collect::<Vec<_>>(), [3, 1, 4].map(node));
        assert_eq!(peers.next_after(node(2)), Some(node(3)));
        let later = Time::from_nanos(9);
        peers.lose(node(3), later);
        peers.lose(node(1), later);
        assert_eq!(peers.next_after(node(2)), Some(node(4)));
        assert_eq!(peers.next_after(node(4)), None, "round again");
        peers.reach(node(3));
        assert_eq!(peers.next_after(node(2)), Some(node(3)));
    }

    #[test]
    fn who_was_lost_is_tried_again_after_a_while() {
        let mut peers = four();
        peers.lose(node(3), Time::from_nanos(5));
        peers.lose(node(1), Time::from_nanos(6));
        peers.forgive(Time::from_nanos(5));
        assert!(!peers.is_lost(node(3)));
        assert!(peers.is_lost(node(1)));
    }

    #[test]
    fn who_was_lost_and_left_counts_again_when_it_comes_back() {
        let mut peers = four();
        peers.set([4, 2, 1].map(node).to_vec());
        peers.lose(node(3), Time::from_nanos(9));
        peers.lose(node(1), Time::from_nanos(9));
        peers.set([4, 2, 3, 1].map(node).to_vec());
        assert!(!peers.is_lost(node(3)));
        assert!(peers.is_lost(node(1)), "it never left");
    }

    #[test]
    fn a_list_without_this_node_or_with_doubles_is_made_good() {
        let mut peers = Peers::new(node(2));
        peers.set([4, 4, 3].map(node).to_vec());
        assert_eq!(peers.others().collect::<Vec<_>>(), [4, 3].map(node));
        assert_eq!(peers.count(), 3);
    }
}
