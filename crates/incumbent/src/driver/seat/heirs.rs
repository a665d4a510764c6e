//! A seat and the others: it carries out what its succession decides, and tells who waits here.
//!
//! Assumes: the driver calls the roll every so often; work under the leadership listens for the drain.
//! Promises: a candidate that does not contend although it is asked to says why, once.

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::succession::{self, Effect, Notice, Standing};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::Seat;
use crate::observe::Change;
use crate::store::office::Warrant;

impl Seat {
    /// Hands an input to the succession, and does what it then wants.
    pub(in crate::driver) fn succeed(&mut self, now: Time, input: succession::Input) {
        self.succession.handle(now, input);
        while let Some(notice) = self.succession.poll_notice() {
            match notice {
                Notice::Twin(who) => {
                    warn!(election = %self.election, %who, "another live process has this candidate's name");
                    self.tell(&Change::Twin { who });
                }
                Notice::Draining { term, handover } => self.draining(term, handover),
            }
        }
        while let Some(effect) = self.succession.poll_effect() {
            match effect {
                Effect::Tell(input) => self.candidacy.handle(now, input),
                Effect::Order(order, papers) => self.orders.push((order, papers)),
            }
        }
    }

    /// Asks the work under the leadership to end. Renewals go on.
    fn draining(&mut self, term: Term, handover: Handover) {
        let Some((_, cell)) = &self.cell else { return };
        info!(election = %self.election, %term, to = ?handover.to.as_ref().map(ToString::to_string),
            by = %handover.by, within = ?handover.within, "draining");
        cell.drain(handover.clone());
        self.tell(&Change::Draining { term, handover });
    }

    /// Whether this process is well enough to lead; if not, why.
    pub(in crate::driver) fn fit(&mut self, now: Time, unfit: Option<String>) {
        self.succeed(now, succession::Input::Fit(unfit));
    }

    /// Asked for a hand-over by this very process, for example before it stops.
    pub(in crate::driver) fn drain(
        &mut self,
        now: Time,
        to: Option<CandidateName>,
        done: oneshot::Sender<()>,
    ) {
        self.handing_over.push(done);
        self.succeed(now, succession::Input::HandOver { to });
    }

    /// The orders that this seat wants carried out.
    pub(in crate::driver) fn orders(&mut self) -> Vec<Warrant> {
        let warrant = |(order, papers)| {
            let election = self.election.clone();
            Warrant { election, order, papers }
        };
        self.orders.drain(..).map(warrant).collect()
    }

    /// Whether there is something new to say of it, once.
    pub(in crate::driver) fn has_news(&mut self) -> bool {
        if !self.takes_part() {
            self.listed = None;
        }
        self.succession.has_news(self.waits())
    }

    /// Takes what a call showed, `None` if it failed; `wrote` is what it said of this seat.
    pub(in crate::driver) fn shown(
        &mut self,
        now: Time,
        wrote: Option<Presence>,
        shown: Option<(Vec<Peer>, Snapshot)>,
    ) {
        let Some((candidates, snapshot)) = shown else {
            return self.succeed(now, succession::Input::NotShown);
        };
        if let Some(refusal) = self.refusal(&snapshot) {
            self.reject(&refusal);
        }
        let ahead = self.candidacy.rank(now).and_then(|rank| rank.ahead);
        let (waits, owes) = (self.waits(), !self.has_let_go());
        let standing = Standing { waits, owes, ahead };
        self.succeed(now, succession::Input::Shown { candidates, snapshot, standing });
        if let Some(presence) = wrote.filter(|_| self.takes_part()) {
            let first = self.listed.replace(presence).is_none();
            // A reader that hears that it is listed should know what keeps it from contending, if it is
            // kept.
            self.tell_obstacle();
            if first {
                self.tell(&Change::Listed);
            }
        }
    }

    /// Says once that this process does not contend although it is asked to, and once that it does.
    pub(super) fn tell_obstacle(&mut self) {
        let waits = self.cell.is_none() && self.waits();
        let obstacle = self.succession.obstacle().filter(|_| waits);
        // It contends, but as long as the others read that it is not well no order can name it.
        let awaits = self.listed == Some(Presence::Unfit) && self.succession.is_informed();
        if obstacle == self.obstacle || (obstacle.is_none() && awaits) {
            return;
        }
        if let Some(why) = &obstacle {
            info!(election = %self.election, %why, "not contending");
        } else {
            info!(election = %self.election, "contending");
        }
        self.obstacle.clone_from(&obstacle);
        self.tell(&Change::Obstacle { why: obstacle });
    }
}
