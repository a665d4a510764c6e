//! The words of protocols by which peers pick one of them: ring and bully.
//!
//! Assumes: messages may be lost, late, doubled or out of order; the driver says who takes part, in
//! ring order, and who was found dead.
//! Promises: a nominee is whom peers *picked*, and nothing more. Two may be picked at once where
//! messages are lost. Whether a nominee leads is for a quorum to say ([`ratify`](crate::ratify)).

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::node::NodeId;

/// The number of one run of an election among peers. Every message carries it, so that a late one is
/// known to be late.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Run(pub u64);

impl Run {
    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Run {
        Run(self.0.saturating_add(1))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What reaches a nominating protocol. `M` is its message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<M> {
    /// Time has passed.
    Wake,
    /// Who takes part, this node among them: in ring order where the order counts.
    Nodes(Vec<NodeId>),
    /// Whether this node may be picked. One that may not be still passes on what others say.
    Eligible(bool),
    /// Nobody leads, as far as this node knows: it was found dead, let go, or there never was one.
    /// Begins a run, unless one is under way.
    Vacant,
    /// This node is known to lead. Ends a run that is under way.
    Led(NodeId),
    /// A node cannot be reached at present. It counts again once it is heard of.
    Unreachable(NodeId),
    /// A peer says something.
    Message {
        /// Who, as its link proves.
        from: NodeId,
        /// What.
        message: M,
    },
}

/// What a nominating protocol wants done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<M> {
    /// Say something to a peer. It may get lost.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: M,
    },
}

/// What a nominating protocol wants known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// A run began, or this node heard of one: nobody is picked at present.
    Began {
        /// Which.
        run: Run,
    },
    /// Peers picked somebody.
    Picked {
        /// In which run.
        run: Run,
        /// Whom.
        nominee: NodeId,
    },
}
