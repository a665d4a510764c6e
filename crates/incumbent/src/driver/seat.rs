//! One election of this process: its candidacy, and everyone here who cares about it.
//!
//! Assumes: the driver calls [`Seat::settle`] after every input.
//! Promises: a gained term always ends up with somebody or is let go at once; whoever was told of a
//! gain is told of its loss.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Notice, Rank, Wish};
use incumbent_protocol::controls::{Mandate, Transfer};
use incumbent_protocol::history::Event;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::lease::row::{Leader, Snapshot};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::rounds::membership::News;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{StoreTime, Time};
use tokio::sync::{mpsc, oneshot};
use tracing::debug;
use tracing::{info, warn};

use super::command::{Command, Reply};
use super::desk::Desk;
use super::handover::{Handover, UnderWay};
use super::nominated::Nominated;
use crate::cell::Cell;
use crate::clock;
use crate::contest::Contest;
use crate::error::Error;
use crate::history::Writer;
use crate::leadership::Leadership;
use crate::lock::SharedLock;
use crate::observe::{Change, Feed};
use crate::reporter::Reporter;
use crate::store::office::Warrant;

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
    desk: Desk,
    handover: Option<UnderWay>,
    /// What the others were last to be told.
    presence: Option<Presence>,
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
        let desk = Desk::new(me.clone(), contest.stance.clone());
        let report = Reporter::new(&election, &me, contest.timing.rules().lease());
        let mut candidacy = match contest.rounds {
            None => Candidacy::new(me, contest.timing),
            Some(pacing) => {
                let profile = contest.stance.profile.clone();
                Candidacy::in_rounds(me, contest.timing, pacing, profile)
            }
        };
        candidacy.begin(now);
        Seat {
            election,
            contest,
            report,
            candidacy,
            desk,
            handover: None,
            presence: None,
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
        let handover = self.handover.as_ref().map(UnderWay::wake_at);
        [self.candidacy.wake_at(), handover].into_iter().flatten().min()
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

    /// Whether this process leads or wants to, so that others should know of it.
    pub(super) fn takes_part(&self) -> bool {
        self.cell.is_some() || !self.winners.is_empty()
    }

    /// What this process is to the others; nothing if it does not take part.
    fn presence(&self) -> Option<Presence> {
        Some(match (&self.cell, &self.handover) {
            (Some(_), Some(_)) => Presence::Draining,
            (Some(_), None) => Presence::Leading,
            (None, _) if self.winners.is_empty() => return None,
            (None, _) if self.desk.unfit.is_some() => Presence::Unfit,
            (None, _) => Presence::Ready,
        })
    }

    /// Whether there is something new to say of it, once.
    pub(super) fn has_news(&mut self) -> bool {
        let presence = self.presence();
        let before = std::mem::replace(&mut self.presence, presence);
        presence.is_some() && presence != before
    }

    /// What this process says of itself to the others.
    pub(super) fn line(&self) -> Peer {
        let presence = self.presence().unwrap_or(Presence::Left);
        self.desk.line(presence, self.desk.unfit.clone())
    }

    pub(super) const fn roll_every(&self) -> Duration {
        self.desk.roll_every()
    }

    /// Takes what a call of the roll showed; `None` if it failed.
    pub(super) fn rolled(&mut self, now: Time, heard: Option<(Vec<Peer>, Snapshot)>) {
        let Some((peers, snapshot)) = heard else {
            return self.desk.unheard();
        };
        if let Some(refusal) = self.refusal(&snapshot) {
            self.reject(&refusal);
        }
        for who in self.desk.hear(peers, snapshot) {
            warn!(election = %self.election, %who, "another live process has this candidate's name");
            self.tell(&Change::Twin { who });
        }
        if let Some((term, _)) = &self.cell
            && let Some(Transfer { to, by, .. }) = self.desk.transfer(*term)
        {
            let within = self.desk.transfer(*term).map_or(Duration::ZERO, Transfer::drain);
            let handover = Handover { to: Some(to.clone()), within, by: by.clone() };
            self.hand_over(now, handover);
        }
        // Whoever owes the store the end of a term has named its heir: another one, or none, is too late.
        if self.leads() || self.has_let_go() {
            let asked = self.handover.as_ref().and_then(|under_way| under_way.handover.to.clone());
            let heir = asked.or_else(|| self.desk.heir());
            self.candidacy.handle(now, Input::Heir(heir));
        }
        if self.cell.is_none() && !self.winners.is_empty() {
            let timing = self.candidacy.timing();
            let step = timing.beat() + timing.timeout();
            if self.nomination.is_none() {
                let deference = self.desk.deference(step);
                self.candidacy.handle(now, Input::Defer(deference));
            }
            let ahead = self.candidacy.rank(now).and_then(|rank| rank.ahead);
            if self.desk.steps_back(ahead) {
                self.candidacy.handle(now, Input::StepBack);
            }
            self.orders.extend(self.desk.preempts(now));
            if self.asks_for_its_place() {
                self.orders.extend(self.desk.asks("has a higher number"));
            }
        }
    }

    /// Whether this process is well enough to lead; if not, why. A leader that is not hands over.
    pub(super) fn fit(&mut self, now: Time, unfit: Option<String>) {
        self.desk.unfit.clone_from(&unfit);
        if let (Some(reason), true) = (unfit, self.leads()) {
            let actor = self.desk.line(Presence::Unfit, None).id.name.to_string();
            let by = Mandate { at: StoreTime::default(), actor, reason: Some(reason) };
            let within = self.desk.drain();
            self.hand_over(now, Handover { to: None, within, by });
        }
    }

    /// Asks whoever works under the leadership to end it. Renewals go on.
    pub(super) fn hand_over(&mut self, now: Time, handover: Handover) {
        let Some((term, cell)) = self.cell.as_ref().filter(|_| self.handover.is_none()) else {
            return;
        };
        let term = *term;
        info!(election = %self.election, %term, to = ?handover.to.as_ref().map(ToString::to_string),
            by = %handover.by, within = ?handover.within, "draining");
        cell.drain(handover.clone());
        let asked = handover.to.clone().or_else(|| self.desk.heir());
        self.candidacy.handle(now, Input::Heir(asked));
        self.tell(&Change::Draining { term, handover: handover.clone() });
        self.handover = Some(UnderWay::begin(now, handover));
    }

    /// Asked for a hand-over by this very process, for example before it stops.
    pub(super) fn drain(
        &mut self,
        now: Time,
        to: Option<CandidateName>,
        done: oneshot::Sender<()>,
    ) {
        let actor = self.desk.line(Presence::Draining, None).id.name.to_string();
        let by = Mandate { at: StoreTime::default(), actor, reason: None };
        let within = self.desk.drain();
        self.handing_over.push(done);
        self.hand_over(now, Handover { to, within, by });
    }

    /// The orders that this seat wants carried out.
    pub(super) fn orders(&mut self, now: Time) -> Vec<Warrant> {
        if let (Some((term, _)), Some(handover)) = (&self.cell, &mut self.handover) {
            let lease = self.candidacy.timing().rules().lease();
            self.orders.extend(handover.force(now, *term, lease));
        }
        let warrant = |(order, papers)| {
            let election = self.election.clone();
            Warrant { election, order, papers }
        };
        self.orders.drain(..).map(warrant).collect()
    }

    /// Says once that this process does not contend although it is asked to, and once that it does.
    fn tell_obstacle(&mut self) {
        let waits = self.cell.is_none() && !self.winners.is_empty();
        let obstacle = self.desk.obstacle().filter(|_| waits);
        if obstacle == self.obstacle {
            return;
        }
        if let Some(why) = &obstacle {
            info!(election = %self.election, %why, "not contending");
        } else {
            info!(election = %self.election, "contending");
        }
        self.obstacle.clone_from(&obstacle);
        self.tell(&Change::Obstacle { why: obstacle });
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
        let wish = self.wish();
        if wish != self.candidacy.wish() {
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
        let abstains = self.cell.is_none()
            && (self.desk.unfit.is_some() || self.desk.is_barred() || self.desk.awaits_roll());
        match (!self.takes_part(), self.feeds.is_empty()) {
            (false, _) if abstains => Wish::Watch,
            (false, _) => Wish::Lead,
            (true, false) => Wish::Watch,
            (true, true) => Wish::Nothing,
        }
    }

    fn note(&mut self, around: &mut Surroundings<'_>) {
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
        // Not the one that was named when this process last let go.
        self.candidacy.handle(clock::now(), Input::Heir(self.desk.heir()));
        let cell = Arc::new(Cell::new(until, around.lock.get().cloned()));
        self.cell = Some((term, Arc::clone(&cell)));
        self.sure = true;
        let Some(driver) = around.driver.upgrade() else {
            // Every handle is gone, so nobody can want this.
            return self.candidacy.handle(clock::now(), Input::Resign(term));
        };
        if let Some(why) = self.desk.unfit.clone() {
            // It fell ill after the store had answered, and before that was heard.
            self.fit(clock::now(), Some(why));
        }
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
        self.handover = None;
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
