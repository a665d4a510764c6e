//! Small worlds of nomination, explored completely: three nodes that pick one of them, by ring or by
//! bully, while messages are lost, doubled and late and one of the nodes dies.
//!
//! Assumes: messages under way arrive in any order or, where a setup says so, in order on each link.
//! Time passes when none is under way, up to the earliest wait that ends; and, within a budget, also
//! while some are, which are then late. Whoever knows of nobody picked when all is quiet is told that
//! nobody leads, as a caucus would. Whoever was picked says so once, and again only where a setup says
//! so, and not before all is quiet.
//! Promises: within the bounds of a [`Setup`] no order of events is left out. The nodes are the
//! shipping [`Ring`] and [`Bully`].
//!
//! What must be true:
//! - whoever is taken to be picked in a run picked itself in that run, whatever went wrong;
//! - it gets quiet, from every state on, and after no more runs than a setup allows;
//! - when all is quiet, those who live agree on one of them; where a message was late and another one
//!   lost, or where nodes did not know of each other, that takes a node that repeats what it said;
//! - that one is the highest of them, unless a message was lost or late, or a node joined;
//! - no two that live were picked in one run, with the same exceptions.
//!
//! What cannot hold without ratification: that no two are picked in one run where a message was lost
//! or late, or where nodes do not know of each other yet. To whoever waits, a message that does not
//! come looks like a peer that died. Such states are counted as a sight. Nor can it hold, before all
//! is quiet, that nobody takes the dead for picked, or somebody of an older run.
//!
//! | file | what |
//! |---|---|
//! | [`setup`](Setup) | the bounds of a world |
//! | [`nominator`](Nominator) | what ring and bully have in common |
//! | [`state`](State) | a world at one moment, and what is wrong with it |
//! | [`step`](Step) | what can happen next |
//!
//! [`Ring`]: incumbent_protocol::ring::Ring
//! [`Bully`]: incumbent_protocol::bully::Bully

mod nominator;
mod setup;
mod state;
mod step;

pub use nominator::Nominator;
pub use setup::{Budget, NODES, Setup};
pub use state::State;
pub use step::Step;
