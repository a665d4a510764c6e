//! Can it be broken? The simulated world, whose history the judges of `incumbent-audit` read.
//!
//! # Layout
//!
//! | module | noun |
//! |---|---|
//! | [`story`] | what a seed stands for: a setting and everything that goes wrong in it |
//! | [`world`] | processes, a database, resources and everything between them, one event after the other |
//! | [`fault`] | the menu of what can go wrong |
//! | [`genre`] | what stories of databases and of peers have in common |
//! | [`run`](mod@run) | many worlds, on many cores |
//! | [`seed`], [`shrink`](mod@shrink) | stories worth keeping, and how they become short |
//! | [`plant`], [`meta`], [`ledger`] | mistakes on purpose; the test of the tests; the page for a release |
//! | [`clock`], [`network`], [`random`] | what worlds are made of |
//! | [`scribe`], [`tally`] | what is written down and counted |
//! | [`peers`] | worlds of ring and bully, ratified by a quorum |
//! | [`model`] | small worlds, explored completely |
//! | [`lab`] | ring and bully among a handful of nodes, to look at and to count |
//! | [`paper`] | the mistake in a published algorithm, kept as a regression |

pub mod clock;
mod database;
pub mod fault;
pub mod genre;
pub mod lab;
pub mod ledger;
mod mail;
pub mod meta;
pub mod model;
pub mod network;
pub mod paper;
pub mod peers;
pub mod plant;
mod process;
mod queue;
pub mod random;
mod resource;
pub mod run;
pub mod scribe;
pub mod seed;
pub mod shrink;
pub mod story;
pub mod tally;
mod transaction;
pub mod world;
