//! A network in which every message takes one time and nothing else takes any.
//!
//! Assumes: nominating protocols. Promises: the same steps in the same order, always; at one instant messages arrive before
//! timers run. What was sent is kept, so that it can be counted.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

/// The time of one message.
pub(crate) const UNIT: Duration = Duration::from_millis(1);

/// A node of a test is a small number.
pub(crate) fn node(number: u64) -> NodeId {
    NodeId::given(number.into())
}

/// What was sent, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<M> {
    pub(crate) at: Time,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) message: M,
}

pub(crate) struct Lockstep<P, M> {
    pub(crate) now: Time,
    pub(crate) nodes: BTreeMap<NodeId, P>,
    pub(crate) dead: BTreeSet<NodeId>,
    /// Whether what is sent is lost.
    pub(crate) loses: fn(&Sent<M>) -> bool,
    pub(crate) sent: Vec<Sent<M>>,
    pub(crate) told: Vec<(Time, NodeId, Notice)>,
    /// Under way, oldest first.
    under_way: Vec<Sent<M>>,
}

impl<P, M> Lockstep<P, M>
where
    M: Copy,
    P: Protocol<Input = Input<M>, Effect = Effect<M>, Notice = Notice>,
{
    /// Nodes that know of each other, in ring order.
    pub(crate) fn new(order: &[NodeId], make: impl Fn(NodeId) -> P) -> Self {
        let mut net = Lockstep {
            now: Time::from_nanos(1_000_000_000),
            nodes: BTreeMap::new(),
            dead: BTreeSet::new(),
            loses: |_| false,
            sent: Vec::new(),
            told: Vec::new(),
            under_way: Vec::new(),
        };
        for &id in order {
            let mut made = make(id);
            made.begin(net.now);
            net.nodes.insert(id, made);
            net.tell(id, Input::Nodes(order.to_vec()));
        }
        net
    }

    /// Gives one input to one node, if it lives.
    pub(crate) fn tell(&mut self, to: NodeId, input: Input<M>) {
        if self.dead.contains(&to) {
            return;
        }
        let Some(node) = self.nodes.get_mut(&to) else { return };
        node.handle(self.now, input);
        while let Some(Effect::Send { to: peer, message }) = node.poll_effect() {
            let sent = Sent { at: self.now, from: to, to: peer, message };
            self.sent.push(sent);
            if !(self.loses)(&sent) {
                self.under_way.push(sent);
            }
        }
        while let Some(notice) = node.poll_notice() {
            self.told.push((self.now, to, notice));
        }
    }

    /// Gives the same input to all that live.
    pub(crate) fn tell_all(&mut self, input: &Input<M>)
    where
        Input<M>: Clone,
    {
        for id in self.live() {
            self.tell(id, input.clone());
        }
    }

    pub(crate) fn live(&self) -> Vec<NodeId> {
        self.nodes.keys().copied().filter(|id| !self.dead.contains(id)).collect()
    }

    /// Runs for so many message times.
    pub(crate) fn run(&mut self, units: u32) {
        let until = self.now + UNIT * units;
        let mut steps = 0;
        while let Some(at) = self.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.step();
            steps += 1;
            assert!(steps < 1_000_000, "time stands still");
        }
        self.now = until;
    }

    /// How many of the messages sent are of a kind.
    pub(crate) fn count(&self, kind: impl Fn(&Sent<M>) -> bool) -> u64 {
        self.sent.iter().filter(|sent| kind(sent)).count().try_into().expect("few")
    }

    /// Whom each living node heard picked last, if no run began after that.
    pub(crate) fn nominees(&self) -> Vec<Option<NodeId>> {
        let last = |id| {
            let mut notices = self.told.iter().rev().filter(move |(_, who, _)| *who == id);
            match notices.next() {
                Some((_, _, Notice::Picked { nominee, .. })) => Some(*nominee),
                _ => None,
            }
        };
        self.live().into_iter().map(last).collect()
    }

    /// Everybody who was ever picked, by anybody.
    pub(crate) fn ever_picked(&self) -> BTreeSet<NodeId> {
        let picked = self.told.iter().filter_map(|(_, _, notice)| match notice {
            Notice::Picked { nominee, .. } => Some(*nominee),
            Notice::Began { .. } => None,
        });
        picked.collect()
    }

    /// When somebody was told last that somebody is picked.
    pub(crate) fn last_picked_at(&self) -> Option<Time> {
        let mut picked = self.told.iter().rev();
        picked.find(|(_, _, notice)| matches!(notice, Notice::Picked { .. })).map(|told| told.0)
    }

    fn next_at(&self) -> Option<Time> {
        let arrivals = self.under_way.first().map(|sent| sent.at + UNIT);
        let wakes = self.live().into_iter().filter_map(|id| self.nodes[&id].wake_at());
        wakes.chain(arrivals).min()
    }

    fn step(&mut self) {
        let due = self.under_way.iter().take_while(|sent| sent.at + UNIT <= self.now).count();
        let arrived: Vec<Sent<M>> = self.under_way.drain(..due).collect();
        for Sent { from, to, message, .. } in &arrived {
            self.tell(*to, Input::Message { from: *from, message: *message });
        }
        if arrived.is_empty() {
            for id in self.live() {
                if self.nodes[&id].wake_at().is_some_and(|at| at <= self.now) {
                    self.tell(id, Input::Wake);
                }
            }
        }
    }
}
