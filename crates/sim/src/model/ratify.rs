//! Small worlds of ratification, explored completely: voters, those who change registers, and those
//! who change the voters.
//!
//! Assumes: nothing about clocks. Every letter may arrive at any time, any number of times, in any
//! order, or never; voters crash between any two letters and go on with what they kept; whoever asks
//! may never ask again.
//! Promises: within the bounds of a [`Setup`] no order of events is left out. Voters, proposals and
//! changes of the voters are the shipping ones: [`Voter`], [`Proposer`], [`Amendment`].
//!
//! What must be true: no ballot has two values; whatever a majority accepted is one chain in the
//! order of ballots, for every register; who is told that its proposal was chosen is told the truth;
//! and no electorate is in use that was not chosen.
//!
//! | file | what |
//! |---|---|
//! | [`setup`](Setup) | the bounds of a world |
//! | [`chain`](Chain) | what was proposed and chosen, and what is wrong with it |
//! | [`state`](State) | a world at one moment |
//! | [`step`](Step) | what can happen next |
//! | `writer` | what those do who change registers |
//!
//! [`Voter`]: incumbent_protocol::ratify::Voter
//! [`Proposer`]: incumbent_protocol::ratify::proposal::Proposer
//! [`Amendment`]: incumbent_protocol::ratify::Amendment

mod chain;
mod setup;
mod state;
mod step;
mod writer;

pub use chain::{Chain, Key, Value};
pub use setup::Setup;
pub use state::State;
pub use step::Step;
