//! The timings of an election, checked together.
//!
//! Assumes: nothing; every number comes from a person.
//! Promises: a [`Timing`] that exists is one that can work. [`Rules`] are the part that all
//! candidates share (they are stored beside the leader, and a candidate with other ones is
//! refused); the rest is each candidate's own. Every error names the rule that was broken and both
//! numbers.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::planted::{self, Bug};

/// Whose clock says that a lease has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expiry {
    /// The challenger's own: it must have watched the leader's beat stand still for a full lease.
    /// Trusts only that two clocks *run* at nearly the same rate.
    #[default]
    Observed,
    /// The store's: the beat is older than a lease by the clock of the database. A challenger that
    /// has just arrived need not wait. Trusts, in addition, that the database's clock never steps
    /// forward.
    Database,
    /// The challenger's own, as with [`Expiry::Observed`], and only the first in line of a roster
    /// challenges: the `rounds` protocol.
    Rounds,
}

impl Expiry {
    /// The word used in configuration and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Expiry::Observed => "observed",
            Expiry::Database => "database",
            Expiry::Rounds => "rounds",
        }
    }

    /// What a user of this rule relies on, in one sentence.
    pub const fn trusts(self) -> &'static str {
        match self {
            Expiry::Observed | Expiry::Rounds => {
                "trusts that clocks run at nearly the same rate; no offset matters"
            }
            Expiry::Database => {
                "trusts that the database's wall clock never steps forward, and that clocks run at nearly the same rate"
            }
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Expiry {
    type Err = TimingError;

    fn from_str(word: &str) -> Result<Self, TimingError> {
        match word {
            "observed" => Ok(Expiry::Observed),
            "database" => Ok(Expiry::Database),
            "rounds" => Ok(Expiry::Rounds),
            _ => Err(TimingError::Expiry(word.to_owned())),
        }
    }
}

/// What all candidates of an election agree on. Stored with the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Rules {
    lease: Duration,
    margin: Duration,
    expiry: Expiry,
}

impl Rules {
    /// Shortest lease that is accepted at all; what the store's round trips allow may be longer.
    pub const LEASE_MIN: Duration = Duration::from_millis(10);
    /// Longest lease that is accepted.
    pub const LEASE_MAX: Duration = Duration::from_hours(24);

    /// Checks a lease and the margin that is cut from it. Both are kept in whole microseconds, as
    /// stores keep them.
    pub fn new(lease: Duration, margin: Duration, expiry: Expiry) -> Result<Self, TimingError> {
        let (lease, margin) = (whole_micros(lease), whole_micros(margin));
        if lease < Self::LEASE_MIN {
            return Err(TimingError::LeaseShort { lease, least: Self::LEASE_MIN });
        }
        if lease > Self::LEASE_MAX {
            return Err(TimingError::LeaseLong { lease, most: Self::LEASE_MAX });
        }
        let (least, most) = (lease / 50, lease / 2);
        if margin < least {
            return Err(TimingError::MarginSmall { margin, least, lease });
        }
        if margin > most {
            return Err(TimingError::MarginLarge { margin, most, lease });
        }
        Ok(Rules { lease, margin, expiry })
    }

    /// The span in which nobody else may lead.
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// What the leader cuts from its lease for clock-rate error.
    pub const fn margin(&self) -> Duration {
        self.margin
    }

    /// Whose clock says that a lease has run out.
    pub const fn expiry(&self) -> Expiry {
        self.expiry
    }

    /// Rules that follow from a pace, which was checked as a whole.
    pub(crate) const fn paced(lease: Duration, margin: Duration) -> Self {
        Rules { lease, margin, expiry: Expiry::Rounds }
    }

    /// Whether a candidate that keeps these rules may contend with one that keeps the others. What a
    /// roster must agree on is in VARS; its lease changes with its pace.
    pub fn agree_with(&self, others: &Rules) -> bool {
        self == others || (self.expiry == Expiry::Rounds && others.expiry == Expiry::Rounds)
    }

    /// How long a leader may rely on one renewal: the lease less the margin.
    pub fn span(&self) -> Duration {
        if planted::is(Bug::NoMargin) {
            return self.lease;
        }
        self.lease.saturating_sub(self.margin)
    }
}

pub(crate) fn whole_micros(span: Duration) -> Duration {
    Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rules { lease, margin, expiry } = self;
        match expiry {
            Expiry::Rounds => write!(f, "lease {lease:?}, margin {margin:?}, protocol rounds"),
            _ => write!(f, "lease {lease:?}, margin {margin:?}, expiry {expiry}"),
        }
    }
}

/// The rules and one candidate's own timings, checked as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    rules: Rules,
    beat: Duration,
    timeout: Duration,
    grace: Duration,
}

impl Timing {
    /// Checks everything together: a leader that misses one beat must still have time for two more
    /// tries and for stopping its work before its lease ends.
    pub fn new(
        rules: Rules,
        beat: Duration,
        timeout: Duration,
        grace: Duration,
    ) -> Result<Self, TimingError> {
        for (what, span) in [("beat", beat), ("timeout", timeout)] {
            if span < Duration::from_millis(1) {
                return Err(TimingError::Zero { what, span });
            }
        }
        let needed = beat.saturating_add(timeout.saturating_mul(2)).saturating_add(grace);
        if needed > rules.span() {
            return Err(TimingError::Budget { needed, span: rules.span(), beat, timeout, grace });
        }
        Ok(Timing { rules, beat, timeout, grace })
    }

    /// The usual proportions of a lease: margin a tenth, beat a quarter, timeout a sixth, grace a
    /// tenth.
    pub fn of_lease(lease: Duration) -> Result<Self, TimingError> {
        let rules = Rules::new(lease, lease / 10, Expiry::Observed)?;
        Timing::new(rules, lease / 4, lease / 6, lease / 10)
    }

    /// The same candidate's timings at another pace. A store that needs longer rounds needs longer to
    /// answer, too; the grace stays.
    #[must_use]
    pub(crate) fn paced(&self, rules: Rules, beat: Duration) -> Timing {
        let share = self.timeout.as_nanos() * beat.as_nanos() / self.beat.as_nanos().max(1);
        let timeout = Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX));
        Timing { rules, beat, timeout, ..*self }
    }

    /// The shared part.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Time between two renewals.
    pub const fn beat(&self) -> Duration {
        self.beat
    }

    /// How long a request may take before its outcome counts as unknown.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The end of the lease that is kept free for stopping the work.
    pub const fn grace(&self) -> Duration {
        self.grace
    }

    /// The longest that an election stays without a leader after a crash, once the store answers
    /// again: the beat that may pass before the last renewal is looked for, the time until it is
    /// heard of, a lease, and the claim itself. By the clock of the candidate that takes over.
    pub fn failover_bound(&self) -> Duration {
        self.rules.lease + self.beat + self.timeout * 2
    }

    /// These timings with so much more patience for the store.
    #[must_use]
    pub fn patient(&self, timeout: Duration) -> Timing {
        Timing { timeout: self.timeout.max(timeout), ..*self }
    }

    /// Refuses timings that a store with these round trips cannot keep: three short questions, or one
    /// short write, must fit into the timeout.
    pub fn fits_round_trip(
        &self,
        asked: Duration,
        written: Option<Duration>,
    ) -> Result<(), TimingError> {
        let needed = asked.saturating_mul(3).max(written.unwrap_or_default());
        if needed > self.timeout {
            let (lease, timeout) = (self.rules.lease, self.timeout);
            return Err(TimingError::RoundTrip { lease, timeout, needed });
        }
        Ok(())
    }
}

/// Why timings were refused. *Standing:* none was taken. *Retry:* with other numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimingError {
    /// Below [`Rules::LEASE_MIN`].
    #[error("the lease is {lease:?}, but it must be at least {least:?}")]
    LeaseShort {
        /// As given.
        lease: Duration,
        /// As required.
        least: Duration,
    },
    /// Above [`Rules::LEASE_MAX`].
    #[error("the lease is {lease:?}, but it must be at most {most:?}")]
    LeaseLong {
        /// As given.
        lease: Duration,
        /// As allowed.
        most: Duration,
    },
    /// Too small a margin leaves no room for clocks that run at different rates.
    #[error(
        "the margin is {margin:?}, but it must be at least {least:?}, a fiftieth of the lease of {lease:?}, \
         because two clocks never run at exactly the same rate"
    )]
    MarginSmall {
        /// As given.
        margin: Duration,
        /// As required.
        least: Duration,
        /// The lease it was measured against.
        lease: Duration,
    },
    /// Too large a margin leaves no lease.
    #[error(
        "the margin is {margin:?}, but it must be at most {most:?}, half the lease of {lease:?}"
    )]
    MarginLarge {
        /// As given.
        margin: Duration,
        /// As allowed.
        most: Duration,
        /// The lease it was measured against.
        lease: Duration,
    },
    /// A span that must be at least a millisecond.
    #[error("the {what} is {span:?}, but it must be at least 1ms")]
    Zero {
        /// Which one.
        what: &'static str,
        /// As given.
        span: Duration,
    },
    /// The parts do not fit into the lease.
    #[error(
        "beat {beat:?} + 2 x timeout {timeout:?} + grace {grace:?} = {needed:?} must fit into the lease less its \
         margin, {span:?}: lengthen the lease or shorten one of them"
    )]
    Budget {
        /// Their sum.
        needed: Duration,
        /// What there is.
        span: Duration,
        /// As given.
        beat: Duration,
        /// As given.
        timeout: Duration,
        /// As given.
        grace: Duration,
    },
    /// The store is too slow for this lease.
    #[error(
        "the store needs {needed:?} for its round trips (three questions, or one write), but the timeout is {timeout:?} \
         (lease {lease:?}): lengthen the lease"
    )]
    RoundTrip {
        /// As given.
        lease: Duration,
        /// As given or derived.
        timeout: Duration,
        /// As measured.
        needed: Duration,
    },
    /// Too few or too many rounds in a lease.
    #[error("the round limit is {limit}, but a lease must be {least} to {most} rounds")]
    RoundLimit {
        /// As given.
        limit: u32,
        /// As required.
        least: u32,
        /// As allowed.
        most: u32,
    },
    /// A lease and a round that do not fit each other.
    #[error(
        "the lease is {lease:?}, but {limit} rounds of {round:?} are {:?}: leave one of the two out",
        round.saturating_mul(*limit)
    )]
    RoundLease {
        /// As given.
        lease: Duration,
        /// As given.
        round: Duration,
        /// As given, or the default.
        limit: u32,
    },
    /// A round that cannot even begin.
    #[error("the cap is {cap:?}, but rounds begin with {round_time:?} and only grow up to it")]
    RoundCap {
        /// As given.
        cap: Duration,
        /// As given.
        round_time: Duration,
    },
    /// Neither of the two rules of expiry.
    #[error("unknown expiry rule {0:?}: use \"observed\" or \"database\"")]
    Expiry(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_usual_proportions_fit_for_every_lease() {
        for lease in [10, 40, 100, 1_000, 3_000, 60_000] {
            assert!(Timing::of_lease(ms(lease)).is_ok(), "{lease} ms");
        }
    }

    #[test]
    fn a_margin_of_zero_is_refused_with_both_numbers() {
        let error = Rules::new(ms(3_000), ms(0), Expiry::Observed);
        assert_eq!(
            error,
            Err(TimingError::MarginSmall { margin: ms(0), least: ms(60), lease: ms(3_000) })
        );
    }

    #[test]
    fn a_beat_that_leaves_no_time_to_try_again_is_refused() {
        let rules = Rules::new(ms(1_000), ms(100), Expiry::Observed).expect("rules");
        let error = Timing::new(rules, ms(600), ms(100), ms(150)).expect_err("too tight");
        assert!(error.to_string().contains("= 950ms must fit into"), "{error}");
    }

    #[test]
    fn a_lease_shorter_than_the_round_trips_is_refused() {
        let timing = Timing::of_lease(ms(30)).expect("timing");
        assert!(timing.fits_round_trip(ms(1), Some(ms(5))).is_ok());
        assert!(timing.fits_round_trip(ms(2), None).is_err());
        assert!(timing.fits_round_trip(ms(1), Some(ms(6))).is_err());
    }

    #[test]
    fn a_span_without_end_is_refused_and_does_not_overflow() {
        let rules = Rules::new(ms(1_000), ms(100), Expiry::Observed).expect("rules");
        for (beat, timeout) in [(Duration::MAX, ms(1)), (ms(1), Duration::MAX)] {
            assert!(Timing::new(rules, beat, timeout, Duration::MAX).is_err());
        }
    }
}
