//! What a change of the voters decides on once a majority heeds it, and once a majority accepted.
//!
//! Promises: an electorate is proposed only on a settled one, and used only once it was chosen.

use std::collections::BTreeSet;

use super::{Amendment, Change, Charter, Move, Stage};
use crate::planted::{self, Bug};
use crate::ratify::electorate::{Electorate, Unchanged};

impl<K: Ord + Clone, V: Charter> Amendment<K, V> {
    /// Proposes in the present stage.
    fn propose(&mut self, value: V) -> Move {
        self.serial += 1;
        if let Stage::Choosing { proposal, .. } | Stage::Settling { proposal } = &mut self.stage {
            proposal.propose(value);
        }
        Move::Ask
    }

    pub(super) fn decide(&mut self, value: Option<&V>) -> Move {
        let present = value.and_then(V::electorate).unwrap_or(&self.electorate).clone();
        let (number, known) = (present.number(), self.electorate.number());
        if number < known || (number == known && !present.is_same(&self.electorate)) {
            return self.end(Move::Refused(Unchanged::Unlike));
        }
        if matches!(self.stage, Stage::Settling { .. }) {
            if number > known || present.is_settled() {
                return self.complete();
            }
            return self.propose(V::of(present.settle()));
        }
        self.decide_next(present)
    }

    /// A majority heeds, and this is the newest electorate that it knows of.
    fn decide_next(&mut self, present: Electorate) -> Move {
        if present.number() > self.electorate.number() {
            if planted::is(Bug::UnchosenElectorate) {
                self.electorate = present;
                return self.list();
            }
            return self.propose_next(present);
        }
        self.electorate = present;
        if !self.electorate.is_settled() {
            return self.list();
        }
        match self.electorate_after(&self.electorate, self.change) {
            Ok(next) if self.change != Change::Complete && !self.is_sounded() => {
                self.enter(Stage::Sounding { next, heard: BTreeSet::new() });
                Move::Ask
            }
            Ok(next) if self.change == Change::Complete || self.adds_nothing(&next) => {
                self.end(Move::Done(self.electorate.clone()))
            }
            Ok(next) => {
                self.proposed = Some(next.clone());
                self.propose_next(next)
            }
            // Its own proposal was chosen after all.
            Err(Unchanged::Votes(_) | Unchanged::DoesNotVote(_)) if self.was_proposed() => {
                self.end(Move::Done(self.electorate.clone()))
            }
            Err(why) => self.end(Move::Refused(why)),
        }
    }

    fn is_sounded(&self) -> bool {
        self.sounded == Some(self.electorate.number())
    }

    fn adds_nothing(&self, next: &Electorate) -> bool {
        self.change == Change::Note && next.lineages() == self.electorate.lineages()
    }

    fn propose_next(&mut self, electorate: Electorate) -> Move {
        if let Stage::Choosing { next, .. } = &mut self.stage {
            *next = Some(electorate.clone());
        }
        self.propose(V::of(electorate))
    }

    pub(super) fn chosen(&mut self) -> Move {
        match &self.stage {
            Stage::Choosing { next: Some(next), .. } => {
                self.electorate = next.clone();
                self.list()
            }
            Stage::Settling { .. } => self.complete(),
            _ => Move::Wait,
        }
    }
}
