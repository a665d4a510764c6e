//! A leader that is asked to hand over: what it was asked, and until when.
//!
//! Assumes: the leader goes on renewing until its work has ended.
//! Promises: a hand-over is bounded: at its end the term is ended by order, whatever the work does. If
//! that order comes to nothing, because the store fails or the heir may not win, another follows a
//! lease later, without an heir.

use core::time::Duration;

use crate::controls::Mandate;
use crate::identity::CandidateName;
use crate::lease::order::{Order, Papers};
use crate::planted::{self, Bug};
use crate::term::Term;
use crate::time::Time;

/// What a leader is asked: to end its work, and then to let go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// For whom; anyone if it is left out.
    pub to: Option<CandidateName>,
    /// How long the work may take to end, counted from the moment it was asked.
    pub within: Duration,
    /// Who asked, and why.
    pub by: Mandate,
}

/// One that is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    handover: Handover,
    until: Time,
    /// How often the term was ended by order, as far as the leader knows in vain.
    orders: u32,
}

impl UnderWay {
    pub(super) fn begin(now: Time, handover: Handover) -> Self {
        UnderWay { until: now + handover.within, handover, orders: 0 }
    }

    pub(super) const fn handover(&self) -> &Handover {
        &self.handover
    }

    pub(super) const fn wake_at(&self) -> Time {
        self.until
    }

    /// The order that ends the term, once the time is up. A candidate that still leads a lease later
    /// knows that it was not carried out, else no renewal would have been accepted since.
    pub(super) fn force(
        &mut self,
        now: Time,
        term: Term,
        lease: Duration,
    ) -> Option<(Order, Papers)> {
        if now < self.until {
            return None;
        }
        self.until = now + lease;
        self.orders += 1;
        if planted::is(Bug::HandoverNotForced) {
            return None;
        }
        let order = match &self.handover.to {
            Some(to) if self.orders == 1 => Order::Takeover { successor: to.clone() },
            _ => Order::DEMOTE,
        };
        let Mandate { actor, reason, .. } = &self.handover.by;
        let reason = reason.as_deref().unwrap_or("asked to hand over");
        let reason = format!("{reason}; its work did not end within {:?}", self.handover.within);
        let (actor, reason) = (actor.clone(), Some(reason));
        Some((order, Papers { term: Some(term), actor, reason, roll: None }))
    }
}
