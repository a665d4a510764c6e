//! How processes start, stop, go on and end.

use incumbent_protocol::candidacy::Wish;
use incumbent_protocol::history;
use incumbent_protocol::time::Time;

use super::World;
use crate::clock::{At, Span};
use crate::fault::Kind;
use crate::plant::Plant;
use crate::queue::Event;
use crate::scribe::opened;

impl World<'_> {
    pub(super) fn start(&mut self, number: u8) {
        let bits = self.random.next_wide();
        let process = &mut self.processes[usize::from(number)];
        if process.up {
            return;
        }
        let manner = if process.odd { self.odd_manner } else { self.manner };
        // Preferences have their say as long as things go wrong.
        let preferring = self.story.setting.succession.as_ref().filter(|_| self.healed.is_none());
        let settings = preferring.map(|it| it.settings(usize::from(number), process.version));
        process.start(self.now, bits, manner, settings.as_ref(), &self.elections);
        self.scribe.line(self.now, &process.id, opened(self.now));
        for seat in 0..self.elections.len() {
            let now = self.processes[usize::from(number)].read(self.now);
            self.want(number, seat, now, Wish::Lead);
        }
        self.arm(number);
    }

    /// Kills a process. It comes back after `down`, if that is given.
    pub(super) fn crash(&mut self, number: u8, down: Option<Span>) {
        let process = &mut self.processes[usize::from(number)];
        if !process.up {
            return;
        }
        let life = process.life;
        self.scribe.line(self.now, &process.id, history::Event::Killed);
        if let Some(delay) = self.story.setting.proof {
            let proof = Event::Proof { process: number, life };
            self.queue.push(self.now + delay, proof);
        }
        process.end();
        self.handover_in_order.gone(usize::from(number));
        self.hang_up_all(number, life);
        if let Some(down) = down {
            self.queue.push(self.now + down, Event::Start { process: number });
        }
    }

    pub(super) fn prove(&mut self, number: u8, life: u32) {
        let incarnation = self.processes[usize::from(number)].incarnation(life);
        let proved = || format!("host-{number} is proved dead in life {life}");
        self.scribe.trace(self.now, proved);
        self.store.rows.prove(incarnation);
    }

    /// Stops a process for a while, asleep with its host or not.
    pub(super) fn freeze(&mut self, number: u8, span: Span, asleep: bool) {
        let until = self.now + span;
        let process = &mut self.processes[usize::from(number)];
        if !process.up {
            return;
        }
        if asleep && !process.asleep {
            process.asleep = true;
            process.clock.sleep(self.now);
        }
        if process.frozen.is_none() {
            self.scribe.line(self.now, &process.id, history::Event::Paused);
        }
        if process.frozen.is_none_or(|before| before < until) {
            process.frozen = Some(until);
            let life = process.life;
            if self.plant == Plant::BurstingTimer {
                process.lag = process.lag.max(span);
            }
            self.queue.push(until, Event::Resume { process: number, life });
        }
    }

    pub(super) fn resume(&mut self, number: u8, life: u32) {
        let process = &mut self.processes[usize::from(number)];
        if !process.up
            || process.life != life
            || process.frozen.is_none_or(|until| until > self.now)
        {
            return;
        }
        process.frozen = None;
        if core::mem::take(&mut process.asleep) {
            process.clock.rise(self.now);
        }
        self.scribe.line(self.now, &process.id, history::Event::Resumed);
        self.restate(number);
        let deferred = core::mem::take(&mut self.processes[usize::from(number)].deferred);
        // A driver may look at its timers first or at its sockets first; in the end it looks at
        // both.
        if self.random.percent(50) {
            self.wake_now(number, life);
        }
        for event in deferred {
            if !matches!(event, Event::Wake { .. }) {
                self.take_turn(event);
            }
        }
        self.wake_now(number, life);
        self.arm(number);
    }

    /// A clock that changed its ways makes a lease end at another instant than it was said to: says
    /// so.
    pub(super) fn restate(&mut self, number: u8) {
        let process = &mut self.processes[usize::from(number)];
        if !process.up || process.frozen.is_some() {
            return;
        }
        let local = process.read(self.now);
        for (seat, election) in process.seats.iter().zip(&self.elections) {
            let Some(held) = seat.held.filter(|held| local < held.until) else {
                continue;
            };
            let term = held.term;
            let valid_until = Time::from_nanos(process.when(held.until));
            let line = history::Event::Renewed { election: election.clone(), term, valid_until };
            self.scribe.line(self.now, &process.id, line);
            if !held.sure {
                let line = history::Event::Unsure { election: election.clone(), term };
                self.scribe.line(self.now, &process.id, line);
            }
        }
    }

    /// Kills all processes at once.
    pub(super) fn crash_all(&mut self, down: Span) {
        self.restart_all(down);
        self.tally.fire(Kind::CrashAll);
    }

    /// Stops everybody, and starts them with other rules.
    pub(super) fn change_rules(&mut self, down: Span, kind: Kind) -> bool {
        if self.is_soon_after(self.went_back) {
            return false;
        }
        self.new_rules = Some(self.now);
        self.processes.iter_mut().for_each(|process| process.odd = !process.odd);
        self.restart_all(down);
        self.tally.fire(kind);
        true
    }

    /// Whether a lease by any rules that ran then may still run.
    pub(super) fn is_soon_after(&self, then: Option<At>) -> bool {
        let setting = &self.story.setting;
        // Other rules are longer by a quarter where there are rounds, and else twice as long.
        let longest = setting.longest_lease();
        let leases = if setting.rounds.is_some() { longest * 3 / 2 } else { longest * 9 / 4 };
        then.is_some_and(|then| self.now < then + leases)
    }

    fn restart_all(&mut self, down: Span) {
        for number in 0..super::small(self.processes.len()) {
            let later = self.random.between(down / 2, down);
            self.crash(number, Some(later));
        }
    }
}
