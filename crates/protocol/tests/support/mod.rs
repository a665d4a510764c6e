//! A small world for tests: a store in memory, clocks that disagree, processes that stop and die,
//! and a referee.
//!
//! Assumes: one thread; true time is a [`Duration`](core::time::Duration) since the world began.
//! Promises: the same calls give the same log, and nothing here decides who leads: that is the
//! protocol's business.

#![allow(dead_code, reason = "every test binary takes the whole of this and uses its own part")]

pub(crate) mod clock;
pub(crate) mod log;
pub(crate) mod post;
pub(crate) mod process;
pub(crate) mod queue;
pub(crate) mod referee;
pub(crate) mod store;
pub(crate) mod trouble;
pub(crate) mod world;

use core::time::Duration;

/// A span in milliseconds.
pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
