//! Which voter set counts, and how it is founded and changed.
//!
//! Assumes: nothing; a voter may belong to another cluster, and a list may differ from those of others.
//! Promises: nothing is asked of voters before all of them are known by the disks that they keep
//! ([`FOUNDED`](crate::quorum::FOUNDED)). A voter set of another cluster is never adopted, and an
//! older one never again.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use super::{Notice, QuorumClient, Stage};
use crate::identity::Incarnation;
use crate::node::NodeId;
use crate::quorum::FOUNDED;
use crate::quorum::question::{AGAIN, Question};
use crate::ratify::amend::{self, Amendment, Change, Charter, Move, Progress};
use crate::ratify::electorate::Electorate;
use crate::ratify::voter::{Inventory, Reply};
use crate::time::Time;

/// How long a change of the voters waits for answers before it goes on with fewer.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long two who change the voters at once keep out of each other's way.
const PAUSE: Duration = Duration::from_millis(20);

impl<K: Ord + Clone, V: Charter + PartialEq> QuorumClient<K, V> {
    /// Another voter set is in use, as a voter says. Tells whether that is news.
    pub fn adopt(&mut self, electorate: Electorate) -> bool {
        let (mine, theirs) = (self.electorate.number(), electorate.number());
        if !self.electorate.is_akin(&electorate)
            || (mine == theirs && !self.electorate.is_same(&electorate))
        {
            if !core::mem::replace(&mut self.estranged, true) {
                self.notices.push_back(Notice::Stranger(electorate));
            }
            return false;
        }
        if theirs <= mine {
            return false;
        }
        let before = core::mem::replace(&mut self.electorate, electorate.clone());
        self.notices.push_back(Notice::Voters { before, after: electorate });
        true
    }

    /// Asks all voters which disks they have, and whether they keep the voter set that says so.
    pub(super) fn found(&mut self, now: Time) {
        self.stage = Stage::Founding { lineages: BTreeMap::new(), kept: BTreeSet::new() };
        self.ask(now, Question::Inventory);
    }

    fn founding(&mut self, now: Time, from: NodeId, inventory: Inventory<K>) {
        let Stage::Founding { lineages, kept } = &mut self.stage else { return };
        let number = self.electorate.number();
        let voters = self.electorate.voters();
        match inventory {
            Inventory::Outdated(other) => {
                if number == 0 && other.number() < FOUNDED && other.voters() != voters {
                    return self.end(Notice::Differs(other));
                }
                if self.adopt(other) {
                    self.go_on(now);
                }
            }
            Inventory::NoVoter { lineage: Some(lineage) } if number == 0 => {
                lineages.insert(from, lineage);
                if voters.iter().all(|voter| lineages.contains_key(voter)) {
                    self.electorate = Electorate::founded(core::mem::take(lineages));
                    self.go_on(now);
                }
            }
            Inventory::Keys { .. } => {
                kept.insert(from);
                if voters == kept {
                    let confirmed = self.electorate.confirmed();
                    let _ = self.adopt(confirmed);
                    self.go_on(now);
                }
            }
            // It lost its disk meanwhile, and others may have been founded with the next one: who
            // begins anew hears of it. That is no more than a restart of this process.
            Inventory::NoVoter { .. } if number > 0 => {
                self.electorate = self.first.clone();
                self.open = None;
                self.stage = Stage::Pausing { until: now + AGAIN };
            }
            Inventory::NoVoter { .. } => {}
        }
    }

    pub(super) fn hear_inventory(&mut self, now: Time, from: NodeId, inventory: Inventory<K>) {
        match &mut self.stage {
            Stage::Founding { .. } => self.founding(now, from, inventory),
            Stage::Listing { .. } => self.listing(now, from, inventory),
            Stage::Amending { .. } => {
                self.amend_heard(now, from, amend::Answer::Inventory(inventory));
            }
            _ => {}
        }
    }

    /// Begins a change of the voters.
    pub(super) fn amend(&mut self, now: Time, me: Incarnation, change: Change) {
        let (charter, electorate) = (self.charter.clone(), self.electorate.clone());
        let amendment = Box::new(Amendment::new(me, charter, electorate, change));
        self.stage = Stage::Amending { amendment, serial: 0, until: now, pausing: false };
        self.amend_ask(now);
    }

    /// Puts the question that the change asks now.
    fn amend_ask(&mut self, now: Time) {
        let Stage::Amending { amendment, serial, until, pausing } = &mut self.stage else { return };
        let Some((number, question)) = amendment.question() else { return self.rest() };
        (*serial, *until, *pausing) = (number, now + PATIENCE, false);
        let (electorate, to) = (amendment.electorate().clone(), amendment.whom());
        let question = match question {
            amend::Question::List => Question::Inventory,
            amend::Question::Asks(asks) => Question::Registers(asks),
        };
        self.ask_these(now, electorate, to, question, PATIENCE / 4);
    }

    pub(super) fn amending(&mut self, now: Time, from: NodeId, replies: Vec<Reply<V>>) {
        self.amend_heard(now, from, amend::Answer::Replies(replies));
    }

    /// How far the change of the voters is that is under way.
    pub fn progress(&self) -> Option<Progress> {
        match &self.stage {
            Stage::Amending { amendment, .. } => Some(amendment.progress()),
            _ => None,
        }
    }

    fn amend_heard(&mut self, now: Time, from: NodeId, answer: amend::Answer<K, V>) {
        let Stage::Amending { amendment, serial, pausing: false, .. } = &mut self.stage else {
            return;
        };
        let step = amendment.hear(from, *serial, answer);
        self.amended(now, step);
    }

    /// A pause is over, or no answer came for long.
    pub(super) fn amend_on(&mut self, now: Time) {
        let Stage::Amending { amendment, pausing, .. } = &mut self.stage else { return };
        let step = if *pausing { Move::Ask } else { amendment.go_on() };
        self.amended(now, step);
    }

    fn amended(&mut self, now: Time, step: Move) {
        match step {
            Move::Wait => {
                if let Stage::Amending { until, .. } = &mut self.stage {
                    *until = now + PATIENCE;
                }
            }
            Move::Ask => self.amend_ask(now),
            Move::Contended => {
                self.open = None;
                if let Stage::Amending { until, pausing, .. } = &mut self.stage {
                    (*until, *pausing) = (now + PAUSE, true);
                }
            }
            Move::Done(electorate) => {
                let _ = self.adopt(electorate.clone());
                self.end(Notice::Amended(Ok(electorate)));
            }
            Move::Refused(why) => self.end(Notice::Amended(Err(why))),
        }
    }
}
