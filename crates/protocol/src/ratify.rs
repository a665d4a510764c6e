//! Ratification: a register that a majority of voters keeps.
//!
//! Assumes: a voter keeps what [`Promise`] lists before it answers; messages may be
//! lost, late, doubled or out of order; numbers of proposers are never used twice.
//! Promises: a change is chosen only if nothing else was chosen since the value that it was decided
//! on was read. So the decisions of [`lease`](crate::lease), which need one atomic step on a row,
//! are as safe here as in a database. Without a majority nothing is chosen at all.
//!
//! Each register is a value of its own and has rounds of its own, in the manner of single-decree
//! Paxos with the value rewritten in place: a proposer asks a majority to heed its ballot and to
//! show what they accepted, decides on the newest of that, and asks them to accept the result. A
//! voter that accepts heeds the next ballot of the same proposer at once, so that a leader that
//! renews needs one message and one answer for each.
//!
//! | file | noun |
//! |---|---|
//! | [`ballot`] | the number of an attempt |
//! | [`electorate`] | who votes, and how that changes |
//! | [`voter`] | what a voter promises, and what it must keep first |
//! | [`proposal`] | one attempt to change a register |
//! | [`amend`] | a change of the voters, from its beginning to its end |

pub mod amend;
pub mod ballot;
pub mod electorate;
pub mod proposal;
pub mod voter;

pub use amend::Amendment;
pub use ballot::Ballot;
pub use electorate::{Electorate, Lineage};
pub use proposal::{Proposal, Step};
pub use voter::{Ask, Inventory, Promise, Reply, Slot, Voter};
