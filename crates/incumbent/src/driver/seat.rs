//! One election of this process: its candidacy, and everyone here who cares about it.
//!
//! Assumes: the driver calls [`Seat::settle`] after every input.
//! Promises: a gained term always ends up with somebody or is let go at once; whoever was told of a
//! gain is told of its loss.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Notice, Rank, Wish};
use incumbent_protocol::history::Event;
use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::membership::News;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, info, warn};

use super::command::{Command, Reply};
use crate::cell::Cell;
use crate::clock;
use crate::contest::Contest;
use crate::error::Error;
use crate::history::Writer;
use crate::leadership::Leadership;
use crate::lock::SharedLock;
use crate::observe::{Change, Feed};

/// What a seat needs of its driver while it settles.
pub(super) struct Surroundings<'a> {
    pub(super) driver: &'a mpsc::WeakUnboundedSender<Command>,
    pub(super) lock: &'a SharedLock,
    pub(super) history: &'a mut Option<Writer>,
}

#[derive(Debug)]
pub(super) struct Seat {
    pub(super) election: ElectionName,
    pub(super) contest: Contest,
    candidacy: Candidacy,
    winners: VecDeque<Reply<Leadership>>,
    feeds: Vec<Feed>,
    cell: Option<(Term, Arc<Cell>)>,
    sure: bool,
    resigning: Vec<oneshot::Sender<()>>,
}

impl Seat {
    pub(super) fn new(
        election: ElectionName,
        me: CandidateId,
        contest: Contest,
        now: Time,
    ) -> Self {
        let mut candidacy = match contest.rounds.clone() {
            None => Candidacy::new(me, contest.timing),
            Some((pacing, profile)) => Candidacy::in_rounds(me, contest.timing, pacing, profile),
        };
        candidacy.begin(now);
        Seat {
            election,
            contest,
            candidacy,
            winners: VecDeque::new(),
            feeds: Vec::new(),
            cell: None,
            sure: true,
            resigning: Vec::new(),
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        self.candidacy.wake_at()
    }

    /// How long the store may take at present.
    pub(super) fn timeout(&self) -> Duration {
        self.candidacy.timing().timeout()
    }

    /// How long a round of it may take that no lease depends on.
    pub(super) fn patience(&self) -> Duration {
        let timing = self.candidacy.timing();
        if self.contest.rounds.is_some() { timing.beat() } else { timing.timeout() }
    }

    pub(super) fn leads(&self) -> bool {
        self.cell.is_some()
    }

    pub(super) fn has_let_go(&self) -> bool {
        self.candidacy.has_let_go()
    }

    pub(super) fn has_left(&self) -> bool {
        self.candidacy.has_left()
    }

    /// Where this process is in line.
    pub(super) fn rank(&self, now: Time) -> Option<Rank> {
        self.candidacy.rank(now)
    }

    pub(super) fn handle(&mut self, now: Time, input: Input) {
        self.candidacy.handle(now, input);
    }

    pub(super) fn effect(&mut self) -> Option<Effect> {
        self.candidacy.poll_effect()
    }

    pub(super) fn campaign(&mut self, winner: Reply<Leadership>) {
        self.winners.push_back(winner);
    }

    pub(super) fn observe(&mut self, feed: Feed) {
        if let Some(leader) = self.candidacy.leader() {
            feed.0.push(Change::Leader(leader.cloned()));
        }
        self.feeds.push(feed);
    }

    pub(super) fn resign(&mut self, now: Time, term: Term, done: Option<oneshot::Sender<()>>) {
        self.resigning.extend(done);
        self.candidacy.handle(now, Input::Resign(term));
    }

    /// Ends everything here: nobody waits any more, and whoever leads is told to stop.
    pub(super) fn close(&mut self) {
        for winner in self.winners.drain(..) {
            let _ = winner.send(Err(Error::Closed));
        }
        if let Some((_, cell)) = &self.cell {
            // The term is let go of when whoever works under it has let go of the leadership.
            cell.lose(Reason::Resigned);
        }
    }

    /// Tells those who wait to lead why they never will.
    pub(super) fn fail(&mut self, error: &Error) {
        for winner in self.winners.drain(..) {
            let _ = winner.send(Err(error.again()));
        }
    }

    pub(super) fn tell(&mut self, change: &Change) {
        for feed in &self.feeds {
            feed.0.push(change.clone());
        }
    }

    /// Passes on what the candidacy has to say, and tells it what is wanted now.
    pub(super) fn settle(&mut self, now: Time, around: &mut Surroundings<'_>) {
        self.note(around);
        let wish = self.wish();
        if wish != self.candidacy.wish() {
            self.candidacy.handle(now, Input::Wish(wish));
            self.note(around);
        }
        if self.candidacy.has_let_go() {
            for done in self.resigning.drain(..) {
                let _ = done.send(());
            }
        }
    }

    fn wish(&mut self) -> Wish {
        self.winners.retain(|winner| !winner.is_closed());
        self.feeds.retain(|feed| !feed.0.is_closed());
        match (self.winners.is_empty() && self.cell.is_none(), self.feeds.is_empty()) {
            (false, _) => Wish::Lead,
            (true, false) => Wish::Watch,
            (true, true) => Wish::Nothing,
        }
    }

    fn note(&mut self, around: &mut Surroundings<'_>) {
        while let Some(notice) = self.candidacy.poll_notice() {
            match notice {
                Notice::Gained { term, lease, opening } => {
                    self.gained(term, lease.valid_until(), opening, around);
                }
                Notice::Renewed { term, lease } => self.renewed(term, lease.valid_until(), around),
                Notice::Unsure { term } => self.unsure(term, around),
                Notice::Lost { term, reason } => self.lost(term, reason, around),
                Notice::Leader(leader) => self.saw(leader, around),
                Notice::Rejected(refusal) => {
                    for winner in self.winners.drain(..) {
                        let _ = winner.send(Err(Error::Refused(refusal.clone())));
                    }
                }
                Notice::WentBack(refusal) => {
                    warn!(election = %self.election, %refusal, "the store went back");
                    self.tell(&Change::WentBack { problem: refusal.to_string() });
                }
                Notice::Joined { id, life } => {
                    info!(election = %self.election, %id, "in line");
                    self.record(around, |election| Event::Joined {
                        election,
                        id,
                        life: life.as_micros(),
                    });
                    self.tell(&Change::Joined { id });
                }
                Notice::Evicted { id } => {
                    warn!(election = %self.election, %id, "taken off the roster: joining anew");
                    self.record(around, |election| Event::Evicted { election, id });
                    self.tell(&Change::Evicted { id });
                }
                Notice::Paced { round } => {
                    info!(election = %self.election, ?round, "the round time changed");
                    let round_us = u64::try_from(round.as_micros()).unwrap_or(u64::MAX);
                    self.record(around, |election| Event::Paced { election, round_us });
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
        info!(election = %self.election, %term, %opening, "leading");
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
            info!(election = %self.election, %term, "sure again");
            self.tell(&Change::Resumed { term });
        }
    }

    fn unsure(&mut self, term: Term, around: &mut Surroundings<'_>) {
        warn!(election = %self.election, %term, "a clock jumped: unsure until the next renewal");
        if let Some((_, cell)) = &self.cell {
            cell.suspend();
        }
        self.sure = false;
        self.record(around, |election| Event::Unsure { election, term });
        self.tell(&Change::Unsure { term });
    }

    fn lost(&mut self, term: Term, reason: Reason, around: &mut Surroundings<'_>) {
        info!(election = %self.election, %term, %reason, "not leading any more");
        if let Some((_, cell)) = self.cell.take() {
            cell.lose(reason);
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

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some((term, cell)) = self.cell.take() {
            // Nobody renews it any more. What is left of the lease is still exclusive.
            let reason = Reason::Ending;
            cell.lose(reason);
            self.tell(&Change::Lost { term, reason });
        }
    }
}
