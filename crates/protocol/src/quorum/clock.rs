//! The time, as the voters tell it.
//!
//! Assumes: most voters' wall clocks are about right.
//! Promises: the clock in the middle counts, so that one that is far off moves it little.

use core::time::Duration;
use std::collections::BTreeMap;

use crate::node::NodeId;
use crate::time::{StoreTime, Time};

/// The voters' clock, as far as this process can tell.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// What the wall clock of this process showed last, and when.
    wall: (Time, StoreTime),
    /// By how much the voters' clock is ahead of it, in microseconds.
    ahead: i64,
}

impl Clock {
    pub(super) const fn new() -> Self {
        Clock { wall: (Time::ZERO, StoreTime::from_micros(0)), ahead: 0 }
    }

    /// The wall clock of this process shows this.
    pub(super) const fn read(&mut self, now: Time, wall: StoreTime) {
        self.wall = (now, wall);
    }

    /// The voters' clock.
    pub(super) fn now(&self, now: Time) -> StoreTime {
        self.ahead_of(self.wall(now))
    }

    /// The same, when the wall clock of this process shows this.
    pub(super) const fn ahead_of(&self, wall: StoreTime) -> StoreTime {
        StoreTime::from_micros(wall.as_micros().saturating_add_signed(self.ahead))
    }

    /// Takes over what voters' wall clocks show.
    pub(super) fn set(&mut self, now: Time, heard: &BTreeMap<NodeId, StoreTime>) -> StoreTime {
        let own = self.wall(now);
        // The own clock counts too: of two that differ neither is in the middle.
        let mut all: Vec<StoreTime> = heard.values().copied().chain([own]).collect();
        all.sort_unstable();
        let theirs = all.get(all.len() / 2).copied().unwrap_or(own);
        let signed = |time: StoreTime| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.ahead = signed(theirs).saturating_sub(signed(own));
        theirs
    }

    fn wall(&self, now: Time) -> StoreTime {
        let (read_at, wall) = self.wall;
        let since: Duration = now.since(read_at);
        let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        StoreTime::from_micros(wall.as_micros().saturating_add(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> StoreTime {
        StoreTime::from_micros(micros)
    }

    #[test]
    fn one_clock_that_is_far_off_moves_the_time_little() {
        let mut clock = Clock::new();
        clock.read(Time::ZERO, at(1_000));
        let heard = [(1, 1_100), (2, 900_000)];
        let heard = heard.map(|(node, micros)| (NodeId::given(node), at(micros))).into();
        assert_eq!(clock.set(Time::ZERO, &heard), at(1_100));
        assert_eq!(clock.now(Time::from_nanos(7_000)), at(1_107), "and it goes on");
    }
}
