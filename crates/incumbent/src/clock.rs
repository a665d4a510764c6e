//! The lease clock of this process, and the detector of its jumps.
//!
//! Assumes: Linux offers `CLOCK_BOOTTIME`, which runs on while the machine sleeps. Rust's own
//! `Instant` stops during sleep, so a lease timed by it would outlive itself.
//! Promises: [`now`] costs tens of nanoseconds, takes no lock and allocates nothing.

use std::time::Duration;

use incumbent_protocol::time::{StoreTime, Time};
use rustix::time::{ClockId, clock_gettime};

#[cfg(any(target_os = "linux", target_os = "android"))]
const LEASE_CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LEASE_CLOCK: ClockId = ClockId::Monotonic;

/// Reads the clock that leases are timed by: nanoseconds since the host started, sleep included.
/// All processes of one host read the same.
pub fn lease_clock_nanos() -> u64 {
    nanos(LEASE_CLOCK)
}

/// Reads the lease clock.
pub(crate) fn now() -> Time {
    #[cfg(test)]
    return Time::from_nanos(nanos(LEASE_CLOCK).saturating_add(SLEPT.get()));
    #[cfg(not(test))]
    Time::from_nanos(nanos(LEASE_CLOCK))
}

#[cfg(test)]
thread_local! {
    /// How long the machine slept, as tests on this thread have it.
    static SLEPT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Has the machine sleep for so long, as far as code on this thread can see: the lease clock runs on
/// and timers stand still.
#[cfg(all(test, feature = "sqlite"))]
pub(crate) fn sleep_through(span: Duration) {
    SLEPT.set(SLEPT.get() + u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
}

/// Reads the wall clock of this host.
pub(crate) fn wall() -> StoreTime {
    StoreTime::from_micros(nanos(ClockId::Realtime) / 1_000)
}

/// One of 65,536 spans below 66 ms, drawn: two equal instants that it is added to are hardly equal again.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub(crate) fn drawn_micros() -> u64 {
    getrandom::u64().unwrap_or_default() & 0xffff
}

/// Names the lease clock: stamps of equal names are comparable. On Linux that is one boot of one
/// host.
pub(crate) fn name() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map_or_else(|_| "unknown".to_owned(), |id| format!("boot-{}", id.trim()))
}

fn nanos(clock: ClockId) -> u64 {
    let reading = clock_gettime(clock);
    let seconds = u64::try_from(reading.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(reading.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Compares the lease clock with the wall clock and with one that stands still in sleep. When they drift apart between two looks by more
/// than is plausible, one of them jumped: a person set the date, or the machine was restored from a
/// snapshot. It cannot be told which, so elapsed time is in doubt.
#[derive(Debug)]
pub(crate) struct JumpDetector {
    tolerance: Duration,
    lease: Time,
    wall: StoreTime,
    /// A clock that stands still while the machine sleeps.
    awake: u64,
}

impl JumpDetector {
    pub(crate) fn new(tolerance: Duration) -> Self {
        JumpDetector { tolerance, lease: now(), wall: wall(), awake: nanos(ClockId::Monotonic) }
    }

    /// How far the clocks moved apart since the last look, if that is more than tolerable.
    pub(crate) fn look(&mut self) -> Option<Duration> {
        // The two clocks must be read at one instant; a process that was put aside in between tries
        // again.
        for _ in 0..3 {
            let (before, wall, awake, after) = (now(), wall(), nanos(ClockId::Monotonic), now());
            if after.since(before) < Duration::from_millis(1) {
                return self.compare(before, wall, awake);
            }
        }
        None
    }

    fn compare(&mut self, lease: Time, wall: StoreTime, awake: u64) -> Option<Duration> {
        let passed = lease.since(self.lease);
        let slept = passed.abs_diff(Duration::from_nanos(awake.saturating_sub(self.awake)));
        let stepped = if wall >= self.wall {
            passed.abs_diff(wall.since(self.wall))
        } else {
            // It went back: a jump of its whole way, plus what should have passed.
            self.wall.since(wall) + passed
        };
        (self.lease, self.wall, self.awake) = (lease, wall, awake);
        Some(slept.max(stepped)).filter(|apart| *apart > self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> (Time, StoreTime) {
        (Time::from_nanos(millis * 1_000_000), StoreTime::from_micros(1_000_000 + millis * 1_000))
    }

    fn detector() -> JumpDetector {
        let (lease, wall) = at(0);
        JumpDetector { tolerance: Duration::from_millis(100), lease, wall, awake: 0 }
    }

    #[test]
    fn the_lease_clock_never_runs_back() {
        let first = now();
        assert!(now() >= first);
    }

    #[test]
    fn clocks_that_run_together_are_trusted() {
        let mut detector = detector();
        for millis in [10, 500, 90_000] {
            let (lease, wall) = at(millis);
            assert_eq!(detector.compare(lease, wall, lease.as_nanos()), None);
        }
    }

    #[test]
    fn a_wall_clock_that_steps_either_way_is_noticed_once() {
        let mut detector = detector();
        let (lease, _) = at(10);
        let (_, ahead) = at(5_000);
        assert!(detector.compare(lease, ahead, lease.as_nanos()).is_some());
        let (lease, _) = at(20);
        let (_, ahead) = at(5_010);
        assert_eq!(detector.compare(lease, ahead, lease.as_nanos()), None);
        let (lease, back) = at(30);
        assert!(detector.compare(lease, back, lease.as_nanos()).is_some());
    }

    #[test]
    fn sleep_is_noticed_though_both_clocks_of_the_lease_run_on() {
        let mut detector = detector();
        let (lease, wall) = at(60_000);
        assert!(detector.compare(lease, wall, 10_000_000).is_some());
    }
}
