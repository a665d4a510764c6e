//! An election as one value, for a store that keeps it as one: a register of a quorum.
//!
//! Assumes: whoever writes a page read the one before it in the same atomic step.
//! Promises: the same writes as on a database with rows: a claim counts only on the mark that it was
//! decided on, a renewal only for the candidate and the term that hold, and every write of the
//! record changes its mark.

use super::forget::Removal;
use super::order::Decree;
use super::request::{Claim, Holding};
use super::row::{Record, Snapshot, State};
use crate::controls::Controls;
use crate::identity::CandidateName;
use crate::time::StoreTime;

/// One election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Page {
    /// The record, if the election ever had a leader.
    pub record: Option<Record>,
    /// What operators have in force.
    pub controls: Controls,
}

impl Page {
    /// What it shows, at an instant of the store's clock.
    pub fn snapshot(&self, now: StoreTime) -> Snapshot {
        Snapshot {
            record: self.record.clone(),
            now,
            holder_died: false,
            replaced: None,
            controls: self.controls.clone(),
        }
    }

    /// The page with the term prolonged, if it still stands.
    #[must_use]
    pub fn renewed(&self, holding: &Holding, now: StoreTime) -> Option<Page> {
        let record = self.record.as_ref().filter(|record| {
            record.state == State::Held
                && record.holder.incarnation == holding.candidate.incarnation
                && record.term == holding.term
        })?;
        let beat = record.beat + 1;
        Some(self.with(Record { beat, beaten_at: now, ..record.clone() }))
    }

    /// The page with a term begun, if it is still the one that the claim was decided on.
    #[must_use]
    pub fn claimed(&self, claim: &Claim) -> Option<Page> {
        let mark = self.record.as_ref().and_then(Record::mark);
        (mark == claim.expected).then(|| self.with(claim.record()))
    }

    /// The page with the term ended by its holder. The time of the last beat stays.
    #[must_use]
    pub fn released(&self, successor: Option<CandidateName>) -> Page {
        let Some(record) = &self.record else { return self.clone() };
        let (state, beat) = (State::Released, record.beat + 1);
        self.with(Record { state, beat, successor, ..record.clone() })
    }

    /// The page once an order is carried out, if it is still the one that the order was decided on.
    #[must_use]
    pub fn obeying(&self, decree: &Decree) -> Option<Page> {
        let record = self.record.as_ref().filter(|record| record.mark() == decree.expected)?;
        let controls = decree.controls.clone();
        if !decree.ends {
            return Some(Page { controls, ..self.clone() });
        }
        let (state, beat) = (decree.state, record.beat + 1);
        let record = Record { state, beat, successor: decree.successor.clone(), ..record.clone() };
        Some(Page { record: Some(record), controls })
    }

    /// The page once its election is removed, if it is still the one that this was decided on. The term
    /// stays, so that the next one is greater.
    #[must_use]
    pub fn forgotten(&self, removal: &Removal) -> Option<Page> {
        let record = self.record.as_ref().filter(|record| record.mark() == removal.expected)?;
        let (state, beat, successor) = (State::Released, record.beat + 1, None);
        let record = Record { state, beat, successor, ..record.clone() };
        Some(Page { record: Some(record), controls: Controls::default() })
    }

    fn with(&self, record: Record) -> Page {
        Page { record: Some(record), ..self.clone() }
    }
}
