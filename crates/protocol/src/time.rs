//! Time, as it reaches a protocol: always from outside, always of a known kind.
//!
//! Assumes: the driver reads one lease clock per process that never runs backwards and keeps
//! running while the machine sleeps (`CLOCK_BOOTTIME` on Linux).
//! Promises: the three kinds of stamp cannot be mixed. A lease counts from [`AskedAt`], an
//! observation from [`HeardAt`], and a store's own clock, [`StoreTime`], is comparable with
//! neither.

use core::fmt;
use core::ops::Add;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant on the lease clock of one process, in nanoseconds from an origin that means nothing
/// elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The origin of the clock.
    pub const ZERO: Time = Time(0);

    /// An instant so many nanoseconds after the clock's origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Time(nanos)
    }

    /// Nanoseconds since the clock's origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This instant moved back by `span`, at most to the origin.
    #[must_use]
    pub fn back(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(nanos(span)))
    }
}

impl Add<Duration> for Time {
    type Output = Time;

    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(nanos(span)))
    }
}

/// A reading taken *before* a request was sent. The only thing a lease may count from: whatever
/// delays the request, the lease that it earns has already begun to run down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskedAt(Time);

impl AskedAt {
    /// Stamps a request; call it before the first byte leaves.
    pub const fn before_sending(now: Time) -> Self {
        AskedAt(now)
    }

    /// The instant of the reading.
    pub const fn time(self) -> Time {
        self.0
    }
}

/// A reading taken *after* an answer arrived. The only thing an observation may count from: what
/// the answer tells was true at some instant before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeardAt(Time);

impl HeardAt {
    /// Stamps an answer; call it after the last byte came.
    pub const fn after_answer(now: Time) -> Self {
        HeardAt(now)
    }

    /// The instant of the reading.
    pub const fn time(self) -> Time {
        self.0
    }
}

/// A store's own wall clock, in microseconds since 1970. It may jump; no lease counts from it. It
/// gives people dates, gives terms a floor, and decides expiry only where the rules say so.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StoreTime(u64);

impl StoreTime {
    /// So many microseconds since 1970.
    pub const fn from_micros(micros: u64) -> Self {
        StoreTime(micros)
    }

    /// Microseconds since 1970.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was by the store's clock; zero if it lies ahead.
    pub const fn since(self, earlier: StoreTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}s", self.0 / 1_000_000_000, self.0 / 1_000_000 % 1_000)
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Time::from_nanos(5).since(Time::from_nanos(9)), Duration::ZERO);
        assert_eq!(Time::from_nanos(5).back(Duration::from_secs(1)), Time::ZERO);
        assert_eq!(Time::from_nanos(u64::MAX) + Duration::from_secs(1), Time::from_nanos(u64::MAX));
    }
}
