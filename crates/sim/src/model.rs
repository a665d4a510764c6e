//! Small worlds, explored completely: the shipping `lease` and `rounds` protocols in every order of
//! events within stated bounds.
//!
//! Assumes: time passes in ticks; a process that is due acts at once unless it is paused; the store
//! takes each request as one step. Everything else happens in any order and at any time: requests
//! and answers take arbitrarily long, an outcome may become unknown and its request still reach the
//! store later or never, processes pause, go on and crash, leaders resign or are demoted, clocks
//! differ in offset and in rate.
//! Promises: within the bounds of a [`Setup`] no state is left out. The candidates are the very
//! [`Candidacy`] that is shipped, not a description of it.
//!
//! | file | what |
//! |---|---|
//! | [`setup`](Setup) | the bounds of a world |
//! | [`state`](State) | a world at one moment, and what must be true of it |
//! | [`seat`](Seat) | one process in it: the protocol, its driver and its user |
//! | [`store`] | the row and the registers, and what requests do to them |
//! | [`step`](Step) | what can happen next |
//! | [`explore`](explore()) | visits every state |
//! | [`size`](Size) | which worlds to explore, by how much time there is |
//! | [`fenced`] | other small worlds: fenced transactions, statement by statement |
//! | [`nominate`] | other small worlds: three nodes that pick one of them |
//! | [`ratify`] | other small worlds: registers that a majority of voters keeps |
//!
//! [`Candidacy`]: incumbent_protocol::candidacy::Candidacy

mod explore;
pub mod fenced;
pub mod nominate;
pub mod ratify;
mod seat;
mod setup;
mod size;
mod state;
mod step;
pub mod store;

pub use explore::{Hope, Model, ModelReport, SightOf, explore};
pub use seat::{Flight, Hold, Seat};
pub use setup::{Budget, Flaw, Protocol, Setup};
pub use size::{Size, check_model};
pub use state::{Sight, State};
pub use step::Step;
