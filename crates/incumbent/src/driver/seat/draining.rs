//! A seat that hands over: asked by an operator, by its own health, or because its process stops.
//!
//! Assumes: whoever works under the leadership listens for the drain.
//! Promises: renewals go on until the work has ended; a drain that takes too long is forced.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::controls::Mandate;
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::Presence;
use incumbent_protocol::time::{StoreTime, Time};
use tokio::sync::oneshot;
use tracing::info;

use super::Seat;
use crate::driver::handover::{Handover, UnderWay};
use crate::observe::Change;
use crate::store::office::Warrant;

impl Seat {
    /// Whether this process is well enough to lead; if not, why. A leader that is not hands over.
    pub(in crate::driver) fn fit(&mut self, now: Time, unfit: Option<String>) {
        self.desk.unfit.clone_from(&unfit);
        if let (Some(reason), true) = (unfit, self.leads()) {
            let actor = self.desk.line(Presence::Unfit, None).id.name.to_string();
            let by = Mandate { at: StoreTime::default(), actor, reason: Some(reason) };
            let within = self.desk.drain();
            self.hand_over(now, Handover { to: None, within, by });
        }
    }

    /// Asks whoever works under the leadership to end it. Renewals go on.
    pub(in crate::driver) fn hand_over(&mut self, now: Time, handover: Handover) {
        let Some((term, cell)) = self.cell.as_ref().filter(|_| self.handover.is_none()) else {
            return;
        };
        let term = *term;
        info!(election = %self.election, %term, to = ?handover.to.as_ref().map(ToString::to_string),
            by = %handover.by, within = ?handover.within, "draining");
        cell.drain(handover.clone());
        let asked = handover.to.clone().or_else(|| self.desk.heir());
        self.candidacy.handle(now, Input::Heir(asked));
        self.tell(&Change::Draining { term, handover: handover.clone() });
        self.handover = Some(UnderWay::begin(now, handover));
    }

    /// Asked for a hand-over by this very process, for example before it stops.
    pub(in crate::driver) fn drain(
        &mut self,
        now: Time,
        to: Option<CandidateName>,
        done: oneshot::Sender<()>,
    ) {
        let actor = self.desk.line(Presence::Draining, None).id.name.to_string();
        let by = Mandate { at: StoreTime::default(), actor, reason: None };
        let within = self.desk.drain();
        self.handing_over.push(done);
        self.hand_over(now, Handover { to, within, by });
    }

    /// The orders that this seat wants carried out.
    pub(in crate::driver) fn orders(&mut self, now: Time) -> Vec<Warrant> {
        if let (Some((term, _)), Some(handover)) = (&self.cell, &mut self.handover) {
            let lease = self.candidacy.timing().rules().lease();
            self.orders.extend(handover.force(now, *term, lease));
        }
        let warrant = |(order, papers)| {
            let election = self.election.clone();
            Warrant { election, order, papers }
        };
        self.orders.drain(..).map(warrant).collect()
    }
}
