//! The steps of the lecture: the highest, the election, the answer, the coordinator, and both
//! timeouts.
//!
//! Assumes: messages of older runs were sorted out. Promises: the lecture's steps, and nothing else,
//! while every message arrives in time and nobody fails.

use core::time::Duration;
use std::collections::BTreeSet;

use super::words::Message;
use super::{Bully, Phase, Rejoin};
use crate::caucus::peers::Inquiry;
use crate::node::NodeId;
use crate::nomination::{Notice, Run};
use crate::planted::{self, Bug};
use crate::time::Time;

impl Bully {
    /// The coordinator has failed: begins a run, unless one is under way.
    pub(super) fn set_vacant(&mut self, now: Time) {
        self.led = false;
        if self.is_electing() {
            return;
        }
        let awaited: BTreeSet<NodeId> = self.peers.within_reach().collect();
        if self.informed || self.rejoin == Rejoin::Preempting || awaited.is_empty() {
            self.start(now, self.run.next());
            return;
        }
        self.send_each(awaited.clone(), Message::Ask);
        self.phase = Phase::Asking(Inquiry { until: now + self.timeouts.answer(), awaited });
    }

    /// Begins a run.
    pub(super) fn start(&mut self, now: Time, run: Run) {
        self.enter(run);
        self.elect(now);
    }

    /// Learns of a run: nobody is picked in it yet.
    pub(super) fn enter(&mut self, run: Run) {
        self.run = run;
        self.informed = true;
        self.phase = Phase::Idle;
        self.nominee = None;
        self.led = false;
        self.repeats_at = None;
        self.notices.push_back(Notice::Began { run });
    }

    /// If it knows that it is the highest, it is picked; else it asks those who are higher. One that
    /// may not be picked is lower than everybody.
    pub(super) fn elect(&mut self, now: Time) {
        let (me, eligible) = (self.peers.me(), self.peers.eligible);
        let rivals = self.peers.within_reach().filter(|node| !eligible || *node > me);
        let awaited: BTreeSet<NodeId> = rivals.collect();
        if awaited.is_empty() {
            self.hear_nobody(now);
            return;
        }
        self.send_each(awaited.clone(), Message::Election { run: self.run });
        self.phase = Phase::Answers { until: now + self.timeouts.answer(), awaited };
    }

    /// Nobody higher lives.
    pub(super) fn hear_nobody(&mut self, now: Time) {
        if self.peers.eligible || planted::is(Bug::UnfitProclaims) {
            self.proclaim(now);
        } else {
            self.phase = Phase::Idle;
        }
    }

    /// It is picked, and says so: to all that are lower, lost or not, and to any that is higher and may
    /// live.
    pub(super) fn proclaim(&mut self, now: Time) {
        let me = self.peers.me();
        self.pick(now, me);
        let others = self.peers.others();
        let others = others.filter(|node| *node < me || !self.peers.is_lost(*node));
        let others: Vec<NodeId> = others.collect();
        self.send_each(others, Message::Coordinator { run: self.run });
    }

    /// Takes note of whom the run picked.
    pub(super) fn pick(&mut self, now: Time, nominee: NodeId) {
        self.phase = Phase::Idle;
        self.nominee = Some(nominee);
        self.led = false;
        let mine = nominee == self.peers.me();
        self.repeats_at = self.timeouts.repeat().filter(|_| mine).map(|every| now + every);
        self.notices.push_back(Notice::Picked { run: self.run, nominee });
    }

    /// An election message of this run: answers, and begins an election of its own unless it has
    /// already done so. One that may not be picked only waits for what comes of it.
    pub(super) fn hear_election(&mut self, now: Time, from: NodeId) {
        if self.nominee == Some(self.peers.me()) {
            self.send(from, Message::Coordinator { run: self.run });
        } else if self.nominee.is_some() {
            let current = self.current();
            self.send(from, current);
        } else if self.peers.eligible {
            self.send(from, Message::Ok { run: self.run });
            if matches!(self.phase, Phase::Idle | Phase::Asking(_)) {
                self.elect(now);
            }
        } else if !self.is_electing() {
            self.await_coordinator(now, None);
        }
    }

    /// Somebody higher answered in this run.
    pub(super) fn hear_ok(&mut self, now: Time, from: NodeId) {
        match &mut self.phase {
            Phase::Answers { .. } => self.await_coordinator(now, Some(from)),
            Phase::Coordinator { answered, .. } => {
                answered.insert(from);
            }
            Phase::Idle | Phase::Asking(_) => {}
        }
    }

    /// Waits for a coordinator, for longer than a higher node waits for answers.
    pub(super) fn await_coordinator(&mut self, now: Time, answered: Option<NodeId>) {
        let mut wait = self.timeouts.coordinator() + self.peers.jitter(self.timeouts.message());
        if planted::is(Bug::NoCoordinatorTimeout) {
            wait = Duration::MAX;
        }
        self.phase =
            Phase::Coordinator { until: now + wait, answered: answered.into_iter().collect() };
    }

    /// Somebody is known to lead: no run is needed.
    pub(super) fn set_led(&mut self, leader: NodeId) {
        self.informed = true;
        self.phase = Phase::Idle;
        self.nominee = Some(leader);
        self.led = true;
        self.repeats_at = None;
    }

    /// Takes the list of those who take part. Nobody waits for those who left.
    pub(super) fn set_nodes(&mut self, now: Time, nodes: Vec<NodeId>) {
        let before: Vec<NodeId> = self.peers.others().collect();
        self.peers.set(nodes);
        for node in before {
            if !self.peers.has(node) {
                self.lose(now, node);
                self.peers.reach(node);
            }
        }
    }

    /// This node may be picked from now on, or may not.
    pub(super) fn set_eligible(&mut self, now: Time, eligible: bool) {
        if core::mem::replace(&mut self.peers.eligible, eligible) == eligible {
            return;
        }
        let me = self.peers.me();
        let resigns = !eligible && self.nominee == Some(me) && !self.led;
        let preempts = eligible
            && self.rejoin == Rejoin::Preempting
            && self.nominee.is_some_and(|nominee| nominee < me);
        if resigns || preempts {
            self.start(now, self.run.next());
        }
    }
}
