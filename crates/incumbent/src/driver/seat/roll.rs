//! A seat on the roll: what the others are told of it, and what it makes of them.
//!
//! Assumes: the driver calls the roll every so often.
//! Promises: a transfer that was ordered begins as soon as it is heard of. Whoever is barred, unfit or
//! not the first in line steps back, and says why.

use std::time::Duration;

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::controls::Transfer;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::time::Time;
use tracing::{info, warn};

use super::Seat;
use crate::driver::handover::Handover;
use crate::observe::Change;

impl Seat {
    /// What this process is to the others; nothing if it does not take part.
    fn presence(&self) -> Option<Presence> {
        Some(match (&self.cell, &self.handover) {
            (Some(_), Some(_)) => Presence::Draining,
            (Some(_), None) => Presence::Leading,
            (None, _) if self.winners.is_empty() => return None,
            (None, _) if self.desk.unfit.is_some() => Presence::Unfit,
            (None, _) => Presence::Ready,
        })
    }

    /// Whether there is something new to say of it, once.
    pub(in crate::driver) fn has_news(&mut self) -> bool {
        let presence = self.presence();
        let before = std::mem::replace(&mut self.presence, presence);
        if presence.is_none() {
            self.listed = None;
        }
        presence.is_some() && presence != before
    }

    /// What this process says of itself to the others.
    pub(in crate::driver) fn line(&self) -> Peer {
        let presence = self.presence().unwrap_or(Presence::Left);
        self.desk.line(presence, self.desk.unfit.clone())
    }

    pub(in crate::driver) const fn roll_every(&self) -> Duration {
        self.desk.roll_every()
    }

    /// Takes what a call of the roll showed, `None` if it failed; `line` is what it said of this seat.
    pub(in crate::driver) fn rolled(
        &mut self,
        now: Time,
        line: Option<Presence>,
        heard: Option<(Vec<Peer>, Snapshot)>,
    ) {
        let Some((peers, snapshot)) = heard else {
            return self.desk.unheard();
        };
        if let Some(refusal) = self.refusal(&snapshot) {
            self.reject(&refusal);
        }
        for who in self.desk.hear(peers, snapshot) {
            warn!(election = %self.election, %who, "another live process has this candidate's name");
            self.tell(&Change::Twin { who });
        }
        if let Some(presence) = line.filter(|_| self.takes_part()) {
            let first = self.listed.replace(presence).is_none();
            // Whoever hears that it is listed should know what keeps it from contending, if it is kept.
            self.tell_obstacle();
            if first {
                self.tell(&Change::Listed);
            }
        }
        if let Some((term, _)) = &self.cell
            && let Some(Transfer { to, by, .. }) = self.desk.transfer(*term)
        {
            let within = self.desk.transfer(*term).map_or(Duration::ZERO, Transfer::drain);
            let handover = Handover { to: Some(to.clone()), within, by: by.clone() };
            self.hand_over(now, handover);
        }
        // Whoever owes the store the end of a term has named its heir: another one, or none, is too late.
        if self.leads() || self.has_let_go() {
            let asked = self.handover.as_ref().and_then(|under_way| under_way.handover.to.clone());
            let heir = asked.or_else(|| self.desk.heir());
            self.candidacy.handle(now, Input::Heir(heir));
        }
        if self.cell.is_none() && !self.winners.is_empty() {
            let timing = self.candidacy.timing();
            let step = timing.beat() + timing.timeout();
            if self.nomination.is_none() {
                let deference = self.desk.deference(step);
                self.candidacy.handle(now, Input::Defer(deference));
            }
            let ahead = self.candidacy.rank(now).and_then(|rank| rank.ahead);
            if self.desk.steps_back(ahead) {
                self.candidacy.handle(now, Input::StepBack);
            }
            self.orders.extend(self.desk.preempts(now));
            if self.asks_for_its_place() {
                self.orders.extend(self.desk.asks("has a higher number"));
            }
        }
    }

    /// Says once that this process does not contend although it is asked to, and once that it does.
    pub(super) fn tell_obstacle(&mut self) {
        let waits = self.cell.is_none() && !self.winners.is_empty();
        let obstacle = self.desk.obstacle().filter(|_| waits);
        // It contends, but as long as the others read that it is not well no order can name it.
        let awaits = self.listed == Some(Presence::Unfit) && self.desk.has_heard();
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
