//! One election of this process: its candidacy, and everyone here who cares about it.
//!
//! Assumes: the driver calls [`Seat::settle`] after every input.
//! Promises: a gained term always ends up with somebody or is let go at once; whoever was told of a
//! gain is told of its loss.
//!
//! | file | what |
//! |---|---|
//! | [`notices`] | what the candidacy says |
//! | [`heirs`] | what the others say, and are told; handing over |

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Rank, Wish};
use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession::presence::Participant;
use incumbent_protocol::succession::{self, Succession};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;
use tokio::sync::{mpsc, oneshot};

use super::command::{Command, Reply};
use super::nominated::Nominated;
use crate::cell::Cell;
use crate::contest::Contest;
use crate::error::Error;
use crate::history::Writer;
use crate::leadership::Leadership;
use crate::lock::SharedLock;
use crate::observe::{Change, Feed};
use crate::reporter::Reporter;

mod heirs;
mod notices;

/// How often what is wanted may change while a seat settles.
const WISHES: u32 = 4;

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
    pub(super) report: Reporter,
    candidacy: Candidacy,
    succession: Succession,
    /// What the store says of it to the others, as far as is known; nothing before it took part.
    listed: Option<Presence>,
    /// Orders that the driver is to carry out.
    orders: Vec<(Order, Papers)>,
    /// Why it does not contend, as it was last told.
    obstacle: Option<String>,
    winners: VecDeque<Reply<Leadership>>,
    feeds: Vec<Feed>,
    cell: Option<(Term, Arc<Cell>)>,
    sure: bool,
    resigning: Vec<oneshot::Sender<()>>,
    /// Who asked for a hand-over and waits for its end.
    handing_over: Vec<oneshot::Sender<()>>,
    /// Where it is for peers to say who bids.
    pub(super) nomination: Option<Nominated>,
}

impl Seat {
    pub(super) fn new(
        election: ElectionName,
        me: CandidateId,
        contest: Contest,
        now: Time,
    ) -> Self {
        let report = Reporter::new(&election, &me, contest.timing.rules().lease());
        let mut candidacy = match contest.rounds {
            None => Candidacy::new(me.clone(), contest.timing),
            Some(pacing) => {
                let profile = contest.succession.profile.clone();
                Candidacy::in_rounds(me.clone(), contest.timing, pacing, profile)
            }
        };
        candidacy.begin(now);
        let settings = contest.succession.clone();
        let succession = Succession::new(me, settings, *candidacy.timing());
        Seat {
            election,
            contest,
            report,
            candidacy,
            succession,
            listed: None,
            orders: Vec::new(),
            obstacle: None,
            winners: VecDeque::new(),
            feeds: Vec::new(),
            cell: None,
            sure: true,
            resigning: Vec::new(),
            handing_over: Vec::new(),
            nomination: None,
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        [self.candidacy.wake_at(), self.succession.wake_at()].into_iter().flatten().min()
    }

    /// How long the store may take at present.
    pub(super) fn timeout(&self) -> Duration {
        self.candidacy.timing().timeout()
    }

    /// By how much the clocks of hosts may differ here, in parts of a thousand.
    pub(super) fn margin(&self) -> i64 {
        let rules = self.candidacy.timing().rules();
        let parts = rules.margin().as_micros() * 1_000 / rules.lease().as_micros().max(1);
        i64::try_from(parts).unwrap_or(i64::MAX)
    }

    /// How long a round of it may take that no lease depends on.
    pub(super) fn patience(&self) -> Duration {
        let timing = self.candidacy.timing();
        if self.contest.rounds.is_some() { timing.beat() } else { timing.timeout() }
    }

    /// Whether this process leads or wants to, so that others should know of it.
    pub(super) fn takes_part(&self) -> bool {
        self.cell.is_some() || self.waits()
    }

    /// Whether somebody here waits for it to lead.
    fn waits(&self) -> bool {
        !self.winners.is_empty()
    }

    pub(super) const fn presence_every(&self) -> Duration {
        self.succession.every()
    }

    /// Whether it takes part and the others may not know of it yet: no order could name it.
    pub(super) fn is_unlisted(&self) -> bool {
        self.takes_part() && self.listed.is_none()
    }

    #[cfg(feature = "peers")]
    pub(super) const fn candidacy(&self) -> &Candidacy {
        &self.candidacy
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

    /// What is due is done.
    pub(super) fn wake(&mut self, now: Time) {
        if self.candidacy.wake_at().is_some_and(|at| at <= now) {
            self.candidacy.handle(now, Input::Wake);
        }
        self.succeed(now, succession::Input::Wake);
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

    /// Tells them that the election is held in another way.
    fn reject(&mut self, refusal: &Refusal) {
        for winner in self.winners.drain(..) {
            let _ = winner.send(Err(Error::Refused(refusal.clone())));
        }
    }

    pub(super) fn tell(&mut self, change: &Change) {
        self.report.change(change);
        for feed in &self.feeds {
            feed.0.push(change.clone());
        }
    }

    /// Passes on what the candidacy has to say, and tells it what is wanted now.
    pub(super) fn settle(&mut self, now: Time, around: &mut Surroundings<'_>) {
        self.note(around);
        self.tell_obstacle();
        // What it has to say about one wish may change the next.
        for _ in 0..WISHES {
            let wish = self.wish();
            if wish == self.candidacy.wish() {
                break;
            }
            self.candidacy.handle(now, Input::Wish(wish));
            self.note(around);
        }
        self.report.settle(&self.candidacy, self.patience());
        if self.candidacy.has_let_go() {
            for done in self.resigning.drain(..).chain(self.handing_over.drain(..)) {
                let _ = done.send(());
            }
        }
    }

    fn wish(&mut self) -> Wish {
        self.winners.retain(|winner| !winner.is_closed());
        self.feeds.retain(|feed| !feed.0.is_closed());
        self.succession.wish(match (!self.takes_part(), self.feeds.is_empty()) {
            (false, _) => Wish::Lead,
            (true, false) => Wish::Watch,
            (true, true) => Wish::Nothing,
        })
    }
}

impl Participant for Seat {
    fn election(&self) -> &ElectionName {
        &self.election
    }

    fn takes_part(&self) -> bool {
        Seat::takes_part(self)
    }

    fn row(&self) -> Peer {
        self.succession.row(self.waits())
    }

    fn every(&self) -> Duration {
        self.presence_every()
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
