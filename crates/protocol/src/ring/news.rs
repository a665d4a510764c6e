//! What is late, asked or answered: the part of the ring that the seed leaves out.
//!
//! Assumes: nothing. Promises: whoever is behind learns of the newest run from whomever it speaks to;
//! an answer is never answered unless it is late itself, so that no two talk for ever.

use core::cmp::Ordering;

use super::words::{Message, Word};
use super::{Rejoin, Ring};
use crate::node::NodeId;
use crate::nomination::Run;
use crate::planted::{self, Bug};
use crate::time::Time;

impl Ring {
    /// A message, of whatever run.
    pub(super) fn hear(&mut self, now: Time, from: NodeId, message: Message) {
        match message {
            Message::Hop(word) => {
                self.send(from, Message::Ack(word));
                self.hear_word(now, from, word);
            }
            Message::Ack(word) => self.hear_ack(word),
            Message::Unblock { run, nominee } => {
                self.hear_current(now, from, run, Some(nominee));
                if run == self.run {
                    self.unblock(now);
                }
            }
            Message::Ask => {
                let current = self.current();
                self.send(from, current);
            }
            Message::Current { run, nominee } => self.hear_current(now, from, run, nominee),
        }
    }

    /// The newest run that it knows of, and whom it picked. It recommends nobody who cannot be
    /// reached.
    pub(super) fn current(&self) -> Message {
        let nominee = self.nominee.filter(|nominee| !self.peers.is_lost(*nominee));
        Message::Current { run: self.run, nominee }
    }

    fn hear_word(&mut self, now: Time, from: NodeId, word: Word) {
        match word.run().cmp(&self.run) {
            Ordering::Less => {
                let current = self.current();
                self.send(from, current);
                return;
            }
            Ordering::Equal => {}
            Ordering::Greater => {
                if planted::is(Bug::BlockedForGood) && self.is_blocked() {
                    return;
                }
                self.enter(now, word.run());
            }
        }
        match word {
            Word::Election { best, .. } => self.hear_election(now, from, best),
            Word::Elected { nominee, .. } => self.hear_elected(now, from, nominee),
        }
    }

    fn hear_current(&mut self, now: Time, from: NodeId, run: Run, nominee: Option<NodeId>) {
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.awaited.remove(&from);
        }
        match (run.cmp(&self.run), nominee) {
            (Ordering::Less, _) => {
                let current = self.current();
                self.send(from, current);
            }
            (Ordering::Equal, Some(nominee)) => self.compare(now, from, nominee),
            (Ordering::Equal, None) => {}
            (Ordering::Greater, None) => self.enter(now, run),
            (Ordering::Greater, Some(nominee)) => {
                self.enter(now, run);
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
            Some(known) if known > nominee => {
                let current = self.current();
                self.send(from, current);
            }
            _ if self.accepts(nominee) => self.pick(now, nominee),
            // It would have been picked itself, or whoever was is gone.
            _ if !self.is_electing() => self.start(now, self.run.next()),
            _ => {}
        }
    }

    /// Whether this node leaves it at the nominee of a run that it did not take part in.
    fn accepts(&self, nominee: NodeId) -> bool {
        let me = self.peers.me();
        let preempts = self.rejoin == Rejoin::Preempting && self.peers.eligible && nominee < me;
        let absent = if nominee == me { !self.peers.eligible } else { self.peers.is_lost(nominee) };
        !preempts && !absent
    }
}
