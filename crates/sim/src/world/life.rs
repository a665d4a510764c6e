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

/// The longest that the driver of a leader sleeps. As the shipping one does.
const NAP: Span = 250_000_000;

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
            let left = process.wakes_at.saturating_sub(self.now);
            process.timer_left = Some(process.timer_left.unwrap_or(left));
            process.clock.sleep(self.now);
        }
        if process.frozen.is_none() {
            self.scribe.line(self.now, &process.id, history::Event::Paused);
        }
        if process.frozen.is_none_or(|before| before < until) {
            process.woke = None;
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
        if core::mem::take(&mut process.asleep) {
            process.clock.rise(self.now);
            if self.timer_runs_on(number) {
                return;
            }
        }
        self.judge_nap(number);
        let process = &mut self.processes[usize::from(number)];
        process.frozen = None;
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

    /// The host is awake. Its process does nothing until its timer has run for what was left of it, or
    /// something reaches it: to itself it is as if it were stopped.
    fn timer_runs_on(&mut self, number: u8) -> bool {
        let process = &mut self.processes[usize::from(number)];
        let leads = process.seats.iter().any(|seat| seat.held.is_some());
        let most = if leads && self.plant != Plant::NoNap { NAP } else { Span::MAX };
        let left = process.timer_left.take().unwrap_or(0).min(most);
        let heard = process.deferred.iter().any(Event::reaches);
        if left == 0 || heard || self.healed.is_some() {
            return false;
        }
        process.woke = Some(self.now);
        // Never so far away that it would not come: a timer that was not set waits for what comes.
        let until = self.now + left.min(self.story.setting.longest_lease());
        process.frozen = Some(until);
        let life = process.life;
        self.queue.push(until, Event::Resume { process: number, life });
        true
    }

    /// A process that goes on has had no lease that is over for longer than a nap, since its host woke.
    fn judge_nap(&mut self, number: u8) {
        let process = &mut self.processes[usize::from(number)];
        let Some(woke) = process.woke.take() else {
            return;
        };
        let local = process.read(self.now);
        let over = |seat: &crate::process::Seat| {
            seat.work.term.is_some() && seat.held.is_some_and(|held| held.until <= local)
        };
        let works_on = process.seats.iter().any(over);
        self.oaths.woken(self.now, &process.id, works_on && self.now > woke + NAP);
    }

    /// Something reaches a process whose timer runs on after its host woke.
    pub(super) fn rouse(&mut self, number: u8, life: u32) {
        let process = &mut self.processes[usize::from(number)];
        if process.woke.is_some() && process.life == life {
            process.frozen = Some(self.now);
            self.resume(number, life);
        }
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
