//! Is this candidate well enough to lead? A judge of probes.
//!
//! Assumes: one probe is under way at a time; a driver that does every [`Effect`] and tells what
//! became of it, with a `now` that never goes back.
//! Promises: a candidate of which nothing is known is not fit. Fitness begins with a probe that
//! passed and ends with a probe that failed, the last of so many in a row; after that, only a
//! cool-down without a failure brings it back. A probe that takes as long as its timeout has failed,
//! whatever it says later.

use std::collections::VecDeque;

use crate::protocol::Protocol;
use crate::time::Time;

mod fitness;
mod rules;

pub use self::fitness::Fitness;
pub use self::rules::{HealthRules, HealthRulesError};

/// Which probe, counted from 1.
pub type ProbeNumber = u64;

/// What reaches the judge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Nothing but the time.
    Tick,
    /// A probe found everything well.
    Passed(ProbeNumber),
    /// A probe found something wrong.
    Failed {
        /// Which one.
        probe: ProbeNumber,
        /// What it found, for people.
        reason: String,
    },
}

/// What the judge wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Begin this probe now.
    Begin(ProbeNumber),
    /// End this probe: it took too long, and nobody listens to it any more.
    GiveUp(ProbeNumber),
}

/// The health of one candidate, as its probes show it.
#[derive(Clone, Debug)]
pub struct Health {
    rules: HealthRules,
    fitness: Fitness,
    /// How many probes have failed since one passed.
    failed: u32,
    /// When fitness was lost last, or the start.
    ill_since: Time,
    begun: ProbeNumber,
    /// When the probe that is under way has taken too long.
    deadline: Option<Time>,
    next_at: Option<Time>,
    effects: VecDeque<Effect>,
    notices: VecDeque<Fitness>,
}

impl Health {
    /// Nothing is known yet, so it is not fit.
    pub fn new(rules: HealthRules) -> Self {
        Health {
            rules,
            fitness: Fitness::unknown(Time::ZERO),
            failed: 0,
            ill_since: Time::ZERO,
            begun: 0,
            deadline: None,
            next_at: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// What the candidate is now.
    pub const fn fitness(&self) -> &Fitness {
        &self.fitness
    }

    /// The rules it is judged by.
    pub const fn rules(&self) -> &HealthRules {
        &self.rules
    }

    fn pass(&mut self, now: Time) {
        let lasting = self.failed >= self.rules.failures();
        self.failed = 0;
        let next = match self.fitness {
            // A long illness is over; whether that lasts must be seen.
            Fitness::Unfit { .. } if lasting => {
                Fitness::Recovering { until: now + self.rules.cool_down() }
            }
            Fitness::Recovering { until } if now < until => return,
            Fitness::Fit | Fitness::Unfit { .. } | Fitness::Recovering { .. } => Fitness::Fit,
        };
        self.turn(next);
    }

    fn fail(&mut self, now: Time, reason: String) {
        self.failed = match self.fitness {
            // One failure undoes a recovery, and the cool-down is due again in full.
            Fitness::Recovering { .. } => self.rules.failures(),
            _ => self.failed.saturating_add(1),
        };
        if self.fitness.is_fit() {
            if self.failed < self.rules.failures() {
                return;
            }
            self.ill_since = now;
        }
        self.turn(Fitness::Unfit { since: self.ill_since, reason });
    }

    fn turn(&mut self, next: Fitness) {
        if self.fitness != next {
            self.fitness = next.clone();
            self.notices.push_back(next);
        }
    }

    /// Takes the answer of the probe that is under way, if this is it and it came in time.
    fn answer(&mut self, now: Time, probe: ProbeNumber, result: Result<(), String>) {
        if probe != self.begun || self.deadline.take_if(|deadline| now < *deadline).is_none() {
            return;
        }
        match result {
            Ok(()) => self.pass(now),
            Err(reason) => self.fail(now, reason),
        }
    }

    fn tick(&mut self, now: Time) {
        if self.deadline.take_if(|deadline| now >= *deadline).is_some() {
            self.effects.push_back(Effect::GiveUp(self.begun));
            self.fail(now, format!("no answer within {:?}", self.rules.timeout()));
        }
        if self.deadline.is_none() && self.next_at.is_some_and(|next| now >= next) {
            self.begun += 1;
            // From now, not from when it was due: whoever was asleep does not catch up in a burst.
            self.deadline = Some(now + self.rules.timeout());
            self.next_at = Some(now + self.rules.every());
            self.effects.push_back(Effect::Begin(self.begun));
        }
    }
}

impl Protocol for Health {
    type Input = Input;
    type Effect = Effect;
    type Notice = Fitness;

    fn begin(&mut self, now: Time) {
        self.ill_since = now;
        self.fitness = Fitness::unknown(now);
        self.next_at = Some(now);
        self.tick(now);
    }

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Tick => {}
            Input::Passed(probe) => self.answer(now, probe, Ok(())),
            Input::Failed { probe, reason } => self.answer(now, probe, Err(reason)),
        }
        self.tick(now);
    }

    fn wake_at(&self) -> Option<Time> {
        self.deadline.or(self.next_at)
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Fitness> {
        self.notices.pop_front()
    }
}

#[cfg(test)]
mod tests;
