//! The client of a quorum: registers that a majority of voters keeps, as one process uses them.
//!
//! Assumes: the voters of [`ratify`](crate::ratify).
//! Promises: one state machine for every driver: the library, the simulator and whatever keeps other
//! values in registers. A driver moves messages and time, and decides nothing.
//!
//! | file | noun |
//! |---|---|
//! | [`client`] | one operation on many registers, from its first question to its end |
//! | [`question`] | what is asked of voters, and asked again |
//! | `clock` | the time, as the voters tell it |
//! | [`elections`] | elections as the values of registers |

pub mod client;
mod clock;
pub mod elections;
pub mod question;

pub use client::{Effect, Fate, Input, Notice, Operation, QuorumClient, Written};
pub use question::{Answer, Question};

/// The number of the first voter set that is used.
///
/// The list that everybody starts with has number 0. It names nodes only, and a node that lost its
/// disk would pass for who it was. So nothing is asked under it. At the first start all listed
/// voters must be there once, to say which disk each has: that makes number 1. Nobody uses it until
/// all of them keep it, which number 2 says.
pub const FOUNDED: u64 = 2;
