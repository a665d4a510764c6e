//! What the database of a small world does with statements.
//!
//! Assumes: a statement is carried out when its locks are free; until then it waits.
//! Promises: decides nothing about leadership; it asks the protocol's own decisions. What is
//! committed is judged at that instant.

use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::lease::row;
use incumbent_protocol::term::Term;

use super::session::{Ask, Mode, Phase, Place, Row, Said, Session, Stage};
use super::setup::{Flaw, Level, Setup};
use super::state::State;

impl State {
    /// Whether a statement would find its locks free.
    pub(super) fn can_reach(&self, place: Place, session: &Session, setup: &Setup) -> bool {
        let free = |row, mode| self.can_lock(Some(place), row, mode, setup);
        let alone = || free(Row::Election, Mode::Exclusive) && free(Row::Beats, Mode::Exclusive);
        match (&session.ask, session.stage) {
            _ if setup.level == Level::OneWriter => session.locked || alone(),
            (Ask::Work { .. }, Stage::Guard | Stage::Commit) => {
                session.locked || self.can_guard(place, setup)
            }
            (Ask::Work { .. }, _) => true,
            (Ask::Bid { .. }, Stage::Begin) => {
                setup.reads_early() || self.can_begin(place, session, setup)
            }
            (Ask::Bid { .. }, _) => {
                setup.has(Flaw::OtherRowLocked) || free(Row::Beats, Mode::Exclusive)
            }
            (Ask::Renew(_), _) => free(Row::Beats, Mode::Exclusive),
            (Ask::Resign(_), _) => alone(),
        }
    }

    /// Whether a takeover can have the election row for itself.
    pub(super) fn can_begin(&self, place: Place, session: &Session, setup: &Setup) -> bool {
        session.locked || self.can_lock(Some(place), Row::Election, Mode::Exclusive, setup)
    }

    fn can_guard(&self, place: Place, setup: &Setup) -> bool {
        let row = match setup.flaw {
            Some(Flaw::GuardAtBegin | Flaw::GuardWithoutLock) => return true,
            Some(Flaw::OtherRowLocked) => Row::Beats,
            _ => Row::Election,
        };
        self.can_lock(Some(place), row, Mode::Shared, setup)
    }

    pub(super) fn can_demote(&self, setup: &Setup) -> bool {
        let free = |row| self.can_lock(None, row, Mode::Exclusive, setup);
        free(Row::Election) && free(Row::Beats) && self.demotion().is_some()
    }

    fn demotion(&self) -> Option<incumbent_protocol::lease::order::Decree> {
        Order::DEMOTE.decide(&self.store.snapshot(), &Papers::default()).ok()
    }

    /// An operator ends the term.
    pub(super) fn demote(&mut self) {
        self.budget.demotions -= 1;
        if let Some(decree) = self.demotion()
            && let Some(record) = &mut self.store.record
        {
            record.state = decree.state;
            record.successor = decree.successor;
            record.beat += 1;
            self.store.version += 1;
        }
    }

    /// A statement is carried out.
    pub(super) fn reach(&mut self, place: Place, setup: &Setup) {
        let Some(mut session) = self.session(place).cloned() else {
            return;
        };
        match session.ask.clone() {
            Ask::Work { term, seen } => self.reach_work(&mut session, term, seen, setup),
            Ask::Bid { seen, claim } => match (session.stage, claim) {
                (Stage::Begin, _) => {
                    let bid = Setup::bid(session.seat, seen);
                    let claim = bid.decide(&self.store.snapshot()).ok();
                    decide(&mut session, claim, setup);
                }
                (_, Some(claim)) => self.write(&mut session, &claim, setup),
                (_, None) => session.refuse(),
            },
            Ask::Renew(term) => {
                let holding = Setup::holding(session.seat, term);
                let renewed = holding.may_renew(&self.store.snapshot());
                self.change(&mut session, renewed, row::State::Held);
            }
            Ask::Resign(term) => {
                let holding = Setup::holding(session.seat, term);
                let resigned = holding.may_resign(&self.store.snapshot());
                self.change(&mut session, resigned, row::State::Released);
                self.store.version += u8::from(resigned);
            }
        }
        if let Some(place) = self.session_mut(place) {
            *place = session;
        }
    }

    fn reach_work(&self, session: &mut Session, term: Term, seen: Option<u8>, setup: &Setup) {
        let may_commit = Setup::holding(session.seat, term).may_commit(&self.store.snapshot());
        match session.stage {
            Stage::Begin if !may_commit => session.refuse(),
            Stage::Begin => {
                let seen = (setup.level == Level::Snapshot).then_some(self.store.version);
                session.ask = Ask::Work { term, seen };
                session.locked = setup.level == Level::OneWriter;
                session.phase = Phase::Answered(Said::Done);
            }
            Stage::Write => session.phase = Phase::Answered(Said::Done),
            Stage::Guard | Stage::Commit => {
                let locks = match setup.flaw {
                    Some(Flaw::GuardAtBegin | Flaw::GuardWithoutLock) => session.locked,
                    _ => true,
                };
                if !session.locked && !self.passes(may_commit, seen, setup) {
                    session.refuse();
                    session.locked = setup.has(Flaw::RefusalKeepsLock);
                    return;
                }
                session.locked = locks;
                session.phase = match session.stage {
                    Stage::Guard => Phase::Answered(Said::Done),
                    _ => Phase::Ready,
                };
            }
        }
    }

    /// Whether the guard lets a transaction pass that saw this version of the row. A transaction
    /// that has its locks already passed, or kept everybody else out from its beginning.
    fn passes(&self, may_commit: bool, seen: Option<u8>, setup: &Setup) -> bool {
        match (setup.flaw, seen) {
            // A plain read at a snapshot level sees the row as it was when the transaction began.
            (Some(Flaw::GuardAtBegin), _) | (Some(Flaw::GuardWithoutLock), Some(_)) => true,
            (_, Some(seen)) => seen == self.store.version && may_commit,
            (_, None) => may_commit,
        }
    }

    /// A takeover that has read too early gets its lock.
    pub(super) fn grant(&mut self, place: Place) {
        if let Some(session) = self.session_mut(place) {
            session.locked = true;
            session.phase = Phase::Answered(Said::Done);
        }
    }

    /// A takeover writes, if the mark is still the one it was decided on.
    fn write(&self, session: &mut Session, claim: &Claim, setup: &Setup) {
        let compares = !setup.has(Flaw::StaleTakeover);
        if compares && self.store.snapshot().mark() != claim.expected {
            return session.refuse();
        }
        session.phase = Phase::Ready;
    }

    /// A renewal or a resignation, which is a transaction of one statement.
    fn change(&mut self, session: &mut Session, may: bool, to: row::State) {
        let record = self.store.record.as_mut().filter(|_| may);
        session.phase = Phase::Answered(if may { Said::Done } else { Said::Refused });
        if let Some(record) = record {
            record.state = to;
            record.beat += 1;
        }
    }

    /// A transaction commits, and is judged.
    pub(super) fn commit(&mut self, place: Place) {
        let mark = self.store.snapshot().mark();
        let Some(session) = self.session_mut(place) else {
            return;
        };
        session.phase = Phase::Answered(Said::Committed);
        session.locked = false;
        session.kept = true;
        let (ask, told) = (session.ask.clone(), session.told);
        match ask {
            Ask::Work { term, .. } => self.judge_work(term, told == super::Told::Refused),
            Ask::Bid { claim: Some(claim), .. } => {
                if mark != claim.expected {
                    self.broken = Some("a takeover of a mark that it was not decided on");
                }
                if self.store.newest.is_some_and(|newest| claim.term <= newest) {
                    self.broken = Some("a term that does not exceed all before it");
                }
                self.store.newest = self.store.newest.max(Some(claim.term));
                self.store.record = Some(claim.record());
                self.store.version += 1;
            }
            _ => {}
        }
    }

    fn judge_work(&mut self, term: Term, told_refused: bool) {
        if told_refused {
            self.broken = Some("work that was told to be refused is in the store");
        }
        if !self.store.stands(term) {
            self.broken = Some("a write that commits after its term was released");
        }
        if self.store.newest.is_some_and(|newest| newest > term) {
            self.broken = Some("a write that commits after the claim of a higher term");
        }
    }
}

/// A takeover has read the row and decided. It has its lock, unless it reads too early.
fn decide(session: &mut Session, decided: Option<Claim>, setup: &Setup) {
    let Ask::Bid { claim, .. } = &mut session.ask else {
        return;
    };
    if decided.is_none() {
        return session.refuse();
    }
    *claim = decided;
    if setup.reads_early() {
        session.phase = Phase::Waiting;
    } else {
        session.locked = true;
        session.phase = Phase::Answered(Said::Done);
    }
}
