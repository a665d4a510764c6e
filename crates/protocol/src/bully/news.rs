//! What is late, asked or answered: the part of the bully that the lecture leaves out.
//!
//! Assumes: nothing. Promises: whoever is behind learns of the newest run from whomever it asks or
//! tells something, and from whoever was picked, who says so again and again. An answer is never
//! answered, be it late: two that are behind each other in turns would talk for ever.

use core::cmp::Ordering;

use super::words::Message;
use super::{Bully, Phase, Rejoin};
use crate::node::NodeId;
use crate::nomination::Run;
use crate::planted::{self, Bug};
use crate::time::Time;

impl Bully {
    /// A message, of whatever run.
    pub(super) fn hear(&mut self, now: Time, from: NodeId, message: Message) {
        match message {
            Message::Election { run } if run < self.run => self.answer_late(from),
            Message::Election { run } => {
                if run > self.run {
                    self.enter(run);
                }
                self.hear_election(now, from);
            }
            Message::Ok { run } if run == self.run => self.hear_ok(now, from),
            Message::Ok { .. } => {}
            Message::Coordinator { run } => self.hear_coordinator(now, from, run),
            Message::Ask => self.answer_late(from),
            Message::Current { run, nominee } => self.hear_current(now, from, run, nominee),
        }
    }

    /// The newest run that it knows of, and whom it picked. It recommends nobody who cannot be
    /// reached.
    pub(super) fn current(&self) -> Message {
        let nominee = self.nominee.filter(|nominee| !self.peers.is_lost(*nominee));
        Message::Current { run: self.run, nominee }
    }

    fn answer_late(&mut self, to: NodeId) {
        let current = self.current();
        self.send(to, current);
    }

    fn hear_coordinator(&mut self, now: Time, from: NodeId, run: Run) {
        if planted::is(Bug::StaleCoordinator) {
            self.pick(now, from);
            return;
        }
        if run < self.run {
            self.answer_late(from);
        } else if from > self.peers.me() || !self.peers.eligible {
            self.follow(now, from, run);
        } else if self.led && self.rejoin == Rejoin::Sticky {
            // Somebody leads, whoever else says so.
            self.run = run;
            self.answer_late(from);
        } else if run > self.run {
            // From a lower node, to which this one would have answered.
            self.start(now, run.next());
        } else if !self.is_electing() {
            match self.nominee {
                Some(known) if known >= from => self.compare(now, from, from),
                _ => self.start(now, run.next()),
            }
        }
    }

    /// A coordinator that this node does not overrule, of this run or a newer one.
    fn follow(&mut self, now: Time, nominee: NodeId, run: Run) {
        if run > self.run {
            self.enter(run);
            self.pick(now, nominee);
        } else {
            self.compare(now, nominee, nominee);
        }
    }

    fn hear_current(&mut self, now: Time, from: NodeId, run: Run, nominee: Option<NodeId>) {
        if let Phase::Asking(inquiry) = &mut self.phase {
            inquiry.awaited.remove(&from);
        }
        match (run.cmp(&self.run), nominee) {
            (Ordering::Less, _) | (Ordering::Equal, None) => {}
            (Ordering::Equal, Some(nominee)) => self.compare(now, from, nominee),
            (Ordering::Greater, None) => {
                self.enter(run);
                if self.peers.eligible {
                    self.elect(now);
                } else {
                    self.await_coordinator(now, None);
                }
            }
            (Ordering::Greater, Some(nominee)) => {
                self.enter(run);
                if self.accepts(nominee) {
                    self.pick(now, nominee);
                } else {
                    self.start(now, run.next());
                }
            }
        }
    }

    /// Two may have been picked in one run where a message was lost: the higher stands.
    fn compare(&mut self, now: Time, from: NodeId, nominee: NodeId) {
        match self.nominee {
            Some(known) if known == nominee || self.led => {}
            Some(known) if known > nominee => self.answer_late(from),
            _ if self.outbids(nominee) => {}
            _ if self.accepts(nominee) => self.pick(now, nominee),
            // It would have been picked itself, or whoever was is gone.
            _ if !self.is_electing() => self.start(now, self.run.next()),
            _ => {}
        }
    }

    /// Whether this node is about to be picked in this very run, and is higher.
    fn outbids(&self, nominee: NodeId) -> bool {
        let elects = matches!(self.phase, Phase::Answers { .. } | Phase::Coordinator { .. });
        elects && self.peers.eligible && nominee < self.peers.me()
    }

    /// Whether this node leaves it at the nominee of a run that it did not take part in.
    fn accepts(&self, nominee: NodeId) -> bool {
        let me = self.peers.me();
        let preempts = self.rejoin == Rejoin::Preempting && self.peers.eligible && nominee < me;
        let absent = if nominee == me { !self.peers.eligible } else { self.peers.is_lost(nominee) };
        !preempts && !absent
    }
}
