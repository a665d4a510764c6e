//! Which peers answer in time. One detector serves all elections of a process.
//!
//! Assumes: every process answers pings with [`Message::Pong`], which a detector does for its own
//! process. Whoever leads watches everybody and is watched by everybody, so that heartbeats go both
//! ways.
//! Promises: a peer is suspected when a ping to it has gone unanswered for too long, and trusted again
//! when a later one is answered in time. An answer that comes too late proves nothing. Time in which
//! this process itself stood still counts against nobody. Suspicion begins elections; it never ends
//! a lease.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::node::NodeId;
use crate::planted::{self, Bug};
use crate::protocol::Protocol;
use crate::time::Time;

mod manner;
mod pulse;
#[cfg(test)]
mod tests;

use pulse::Pulse;

pub use manner::Manner;

/// A heartbeat, or the answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Are you there?
    Ping(u64),
    /// Yes: the answer to the ping of that number.
    Pong(u64),
}

/// What reaches a detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Time has passed.
    Wake,
    /// Whom to watch from now on: all of them. Whoever is new among them is trusted at first.
    Watch(BTreeSet<NodeId>),
    /// A peer says something.
    Message {
        /// Who, as its link proves.
        from: NodeId,
        /// What.
        message: Message,
    },
    /// A node was found to be unreachable, for instance because nobody listens at its address.
    Unreachable(NodeId),
}

/// What a detector wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Say something to a peer. It may get lost.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: Message,
    },
}

/// What a detector wants known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// It does not answer in time.
    Suspected(NodeId),
    /// It does again.
    Trusted(NodeId),
}

/// The failure detector of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Detector {
    manner: Manner,
    watched: BTreeMap<NodeId, Pulse>,
    /// The number of the next ping.
    number: u64,
    effects: VecDeque<Effect>,
    notices: VecDeque<Notice>,
}

impl Detector {
    /// A detector that watches nobody yet.
    pub const fn new(manner: Manner) -> Self {
        Detector {
            manner,
            watched: BTreeMap::new(),
            number: 0,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// Whether a watched node is suspected at present.
    pub fn is_suspected(&self, node: NodeId) -> bool {
        self.watched.get(&node).is_some_and(Pulse::is_suspected)
    }

    fn watch(&mut self, now: Time, nodes: &BTreeSet<NodeId>) {
        self.watched.retain(|node, _| nodes.contains(node));
        for &node in nodes {
            self.watched.entry(node).or_insert_with(|| Pulse::new(now));
        }
    }

    fn hear(&mut self, now: Time, from: NodeId, message: Message) {
        match message {
            Message::Ping(number) => {
                self.effects.push_back(Effect::Send { to: from, message: Message::Pong(number) });
            }
            Message::Pong(number) => {
                let pulse = self.watched.get_mut(&from);
                if pulse.is_some_and(|pulse| pulse.hear(now, number, &self.manner)) {
                    self.notices.push_back(Notice::Trusted(from));
                }
            }
        }
    }

    /// Suspects whoever is due, before anything else is looked at: an answer that comes in the same
    /// breath came too late.
    fn expire(&mut self, now: Time) {
        let stood_still = self.wake_at().is_some_and(|at| now.since(at) > self.manner.every());
        for (&node, pulse) in &mut self.watched {
            if stood_still && !planted::is(Bug::StandstillCounts) {
                pulse.forget(now);
            } else if pulse.expire(now, &self.manner) {
                self.notices.push_back(Notice::Suspected(node));
            }
        }
    }

    fn ping(&mut self, now: Time) {
        for (&to, pulse) in &mut self.watched {
            if pulse.ping(now, self.number, &self.manner) {
                let message = Message::Ping(self.number);
                self.effects.push_back(Effect::Send { to, message });
                self.number += 1;
            }
        }
    }
}

impl Protocol for Detector {
    type Input = Input;
    type Effect = Effect;
    type Notice = Notice;

    /// Numbers begin with the clock, so that an answer to a former life of this process fits nothing.
    fn begin(&mut self, now: Time) {
        self.number = now.as_nanos();
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.expire(now);
        match input {
            Input::Wake => {}
            Input::Watch(nodes) => self.watch(now, &nodes),
            Input::Message { from, message } => self.hear(now, from, message),
            Input::Unreachable(node) => {
                if self.watched.get_mut(&node).is_some_and(Pulse::suspect) {
                    self.notices.push_back(Notice::Suspected(node));
                }
            }
        }
        self.ping(now);
    }

    fn wake_at(&self) -> Option<Time> {
        self.watched.values().map(|pulse| pulse.wake_at(&self.manner)).min()
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
