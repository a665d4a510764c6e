//! Points in time, as people and programs read them.
//!
//! Assumes: the store's clock is a wall clock.
//! Promises: always UTC; RFC 3339 for programs.

use incumbent::{StoreTime, Transfer};
use jiff::Timestamp;

/// The wall clock of this host.
pub(crate) fn now() -> StoreTime {
    let micros = Timestamp::now().as_microsecond();
    StoreTime::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// When a leader that is asked to hand over has let go at the latest.
pub(crate) const fn end_of(transfer: &Transfer) -> StoreTime {
    StoreTime::from_micros(transfer.by.at.as_micros().saturating_add(transfer.drain_us))
}

/// For programs: RFC 3339 with microseconds.
pub(crate) fn rfc3339(time: StoreTime) -> String {
    format!("{:.6}", timestamp(time))
}

/// For people: date and time to the second.
pub(crate) fn show(time: StoreTime) -> String {
    timestamp(time).strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// For people who watch: the time of day to the millisecond.
pub(crate) fn show_clock(time: StoreTime) -> String {
    timestamp(time).strftime("%H:%M:%S%.3f").to_string()
}

fn timestamp(time: StoreTime) -> Timestamp {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_the_same_everywhere() {
        let time = StoreTime::from_micros(1_700_000_000_123_456);
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.123456Z");
        assert_eq!(show(time), "2023-11-14 22:13:20 UTC");
        assert_eq!(show_clock(time), "22:13:20.123");
    }

    #[test]
    fn a_clock_far_ahead_is_shown_rather_than_fatal() {
        assert_eq!(show(StoreTime::from_micros(u64::MAX)), "9999-12-30 22:00:00 UTC");
    }
}
