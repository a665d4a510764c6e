//! What a candidacy shows of itself.
//!
//! Assumes: nothing.
//! Promises: looking changes nothing.

use super::{Candidacy, Stage, Wish};
use crate::identity::CandidateId;
use crate::lease::row::{Leader, State};
use crate::standing::Standing;
use crate::term::Term;
use crate::time::Time;

impl Candidacy {
    /// What the candidate is.
    pub fn standing(&self) -> Standing {
        match (&self.stage, self.wish) {
            (Stage::Leading { sure: true, .. }, _) => Standing::Leading,
            (Stage::Leading { sure: false, .. } | Stage::Draining { .. }, _) => Standing::Unsure,
            (Stage::Following, Wish::Nothing) => Standing::Out,
            (Stage::Following, _) => Standing::Following,
        }
    }

    /// How much of the election it wants.
    pub const fn wish(&self) -> Wish {
        self.wish
    }

    /// Who leads, as far as this candidate can see; `None` before it ever looked.
    pub const fn leader(&self) -> Option<Option<&Leader>> {
        if self.looked { Some(self.leader.as_ref()) } else { None }
    }

    /// The term that it holds or, if it holds none, that the store was last seen to keep, be it held or
    /// not.
    pub fn term_in_sight(&self) -> Option<Term> {
        match self.stage {
            Stage::Leading { term, .. } => Some(term),
            _ => self.record.as_ref().map(|record| record.term),
        }
    }

    /// Who is seen to hold the term by this candidate's own clock: whoever renewed within a lease, and
    /// may renew.
    /// `None` before it ever looked. Unlike [`leader`](Candidacy::leader) it does not depend on the
    /// store's clock, which may be several.
    pub fn holder(&self, now: Time) -> Option<Option<&CandidateId>> {
        if let Stage::Leading { .. } = self.stage {
            return Some(Some(&self.me));
        }
        if !self.looked {
            return None;
        }
        let held = self.record.as_ref().filter(|record| record.state == State::Held);
        let ripe = self.observation.as_ref().map(|seen| seen.ripe_at(self.timing.rules().lease()));
        let fresh = ripe.is_some_and(|ripe| now < ripe);
        Some(
            held.filter(|_| fresh)
                .map(|record| &record.holder)
                .filter(|holder| **holder != self.me),
        )
    }

    /// Whether the store answers it, so that it could take a term. One answer that fails to come is no
    /// more than bad luck.
    pub const fn is_heard(&self) -> bool {
        self.cadence.failures() < 2
    }

    /// Whether it neither holds a term nor owes the store the end of one.
    pub fn has_let_go(&self) -> bool {
        self.stage == Stage::Following && self.owed.is_none()
    }

    /// Whether it has no place in any line.
    pub fn has_left(&self) -> bool {
        self.membership.as_ref().is_none_or(|membership| !membership.may_have_row())
    }
}
