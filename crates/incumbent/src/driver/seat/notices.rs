//! What a candidacy has to say, passed on to everyone here who cares.
//!
//! Assumes: notices are taken in their order.
//! Promises: every one is in the history before anybody acts on it. A gained term goes to the first
//! who still waits for it, or is let go.

use std::sync::Arc;

use incumbent_protocol::candidacy::{Input, Notice};
use incumbent_protocol::history::Event;
use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::membership::News;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;
use tracing::debug;

use super::{Seat, Surroundings};
use crate::cell::Cell;
use crate::clock;
use crate::leadership::Leadership;
use crate::observe::Change;

impl Seat {
    pub(super) fn note(&mut self, around: &mut Surroundings<'_>) {
        while let Some(notice) = self.candidacy.poll_notice() {
            self.report.notice(&notice);
            match notice {
                Notice::Gained { term, lease, opening } => {
                    self.gained(term, lease.valid_until(), opening, around);
                }
                Notice::Renewed { term, lease } => self.renewed(term, lease.valid_until(), around),
                Notice::Unsure { term } => self.unsure(term, around),
                Notice::Lost { term, reason } => self.lost(term, reason, around),
                Notice::Leader(leader) => self.saw(leader, around),
                Notice::Rejected(refusal) => self.reject(&refusal),
                Notice::WentBack(refusal) => {
                    self.tell(&Change::WentBack { problem: refusal.to_string() });
                }
                Notice::Joined { id, life } => {
                    self.record(around, |election| Event::Joined {
                        election,
                        id,
                        life: life.as_micros(),
                    });
                    self.tell(&Change::Joined { id });
                }
                Notice::Evicted { id } => {
                    self.record(around, |election| Event::Evicted { election, id });
                    self.tell(&Change::Evicted { id });
                }
                Notice::Paced { round } => {
                    let round_us = u64::try_from(round.as_micros()).unwrap_or(u64::MAX);
                    self.record(around, |election| Event::Paced { election, round_us });
                    let timing = *self.candidacy.timing();
                    self.succeed(clock::now(), succession::Input::Timing(timing));
                    self.tell(&Change::Paced { round });
                }
                Notice::Member(news) => self.member(news, around),
            }
        }
    }

    /// Somebody came to the roster or was taken off it.
    fn member(&mut self, news: News, around: &mut Surroundings<'_>) {
        let News { id, candidate: who, came } = news;
        debug!(election = %self.election, %id, %who, came, "the roster changed");
        let change = if came {
            Change::Came { id, who: who.clone() }
        } else {
            Change::Died { id, who: who.clone() }
        };
        self.record(around, |election| {
            if came {
                Event::Came { election, id, who }
            } else {
                Event::Buried { election, id, who }
            }
        });
        self.tell(&change);
    }

    fn gained(&mut self, term: Term, until: Time, opening: Opening, around: &mut Surroundings<'_>) {
        self.record(around, |election| Event::Gained {
            election,
            term,
            valid_until: until,
            opening,
        });
        self.tell(&Change::Gained { term });
        let cell = Arc::new(Cell::new(until, around.lock.get().cloned()));
        self.cell = Some((term, Arc::clone(&cell)));
        self.sure = true;
        self.succeed(clock::now(), succession::Input::Gained(term));
        let Some(driver) = around.driver.upgrade() else {
            // Every handle is gone, so nobody can want this.
            return self.candidacy.handle(clock::now(), Input::Resign(term));
        };
        let patience = self.timeout() * 2;
        let mut leadership = Leadership::new(self.election.clone(), term, cell, driver, patience);
        while let Some(winner) = self.winners.pop_front() {
            match winner.send(Ok(leadership)) {
                Ok(()) | Err(Err(_)) => return,
                Err(Ok(unwanted)) => leadership = unwanted,
            }
        }
        // Nobody waits any more: dropping it lets go of it.
        drop(leadership);
    }

    fn renewed(&mut self, term: Term, until: Time, around: &mut Surroundings<'_>) {
        if let Some((_, cell)) = self.cell.as_ref().filter(|(held, _)| *held == term) {
            cell.extend(until);
        }
        self.record(around, |election| Event::Renewed { election, term, valid_until: until });
        if !std::mem::replace(&mut self.sure, true) {
            self.tell(&Change::Resumed { term });
        }
    }

    fn unsure(&mut self, term: Term, around: &mut Surroundings<'_>) {
        if let Some((_, cell)) = &self.cell {
            cell.suspend();
        }
        self.sure = false;
        self.record(around, |election| Event::Unsure { election, term });
        self.tell(&Change::Unsure { term });
    }

    fn lost(&mut self, term: Term, reason: Reason, around: &mut Surroundings<'_>) {
        if let Some((_, cell)) = self.cell.take() {
            cell.lose(reason);
        }
        self.succeed(clock::now(), succession::Input::Lost);
        if reason != Reason::Resigned {
            // Nothing is left to be handed over, even if the work never ends.
            for done in self.handing_over.drain(..) {
                let _ = done.send(());
            }
        }
        self.record(around, |election| Event::Lost { election, term, reason });
        self.tell(&Change::Lost { term, reason });
    }

    fn saw(&mut self, leader: Option<Leader>, around: &mut Surroundings<'_>) {
        debug!(election = %self.election, leader = ?leader.as_ref().map(ToString::to_string), "leader in sight");
        let (id, term) = leader.clone().map(|leader| (leader.id, leader.term)).unzip();
        self.record(around, |election| Event::Saw { election, leader: id, term });
        self.tell(&Change::Leader(leader));
    }

    fn record(&self, around: &mut Surroundings<'_>, event: impl FnOnce(ElectionName) -> Event) {
        if let Some(history) = around.history {
            history.write(event(self.election.clone()));
        }
    }
}
