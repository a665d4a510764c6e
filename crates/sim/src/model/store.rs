//! The row and the registers of a small world, and what requests and orders do to them.
//!
//! Assumes: each call is one atomic step, as the protocol asks of every store.
//! Promises: decides nothing; it asks the protocol's own decisions and writes what they say. Its
//! clock stands still, which an observing challenger must not mind.

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{
    Claim, Denied, Done, Holding, Refusal, Request, Resignation,
};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::pace::Pace;
use incumbent_protocol::rounds::register::{MemberId, Vars};
use incumbent_protocol::rounds::registers::Registers;
use incumbent_protocol::rounds::round::{Round, Write};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::StoreTime;

/// One election's row, and what the store remembers of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// The row.
    pub record: Option<Record>,
    /// When it last came into being under running candidates.
    pub replaced: Option<StoreTime>,
    /// How often it, or VARS, was made anew: its clock is later each time.
    pub lives: u64,
    /// VARS and the roster.
    pub registers: Registers,
    /// The newest term it ever issued; for the judge, not for the protocol.
    pub newest: Option<Term>,
    /// Whether it issued a term that did not exceed all before.
    pub repeated: bool,
    /// In which life of VARS it last gave which id; for the judge.
    pub given: Option<(StoreTime, MemberId)>,
    /// Whether it gave an id that did not exceed all before.
    pub given_twice: bool,
}

impl Store {
    /// A store without a row, and VARS as it was left behind.
    pub fn new(vars: Option<Vars>) -> Store {
        let registers = Registers { vars, ..Registers::default() };
        Store { registers, ..Store::default() }
    }

    /// Carries out a request; `died` says whether there is proof that a process is gone.
    pub fn take(
        &mut self,
        request: &Request,
        died: impl Fn(&CandidateId) -> bool,
    ) -> Outcome<Done, Denied> {
        let snapshot = self.snapshot(&died);
        let refused = |refusal, snapshot| {
            let snapshot = Some(snapshot);
            Outcome::Refused(Denied { refusal, snapshot })
        };
        match request {
            Request::Look => Outcome::Committed(Done::Looked(snapshot)),
            Request::Bid(bid) => match bid.decide(&snapshot) {
                Ok(claim) => {
                    self.begin(&claim);
                    Outcome::Committed(Done::Claimed(claim))
                }
                Err(refusal) => refused(refusal, snapshot),
            },
            Request::Renew(holding) if holding.may_renew(&snapshot) => {
                self.beat(holding, State::Held);
                Outcome::Committed(Done::Renewed)
            }
            Request::Resign(Resignation { holding, .. }) if holding.may_resign(&snapshot) => {
                self.beat(holding, State::Released);
                Outcome::Committed(Done::Resigned)
            }
            Request::Renew(_) | Request::Resign(_) => refused(Refusal::Over, snapshot),
            Request::Round(round) => self.round(round, snapshot, died),
        }
    }

    /// Ends the present term by order of an operator. `false` if there is none to end.
    pub fn demote(&mut self, died: impl Fn(&CandidateId) -> bool) -> bool {
        let Ok(decree) = Order::DEMOTE.decide(&self.snapshot(died), &Papers::default()) else {
            return false;
        };
        if let Some(record) = &mut self.record {
            record.state = decree.state;
            record.successor = decree.successor;
            record.beat += 1;
        }
        true
    }

    /// Loses the row, and knows it: a new store in the place of an old one. Its clock is later than
    /// any term before.
    pub fn lose(&mut self) {
        self.replaced = Some(self.now());
        self.lives += 1;
        self.record = None;
        self.registers = Registers::default();
    }

    /// Loses VARS alone, and does not know it.
    pub fn reset(&mut self) {
        self.lives += 1;
        self.registers.vars = None;
    }

    /// Loses its row alone, and does not know it. Its clock is later than any term before.
    pub fn remove(&mut self) {
        self.lives += 1;
        self.record = None;
    }

    /// Goes back to before the round grew, and does not know it. `false` if it has not grown.
    pub fn rewind(&mut self) -> bool {
        let Some(vars) = self.registers.vars.as_mut() else { return false };
        let first = Pace::first(&vars.pacing);
        if vars.pace.number == first.number {
            return false;
        }
        vars.pace = first;
        if let Some(record) = &mut self.record {
            record.rules = vars.pacing.rules_at(first.round);
        }
        true
    }

    /// Loses one row of the roster. `false` if there is none.
    pub fn evict(&mut self, candidate: &CandidateId) -> bool {
        let before = self.registers.roster.len();
        self.registers.roster.retain(|_, row| row.pulse.candidate != *candidate);
        self.registers.roster.len() < before
    }

    const fn now(&self) -> StoreTime {
        StoreTime::from_micros(1 + 1_000 * self.lives)
    }

    fn round(
        &mut self,
        round: &Round,
        snapshot: Snapshot,
        died: impl Fn(&CandidateId) -> bool,
    ) -> Outcome<Done, Denied> {
        let now = self.now();
        let scene = self.registers.scene(round, snapshot, died);
        let (writes, outcome) = round.decide(scene);
        for write in &writes {
            self.registers.write(&round.candidate, write, now);
            match (write, &mut self.record) {
                (Write::Claim(claim), _) => self.begin(claim),
                (Write::Beat, Some(record)) => record.beat += 1,
                (Write::Patience(rules), Some(record)) => record.rules = *rules,
                (Write::Release { .. }, Some(record)) => {
                    record.state = State::Released;
                    record.beat += 1;
                }
                (Write::Enter(row), _) => self.give(row.pulse.id),
                _ => {}
            }
        }
        outcome
    }

    fn give(&mut self, id: MemberId) {
        let epoch = self.registers.vars.as_ref().map(|vars| vars.epoch);
        let given = epoch.map(|epoch| (epoch, id));
        self.given_twice |= given <= self.given;
        self.given = given;
    }

    fn snapshot(&self, died: impl Fn(&CandidateId) -> bool) -> Snapshot {
        Snapshot {
            record: self.record.clone(),
            now: self.now(),
            holder_died: self.record.as_ref().is_some_and(|r| died(&r.holder)),
            replaced: self.replaced,
            controls: Controls::default(),
        }
    }

    fn begin(&mut self, claim: &Claim) {
        self.repeated |= self.newest.is_some_and(|newest| claim.term <= newest);
        self.newest = self.newest.max(Some(claim.term));
        self.record = Some(claim.record());
    }

    fn beat(&mut self, holding: &Holding, state: State) {
        let held = self.record.as_mut().filter(|r| r.term == holding.term);
        if let Some(record) = held {
            record.state = state;
            record.beat += 1;
        }
    }
}
