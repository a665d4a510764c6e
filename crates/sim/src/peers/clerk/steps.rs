//! Which stages an errand goes through, from its beginning to its end.
//!
//! Assumes: one errand at a time. Promises: whatever ends an errand says what came of it, or that
//! nobody knows.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::lease::request::{Denied, Done, Refusal, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::ratify::amend::Amendment;
use incumbent_protocol::ratify::proposal::Reading;
use incumbent_protocol::ratify::{Ask, Ballot, Electorate, Proposal};

use super::{Aim, Clerk, Clocks, FOUNDED, Finished, Stage, Task};
use crate::peers::words::{Key, Value};

/// So often a read looks again before it completes what it found half done.
const LOOKS: u32 = 4;

impl Clerk {
    /// Begins, or goes on once an electorate is known.
    pub(super) fn set_out(&mut self, now: Clocks) {
        if self.electorate.number() < FOUNDED {
            self.found(now);
            return;
        }
        let Some(errand) = &self.errand else { return };
        match &errand.task {
            Task::Request(_, Request::Look | Request::Bid(_)) | Task::Look => self.look(now, 0),
            Task::Request(_, Request::Renew(_)) => {
                if !self.renew_shortly(now) {
                    self.heed(now, Aim::Decide);
                }
            }
            Task::Request(..) | Task::Order(..) => {
                if !self.decide_shortly(now) {
                    self.heed(now, Aim::Decide);
                }
            }
            Task::Amend(change) => {
                let electorate = Electorate::clone(&self.electorate);
                let amendment = Amendment::new(self.me, Key::Electorate, electorate, *change);
                self.amend(now, Box::new(amendment));
            }
        }
    }

    fn found(&mut self, now: Clocks) {
        self.enter(Stage::Founding { lineages: BTreeMap::new(), kept: BTreeSet::new() });
        self.put_inventory(now);
    }

    pub(super) fn look(&mut self, now: Clocks, looks: u32) {
        if looks >= LOOKS {
            return self.heed(now, Aim::Read);
        }
        let reading = Reading::new(Electorate::clone(&self.electorate));
        self.enter(Stage::Looking { reading, looks, until: None });
        self.put(now, Key::Election, Ask::Show);
    }

    /// The voters are not of one mind: what is new is relayed, before a ballot is raised.
    pub(super) fn look_again(
        &mut self,
        now: Clocks,
        looks: u32,
        relay: Option<(Ballot, Ask<Value>)>,
    ) {
        let Some(errand) = &mut self.errand else { return };
        match relay {
            Some((ballot, ask)) if looks >= LOOKS && errand.relayed != Some(ballot) => {
                errand.relayed = Some(ballot);
                self.put(now, Key::Election, ask);
                // On the same link, so that what is shown comes after it.
                self.look(now, 0);
            }
            _ => self.look(now, looks),
        }
    }

    pub(super) fn heed(&mut self, now: Clocks, aim: Aim) {
        let proposal = self.proposer.attempt(&self.electorate);
        let ask = Ask::Heed(proposal.ballot());
        self.enter(Stage::Heeding { proposal, aim });
        self.put(now, Key::Election, ask);
    }

    pub(super) fn propose(
        &mut self,
        now: Clocks,
        mut proposal: Proposal<Value>,
        value: Value,
        aim: Aim,
    ) {
        proposal.propose(value.clone());
        let ask = Ask::Accept(proposal.ballot(), value.clone());
        self.enter(Stage::Accepting { proposal, value, aim });
        self.put(now, Key::Election, ask);
    }

    pub(super) fn step_aside(&mut self, now: Clocks, aim: Option<Aim>) {
        self.overruled = self.overruled.saturating_add(1);
        let most = 1u64 << self.overruled.min(5);
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let share = (self.me.bits() >> (self.overruled % 64)) as u64 % 1_000;
        let until = now.local + Duration::from_micros(200 + most * share);
        self.enter(Stage::Aside { until, aim });
    }

    pub(super) fn enter(&mut self, stage: Stage) {
        if let Some(errand) = &mut self.errand {
            errand.stage = stage;
            errand.question = None;
        }
    }

    /// Nothing is known of it.
    pub(super) fn give_up(&mut self) {
        let finished = match self.errand.as_ref().map(|errand| &errand.task) {
            Some(Task::Request(ticket, _)) => Finished::Request(*ticket, Outcome::Unknown),
            Some(Task::Order(..)) => Finished::Order(false),
            Some(Task::Look) => Finished::Looked(None),
            Some(Task::Amend(_)) => Finished::Amend(false),
            None => return,
        };
        self.finish(finished);
    }

    pub(super) fn finish(&mut self, finished: Finished) {
        self.errand = None;
        self.finished.push_back(finished);
    }

    fn ticket(&self) -> Option<Ticket> {
        match self.errand.as_ref()?.task {
            Task::Request(ticket, _) => Some(ticket),
            _ => None,
        }
    }

    pub(super) fn answer(&mut self, outcome: Outcome<Done, Denied>) {
        if let Some(ticket) = self.ticket() {
            self.finish(Finished::Request(ticket, outcome));
        }
    }

    pub(super) fn over(&mut self) {
        self.answer(Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None }));
    }
}
