//! What the database does with requests: locks, decides, commits, answers, or fails to.
//!
//! Assumes: a request is one transaction; a crash keeps what was committed and nothing else.
//! Promises: the decision is taken on what the transaction read, and the write is guarded by the
//! mark that it read.

use incumbent_protocol::lease::order::Papers;
use incumbent_protocol::lease::request::{Bid, Denied, Done, Request};
use incumbent_protocol::lease::row::Record;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::time::Time;

use super::World;
use crate::clock::Span;
use crate::database::{Key, Owner};
use crate::fault::Kind;
use crate::mail::{Body, Mail, MailId};
use crate::plant::Plant;
use crate::queue::Event;
use crate::story::Engine;
use incumbent_audit::Given;

/// What a transaction came to.
#[expect(clippy::large_enum_variant, reason = "answers are the common case and are moved once")]
pub(super) enum End {
    /// An answer goes back.
    Answered(Outcome<Done, Denied>),
    /// It was aborted; whoever asked cannot tell.
    Aborted,
    /// Nobody waits for an answer.
    Silent,
}

impl World<'_> {
    /// A request reaches the database.
    pub(super) fn arrive(&mut self, id: MailId) {
        if self.is_out_of_date(id) {
            self.mails.remove(id);
            return;
        }
        if matches!(self.mails.get(id), Some(Mail { body: Body::Statement { .. }, .. })) {
            return self.statement(id);
        }
        match self.mails.get(id).map(|mail| (mail.process, &mail.body)) {
            Some((_, Body::Call { .. })) => return self.called(id),
            // Preferences have no say any more.
            Some((Some(_), Body::Order { .. })) if self.healed.is_some() => {
                self.mails.remove(id);
                return;
            }
            _ => {}
        }
        if !self.store.up {
            if self.store.refuses {
                self.answer_mail(id, Outcome::Unknown);
            } else {
                self.mails.remove(id);
            }
            return;
        }
        let Some(mail) = self.mails.get(id) else {
            return;
        };
        let looks = matches!(mail.body, Body::Request { request: Request::Look, .. });
        if looks {
            let snapshot = self.store.rows.snapshot(self.now, usize::from(mail.election));
            self.answer_mail(id, Outcome::Committed(Done::Looked(snapshot)));
            return;
        }
        if self.store.read_only {
            self.tally.fire(Kind::ReadOnly);
            self.answer_mail(id, Outcome::Unknown);
            return;
        }
        self.expect_lock(id);
        match self.key(id) {
            None => self.begin(id),
            Some(key) if self.store.locks.take(key, Owner::Mail(id), self.mode(id)) => {
                self.begin(id);
            }
            Some(_) => {
                let at = self.now + self.story.setting.lock_timeout;
                self.queue.push(at, Event::LockTimeout { mail: id });
            }
        }
    }

    /// The lock that a transaction needs, if it needs one.
    fn key(&self, id: MailId) -> Option<Key> {
        let mail = self.mails.get(id)?;
        let renews = matches!(mail.body, Body::Request { request: Request::Renew(_), .. });
        match self.story.setting.engine {
            Engine::OneWriter => Some(0),
            Engine::RowLocks if renews => None,
            Engine::RowLocks => Some(usize::from(mail.election)),
        }
    }

    /// A transaction has its locks: it reads, decides, and is on its way to its end.
    fn begin(&mut self, id: MailId) {
        if let Some(answer) = self.begin_round(id) {
            self.finish(id, End::Answered(answer));
            return;
        }
        let setting = &self.story.setting;
        let now = self.now;
        let interactive = setting.interactive && self.decides(id);
        let Some(mail) = self.mails.get_mut(id) else {
            return;
        };
        mail.locked = Some(now);
        let election = usize::from(mail.election);
        let commit = now + self.random.between(setting.commit_most / 8, setting.commit_most);
        let at = match &mail.body {
            Body::Hog(span) => now + span,
            Body::Request { request: Request::Bid(bid), .. } => {
                let snapshot = self.store.rows.snapshot(now, election);
                match bid.decide(&snapshot) {
                    Ok(claim) => mail.claim = Some(claim),
                    Err(refusal) => {
                        let snapshot = Some(snapshot);
                        self.finish(
                            id,
                            End::Answered(Outcome::Refused(Denied { refusal, snapshot })),
                        );
                        return;
                    }
                }
                commit + if setting.interactive { setting.latency_most * 2 } else { 0 }
            }
            _ if interactive => commit + setting.latency_most * 2,
            _ => commit,
        };
        let stall = if self.store.stall > 0 && self.random.percent(50) {
            self.tally.fire(Kind::Stall);
            self.random.between(0, self.store.stall)
        } else {
            0
        };
        self.store.active.push(id);
        self.queue.push(at + stall, Event::Commit { mail: id });
    }

    /// A transaction has come to its commit.
    pub(super) fn commit(&mut self, id: MailId) {
        if !self.store.active.contains(&id) {
            return;
        }
        if let Some(wait) = self.waits_for_its_client(id) {
            self.queue.push(self.now + wait, Event::Commit { mail: id });
            return;
        }
        if self.random.chance(self.store.abort) {
            self.tally.fire(Kind::Abort);
            self.finish(id, End::Aborted);
        } else if self.store.disk_full {
            self.tally.fire(Kind::DiskFull);
            self.finish(id, End::Aborted);
        } else {
            let end = self.write_down(id);
            self.finish(id, end);
        }
    }

    /// A client that decides inside its transaction may be stopped there, with its locks held. The
    /// database gives it a lease's time.
    fn waits_for_its_client(&mut self, id: MailId) -> Option<Span> {
        let setting = &self.story.setting;
        let mail = self.mails.get(id)?;
        let (number, began) = (mail.process?, mail.locked?);
        let process = &self.processes[usize::from(number)];
        let decides = setting.interactive && self.decides(id);
        if !decides || process.life != mail.life {
            return None;
        }
        let silent = process.frozen.is_some()
            || !self.network.is_open(usize::from(number), self.store_node());
        if !silent {
            return None;
        }
        if self.now < began + setting.lease {
            return Some(setting.lease / 8);
        }
        self.finish(id, End::Aborted);
        Some(setting.lease)
    }

    /// Writes what the transaction decided.
    pub(super) fn write_down(&mut self, id: MailId) -> End {
        let Some(mail) = self.mails.get(id) else {
            return End::Silent;
        };
        let election = usize::from(mail.election);
        match &mail.body {
            Body::Request { request: Request::Renew(term), .. } => {
                let outcome = self.store.rows.renew(self.now, election, term);
                if matches!(outcome, Outcome::Committed(_)) {
                    let row = self.store.rows.row(election);
                    self.orders_hold.renewed(Time::from_nanos(self.now), election, row);
                }
                End::Answered(outcome)
            }
            Body::Request { request: Request::Resign(term), .. } => {
                let outcome = self.store.rows.resign(self.now, election, term);
                if matches!(outcome, Outcome::Committed(_)) {
                    let row = self.store.rows.row(election);
                    self.orders_hold.let_go(election, row);
                }
                self.ring();
                End::Answered(outcome)
            }
            Body::Request { request: Request::Bid(bid), .. } => {
                let (bid, claim) = (bid.clone(), mail.claim.clone());
                self.take_over(election, &bid, claim)
            }
            Body::Order { order, term } => {
                let before = self.store.rows.snapshot(self.now, election);
                // An order of a candidate is decided on who is there, as the library does.
                let listed = || self.store.rows.candidates(election).to_vec();
                let roll = mail.process.map(|_| listed());
                let papers = Papers { roll, ..Papers::meant(*term) };
                let carried_out = self.store.rows.order(self.now, election, order, &papers);
                let after = self.store.rows.snapshot(self.now, election);
                let (meant, done) = (*term, carried_out.is_ok());
                let given = Given { order, meant, done, before: &before, after: &after };
                self.orders_hold.ordered(Time::from_nanos(self.now), election, given);
                let what = || format!("order on election-{election}: {carried_out:?}");
                self.scribe.trace(self.now, what);
                self.ring();
                End::Silent
            }
            Body::Request { request: Request::Round(_), .. } => self.end_round(id),
            Body::Request { request: Request::Look, .. }
            | Body::Hog(_)
            | Body::Answer { .. }
            | Body::Call { .. }
            | Body::Called { .. }
            | Body::Statement { .. }
            | Body::Reply { .. } => End::Silent,
        }
    }

    /// Writes a new term if the mark it was decided on still stands; else decides again, on what
    /// stands now.
    fn take_over(
        &mut self,
        election: usize,
        bid: &Bid,
        claim: Option<incumbent_protocol::lease::request::Claim>,
    ) -> End {
        let guarded = self.plant != Plant::UnguardedClaim;
        let mut claim = claim;
        for _ in 0..3 {
            let stands = self.store.rows.row(election).and_then(Record::mark);
            if let Some(claim) = claim
                && self.store.rows.claim(self.now, election, &claim, guarded)
            {
                self.claimed(election, &claim, stands);
                self.ring();
                return End::Answered(Outcome::Committed(Done::Claimed(claim)));
            }
            let snapshot = self.store.rows.snapshot(self.now, election);
            match bid.decide(&snapshot) {
                Ok(again) => claim = Some(again),
                Err(refusal) => {
                    let snapshot = Some(snapshot);
                    return End::Answered(Outcome::Refused(Denied { refusal, snapshot }));
                }
            }
        }
        End::Aborted
    }

    /// Ends a transaction: its locks go to the next in line, its answer to whoever asked.
    fn finish(&mut self, id: MailId, end: End) {
        let key = self.key(id);
        self.store.active.retain(|&it| it != id);
        match end {
            End::Answered(outcome) => self.answer_mail(id, outcome),
            End::Aborted => self.answer_mail(id, Outcome::Unknown),
            End::Silent => {
                self.mails.remove(id);
            }
        }
        if let Some(key) = key {
            let next = self.store.locks.release(key, Owner::Mail(id));
            self.let_in(next);
        }
    }

    /// A transaction has waited long enough for its lock.
    pub(super) fn lock_timeout(&mut self, id: MailId) {
        if let Some(key) = self.key(id)
            && let Some(next) = self.store.locks.give_up(key, Owner::Mail(id))
        {
            self.answer_mail(id, Outcome::Unknown);
            self.let_in(next);
        }
    }

    /// Those whose turn it is have their lock.
    pub(super) fn let_in(&mut self, next: Vec<Owner>) {
        for owner in next {
            match owner {
                Owner::Mail(id) => self.begin(id),
                Owner::Session(session) => self.locked(session),
            }
        }
    }
}
