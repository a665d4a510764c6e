//! What came out of a benchmark.
//!
//! Assumes: nothing.
//! Promises: a percentile is the smallest time that so many are not above; spans are seconds.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::span;
use crate::table::Table;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) ok: bool,
    /// Why it ended early, in words.
    pub(super) failed: Option<String>,
    /// `sqlite`, `postgres` or `mysql`.
    pub(super) store: &'static str,
    /// `lease` or `rounds`.
    pub(super) protocol: &'static str,
    /// At the first round time.
    pub(super) lease: f64,
    pub(super) round_limit: Option<u32>,
    pub(super) round_delta: Option<f64>,
    /// How many candidates share a process.
    pub(super) per_process: u32,
    pub(super) sizes: Vec<Size>,
    /// What the candidates said last, if it ended early.
    pub(super) logs: Vec<String>,
}

/// What was measured with so many candidates.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Size {
    pub(super) candidates: usize,
    pub(super) failover: Times,
    pub(super) round_time: RoundTimes,
    /// Of candidates that were alive.
    pub(super) evictions: Evictions,
    /// Leaderships that ended though their leader was not killed.
    losses: usize,
    /// How often a candidate began to miss the store's answers.
    troubles: usize,
    /// The last of these, in words.
    trouble: Option<String>,
    /// Until everybody took part.
    joined_after: f64,
    /// Until the round time was at rest.
    settled_after: f64,
}

/// From the kill of a leader until its successor leads.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Times {
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
    /// The standard deviation.
    pub(super) deviation: f64,
    /// In the order in which they happened.
    pub(super) each: Vec<f64>,
}

/// How long a round was; null without rounds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct RoundTimes {
    pub(super) start: Option<f64>,
    /// When it was at rest, before the first kill.
    pub(super) stable: Option<f64>,
    pub(super) end: Option<f64>,
}

/// How many candidates were taken off the roster though they lived.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Evictions {
    /// While the round time came to rest.
    pub(super) settling: usize,
    /// While leaders were killed.
    pub(super) kills: usize,
}

impl Size {
    pub(super) fn new(candidates: usize, times: &[Duration]) -> Size {
        Size {
            candidates,
            failover: Times::of(times),
            round_time: RoundTimes::default(),
            evictions: Evictions::default(),
            losses: 0,
            troubles: 0,
            trouble: None,
            joined_after: 0.0,
            settled_after: 0.0,
        }
    }

    /// The same with what happened around the kills.
    pub(super) fn with(
        self,
        round_time: RoundTimes,
        evictions: Evictions,
        (joined, settled): (Duration, Duration),
        (losses, troubles, trouble): (usize, usize, Option<String>),
    ) -> Size {
        let (joined_after, settled_after) = (joined.as_secs_f64(), settled.as_secs_f64());
        Size {
            round_time,
            evictions,
            losses,
            troubles,
            trouble,
            joined_after,
            settled_after,
            ..self
        }
    }
}

impl Times {
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    fn of(times: &[Duration]) -> Times {
        let each: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        let mut sorted = each.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = each.len().max(1) as f64;
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|time| (time - mean).powi(2)).sum();
        // Of a sample: there is one mean less to be free.
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        let at = |share: usize| {
            let rank = (sorted.len() * share).div_ceil(100).max(1);
            sorted.get(rank - 1).copied().unwrap_or_default()
        };
        let (p50, p90, p99, min, max) = (at(50), at(90), at(99), at(0), at(100));
        Times { p50, p90, p99, min, max, mean, deviation, each }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "failover by {} on {}, from the kill until another leads; lease {}",
            self.protocol,
            self.store,
            show(self.lease)
        )?;
        let mut table = Table::new([
            "CANDIDATES",
            "KILLS",
            "P50",
            "P90",
            "P99",
            "MIN",
            "MAX",
            "MEAN",
            "DEVIATION",
            "LOST",
        ]);
        for size in &self.sizes {
            table.row(size.cells());
        }
        write!(f, "{table}")?;
        let mut rounds = Table::new(["CANDIDATES", "ROUND TIME", "EVICTED"]);
        self.sizes.iter().filter_map(Size::rounds).for_each(|cells| rounds.row(cells));
        if self.sizes.iter().any(|size| size.rounds().is_some()) {
            write!(f, "\n\n{rounds}")?;
        }
        if let Some(words) = &self.failed {
            write!(f, "\nfailed     {words}")?;
        }
        for words in &self.logs {
            write!(f, "\nlog        {words}")?;
        }
        Ok(())
    }
}

impl Size {
    /// How long rounds were and who was evicted; nothing without rounds.
    fn rounds(&self) -> Option<[String; 3]> {
        let RoundTimes { start, stable, end } = self.round_time;
        let (start, stable, end) = (show(start?), show(stable?), show(end?));
        let rounds = if start == stable && stable == end {
            start
        } else {
            format!("{start}, {stable}, {end}")
        };
        let evicted = self.evictions.settling + self.evictions.kills;
        Some([self.candidates.to_string(), rounds, evicted.to_string()])
    }

    fn cells(&self) -> [String; 10] {
        let Times { p50, p90, p99, min, max, mean, deviation, each } = &self.failover;
        [
            self.candidates.to_string(),
            each.len().to_string(),
            show(*p50),
            show(*p90),
            show(*p99),
            show(*min),
            show(*max),
            show(*mean),
            show(*deviation),
            self.losses.to_string(),
        ]
    }
}

/// Figures are compared, so they keep a digit more than other spans do.
fn show(seconds: f64) -> String {
    match seconds {
        1.0..60.0 => format!("{seconds:.2} s"),
        _ => span::show(Duration::from_secs_f64(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_smallest_time_that_so_many_are_not_above() {
        let times: Vec<_> = (1..=10).rev().map(Duration::from_secs).collect();
        let times = Times::of(&times);
        let found = [times.min, times.p50, times.p90, times.p99, times.max, times.mean];
        let expected = [1.0, 5.0, 9.0, 10.0, 10.0, 5.5];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        assert!((times.deviation - 3.027_650).abs() < 1e-5, "{}", times.deviation);
        assert!((times.each[0] - 10.0).abs() < 1e-9, "in the order in which they happened");
    }

    #[test]
    fn a_single_time_has_no_deviation() {
        let times = Times::of(&[Duration::from_secs(2)]);
        assert!((times.p50 - 2.0).abs() < 1e-9 && times.deviation.abs() < 1e-9);
    }
}
