//! One election of one node among its peers: when a run begins, and whom it picked.
//!
//! Assumes: the driver says who takes part and who leads (as a register shows it or, where nothing is
//! ratified, whoever was picked last), and lets a [`Detector`](crate::detector::Detector) watch whom
//! [`Caucus::watches`] names. No run begins before both were said once.
//! Promises: a run begins when nobody leads or the leader is suspected, and again when whom it picked
//! is suspected, left, or does not lead in time. While somebody leads and is not suspected, it is
//! the nominee, whomever a run picked meanwhile.
//!
//! | file | noun |
//! |---|---|
//! | `words` | what comes in and goes out |
//! | `machine` | a ring or a bully |
//! | `peers` | who takes part, and who of them is lost |
//! | `waits` | manners of coming back, and waits that are too short |

use core::time::Duration;
use std::collections::{BTreeSet, VecDeque};

use crate::node::NodeId;
use crate::nomination::{self, Run};
use crate::protocol::Protocol;
use crate::time::Time;

mod machine;
pub(crate) mod peers;
#[cfg(test)]
mod tests;
pub(crate) mod waits;
mod words;

use machine::Machine;

pub use machine::Manner;
pub use waits::{Rejoin, WaitError};
pub use words::{Effect, Input, Message, Notice};

/// After so many message times without a pick it asks for a run again, unless one is under way.
const RUN: u32 = 40;

/// One election of one node among its peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caucus {
    me: NodeId,
    machine: Machine,
    rejoin: Rejoin,
    /// How long whoever was picked has to lead; `None` if nobody ratifies it.
    patience: Option<Duration>,
    eligible: bool,
    /// `None` until the driver said who takes part.
    nodes: Option<BTreeSet<NodeId>>,
    /// Whether the driver said whether anybody leads.
    looked: bool,
    leader: Option<NodeId>,
    /// Of those whom it watches.
    suspected: BTreeSet<NodeId>,
    /// Whom the newest run picked.
    picked: Option<NodeId>,
    /// Until when a run, or whom it picked, is waited for.
    until: Option<Time>,
    /// Whom the machine takes for the leader.
    led: Option<NodeId>,
    /// The nominee that was told last.
    told: Option<NodeId>,
    effects: VecDeque<Effect>,
    notices: VecDeque<Notice>,
}

impl Caucus {
    /// A node that may be picked. Whoever is picked has `patience` to become leader; after that a run
    /// begins again.
    pub fn new(me: NodeId, manner: Manner, rejoin: Rejoin, patience: Duration) -> Self {
        Caucus { patience: Some(patience), ..Caucus::unratified(me, manner, rejoin) }
    }

    /// The same where nobody ratifies: whoever is picked counts as leader, and whom
    /// [`Input::Leader`] names does not matter, only that it was said.
    pub fn unratified(me: NodeId, manner: Manner, rejoin: Rejoin) -> Self {
        Caucus {
            me,
            machine: Machine::new(me, manner, rejoin),
            rejoin,
            patience: None,
            eligible: true,
            nodes: None,
            looked: false,
            leader: None,
            suspected: BTreeSet::new(),
            picked: None,
            until: None,
            led: None,
            told: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// Who should lead, as far as this node knows.
    pub fn nominee(&self) -> Option<NodeId> {
        if self.is_vacant() { self.picked } else { self.leader }
    }

    /// The newest run that it knows of.
    pub const fn run(&self) -> Run {
        self.machine.run()
    }

    /// Whether a run is under way here.
    pub const fn is_electing(&self) -> bool {
        self.machine.is_electing()
    }

    /// Whom to watch: the leader, or whoever was picked to take its place. One that leads watches
    /// everybody, so that heartbeats go both ways.
    pub fn watches(&self) -> BTreeSet<NodeId> {
        let leads = if self.patience.is_some() { self.leader } else { self.picked };
        if leads == Some(self.me) {
            let everybody = self.nodes.iter().flatten().copied();
            return everybody.filter(|node| *node != self.me).collect();
        }
        let picked = self.picked.filter(|_| self.is_vacant());
        self.leader.into_iter().chain(picked).filter(|node| *node != self.me).collect()
    }

    /// Whether somebody is to be picked: nobody leads, the leader is suspected, or this node may take
    /// its place.
    fn is_vacant(&self) -> bool {
        self.leader.is_none_or(|leader| {
            let preempts = self.rejoin == Rejoin::Preempting && self.eligible && leader < self.me;
            preempts || self.suspected.contains(&leader)
        })
    }

    /// Brings the machine in line with what is known, and tells what changed.
    fn settle(&mut self, now: Time) {
        self.collect(now);
        if self.nodes.is_some() && self.looked {
            if self.is_vacant() {
                self.led = None;
                self.begin_if_due(now);
            } else {
                self.lead_if_due(now);
            }
            self.collect(now);
        }
        let watched = self.watches();
        self.suspected.retain(|node| watched.contains(node));
        let nominee = self.nominee();
        if core::mem::replace(&mut self.told, nominee) != nominee {
            self.notices.push_back(Notice::Nominee(nominee));
        }
    }

    /// Begins a run: at once or, where one is under way or picked somebody, when that did not help.
    fn begin_if_due(&mut self, now: Time) {
        let gone = self.picked.is_some_and(|picked| {
            let left = self.nodes.as_ref().is_some_and(|nodes| !nodes.contains(&picked));
            left || self.suspected.contains(&picked)
        });
        if gone || self.until.is_none_or(|until| until <= now) {
            self.picked = None;
            self.wait(now);
            for &node in &self.suspected {
                self.machine.handle(now, machine::Input::Unreachable(node));
            }
            self.machine.handle(now, machine::Input::Vacant);
        }
    }

    /// Tells the machine who leads. A run that went by meanwhile, begun by somebody who suspects the
    /// leader, is left alone for a while: this node may be about to suspect it too.
    fn lead_if_due(&mut self, now: Time) {
        let waits = self.picked.is_some() && self.until.is_some_and(|until| until > now);
        if waits {
            return;
        }
        self.picked = None;
        self.until = None;
        if let Some(leader) = self.leader.filter(|leader| self.led != Some(*leader)) {
            self.led = Some(leader);
            self.machine.handle(now, machine::Input::Led(leader));
        }
    }

    /// Waits for whom was picked to lead, or for a run to pick somebody. Where nobody ratifies, whoever
    /// is picked leads.
    fn wait(&mut self, now: Time) {
        let run = self.machine.message_time() * RUN;
        let span = match self.picked {
            Some(_) => self.patience.unwrap_or(Duration::MAX),
            None => self.patience.map_or(run, |patience| patience.max(run)),
        };
        self.until = Some(now + span);
    }

    /// Takes what the machine gave out.
    fn collect(&mut self, now: Time) {
        while let Some(effect) = self.machine.poll_effect() {
            self.effects.push_back(effect);
        }
        while let Some(notice) = self.machine.poll_notice() {
            match notice {
                nomination::Notice::Began { .. } => {
                    self.picked = None;
                    self.wait(now);
                    self.notices.push_back(Notice::Began);
                }
                nomination::Notice::Picked { nominee, .. } => {
                    self.picked = Some(nominee);
                    self.led = None;
                    self.wait(now);
                }
            }
        }
    }

    fn set_leader(&mut self, leader: Option<NodeId>) {
        self.looked = true;
        if self.patience.is_none() || self.leader == leader {
            return;
        }
        self.leader = leader;
        if leader.is_some() {
            // It leads by other evidence than answers to this node.
            self.suspected.retain(|node| Some(*node) != leader);
            self.picked = None;
            self.until = None;
        }
    }
}

impl Protocol for Caucus {
    type Input = Input;
    type Effect = Effect;
    type Notice = Notice;

    fn begin(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Wake => self.machine.handle(now, machine::Input::Wake),
            Input::Nodes(nodes) => {
                self.nodes = Some(nodes.iter().copied().collect());
                self.machine.handle(now, machine::Input::Nodes(nodes));
            }
            Input::Eligible(eligible) => {
                if eligible && !self.eligible && self.picked.is_none() {
                    // A run that could pick nobody is not waited for by one that can be picked.
                    self.until = None;
                }
                self.eligible = eligible;
                self.machine.handle(now, machine::Input::Eligible(eligible));
            }
            Input::Leader(leader) => self.set_leader(leader),
            Input::Suspected(node) => {
                self.suspected.insert(node);
                self.machine.handle(now, machine::Input::Unreachable(node));
            }
            Input::Trusted(node) => {
                self.suspected.remove(&node);
                self.machine.reach(node);
            }
            Input::Unreachable(node) => {
                self.machine.handle(now, machine::Input::Unreachable(node));
            }
            Input::Message { from, message } => {
                self.machine.handle(now, machine::Input::Message { from, message });
            }
        }
        self.settle(now);
    }

    fn wake_at(&self) -> Option<Time> {
        [self.machine.wake_at(), self.until].into_iter().flatten().min()
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
