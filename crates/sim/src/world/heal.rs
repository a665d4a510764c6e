//! How a world heals, and what is due from then on.
//!
//! Assumes: the story has no fault after this.
//! Promises: everything that was broken works; every process runs and wants to lead; and the
//! history says by when somebody must lead and when all must know.

use incumbent_protocol::history;
use incumbent_protocol::lease::candidacy::Wish;
use incumbent_protocol::time::Time;

use super::{World, small};
use crate::clock::{At, Span, WHOLE};
use crate::queue::Event;

impl World<'_> {
    pub(super) fn heal(&mut self) {
        self.healed = Some(self.now);
        self.network.heal();
        self.lasting.clear();
        self.sum_up();
        self.store.up = true;
        for id in core::mem::take(&mut self.store.active) {
            self.drop_transaction(id, false);
        }
        self.store.sessions.clear();
        self.store.guard_crash = None;
        self.drop_waiting(false);
        for number in 0..small(self.processes.len()) {
            self.mend(number);
        }
        for election in 0..self.elections.len() {
            let leader_due = self.leader_due(election);
            let agreement_due = leader_due + self.agreement_takes();
            let line = history::Event::Healed {
                election: self.elections[election].clone(),
                leader_due: Time::from_nanos(leader_due),
                agreement_due: Time::from_nanos(agreement_due),
            };
            self.scribe.world(self.now, line);
        }
        let quiet = (0..self.elections.len()).map(|election| self.leader_due(election)).max();
        let quiet = quiet.unwrap_or(self.now) + self.agreement_takes();
        self.queue.push(quiet, Event::Quiet);
    }

    fn mend(&mut self, number: u8) {
        let process = &mut self.processes[usize::from(number)];
        let skew = self.story.setting.skews[usize::from(number)];
        process.clock.go_on(self.now);
        process.set_skew(self.now, skew);
        process.ambush = None;
        process.spoilt = None;
        process.commits_lost = 0;
        let life = process.life;
        if core::mem::take(&mut process.odd) {
            self.crash(number, None);
        } else if process.frozen.is_some() {
            process.frozen = Some(self.now);
            self.resume(number, life);
        }
        self.restate(number);
        self.start(number);
        self.wish_all(number, Wish::Lead);
    }

    /// By when somebody must lead: what `Timing::failover_bound` says once the store answers, on
    /// the slowest clock, and before that the time in which a request of the broken world is given
    /// up and another one is made.
    fn leader_due(&self, election: usize) -> At {
        let setting = &self.story.setting;
        let bound = self.timing.failover_bound();
        let mut due = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        if let Some(record) = self.store.rows.row(election) {
            if record.successor.is_some() {
                // Reserved for somebody who may not be there: that one has a lease's time to come.
                due += setting.lease;
            }
            if record.rules != *self.timing.rules() {
                // Held under other rules: who is turned away by them tries again a while later.
                due += setting.lease * 4;
            }
        }
        self.now + self.on_the_slowest_clock(due) + self.latencies()
    }

    /// How long it takes until all have heard of the leader: one more round.
    fn agreement_takes(&self) -> Span {
        let setting = &self.story.setting;
        self.on_the_slowest_clock(setting.beat + setting.timeout) + self.latencies()
    }

    /// What the network, the database and the processor take, for the few steps of an election.
    fn latencies(&self) -> Span {
        let setting = &self.story.setting;
        (setting.latency_most * 2 + setting.commit_most + setting.lateness) * 4
    }

    fn on_the_slowest_clock(&self, span: Span) -> Span {
        let skews = self.story.setting.skews.iter();
        let slowest = skews.copied().min().unwrap_or(0).min(0);
        let rate = (WHOLE + slowest).unsigned_abs().max(1);
        let stretched = (u128::from(span) << 20) / u128::from(rate);
        u64::try_from(stretched).unwrap_or(u64::MAX)
    }
}
