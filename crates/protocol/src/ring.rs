//! The ring: Chang and Roberts' election, as the cloud database of the third seed runs it, and with
//! what that assumes away.
//!
//! Assumes: what [`nomination`](crate::nomination) assumes. The order of
//! [`Input::Nodes`] is the order of the ring.
//! Promises: while messages arrive, one is picked in each run, and it is the highest of those who may
//! be picked. Where they do not, every wait has an end: a neighbour that does not acknowledge is
//! passed over, a run that picks nobody is followed by another, and a node that nobody unblocks
//! unblocks itself.
//!
//! | file | noun |
//! |---|---|
//! | `words` | what nodes say |
//! | `timeouts` | how long they wait |
//! | `steps` | the steps of the seed |
//! | `hops` | how a word reaches the next neighbour that lives |
//! | `news` | what is late, asked or answered |

use core::time::Duration;
use std::collections::{BTreeSet, VecDeque};

use crate::caucus::peers::{Inquiry, Peers};
use crate::node::NodeId;
use crate::nomination::{Effect, Input, Notice, Run};
use crate::planted::{self, Bug};
use crate::protocol::Protocol;
use crate::time::Time;

mod hops;
mod news;
mod steps;
#[cfg(test)]
mod tests;
mod timeouts;
mod words;

use hops::Hop;

pub use crate::caucus::waits::{Rejoin, WaitError};
pub use timeouts::Timeouts;
pub use words::{Message, Word};

/// Since it heard of an elected message it begins no run of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Block {
    /// When it is removed if nobody removes it.
    until: Time,
    /// Nobody leads, it learned meanwhile.
    vacant: bool,
}

/// One node of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    peers: Peers,
    timeouts: Timeouts,
    rejoin: Rejoin,
    /// The newest run that it knows of.
    run: Run,
    /// Whether it sent or passed on an election message in this run.
    participant: bool,
    /// Whom this run picked.
    nominee: Option<NodeId>,
    /// Whether the nominee is known to lead, from elsewhere.
    led: bool,
    /// Whether it ever heard of a run or of a leader.
    informed: bool,
    /// The numbers that it sent or passed on in this run: none goes by twice.
    passed: BTreeSet<Option<NodeId>>,
    /// Words whose acknowledgement is awaited.
    hops: Vec<Hop>,
    inquiry: Option<Inquiry>,
    block: Option<Block>,
    /// When the run has taken too long: for the nominee, until its own message came round.
    ends_at: Option<Time>,
    /// When the nominee says again that it was picked.
    repeats_at: Option<Time>,
    effects: VecDeque<Effect<Message>>,
    notices: VecDeque<Notice>,
}

impl Ring {
    /// A node that knows of nobody else and may be picked.
    pub fn new(me: NodeId, timeouts: Timeouts, rejoin: Rejoin) -> Self {
        Ring {
            peers: Peers::new(me),
            timeouts,
            rejoin,
            run: Run::default(),
            participant: false,
            nominee: None,
            led: false,
            informed: false,
            passed: BTreeSet::new(),
            hops: Vec::new(),
            inquiry: None,
            block: None,
            ends_at: None,
            repeats_at: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// How long it waits for what.
    pub const fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The newest run that it knows of.
    pub const fn run(&self) -> Run {
        self.run
    }

    /// Whom that run picked.
    pub const fn nominee(&self) -> Option<NodeId> {
        self.nominee
    }

    /// Whether it takes part in a run that picked nobody yet.
    pub const fn is_participant(&self) -> bool {
        self.participant
    }

    /// Whether it is blocked: it begins no run until it is unblocked.
    pub const fn is_blocked(&self) -> bool {
        self.block.is_some()
    }

    /// Whether a run is under way, or a question whether anybody leads.
    pub const fn is_electing(&self) -> bool {
        self.inquiry.is_some() || (self.ends_at.is_some() && self.nominee.is_none())
    }

    /// The node can be reached again, as something else than its messages shows.
    pub fn reach(&mut self, node: NodeId) {
        self.peers.reach(node);
    }

    fn tick(&mut self, now: Time) {
        if self.inquiry.as_ref().is_some_and(|inquiry| inquiry.is_over(now)) {
            self.start(now, self.run.next());
        }
        if self.block.as_ref().is_some_and(|block| block.until <= now) {
            self.unblock(now);
        }
        self.pass_over_the_silent(now);
        if self.ends_at.is_some_and(|until| until <= now) {
            if self.nominee.is_some() {
                self.finish();
            } else {
                self.start(now, self.run.next());
            }
        }
        if self.repeats_at.is_some_and(|at| at <= now) {
            let current = self.current();
            self.tell_all(current);
            self.repeats_at = self.timeouts.repeat().map(|every| now + every);
        }
    }

    /// A neighbour is passed over for as long as a run may take, or until it is heard of.
    fn lose(&mut self, now: Time, node: NodeId) {
        self.peers.lose(node, now + self.timeouts.election(self.peers.count()));
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.effects.push_back(Effect::Send { to, message });
    }

    fn tell_all(&mut self, message: Message) {
        let others: Vec<NodeId> = self.peers.others().collect();
        for to in others {
            self.send(to, message);
        }
    }

    /// How long a run may take, and a share of that which is this node's own.
    fn patience(&self) -> Duration {
        let span = self.timeouts.election(self.peers.count());
        span + self.peers.jitter(self.timeouts.hop())
    }
}

impl Protocol for Ring {
    type Input = Input<Message>;
    type Effect = Effect<Message>;
    type Notice = Notice;

    fn begin(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, input: Input<Message>) {
        self.peers.forgive(now);
        match input {
            Input::Wake => {}
            Input::Nodes(nodes) => {
                self.peers.set(nodes);
                self.pass_over_those_who_left(now);
            }
            Input::Eligible(eligible) => self.set_eligible(now, eligible),
            Input::Vacant => self.set_vacant(now),
            Input::Led(leader) => self.set_led(leader),
            Input::Unreachable(node) => {
                if !planted::is(Bug::DeadNeighbour) {
                    self.lose(now, node);
                    self.pass_over(now, node);
                }
                if let Some(inquiry) = &mut self.inquiry {
                    inquiry.awaited.remove(&node);
                }
            }
            Input::Message { from, .. } if from == self.peers.me() => {}
            Input::Message { from, message } => {
                self.peers.reach(from);
                self.hear(now, from, message);
            }
        }
        self.tick(now);
    }

    fn wake_at(&self) -> Option<Time> {
        let hops = self.hops.iter().map(|hop| hop.until);
        let inquiry = self.inquiry.as_ref().map(|inquiry| inquiry.until);
        let block = self.block.as_ref().map(|block| block.until);
        let waits = [inquiry, block, self.ends_at, self.repeats_at];
        hops.chain(waits.into_iter().flatten()).min()
    }

    fn poll_effect(&mut self) -> Option<Effect<Message>> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
