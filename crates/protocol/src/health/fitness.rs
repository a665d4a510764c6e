//! Whether a candidate is well enough to lead.
//!
//! Assumes: instants are those of the lease clock of the process that is judged.
//! Promises: exactly one of the three may lead.

use core::fmt;

use crate::time::Time;

/// Whether a candidate is well enough to lead.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fitness {
    /// It may campaign and lead.
    Fit,
    /// It may not, because probes fail, or because none has passed yet.
    Unfit {
        /// Since when it may not: when it stopped being fit, also if it seemed to recover since.
        since: Time,
        /// What the last probe found, for people.
        reason: String,
    },
    /// It may not yet: probes pass again, and must go on doing so.
    Recovering {
        /// The first probe that passes from then on makes it fit, if none fails before.
        until: Time,
    },
}

impl Fitness {
    /// Nothing is known before the first probe.
    pub(super) fn unknown(since: Time) -> Self {
        Fitness::Unfit { since, reason: "no probe has passed yet".to_owned() }
    }

    /// Whether it may campaign and lead.
    pub const fn is_fit(&self) -> bool {
        matches!(self, Fitness::Fit)
    }

    /// The word used in answers and metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Fitness::Fit => "fit",
            Fitness::Unfit { .. } => "unfit",
            Fitness::Recovering { .. } => "recovering",
        }
    }

    /// Why it may not lead, for people.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Fitness::Fit => None,
            Fitness::Unfit { reason, .. } => Some(reason),
            Fitness::Recovering { .. } => Some("healthy again, but not yet for the cool-down"),
        }
    }
}

impl fmt::Display for Fitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            None => f.write_str(self.as_str()),
            Some(reason) => write!(f, "{}: {reason}", self.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fit_may_lead_and_all_others_say_why() {
        let ill = Fitness::Unfit { since: Time::ZERO, reason: "disk full".to_owned() };
        let better = Fitness::Recovering { until: Time::ZERO };
        assert!(Fitness::Fit.is_fit() && Fitness::Fit.reason().is_none());
        for other in [&ill, &better, &Fitness::unknown(Time::ZERO)] {
            assert!(!other.is_fit() && other.reason().is_some(), "{other}");
        }
        assert_eq!(ill.to_string(), "unfit: disk full");
        assert_eq!(Fitness::Fit.to_string(), "fit");
    }
}
