//! How often health is probed, and what follows from the answers; checked together.
//!
//! Assumes: nothing; every number comes from a person.
//! Promises: [`HealthRules`] that exist can work: a probe is over before the next one is due, and a
//! cool-down is long enough to look twice. Every error names the rule that was broken and both
//! numbers.

use core::fmt;
use core::time::Duration;

use thiserror::Error;

/// The rules of one candidate's health. They are its own: no other candidate needs to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HealthRules {
    every: Duration,
    timeout: Duration,
    failures: u32,
    cool_down: Duration,
}

impl HealthRules {
    /// The shortest time between two probes that is accepted.
    pub const EVERY_MIN: Duration = Duration::from_millis(10);
    /// The longest span that is accepted, for any of them.
    pub const SPAN_MAX: Duration = Duration::from_hours(24);
    /// The shortest timeout that is accepted.
    pub const TIMEOUT_MIN: Duration = Duration::from_millis(1);
    /// The most failures that are accepted.
    pub const FAILURES_MAX: u32 = 1_000;

    /// Checks everything together.
    pub fn new(
        every: Duration,
        timeout: Duration,
        failures: u32,
        cool_down: Duration,
    ) -> Result<Self, HealthRulesError> {
        use HealthRulesError as Wrong;
        for (what, span, least) in [
            ("time between probes", every, Self::EVERY_MIN),
            ("timeout", timeout, Self::TIMEOUT_MIN),
        ] {
            if span < least {
                return Err(Wrong::Short { what, span, least });
            }
        }
        for (what, span) in [("time between probes", every), ("cool-down", cool_down)] {
            if span > Self::SPAN_MAX {
                return Err(Wrong::Long { what, span, most: Self::SPAN_MAX });
            }
        }
        if timeout > every {
            return Err(Wrong::Overlap { timeout, every });
        }
        if failures == 0 || failures > Self::FAILURES_MAX {
            return Err(Wrong::Failures { failures, most: Self::FAILURES_MAX });
        }
        if cool_down < every {
            return Err(Wrong::CoolDown { cool_down, every });
        }
        Ok(HealthRules { every, timeout, failures, cool_down })
    }

    /// The usual proportions: a timeout of two fifths of the time between probes, three failures, a
    /// cool-down of six probes.
    pub fn of_every(every: Duration) -> Result<Self, HealthRulesError> {
        HealthRules::new(
            every,
            every.saturating_mul(2) / 5,
            3,
            every.saturating_mul(6).min(Self::SPAN_MAX.max(every)),
        )
    }

    /// From the begin of one probe to the begin of the next.
    pub const fn every(&self) -> Duration {
        self.every
    }

    /// How long a probe may take; what takes as long counts as failed.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How many probes must fail in a row before a fit candidate is unfit.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// How long an unfit candidate must stay well before it is fit again.
    pub const fn cool_down(&self) -> Duration {
        self.cool_down
    }

    /// How long a candidate that fell ill counts as fit at most: it may have fallen ill just after
    /// a probe passed, and the last failure may be one of waiting. What follows (draining,
    /// resigning, the successor's claim) comes on top.
    pub fn notice_bound(&self) -> Duration {
        self.every.saturating_mul(self.failures).saturating_add(self.timeout)
    }

    /// How long a candidate that got well counts as unfit at most: until a probe begins and passes,
    /// the cool-down, and the probe that ends it.
    pub fn recovery_bound(&self) -> Duration {
        let probe = self.every.saturating_add(self.timeout);
        self.cool_down.saturating_add(probe.saturating_mul(2))
    }
}

impl fmt::Display for HealthRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HealthRules { every, timeout, failures, cool_down } = self;
        write!(
            f,
            "a probe every {every:?} of at most {timeout:?}, unfit after {failures} failures, \
             cool-down {cool_down:?}"
        )
    }
}

/// Why rules of health were refused. *Standing:* none was taken. *Retry:* with other numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HealthRulesError {
    /// A span that is too short to be of use.
    #[error("the {what} of health is {span:?}, but it must be at least {least:?}")]
    Short {
        /// Which one.
        what: &'static str,
        /// As given.
        span: Duration,
        /// As required.
        least: Duration,
    },
    /// A span that is too long to be meant.
    #[error("the {what} of health is {span:?}, but it must be at most {most:?}")]
    Long {
        /// Which one.
        what: &'static str,
        /// As given.
        span: Duration,
        /// As allowed.
        most: Duration,
    },
    /// A probe could still be under way when the next one is due.
    #[error(
        "the timeout of health is {timeout:?}, but it must be at most {every:?}, the time between two \
         probes: shorten it or probe less often"
    )]
    Overlap {
        /// As given.
        timeout: Duration,
        /// As given.
        every: Duration,
    },
    /// Nothing would ever fail, or nothing would ever follow.
    #[error("the failures of health are {failures}, but they must be 1 to {most}")]
    Failures {
        /// As given.
        failures: u32,
        /// As allowed.
        most: u32,
    },
    /// The cool-down would be over before anybody has looked again.
    #[error(
        "the cool-down of health is {cool_down:?}, but it must be at least {every:?}, the time between \
         two probes: a shorter one is over before the next probe"
    )]
    CoolDown {
        /// As given.
        cool_down: Duration,
        /// As given.
        every: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn said(every: u64, timeout: u64, failures: u32, cool_down: u64) -> String {
        let rules = HealthRules::new(ms(every), ms(timeout), failures, ms(cool_down));
        rules.map_or_else(|error| error.to_string(), |rules| rules.to_string())
    }

    #[test]
    fn the_usual_proportions_fit_from_the_shortest_to_the_longest() {
        for every in [HealthRules::EVERY_MIN, ms(5_000), HealthRules::SPAN_MAX] {
            assert!(HealthRules::of_every(every).is_ok(), "{every:?}");
        }
        let usual = HealthRules::of_every(ms(5_000)).expect("rules");
        assert_eq!(Ok(usual), HealthRules::new(ms(5_000), ms(2_000), 3, ms(30_000)));
    }

    #[test]
    fn every_refusal_names_its_rule_and_both_numbers() {
        let refusals = [
            (said(9, 1, 1, 10), "time between probes of health is 9ms", "at least 10ms"),
            (said(100, 0, 1, 100), "timeout of health is 0ns", "at least 1ms"),
            (said(86_400_001, 1, 1, 0), "time between probes of health is 86400.001s", "86400s"),
            (said(10, 1, 1, 86_400_001), "cool-down of health is 86400.001s", "most 86400s"),
            (said(100, 101, 1, 100), "timeout of health is 101ms", "at most 100ms"),
            (said(100, 10, 0, 100), "failures of health are 0", "1 to 1000"),
            (said(100, 10, 1_001, 100), "failures of health are 1001", "1 to 1000"),
            (said(100, 10, 1, 99), "cool-down of health is 99ms", "at least 100ms"),
        ];
        for (said, given, bound) in refusals {
            assert!(said.contains(given) && said.contains(bound), "{said}");
        }
    }

    #[test]
    fn a_span_without_end_is_refused_and_does_not_overflow() {
        assert!(HealthRules::of_every(Duration::MAX).is_err());
        assert!(HealthRules::new(ms(10), Duration::MAX, 1, ms(10)).is_err());
        assert!(HealthRules::new(ms(10), ms(10), 1, Duration::MAX).is_err());
    }

    #[test]
    fn illness_is_noticed_after_all_failures_and_one_timeout() {
        let rules = HealthRules::new(ms(100), ms(40), 3, ms(600)).expect("rules");
        assert_eq!(rules.notice_bound(), ms(340));
        assert_eq!(rules.recovery_bound(), ms(880));
    }
}
