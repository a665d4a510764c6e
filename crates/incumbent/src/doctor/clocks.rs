//! How the store's clock runs beside the lease clock of this host.
//!
//! Assumes: the store read its clock at some moment between the question and the answer.
//! Promises: nothing is held against a clock that a slow answer explains as well. An offset is told
//! and never judged: nothing depends on it.

use std::time::Duration;

use incumbent_protocol::rules::{Expiry, Timing};
use incumbent_protocol::time::{StoreTime, Time};

use super::finding::{Findings, Verdict};
use crate::clock;

/// How often the clock is read, and how long to wait in between.
const COUNT: usize = 11;
const PAUSE: Duration = Duration::from_millis(100);

/// One reading of the store's clock, and the lease clock around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    before: Time,
    store: StoreTime,
    after: Time,
}

/// Reads the store's clock for about a second.
pub(crate) async fn read<E>(
    mut ask: impl AsyncFnMut() -> Result<StoreTime, E>,
) -> Result<(Vec<Reading>, i64), E> {
    let mut readings = Vec::with_capacity(COUNT);
    let mut offset = 0;
    for at in 0..COUNT {
        if at > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let before = clock::now();
        let store = ask().await?;
        readings.push(Reading { before, store, after: clock::now() });
        offset = micros(store) - micros(clock::wall());
    }
    Ok((readings, offset))
}

/// What the readings show: micros by which the clock certainly stepped, and the share by which it
/// certainly ran too fast or too slow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// Forward if above zero.
    step: f64,
    /// Fast if above zero.
    rate: f64,
}

impl Run {
    /// `bound` is the share by which two clocks may differ.
    fn of(readings: &[Reading], bound: f64) -> Run {
        let gap = |from: Reading, to: Reading| {
            let told = micros_f64(to.store) - micros_f64(from.store);
            let most = spent(from.before, to.after);
            let least = spent(from.after, to.before);
            // What the store's clock moved beyond what can have passed here.
            if told > most {
                (told - most, most)
            } else if told < least {
                (told - least, least)
            } else {
                (0.0, least)
            }
        };
        let pairs = readings.iter().zip(readings.iter().skip(1));
        let beyond = pairs.map(|(from, to)| {
            let (gap, passed) = gap(*from, *to);
            let excused = passed * bound;
            gap.signum() * (gap.abs() - excused).max(0.0)
        });
        let step =
            beyond.fold(0.0, |worst: f64, it| if it.abs() > worst.abs() { it } else { worst });
        let rate = match (readings.first(), readings.last()) {
            (Some(first), Some(last)) => {
                let (gap, passed) = gap(*first, *last);
                if passed > 0.0 { gap / passed } else { 0.0 }
            }
            _ => 0.0,
        };
        Run { step, rate }
    }
}

/// Says how the clock runs.
pub(crate) fn judge(findings: &mut Findings, readings: &[Reading], offset: i64, timing: &Timing) {
    let rules = timing.rules();
    let bound = rules.margin().as_secs_f64() / rules.lease().as_secs_f64();
    let Run { step, rate } = Run::of(readings, bound);
    let ahead = if offset < 0 { "behind" } else { "ahead of" };
    let off = Duration::from_micros(offset.unsigned_abs());
    let beside = format!("{off:.1?} {ahead} this host's, which does not matter");
    let trusted = rules.expiry() == Expiry::Database;
    let verdict = if trusted { Verdict::Refuse } else { Verdict::Warn };
    let advice = if trusted {
        "with expiry = database a leader may lose its lease to such a clock: use expiry = observed, or let the clock \
         be slewed only"
    } else {
        "past terms get odd times; no promise rests on the store's clock: see to its time service"
    };
    if step != 0.0 {
        let way = if step > 0.0 { "forward" } else { "back" };
        let size = Duration::from_secs_f64(step.abs() / 1e6);
        let said = format!("the store's clock stepped {way} by {size:.1?} within a second");
        findings.add("clock", verdict, said, Some(advice.to_owned()));
    } else if rate.abs() > bound {
        let way = if rate > 0.0 { "fast" } else { "slow" };
        let said = format!(
            "the store's clock runs {:.1} % too {way} beside this host's, and the margin is {:.1} %: one of them is wrong",
            rate.abs() * 100.0,
            bound * 100.0
        );
        let advice = format!(
            "{advice}; if it is this host's, candidates here break the promise of the lease: see to the time service of both"
        );
        findings.add("clock", verdict, said, Some(advice));
    } else {
        findings.good("clock", format!("the store's clock runs evenly; it is {beside}"));
    }
}

fn spent(from: Time, to: Time) -> f64 {
    to.since(from).as_secs_f64() * 1e6
}

fn micros(time: StoreTime) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// Exact for the next two centuries.
#[expect(clippy::cast_precision_loss, reason = "microseconds since 1970 fit into 53 bits")]
fn micros_f64(time: StoreTime) -> f64 {
    time.as_micros() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings every 100 ms whose answers took `trip` milliseconds.
    fn readings(trip: u64, store_millis: impl Fn(u64) -> u64) -> Vec<Reading> {
        (0..11)
            .map(|at| {
                let millis = at * 100;
                let time = |millis: u64| Time::from_nanos(millis * 1_000_000);
                let store =
                    StoreTime::from_micros(1_700_000_000_000_000 + store_millis(millis) * 1_000);
                Reading { before: time(millis), store, after: time(millis + trip) }
            })
            .collect()
    }

    fn verdict(readings: &[Reading], expiry: Expiry) -> Verdict {
        let lease = Duration::from_secs(3);
        let rules =
            incumbent_protocol::rules::Rules::new(lease, lease / 10, expiry).expect("rules");
        let timing = Timing::new(rules, lease / 4, lease / 6, lease / 10).expect("timing");
        let mut findings = Findings::default();
        judge(&mut findings, readings, 0, &timing);
        findings.0[0].verdict
    }

    #[test]
    fn an_even_clock_is_good_however_slow_the_answers_are() {
        assert_eq!(verdict(&readings(1, |m| m), Expiry::Observed), Verdict::Good);
        let jitter = |m: u64| m + if m.is_multiple_of(200) { 60 } else { 5 };
        assert_eq!(verdict(&readings(90, jitter), Expiry::Database), Verdict::Good);
    }

    #[test]
    fn a_step_either_way_is_seen_and_refused_only_where_the_clock_is_trusted() {
        let forward = readings(1, |m| m + if m > 500 { 3_000 } else { 0 });
        let back = readings(1, |m| m + if m > 500 { 0 } else { 3_000 });
        for stepped in [forward, back] {
            assert_eq!(verdict(&stepped, Expiry::Observed), Verdict::Warn);
            assert_eq!(verdict(&stepped, Expiry::Database), Verdict::Refuse);
        }
    }

    #[test]
    fn a_clock_that_runs_too_fast_by_more_than_the_margin_is_seen() {
        assert_eq!(verdict(&readings(1, |m| m * 109 / 100), Expiry::Observed), Verdict::Good);
        assert_eq!(verdict(&readings(1, |m| m * 125 / 100), Expiry::Observed), Verdict::Warn);
    }
}
