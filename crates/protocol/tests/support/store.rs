//! A store in memory that runs the pure decisions and writes what they say, each in one step.
//!
//! Assumes: callers pass true instants that never go back.
//! Promises: every write changes (term, beat), as `row.rs` demands; nothing is decided here.

use core::time::Duration;
use std::collections::BTreeSet;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::forget::{Forget, Removal};
use incumbent_protocol::lease::order::{Decree, Order, OrderError, Papers};
use incumbent_protocol::lease::request::{Bid, Claim, Denied, Done, Refusal, Request, Resignation};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::registers::Registers;
use incumbent_protocol::rounds::round::{Round, Write};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::StoreTime;

/// What its clock shows when the world begins: an ordinary date, in microseconds since 1970.
const EPOCH: u64 = 1_700_000_000_000_000;

/// One election in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    record: Option<Record>,
    saved: Option<(Option<Record>, Registers)>,
    dead: BTreeSet<CandidateId>,
    replaced: Option<StoreTime>,
    /// Whether a refused renewal or resignation shows the row.
    pub(crate) terse: bool,
    /// How far its wall clock was stepped, in microseconds.
    stepped: i64,
    claims: Vec<(Duration, Claim)>,
    /// How often the election was removed.
    pub(crate) removals: u32,
    /// VARS and DESCRIPTORS.
    pub(crate) registers: Registers,
    /// What operators have in force.
    pub(crate) controls: Controls,
}

impl Store {
    /// What it shows.
    pub(crate) fn snapshot(&self, at: Duration) -> Snapshot {
        Snapshot {
            record: self.record.clone(),
            now: self.clock(at),
            holder_died: self
                .record
                .as_ref()
                .is_some_and(|record| self.dead.contains(&record.holder)),
            replaced: self.replaced,
            controls: self.controls.clone(),
        }
    }

    /// Does what a candidate asks.
    pub(crate) fn execute(&mut self, at: Duration, request: &Request) -> Outcome<Done, Denied> {
        match request {
            Request::Look => Outcome::Committed(Done::Looked(self.snapshot(at))),
            Request::Bid(bid) => self.bid(at, bid),
            Request::Renew(holding) => {
                let allowed = holding.may_renew(&self.snapshot(at));
                self.prolong(at, allowed)
            }
            Request::Resign(resignation) => self.release(at, resignation),
            Request::Round(round) => self.round(at, round),
        }
    }

    /// Does what an operator orders.
    pub(crate) fn order(
        &mut self,
        at: Duration,
        order: &Order,
        term: Option<Term>,
    ) -> Result<Decree, OrderError> {
        self.order_with(at, order, &Papers::meant(term))
    }

    /// Does what an operator orders who shows these papers.
    pub(crate) fn order_with(
        &mut self,
        at: Duration,
        order: &Order,
        papers: &Papers,
    ) -> Result<Decree, OrderError> {
        let decree = order.decide(&self.snapshot(at), papers)?;
        self.controls.clone_from(&decree.controls);
        let record = self.record.as_mut().expect("an order needs a row");
        if decree.ends {
            record.state = decree.state;
            record.successor.clone_from(&decree.successor);
            record.beat += 1;
        }
        Ok(decree)
    }

    /// Removes the election at an operator's wish, who need not know of candidates.
    pub(crate) fn forget(&mut self, at: Duration, forget: &Forget) -> Result<Removal, OrderError> {
        let removal = forget.decide(&self.snapshot(at))?;
        self.lose_rows();
        self.controls = Controls::default();
        self.removals += 1;
        Ok(removal)
    }

    /// The row.
    pub(crate) const fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// Writes the row by hand.
    pub(crate) fn put(&mut self, record: Record) {
        self.record = Some(record);
    }

    /// Every term that ever began, oldest first.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(_, claim)| claim)
    }

    /// From now on it can prove that this candidate is gone.
    pub(crate) fn prove_dead(&mut self, id: CandidateId) {
        self.dead.insert(id);
    }

    /// Keeps a copy of the row and the registers for [`Store::restore`].
    pub(crate) fn save(&mut self) {
        self.saved = Some((self.record.clone(), self.registers.clone()));
    }

    /// Goes back to the copy, as a restored backup or a replica that missed the last writes does, and
    /// knows it.
    pub(crate) fn restore(&mut self) {
        self.note_replaced();
        (self.record, self.registers) = self.saved.clone().unwrap_or_default();
    }

    /// Loses everything and begins anew, under candidates that are running, and knows it.
    pub(crate) fn lose_all(&mut self) {
        self.note_replaced();
        self.lose_rows();
    }

    /// Loses everything, as if by hand, and does not know it.
    pub(crate) fn lose_rows(&mut self) {
        self.record = None;
        self.registers = Registers::default();
    }

    fn note_replaced(&mut self) {
        let beaten = self.record.as_ref().map_or(EPOCH, |record| record.beaten_at.as_micros());
        let before = self.replaced.map_or(0, StoreTime::as_micros);
        self.replaced = Some(StoreTime::from_micros(beaten.max(before) + 1));
    }

    /// Steps the wall clock.
    pub(crate) fn step_clock(&mut self, micros: i64) {
        self.stepped += micros;
    }

    fn clock(&self, at: Duration) -> StoreTime {
        let micros = EPOCH + u64::try_from(at.as_micros()).expect("a short play");
        StoreTime::from_micros(micros.saturating_add_signed(self.stepped))
    }

    fn bid(&mut self, at: Duration, bid: &Bid) -> Outcome<Done, Denied> {
        let snapshot = self.snapshot(at);
        match bid.decide(&snapshot) {
            Ok(claim) => {
                assert_eq!(claim.expected, snapshot.mark(), "decided on what was shown");
                self.record = Some(claim.record());
                self.claims.push((at, claim.clone()));
                Outcome::Committed(Done::Claimed(claim))
            }
            Err(refusal) => Outcome::Refused(Denied { refusal, snapshot: Some(snapshot) }),
        }
    }

    fn round(&mut self, at: Duration, round: &Round) -> Outcome<Done, Denied> {
        let now = self.clock(at);
        let dead = &self.dead;
        let scene = self.registers.scene(round, self.snapshot(at), |id| dead.contains(id));
        let (writes, answer) = round.decide(scene);
        for write in &writes {
            self.registers.write(&round.candidate, write, now);
            let record = self.record.as_mut();
            match (write, record) {
                (Write::Claim(claim), record) => {
                    let mark = record.and_then(|record| record.mark());
                    assert_eq!(claim.expected, mark, "decided on what was shown");
                    self.record = Some(claim.record());
                    self.claims.push((at, claim.clone()));
                }
                (Write::Beat, Some(record)) => {
                    record.beat += 1;
                    record.beaten_at = now;
                }
                (Write::Patience(rules), Some(record)) => record.rules = *rules,
                (Write::Release { successor, .. }, Some(record)) => {
                    record.state = State::Released;
                    record.successor.clone_from(successor);
                    record.beat += 1;
                }
                _ => {}
            }
        }
        answer
    }

    fn prolong(&mut self, at: Duration, allowed: bool) -> Outcome<Done, Denied> {
        let now = self.clock(at);
        match self.record.as_mut().filter(|_| allowed) {
            Some(record) => {
                record.beat += 1;
                record.beaten_at = now;
                Outcome::Committed(Done::Renewed)
            }
            None => self.over(at),
        }
    }

    fn release(&mut self, at: Duration, resignation: &Resignation) -> Outcome<Done, Denied> {
        let allowed = resignation.holding.may_resign(&self.snapshot(at));
        match self.record.as_mut().filter(|_| allowed) {
            Some(record) => {
                record.successor = resignation.successor(record);
                record.state = State::Released;
                record.beat += 1;
                Outcome::Committed(Done::Resigned)
            }
            None => self.over(at),
        }
    }

    fn over(&self, at: Duration) -> Outcome<Done, Denied> {
        Outcome::Refused(Denied {
            refusal: Refusal::Over,
            snapshot: (!self.terse).then(|| self.snapshot(at)),
        })
    }
}
