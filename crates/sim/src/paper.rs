//! The mistake in a published algorithm, kept as a regression: leader election on registers of a
//! database, as printed.
//!
//! The paper proves that a challenger needs `limit` rounds, each `round_time` long, to suspect a
//! leader. Its loop does not keep to that: a round that must be repeated with a stronger lock
//! sleeps for no time at all, and is still appended to the history that suspicion is counted from.
//! An evicted process so gains two observations at one instant, and suspects its leader one round
//! too early, inside the leader's lease.
//!
//! Assumes: transactions are atomic, clocks are the same everywhere, nothing is ever lost. The
//! world is as kind as the paper asks for; only rounds are late now and then.
//! Promises: a run depends on its schedule alone. Its history is judged like any other.
//!
//! | file | what |
//! |---|---|
//! | [`round`](mod@round) | one round of the loop, line by line, and the variants that differ from print |
//! | [`timeline`] | processes that take rounds, one after the other, and what is told of them |
//! | [`shipped`] | the `rounds` protocol that is shipped, in the same world |

pub mod round;
pub mod shipped;
pub mod timeline;

pub use round::{Process, Registers, Rule, Told};
pub use shipped::{Late, Shipped};
pub use timeline::{Outage, Schedule, Timeline, Timer};

/// How many missed rounds make a suspicion.
pub const LIMIT: u64 = 2;
/// The time between two rounds at first, in milliseconds.
pub const ROUND_TIME: u64 = 2_000;
/// What it grows by when somebody was evicted in error, in milliseconds.
pub const DELTA: u64 = 50;
/// What is cut from a lease, in milliseconds.
pub const MARGIN: u64 = 50;
