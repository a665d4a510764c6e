//! The `rounds` protocol: registers and a roster (the paper's election, corrected).
//!
//! Assumes: what the `lease` protocol assumes. Two registers more: VARS, which holds the highest id
//! and the round time of an election, and DESCRIPTORS, its roster, one row for each candidate.
//! Whoever only beats shares the lock on VARS; the leader, a contender, a newcomer and one that was
//! evicted have it for themselves.
//! Promises: at most one leader, for the same reason as in `lease`: a term is claimed by the very
//! same decision. Among those who may claim it, the lowest id does. Ids grow and are never given
//! twice. A follower's round touches as many rows in a roster of five hundred as in one of three.
//!
//! What the paper gets wrong, and what is done instead:
//!
//! | the paper | here |
//! |---|---|
//! | counts unchanged reads | measures time since a counter was first heard |
//! | a round that is repeated counts twice | reads never count at all |
//! | the round limit and the margin are each candidate's own | both are in VARS; another one is refused |
//! | an evicted process raises its flag under a shared lock, a leader never | raised under the exclusive lock, together with the new id, by everyone |
//! | the round time grows for ever | grows up to a cap, and shrinks again after a lease's notice |
//! | a lease is revived by a late round | a lost term is lost |
//! | a process that stops is suspected | it removes its row |
//!
//! | file | what |
//! |---|---|
//! | [`pace`] | how long a round is, and what all candidates agree on about it |
//! | [`register`] | what a store keeps, and what it shows in one atomic step |
//! | [`round`] | what a candidate asks, each with the pure decision that the store runs |
//! | [`membership`] | what a candidate keeps between its rounds |
//! | [`registers`] | both registers in memory, for simulators and tests |
//! | [`pacer`] | when a leader lengthens or shortens the round |

pub mod membership;
pub mod pace;
pub mod pacer;
pub mod register;
pub mod registers;
pub mod round;
