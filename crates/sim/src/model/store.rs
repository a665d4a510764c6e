//! The row of a small world, and what requests and orders do to it.
//!
//! Assumes: each call is one atomic step, as the protocol asks of every store.
//! Promises: decides nothing; it asks the protocol's own decisions and writes what they say. Its
//! clock stands still, which an observing challenger must not mind.

use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::{Claim, Denied, Done, Holding, Refusal, Request};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::StoreTime;

/// One election's row, and what the store remembers of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// The row.
    pub record: Option<Record>,
    /// When it came into being under running candidates, until it is written.
    pub replaced: Option<StoreTime>,
    /// Whether it ever did.
    pub renewed: bool,
    /// The newest term it ever issued; for the judge, not for the protocol.
    pub newest: Option<Term>,
    /// Whether it issued a term that did not exceed all before.
    pub repeated: bool,
}

impl Store {
    /// Carries out a request; `died` says whether there is proof that a process is gone.
    pub fn take(
        &mut self,
        request: &Request,
        died: impl Fn(&CandidateId) -> bool,
    ) -> Outcome<Done, Denied> {
        let snapshot = self.snapshot(died);
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
            Request::Resign(holding) if holding.may_resign(&snapshot) => {
                self.beat(holding, State::Released);
                Outcome::Committed(Done::Resigned)
            }
            Request::Renew(_) | Request::Resign(_) => refused(Refusal::Over, snapshot),
        }
    }

    /// Ends the present term by order of an operator. `false` if there is none to end.
    pub fn demote(&mut self, died: impl Fn(&CandidateId) -> bool) -> bool {
        let Ok(decree) = Order::Demote.decide(&self.snapshot(died), None) else {
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
        self.record = None;
        self.replaced = Some(StoreTime::from_micros(1_000));
        self.renewed = true;
    }

    fn snapshot(&self, died: impl Fn(&CandidateId) -> bool) -> Snapshot {
        let later = if self.renewed { 1_000 } else { 1 };
        Snapshot {
            record: self.record.clone(),
            now: StoreTime::from_micros(later),
            holder_died: self.record.as_ref().is_some_and(|r| died(&r.holder)),
            replaced: self.replaced,
        }
    }

    fn begin(&mut self, claim: &Claim) {
        self.replaced = None;
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
