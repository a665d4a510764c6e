//! What a candidacy asks of the store, and when.
//!
//! Assumes: one request is under way at a time.
//! Promises: a leader asks early enough to renew, and whoever follows asks when the term may be open to
//! it, not before others who go first.

use core::time::Duration;

use super::{Candidacy, Effect, Stage, Ticket, UnderWay, Wish};
use crate::lease::request::{Bid, Holding, Request, Resignation, patience};
use crate::planted::{self, Bug};
use crate::rounds::register::{MemberId, Window};
use crate::rounds::round::Act;
use crate::term::Term;
use crate::time::Time;

impl Candidacy {
    /// Asks the store for what is due, if nothing is under way.
    pub(super) fn ask(&mut self, now: Time) {
        if self.under_way.is_some() || self.due_at().is_none_or(|due| now < due) {
            return;
        }
        let request = match &self.membership {
            None => self.request(now),
            Some(membership) => self.round(now, membership),
        };
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        let window = match &request {
            Request::Round(round) => round.window,
            _ => Window { after: MemberId::NONE, most: 0 },
        };
        let (resigns, doubted) = (self.owed.is_some(), false);
        let joins = matches!(&request, Request::Round(round) if matches!(round.act, Act::Join(_)));
        self.under_way = Some(UnderWay { ticket, resigns, doubted, window, joins });
        self.cadence.asked(now);
        self.count_beat(&request);
        self.effects.push_back(Effect::Ask { ticket, request });
    }

    pub(super) fn request(&self, now: Time) -> Request {
        match (&self.owed, &self.stage) {
            (Some(term), _) => Request::Resign(self.resignation(*term)),
            (None, Stage::Leading { term, .. }) => Request::Renew(self.holding(*term)),
            (None, _)
                if self.is_free()
                    && self.wish == Wish::Lead
                    && !self.is_held_off(now)
                    && !self.defers(now) =>
            {
                Request::Bid(self.bid(now))
            }
            (None, Stage::Following | Stage::Draining { .. }) => Request::Look,
        }
    }

    /// Whether no work of a term may run any more.
    pub(super) fn is_free(&self) -> bool {
        let drains = matches!(self.stage, Stage::Draining { .. });
        self.stage == Stage::Following || (drains && planted::is(Bug::BidWhileDraining))
    }

    /// When the next request is due, if any.
    pub(super) fn due_at(&self) -> Option<Time> {
        match (&self.owed, &self.stage, self.wish) {
            (Some(_), _, _) => Some(self.cadence.retry()),
            (None, Stage::Leading { .. }, _) => Some(self.cadence.next()),
            (None, Stage::Following, Wish::Nothing | Wish::Watch) if !self.has_left() => {
                Some(self.cadence.retry())
            }
            (None, _, Wish::Nothing) => None,
            (None, Stage::Following, Wish::Lead) if self.steps_back && !self.has_left() => {
                Some(self.cadence.retry())
            }
            (None, Stage::Following, Wish::Lead) => {
                let ripe = self.ripe_at().map(|ripe| {
                    if self.is_chosen() { ripe } else { self.cadence.not_held_off(ripe) }
                });
                let next = self.cadence.next();
                Some(ripe.filter(|_| self.cadence.is_well()).map_or(next, |ripe| ripe.min(next)))
            }
            (None, _, _) => Some(self.cadence.next()),
        }
    }

    /// When the present observation becomes a suspicion that a store will act on. `None` if nothing
    /// is observed, or if it has ripened already and the store did not act on it: then the ordinary
    /// cadence goes on.
    pub(super) fn ripe_at(&self) -> Option<Time> {
        let ripe = match &self.membership {
            None => self.open_at()?,
            Some(membership) => self.turn_at(self.cadence.last_asked(), membership)?,
        };
        (ripe > self.cadence.last_asked()).then_some(ripe)
    }

    /// When it may bid for the term with success, as far as it can see, others having gone first. Never
    /// for as long as another is the nominee.
    pub(super) fn open_at(&self) -> Option<Time> {
        if self.awaits_nomination() {
            return None;
        }
        let ripe = || self.observation.as_ref().map(|seen| seen.ripe_at(self.patience()));
        let deference = self.deference();
        let open = self.open_since.filter(|_| !deference.is_zero()).or_else(ripe)?;
        Some(open + deference)
    }

    /// Whether it lets others go first at this moment; also before it ever looked.
    pub(super) fn defers(&self, now: Time) -> bool {
        let waits = self.awaits_nomination() || !self.deference().is_zero();
        waits && self.open_at().is_none_or(|open| now < open)
    }

    /// Whether another is to bid, and the next term is not reserved for this candidate.
    fn awaits_nomination(&self) -> bool {
        !self.nominated && !self.is_chosen()
    }

    /// How long it lets others go first; not at all if the next term is reserved for it.
    pub(super) fn deference(&self) -> Duration {
        if self.is_chosen() { Duration::ZERO } else { self.deference }
    }

    /// Whether it lets others go first because somebody did not want it to lead. Whoever reserved the
    /// next term for it has changed their mind.
    pub fn is_held_off(&self, now: Time) -> bool {
        self.cadence.is_held_off(now) && !self.is_chosen()
    }

    pub(super) fn is_chosen(&self) -> bool {
        let reserved = self.record.as_ref().and_then(|record| record.successor.as_ref());
        reserved == Some(&self.me.name)
    }

    pub(super) fn patience(&self) -> Duration {
        patience(self.record.as_ref(), &self.me.name, self.timing.rules(), self.behind)
    }

    pub(super) fn bid(&self, now: Time) -> Bid {
        Bid {
            candidate: self.me.clone(),
            rules: *self.timing.rules(),
            suspicion: self.observation.as_ref().and_then(|o| o.suspect(now, self.patience())),
            newest: self.newest,
            longest: self.longest,
        }
    }

    pub(super) fn resignation(&self, term: Term) -> Resignation {
        Resignation { holding: self.holding(term), heir: self.heir.clone() }
    }

    pub(super) fn holding(&self, term: Term) -> Holding {
        Holding { candidate: self.me.clone(), term }
    }
}
