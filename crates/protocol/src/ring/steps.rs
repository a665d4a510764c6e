//! The steps of the seed: participants, larger, smaller and equal numbers, the elected message, and
//! the block.
//!
//! Assumes: words of older runs were sorted out. Promises: the seed's steps, and nothing else, while
//! every message arrives and nobody fails.

use core::cmp::Ordering;
use std::collections::BTreeSet;

use super::words::{Message, Word};
use super::{Block, Rejoin, Ring};
use crate::caucus::peers::Inquiry;
use crate::node::NodeId;
use crate::nomination::{Notice, Run};
use crate::planted::{self, Bug};
use crate::time::Time;

impl Ring {
    /// Nobody leads: begins a run, unless one is under way or it is blocked.
    pub(super) fn set_vacant(&mut self, now: Time) {
        self.led = false;
        if self.is_electing() {
            return;
        }
        if let Some(block) = &mut self.block {
            block.vacant = true;
            return;
        }
        let awaited: BTreeSet<NodeId> = self.peers.within_reach().collect();
        if self.informed || self.rejoin == Rejoin::Preempting || awaited.is_empty() {
            self.start(now, self.run.next());
            return;
        }
        for &to in &awaited {
            self.send(to, Message::Ask);
        }
        self.inquiry = Some(Inquiry { until: now + self.timeouts.hop(), awaited });
    }

    /// Begins a run: creates an election message and sends it to its neighbour.
    pub(super) fn start(&mut self, now: Time, run: Run) {
        self.enter(now, run);
        let mine = self.peers.eligible.then_some(self.peers.me());
        if mine.is_none() && self.peers.next_after(self.peers.me()).is_none() {
            // Nobody is there who could be picked.
            self.ends_at = None;
            return;
        }
        self.pass_on(now, mine);
        if planted::is(Bug::ElectedAtFirst) && mine.is_some() && self.nominee.is_none() {
            self.win(now);
        }
    }

    /// Learns of a run: nobody is picked in it yet, and this node is no participant.
    pub(super) fn enter(&mut self, now: Time, run: Run) {
        self.run = run;
        self.informed = true;
        self.participant = false;
        self.nominee = None;
        self.led = false;
        self.passed.clear();
        self.hops.clear();
        self.inquiry = None;
        self.block = None;
        self.ends_at = Some(now + self.patience());
        self.repeats_at = None;
        self.notices.push_back(Notice::Began { run });
    }

    /// An election message: compares its number with this node's own.
    pub(super) fn hear_election(&mut self, now: Time, from: NodeId, best: Option<NodeId>) {
        if self.nominee.is_some() {
            // Blocked, or already over: it goes no further.
            if !self.is_blocked() {
                let current = self.current();
                self.send(from, current);
            }
            return;
        }
        if let Some(best) = best.filter(|_| !self.passed.contains(&best)) {
            // It lived when the run began, whoever could not reach it.
            self.peers.reach(best);
        }
        let mine = self.peers.eligible.then_some(self.peers.me());
        match best.cmp(&mine) {
            Ordering::Greater => self.pass_on(now, best),
            Ordering::Equal if mine.is_some() => self.win(now),
            _ if !self.participant => self.pass_on(now, mine),
            _ if planted::is(Bug::ForwardsSmaller) => self.pass_on(now, best),
            _ => {}
        }
    }

    /// Sends or forwards an election message, and is a participant from then on.
    fn pass_on(&mut self, now: Time, best: Option<NodeId>) {
        self.participant = true;
        if self.passed.insert(best) || planted::is(Bug::NumberTwice) {
            self.send_word(now, Word::Election { run: self.run, best });
        }
    }

    /// Its number came round: it is no participant any more, and says so to its neighbour.
    pub(super) fn win(&mut self, now: Time) {
        let nominee = self.peers.me();
        self.pick(now, nominee);
        self.ends_at = Some(now + self.patience());
        self.send_word(now, Word::Elected { run: self.run, nominee });
    }

    /// An elected message.
    pub(super) fn hear_elected(&mut self, now: Time, from: NodeId, nominee: NodeId) {
        if nominee == self.peers.me() {
            self.hear_own_elected(now, from);
            return;
        }
        match self.nominee {
            Some(known) if known == nominee => {}
            // Two were picked in one run, which takes a message that was lost: the higher stands.
            Some(known) if (known > nominee) != planted::is(Bug::LowerStands) => {
                let current = self.current();
                self.send(from, current);
                self.send(nominee, current);
            }
            _ => {
                self.pick(now, nominee);
                let until = now + self.timeouts.block(self.peers.count());
                self.block = Some(Block { until, vacant: false });
                self.send_word(now, Word::Elected { run: self.run, nominee });
            }
        }
    }

    /// Its own elected message came round.
    fn hear_own_elected(&mut self, now: Time, from: NodeId) {
        let me = self.peers.me();
        if self.nominee == Some(me) {
            // A second copy of it removes no second block.
            if self.ends_at.is_some() {
                self.finish();
            }
        } else if self.nominee.is_some() {
            let current = self.current();
            self.send(from, current);
        } else if self.peers.eligible {
            // Picked in a life before this one.
            self.pick(now, me);
            self.finish();
        } else {
            self.start(now, self.run.next());
        }
    }

    /// The nominee discards its elected message and removes the block of the others.
    pub(super) fn finish(&mut self) {
        self.ends_at = None;
        let (run, nominee) = (self.run, self.peers.me());
        self.tell_all(Message::Unblock { run, nominee });
    }

    /// Takes note of whom the run picked.
    pub(super) fn pick(&mut self, now: Time, nominee: NodeId) {
        self.participant = false;
        self.nominee = Some(nominee);
        self.led = false;
        self.inquiry = None;
        self.ends_at = None;
        let mine = nominee == self.peers.me();
        self.repeats_at = self.timeouts.repeat().filter(|_| mine).map(|every| now + every);
        self.notices.push_back(Notice::Picked { run: self.run, nominee });
    }

    /// The block is removed, by the nominee or by time.
    pub(super) fn unblock(&mut self, now: Time) {
        if planted::is(Bug::BlockedForGood) {
            return;
        }
        if self.block.take().is_some_and(|block| block.vacant) {
            self.set_vacant(now);
        }
    }

    /// Somebody is known to lead: no run is needed.
    pub(super) fn set_led(&mut self, leader: NodeId) {
        let proclaims = leader == self.peers.me() && self.nominee == Some(leader);
        if !proclaims {
            self.hops.clear();
            self.ends_at = None;
        }
        self.informed = true;
        self.participant = false;
        self.nominee = Some(leader);
        self.led = true;
        self.inquiry = None;
        self.block = None;
        self.repeats_at = None;
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
