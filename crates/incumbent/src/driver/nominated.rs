//! A seat where it is for peers to say who bids.
//!
//! Assumes: peers are told whenever this candidate comes, goes, falls ill or sees another leader.
//! Promises: whoever is not nominated does not bid, unless the next term is reserved for it.

use incumbent_protocol::candidacy::{Input, Wish};
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::lease::row::{Snapshot, State};
use incumbent_protocol::succession;
use incumbent_protocol::time::Time;

use super::seat::Seat;
use crate::peers::Part;
use crate::store::Store;

pub(super) use crate::peers::{Nomination, Nominations};

/// How the driver learns whether its candidates are to bid, where that is for peers to say.
pub(super) fn of(store: &mut Store) -> Option<Nominations> {
    store.nominations()
}

/// Whether those who are to keep the store have not all met yet, as at their first start.
pub(super) fn waits(store: &Store) -> bool {
    store.waits()
}

/// What peers say next; never, where they have no say.
pub(super) async fn next(nominations: &mut Option<Nominations>) -> Nomination {
    let heard = match nominations {
        Some(nominations) => nominations.heard.recv().await,
        None => None,
    };
    match heard {
        Some(nomination) => nomination,
        None => std::future::pending().await,
    }
}

/// What peers said of this candidate, and what they were told.
#[derive(Debug, Default)]
pub(super) struct Nominated {
    told: Option<Part>,
    /// Whether a nominee asks the present leader for its place. That lease is the leader's until it
    /// lets go: being picked ends nothing.
    asks: bool,
}

impl Seat {
    /// From now on it bids only if peers say so.
    pub(super) fn awaits_nomination(&mut self, now: Time, peers: &Nominations) {
        if self.nomination.is_none() {
            let asks = peers.preempts;
            self.nomination = Some(Nominated { asks, told: None });
            self.succeed(now, succession::Input::Nominated { mine: false, asks });
        }
    }

    /// Peers said whether it is to bid.
    pub(super) fn nominated(&mut self, now: Time, mine: bool) {
        let Some(Nominated { asks, .. }) = self.nomination else { return };
        self.succeed(now, succession::Input::Nominated { mine, asks });
        if mine {
            self.handle(now, Input::Bell);
        }
    }

    /// Why it can never lead here, by what the store showed: whoever does not bid is not refused by
    /// anybody else.
    pub(super) fn refusal(&self, snapshot: &Snapshot) -> Option<Refusal> {
        self.nomination.as_ref()?;
        let (theirs, ours) = (snapshot.record.as_ref()?, *self.candidacy().timing().rules());
        let differ = theirs.state == State::Held && !ours.agree_with(&theirs.rules);
        differ.then_some(Refusal::RulesDiffer { theirs: theirs.rules, ours })
    }

    /// Tells peers how it stands, if that is news.
    pub(super) fn caucus(&mut self, now: Time, peers: &Nominations) {
        let part = self.part(now);
        let Some(nomination) = &mut self.nomination else { return };
        if nomination.told != part {
            nomination.told.clone_from(&part);
            peers.node.takes(&self.election, part);
        }
    }

    /// How it takes part; not before it has looked, because until then it knows of no leader.
    fn part(&self, now: Time) -> Option<Part> {
        let holder = self.candidacy().holder(now).filter(|_| self.takes_part())?;
        let candidacy = self.candidacy();
        // Whoever could not take a term must not be picked for it again and again.
        let eligible =
            candidacy.wish() == Wish::Lead && !candidacy.is_held_off(now) && candidacy.is_heard();
        Some(Part { eligible, leader: holder.cloned(), term: candidacy.term_in_sight() })
    }
}

#[cfg(test)]
mod tests;
