//! At what rates the store's clock and the lease clock of this process run.
//!
//! Assumes: the store reads its clock at some moment between a question and its answer.
//! Promises: nothing is held against a clock that slow answers or a single step explain as well. Nothing safe rests on
//! it: it finds hosts on which the margin of a lease is too small, so that people are told.

use core::time::Duration;

use crate::time::{AskedAt, HeardAt, StoreTime, Time};

/// How long the clocks are compared at a time.
const WINDOW: Duration = Duration::from_secs(30);

/// One reading of the store's clock, and the lease clock around it.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// When the store was asked.
    pub asked_at: AskedAt,
    /// What its clock said.
    pub store: StoreTime,
    /// When that was heard.
    pub heard_at: HeardAt,
}

/// What is known of the rates so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    from: Option<Reading>,
    /// The last window, if the clocks were apart in it.
    before: Option<i64>,
    told: bool,
}

impl Rates {
    /// Takes a reading. If in two windows in a row the clocks were apart by more than `bound`, tells once by how much the
    /// store's clock is faster than the lease clock, and slower if that is below zero. Both are parts of a thousand.
    pub fn read(&mut self, reading: Reading, bound: i64) -> Option<i64> {
        let Some(from) = self.from else {
            self.from = Some(reading);
            return None;
        };
        if reading.asked_at.time().since(from.heard_at.time()) < WINDOW {
            return None;
        }
        self.from = Some(reading);
        let apart = Some(apart(&from, &reading)).filter(|apart| apart.abs() > bound);
        let before = core::mem::replace(&mut self.before, apart);
        let steady = apart.zip(before).filter(|(now, then)| now.signum() == then.signum());
        match steady {
            Some((now, then)) if !core::mem::replace(&mut self.told, true) => {
                Some(if now.abs() < then.abs() { now } else { then })
            }
            _ => None,
        }
    }

    /// Elapsed time is in doubt: what was read before is compared with nothing that comes.
    pub fn doubt(&mut self) {
        self.from = None;
        self.before = None;
    }
}

/// By how much the store's clock certainly was faster, in parts of a thousand.
fn apart(from: &Reading, to: &Reading) -> i64 {
    let span =
        |from: Time, to: Time| i128::try_from(to.since(from).as_micros()).unwrap_or(i128::MAX);
    let told = i128::from(to.store.as_micros()) - i128::from(from.store.as_micros());
    let most = span(from.asked_at.time(), to.heard_at.time());
    let least = span(from.heard_at.time(), to.asked_at.time());
    let (gap, passed) =
        if told > most { (told - most, most) } else { ((told - least).min(0), least) };
    i64::try_from(gap.saturating_mul(1_000) / passed.max(1)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of clocks that are read every second, with answers that take so many milliseconds.
    fn told(trip: impl Fn(u64) -> u64, store_millis: impl Fn(u64) -> u64) -> Vec<i64> {
        let time = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let mut rates = Rates::default();
        let readings = (0..300).map(|at| at * 1_000).filter_map(|millis| {
            let store = 1_700_000_000_000_000 + store_millis(millis) * 1_000;
            let reading = Reading {
                asked_at: AskedAt::before_sending(time(millis)),
                store: StoreTime::from_micros(store),
                heard_at: HeardAt::after_answer(time(millis + trip(millis))),
            };
            rates.read(reading, 50)
        });
        readings.collect()
    }

    #[test]
    fn clocks_of_one_rate_are_not_told_of_however_slow_the_answers_are() {
        assert_eq!(told(|_| 1, |millis| millis), [0; 0]);
        assert_eq!(told(|millis| 5 + millis / 1_000 % 7 * 100, |millis| millis + 5), [0; 0]);
        assert_eq!(told(|_| 1, |millis| millis * 104 / 100), [0; 0], "within the bound");
    }

    #[test]
    fn a_clock_that_runs_too_fast_or_too_slow_is_told_of_once() {
        let fast = told(|_| 1, |millis| millis * 2);
        assert!(matches!(fast.as_slice(), [990..=1_000]), "{fast:?}");
        let slow = told(|_| 1, |millis| millis / 2);
        assert!(matches!(slow.as_slice(), [-500..=-495]), "{slow:?}");
    }

    #[test]
    fn a_step_is_no_rate() {
        assert_eq!(
            told(|_| 1, |millis| millis + if millis > 100_000 { 3_600_000 } else { 0 }),
            [0; 0]
        );
        assert_eq!(
            told(|_| 1, |millis| 3_600_000 + millis - if millis > 100_000 { 3_600_000 } else { 0 }),
            [0; 0]
        );
    }
}
