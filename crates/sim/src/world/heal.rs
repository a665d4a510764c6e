//! How a world heals, and what is due from then on.
//!
//! Assumes: the story has no fault after this.
//! Promises: everything that was broken works; every process runs and wants to lead; and the
//! history says by when somebody must lead and when all must know.

use incumbent_protocol::candidacy::Wish;
use incumbent_protocol::history;
use incumbent_protocol::lease::request::Request;
use incumbent_protocol::rounds::membership::WATCHED;
use incumbent_protocol::rules::Rules;
use incumbent_protocol::time::Time;

use super::{World, small};
use crate::clock::{At, Span, WHOLE};
use crate::fault::Kind;
use crate::mail::Body;
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
        self.store.rows.lift_all();
        self.orders_hold.forget();
        for number in 0..small(self.processes.len()) {
            self.mend(number);
        }
        for election in 0..self.elections.len() {
            let leader_due = self.leader_due(election);
            let agreement_due = leader_due + self.agreement_takes(election);
            let line = history::Event::Healed {
                election: self.elections[election].clone(),
                leader_due: Time::from_nanos(leader_due),
                agreement_due: Time::from_nanos(agreement_due),
            };
            self.scribe.world(self.now, line);
        }
        let quiet = (0..self.elections.len())
            .map(|election| self.leader_due(election) + self.agreement_takes(election));
        let quiet = quiet.max().unwrap_or(self.now);
        self.queue.push(quiet, Event::Quiet);
    }

    fn mend(&mut self, number: u8) {
        self.end_succession(number);
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
        self.end_drains(number);
        self.start(number);
        self.disinherit(number);
        self.wish_all(number, Wish::Lead);
    }

    /// By when somebody must lead: what `Timing::failover_bound` says once the store answers, on
    /// the slowest clock, and before that the time in which a request of the broken world is given
    /// up and another one is made.
    fn leader_due(&self, election: usize) -> At {
        let setting = &self.story.setting;
        if self.manner.pacing.is_some() {
            let due = self.line_moves(election);
            return self.now + self.on_the_slowest_clock(due) + self.latencies() * 2;
        }
        let bound = self.manner.timing.failover_bound();
        let mut due = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        // Whoever lets others go first waits for so long in vain if they do not come.
        due += self.processes.iter().map(|process| process.deference).max().unwrap_or(0);
        let new_rules = self.story.has(Kind::NewRules) || self.story.has(Kind::RulesThenDelete);
        if self.story.goes_back() && new_rules {
            // A store that went back is waited out by the longest lease that was ever seen: rules differ
            // by a factor of two at most.
            due += setting.lease * 2;
        }
        let row = self.store.rows.row(election);
        if row.is_some_and(|record| record.successor.is_some()) || self.leaves_to_an_heir(election)
        {
            // Reserved for somebody who may not be there: that one has a lease's time to come.
            due += setting.lease;
        }
        let other = |rules: &Rules| rules != self.manner.timing.rules();
        let held = row.is_some_and(|record| other(&record.rules));
        // A bid of somebody who kept other rules may be under way, and win yet.
        let bid = self.mails.iter().any(|mail| match &mail.body {
            Body::Request { request: Request::Bid(bid), .. } => {
                usize::from(mail.election) == election && other(&bid.rules)
            }
            _ => false,
        });
        if held || bid {
            // Held under other rules: who is turned away by them tries again a while later.
            due += setting.lease * 5;
        }
        self.now + self.on_the_slowest_clock(due) + self.latencies()
    }

    /// How long it takes until the first in line that lives leads, in an election with a roster. One
    /// thing after the other, at the longest round that there can be from now on:
    ///
    /// - a request of the broken world is given up, and another one made (two timeouts, as in
    ///   `Timing::failover_bound`);
    /// - whoever was deposed just now bids for nothing for a lease;
    /// - whoever has no place hears of that within a round, joins, and sees the line for the first
    ///   time;
    /// - those ahead of it who are gone, and the term that one of them may hold, are seen to stand
    ///   still for a lease from then on;
    /// - a claim that was refused, because somebody ahead turned out to live, is made again a round
    ///   later by whoever is first then.
    fn line_moves(&self, election: usize) -> Span {
        let setting = &self.story.setting;
        let (round, lease) = self.longest(election);
        let mut due = lease * 2 + round * 2 + setting.timeout * 4;
        due += (lease + round) * self.widenings(election);
        let row = self.store.rows.row(election);
        if row.is_some_and(|record| record.successor.is_some()) || self.leaves_to_an_heir(election)
        {
            // Reserved for somebody who may not be there: that one has a lease's time to come.
            due += lease;
        }
        let vars = self.store.rows.registers(election).vars.as_ref();
        if vars.is_some_and(|vars| Some(vars.pacing) != self.manner.pacing) {
            // Kept by somebody with another pacing, who is gone: only after two leases may VARS be
            // made anew, and who is turned away by it tries again a while later.
            due += lease * 3 + setting.lease * 3 / 2;
        }
        due
    }

    /// How often a follower must look further down the line before it sees itself: it watches the few
    /// lowest rows, and two more for each of them that stood still for a lease. Whole generations of
    /// dead may be ahead of the living if nobody led for long.
    fn widenings(&self, election: usize) -> u64 {
        let rows = self.store.rows.registers(election).roster.len() + self.processes.len();
        let wider = |seen: &usize| Some(seen * 2 + WATCHED as usize);
        let seen = core::iter::successors(Some(WATCHED as usize), wider);
        seen.take_while(|&seen| seen < rows).count() as u64
    }

    /// The longest round that there can be after the healing, and the lease that it makes: that which
    /// is in force or held now, and one delta for everybody who may yet say that it was evicted.
    fn longest(&self, election: usize) -> (Span, Span) {
        let setting = &self.story.setting;
        let Some(rounds) = setting.rounds else {
            return (setting.beat, setting.lease);
        };
        let nanos = |span: core::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let limit = u64::from(rounds.limit);
        let vars = self.store.rows.registers(election).vars.as_ref();
        let row = self.store.rows.row(election);
        let known = self.processes.iter().filter_map(|process| {
            let rank = process.seats.get(election)?.candidacy.rank(Time::ZERO)?;
            Some(nanos(rank.round_time))
        });
        let held = row.map(|record| nanos(record.rules.lease()) / limit);
        let in_force = vars.map(|vars| nanos(vars.pace.round));
        let now = known.chain(held).chain(in_force).max().unwrap_or(setting.beat);
        let grown = now + rounds.delta * self.processes.len() as u64;
        let round = grown.min(rounds.cap.max(now));
        // A store that lost writes is waited out by the longest lease that there can be.
        let lease = round * limit;
        (round, if self.story.goes_back() { lease.max(setting.longest_lease()) } else { lease })
    }

    /// How long it takes until all have heard of the leader: one more round.
    fn agreement_takes(&self, election: usize) -> Span {
        let (round, _) = self.longest(election);
        self.on_the_slowest_clock(round + self.story.setting.timeout) + self.latencies()
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
