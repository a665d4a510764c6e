//! Settings that say who is preferred, and how leaderships are handed over.
//!
//! Assumes: all candidates of an election are given the same preferences.
//! Promises: as for all settings: checked together before anything is opened.

use std::time::Duration;

use incumbent_protocol::policy::{Preempt, Preference};
use incumbent_protocol::succession::Settings;

use super::Config;
use crate::error::Error;

/// How long work may take to end when a leader is asked to hand over, unless another span is set.
pub const DEFAULT_DRAIN: Duration = Duration::from_secs(10);

/// Longest time in which a leader may be asked to end its work.
const DRAIN_MAX: Duration = Duration::from_hours(24);

/// Most preferences that are accepted.
const PREFERENCES_MAX: usize = 16;

/// How often a candidate writes its line of the roll: once a lease, but within these bounds.
const ROLL_LEAST: Duration = Duration::from_millis(200);
const ROLL_MOST: Duration = Duration::from_secs(10);

impl Config {
    /// Higher ones go first. Default: 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// After priority, what makes a candidate preferred: a label with a value (`zone=eu-1`), or the
    /// highest or lowest value of a label (`version=newest`, `version=oldest`). The first that is
    /// given weighs most. All candidates of an election should be given the same.
    ///
    /// A preference says who goes first when a term is open, and who is next when a leader lets go.
    /// Whoever leads stays, unless [`Config::preempt`] says otherwise.
    pub fn prefer(mut self, preference: Preference) -> Self {
        self.policy.prefer.push(preference);
        self
    }

    /// A candidate that is preferred to the leader asks it to hand over, once it has been the better
    /// one for `after` and the term is at least `hold_down` old. Default: whoever leads stays.
    pub fn preempt(mut self, after: Duration, hold_down: Duration) -> Self {
        self.policy.preempt = Some(Preempt { after, hold_down });
        self
    }

    /// Candidates are replaced one by one, told apart by their label `version`: a leader that stops
    /// hands over to one that is new already; if there is none, the next term is kept for its own
    /// name for one lease, so that it comes back as the first that is new. Default: no.
    pub fn rolling(mut self, rolling: bool) -> Self {
        self.policy.rolling = rolling;
        self
    }

    /// How long work may take to end when this candidate is asked to hand over while it leads. At the
    /// end of it the term is ended as by a takeover. Default: 10 s. A transfer brings its own.
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = Some(drain);
        self
    }

    /// How often this candidate tells the store that it is there and hears who else is, for people
    /// and policy. Default: once a lease, from 200 ms to 10 s.
    pub fn roll_every(mut self, every: Duration) -> Self {
        self.roll_every = Some(every);
        self
    }

    pub(super) fn succession(&self, lease: Duration) -> Result<Settings, Error> {
        let wrong = |setting, problem: &str| {
            let problem = problem.to_owned();
            Err(Error::Setting { setting, problem })
        };
        let drain = self.drain.unwrap_or(DEFAULT_DRAIN);
        if drain > DRAIN_MAX {
            return wrong("drain", "it must not be longer than a day");
        }
        let every = self.roll_every.unwrap_or(lease.clamp(ROLL_LEAST, ROLL_MOST));
        if every < Duration::from_millis(50) || every > Duration::from_hours(1) {
            return wrong("roll", "it must be between 50 ms and an hour");
        }
        let policy = self.policy.clone();
        let told = |key: &str| self.profile.labels.iter().any(|(known, _)| known == key);
        if policy.rolling && !told("version") {
            return wrong(
                "rolling",
                "candidates are told apart by their version: set the label version too",
            );
        }
        if policy.prefer.len() > PREFERENCES_MAX {
            return wrong("prefer", "there must not be more than 16 preferences");
        }
        if policy.rolling && policy.preempt.is_some() {
            return wrong("rolling", "it hands over once: leave preemption out");
        }
        let (profile, priority) = (self.profile.clone(), self.priority);
        Ok(Settings { profile, priority, policy, drain, every })
    }
}
