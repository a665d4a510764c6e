//! Elections among peers: no infrastructure but the processes themselves.
//!
//! Assumes: a majority of the voters can reach each other, and each keeps its file.
//! Promises: what a database promises. Ring or bully say who bids; a majority of voters says whether
//! that is a term ([`incumbent_protocol::ratify`]). Without a majority nobody leads.
//!
//! | file | what |
//! |---|---|
//! | [`place`] | what a URL says |
//! | [`address`], [`discovery`] | who the peers are and where |
//! | [`secret`], [`channel`], [`frame`], [`hello`] | how two of them trust each other |
//! | [`way`] | how a node picks leaders |
//! | [`links`] | the connections to all of them |
//! | [`message`] | what they say to each other |
//! | [`node`], [`task`] | this process among its peers |
//! | [`booth`], [`disk`] | the voter of this process, and where it keeps its promises |
//! | [`quorum`], [`sheet`] | what voters keep, and how it is changed |
//! | [`hints`] | what there is without ratification |
//! | [`voters`] | who votes, and how that is changed |
//! | [`store`] | elections on top of that |
//! | [`numbers`] | what operators watch |
//! | [`probe`] | what an examination looks at |
//! | [`start`] | how all of that is put together |

pub(crate) mod address;
mod booth;
mod channel;
mod discovery;
mod disk;
mod folder;
mod frame;
mod hello;
mod hints;
mod links;
mod message;
mod node;
mod numbers;
pub(crate) mod place;
mod probe;
mod quorum;
pub(crate) mod secret;
mod sheet;
mod start;
mod store;
mod task;
mod voters;
pub(crate) mod way;

pub use node::Reach;
pub(crate) use node::{Node, Nomination, Part};
pub(crate) use probe::examine;
pub(crate) use start::open;
pub(crate) use store::{Nominations, Store};
pub(crate) use voters::Ballot;
pub use voters::{VoterStatus, Voters};
