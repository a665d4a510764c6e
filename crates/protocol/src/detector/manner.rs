//! How long a ping may go unanswered: a fixed time, or one that follows how long answers take.
//!
//! Assumes: nothing. Promises: whole nanoseconds in and out; what is reckoned in between is not kept.

use core::time::Duration;
use std::collections::VecDeque;

use crate::caucus::waits::{WaitError, at_least};

/// When a peer is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Manner {
    /// After a fixed time.
    Timeout {
        /// How often it is pinged.
        every: Duration,
        /// How long a ping may go unanswered.
        timeout: Duration,
    },
    /// Phi-accrual: once an answer has taken so long that, as answers have gone lately, the chance of
    /// one that slow is 10 to the minus `threshold / 100`.
    Phi {
        /// How often it is pinged.
        every: Duration,
        /// In hundredths: 800 is a chance of one in a hundred million.
        threshold: u32,
        /// No ping counts as unanswered sooner.
        least: Duration,
        /// How many answers are remembered.
        samples: u16,
    },
}

impl Default for Manner {
    /// The seed's: 700 ms.
    fn default() -> Self {
        let timeout = Duration::from_millis(700);
        Manner::Timeout { every: timeout / 3, timeout }
    }
}

impl Manner {
    /// A fixed time, with three pings in it.
    pub fn of_timeout(timeout: Duration) -> Result<Self, WaitError> {
        at_least(
            "heartbeat timeout",
            timeout,
            Duration::from_millis(3),
            "a millisecond each ping",
        )?;
        Ok(Manner::Timeout { every: timeout / 3, timeout })
    }

    /// Phi-accrual with a threshold of 8 over the last 100 answers, and three pings in the least
    /// time.
    pub fn of_phi(least: Duration) -> Result<Self, WaitError> {
        at_least("least time", least, Duration::from_millis(3), "a millisecond each ping")?;
        Ok(Manner::Phi { every: least / 3, threshold: 800, least, samples: 100 })
    }

    /// How often a peer is pinged.
    pub const fn every(&self) -> Duration {
        match self {
            Manner::Timeout { every, .. } | Manner::Phi { every, .. } => *every,
        }
    }

    /// How many answers are worth remembering.
    pub(super) const fn samples(&self) -> usize {
        match self {
            Manner::Timeout { .. } => 0,
            Manner::Phi { samples, .. } => *samples as usize,
        }
    }

    /// How long a ping may go unanswered, as answers have gone lately.
    pub(super) fn limit(&self, took: &VecDeque<Duration>) -> Duration {
        match self {
            Manner::Timeout { timeout, .. } => *timeout,
            Manner::Phi { every, least, .. } if took.is_empty() => (*least).max(*every * 3),
            Manner::Phi { threshold, least, .. } => {
                (*least).max(quantile(took, f64::from(*threshold) / 100.0))
            }
        }
    }
}

/// The span that an answer exceeds with a chance of 10 to the minus `phi`, if answers are spread
/// normally.
#[expect(clippy::cast_precision_loss, reason = "a guess about the future needs no 52 bits")]
fn quantile(took: &VecDeque<Duration>, phi: f64) -> Duration {
    let count = took.len() as f64;
    let mean = took.iter().map(Duration::as_secs_f64).sum::<f64>() / count;
    let square = |span: &Duration| (span.as_secs_f64() - mean).powi(2);
    let deviation = (took.iter().map(square).sum::<f64>() / count).sqrt();
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..32 {
        let middle = f64::midpoint(low, high);
        if phi_at(middle) < phi { low = middle } else { high = middle }
    }
    let micros = ((mean + high * deviation) * 1e6).ceil();
    Duration::try_from_secs_f64(micros / 1e6).unwrap_or(Duration::MAX)
}

/// Minus the decimal logarithm of the chance to lie so many deviations above the mean: the logistic
/// approximation that is usual for this.
fn phi_at(deviations: f64) -> f64 {
    let x = deviations * (1.5976 + 0.070_566 * deviations * deviations);
    (x + (-x).exp().ln_1p()) / core::f64::consts::LN_10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn phi_of_the_normal_distribution_is_near_the_tables() {
        // The upper tail of the normal distribution at 0, 1, 2, 3 deviations.
        for (deviations, tail) in [(0.0, 0.5_f64), (1.0, 0.1587), (2.0, 0.022_75), (3.0, 0.001_35)]
        {
            let off = phi_at(deviations) + tail.log10();
            assert!(off.abs() < 0.05, "{deviations}: off by {off}");
        }
    }

    #[test]
    fn steady_answers_leave_the_least_time_and_scattered_ones_lengthen_it() {
        let manner = Manner::of_phi(ms(100)).expect("long enough");
        let steady: VecDeque<Duration> = [ms(2); 50].into();
        assert_eq!(manner.limit(&steady), ms(100));
        let scattered: VecDeque<Duration> = (0..50).map(|n| ms(20 + n * 4)).collect();
        assert!(manner.limit(&scattered) > ms(400), "{:?}", manner.limit(&scattered));
        let Manner::Phi { every, least, samples, .. } = manner else { unreachable!() };
        let daring = Manner::Phi { every, threshold: 100, least, samples };
        assert!(daring.limit(&scattered) < manner.limit(&scattered));
    }

    #[test]
    fn a_timeout_too_short_to_ping_in_is_refused() {
        assert!(Manner::of_timeout(ms(2)).is_err());
        assert!(Manner::of_phi(ms(2)).is_err());
        assert_eq!(Manner::of_timeout(ms(700)), Ok(Manner::default()));
    }
}
