//! The clocks of one simulated host, as functions of the world's own time.
//!
//! Assumes: skews are far smaller than one.
//! Promises: a boot-time clock that runs on while the host sleeps, a monotonic clock that does not,
//! and a wall clock that can be set; each can be asked when it will show a given reading, so that
//! timers fire when a real one would.

pub use incumbent_audit::{Skew, WHOLE};
use incumbent_protocol::time::Time;

/// An instant of the world, in nanoseconds from its beginning. Nobody inside the world can read it.
pub type At = u64;

/// A span of the world's time, in nanoseconds.
pub type Span = u64;

/// One second.
pub const SECOND: Span = 1_000_000_000;

/// Which clock a driver counts leases on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `CLOCK_BOOTTIME`: runs while the host sleeps.
    Boot,
    /// `CLOCK_MONOTONIC`: stands still while the host sleeps.
    Monotonic,
}

/// The clocks of one host.
#[derive(Clone, Debug)]
pub struct HostClock {
    /// Where the present stretch of even running began, in the world and on the boot-time clock.
    anchor: At,
    reading: u64,
    skew: Skew,
    /// For how long the host has slept, on the boot-time clock.
    slept: Span,
    asleep_since: Option<u64>,
    /// How far the wall clock is ahead of the boot-time clock.
    wall_ahead: i64,
}

impl HostClock {
    /// A host that shows `reading` at the instant `at`.
    pub const fn new(at: At, reading: u64, skew: Skew) -> Self {
        HostClock { anchor: at, reading, skew, slept: 0, asleep_since: None, wall_ahead: 0 }
    }

    /// What the boot-time clock shows.
    pub fn boot(&self, at: At) -> u64 {
        self.reading + scaled(at.saturating_sub(self.anchor), self.skew)
    }

    /// What the chosen clock shows.
    pub fn read(&self, at: At, source: Source) -> Time {
        let boot = self.boot(at);
        Time::from_nanos(match source {
            Source::Boot => boot,
            Source::Monotonic => boot - self.slept_until(boot),
        })
    }

    /// How far the wall clock is ahead of the boot-time clock: what a jump detector compares.
    pub const fn wall_ahead(&self) -> i64 {
        self.wall_ahead
    }

    /// When the chosen clock first shows `reading`, if nothing more happens to it.
    pub fn when(&self, reading: Time, source: Source) -> At {
        let boot = match source {
            Source::Boot => reading.as_nanos(),
            Source::Monotonic => reading.as_nanos().saturating_add(self.slept),
        };
        let ahead = boot.saturating_sub(self.reading);
        let mut at = self.anchor.saturating_add(unscaled(ahead, self.skew));
        while at < At::MAX && self.boot(at) < boot {
            at += 1;
        }
        at
    }

    /// The clock runs at another rate from now on.
    pub fn set_skew(&mut self, at: At, skew: Skew) {
        self.rebase(at);
        self.skew = skew;
    }

    /// The boot-time clock leaps ahead; the wall clock does not go with it.
    pub fn leap(&mut self, at: At, by: Span) {
        self.rebase(at);
        self.reading += by;
        self.wall_ahead = self.wall_ahead.saturating_sub_unsigned(by);
    }

    /// The host loses time: all its clocks stood still for so long, and nothing shows it.
    pub fn lose(&mut self, at: At, span: Span) {
        self.rebase(at);
        self.anchor = at.saturating_add(span);
    }

    /// A clock that is losing time goes on.
    pub fn go_on(&mut self, at: At) {
        self.anchor = self.anchor.min(at);
    }

    /// Someone sets the wall clock.
    pub const fn step_wall(&mut self, by: i64) {
        self.wall_ahead = self.wall_ahead.wrapping_add(by);
    }

    /// The host goes to sleep.
    pub fn sleep(&mut self, at: At) {
        self.asleep_since.get_or_insert(self.boot(at));
    }

    /// The host wakes up.
    pub fn rise(&mut self, at: At) {
        let boot = self.boot(at);
        self.slept = self.slept_until(boot);
        self.asleep_since = None;
    }

    const fn slept_until(&self, boot: u64) -> Span {
        match self.asleep_since {
            Some(since) => self.slept + boot.saturating_sub(since),
            None => self.slept,
        }
    }

    fn rebase(&mut self, at: At) {
        // A clock that is losing time right now keeps the instant at which it will go on.
        if at >= self.anchor {
            self.reading = self.boot(at);
            self.anchor = at;
        }
    }
}

/// So much of the world's time, as a clock of that skew counts it.
pub fn scaled(span: Span, skew: Skew) -> u64 {
    let more = (i128::from(span) * i128::from(skew)) >> 20;
    u64::try_from(i128::from(span) + more).unwrap_or(0)
}

/// About so much of the world's time passes while a clock of that skew counts `ticks`; never too
/// much.
fn unscaled(ticks: u64, skew: Skew) -> Span {
    let rate = WHOLE + skew;
    let fits = ticks.leading_zeros() > 21;
    if fits && let Ok(rate) = u64::try_from(rate) {
        return (ticks << 20) / rate.max(1);
    }
    let span = (u128::from(ticks) << 20) / u128::try_from(rate).unwrap_or(1).max(1);
    u64::try_from(span).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Span = 3_600 * SECOND;

    #[test]
    fn a_reading_comes_exactly_when_the_clock_says_it_does() {
        for skew in [0, 1, -1, 52_428, -52_428, 300_000, -300_000] {
            let clock = HostClock::new(17, 1_000, skew);
            for boot in [1_000, 1_001, 5_000, HOUR, 24 * HOUR] {
                let at = clock.when(Time::from_nanos(boot), Source::Boot);
                assert!(clock.boot(at) >= boot, "{skew} {boot}");
                assert!(at == 17 || clock.boot(at - 1) < boot, "{skew} {boot}");
            }
        }
    }

    #[test]
    fn a_sleeping_host_stops_its_monotonic_clock_and_not_its_boot_time_clock() {
        let mut clock = HostClock::new(0, 0, 0);
        clock.sleep(10);
        clock.rise(60);
        assert_eq!(clock.read(70, Source::Boot), Time::from_nanos(70));
        assert_eq!(clock.read(70, Source::Monotonic), Time::from_nanos(20));
        assert_eq!(clock.when(Time::from_nanos(20), Source::Monotonic), 70);
    }

    #[test]
    fn a_leap_shows_against_the_wall_clock_and_lost_time_does_not() {
        let mut clock = HostClock::new(0, 0, 0);
        clock.leap(10, 100);
        assert_eq!((clock.boot(11), clock.wall_ahead()), (111, -100));
        let mut clock = HostClock::new(0, 0, 0);
        clock.lose(10, 100);
        assert_eq!((clock.boot(50), clock.boot(120), clock.wall_ahead()), (10, 20, 0));
    }

    #[test]
    fn a_new_rate_counts_from_now_on() {
        let mut clock = HostClock::new(0, 0, 0);
        clock.set_skew(1_000, WHOLE / 2);
        assert_eq!(clock.boot(3_000), 4_000);
    }
}
