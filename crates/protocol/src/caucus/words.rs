//! What comes into a caucus, and what goes out.
//!
//! Assumes: nothing. Promises: the words of one election, by ring or by bully alike.

use serde::{Deserialize, Serialize};

use crate::node::NodeId;
use crate::{bully, ring};

/// What one node says to another in one election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// In a ring.
    Ring(ring::Message),
    /// Among bullies.
    Bully(bully::Message),
}

/// What reaches a caucus.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Time has passed.
    Wake,
    /// Who takes part, this node among them: in ring order where the order counts.
    Nodes(Vec<NodeId>),
    /// Whether this node may be picked.
    Eligible(bool),
    /// Who leads, as the register shows it or, where nothing is ratified, who was picked last.
    Leader(Option<NodeId>),
    /// A watched node does not answer in time.
    Suspected(NodeId),
    /// It does again.
    Trusted(NodeId),
    /// A peer says something. What belongs to the other manner of election is ignored.
    Message {
        /// Who, as its link proves.
        from: NodeId,
        /// What.
        message: Message,
    },
    /// Something sent to a node cannot have arrived.
    Unreachable(NodeId),
}

/// What a caucus wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Say something to a peer. It may get lost.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: Message,
    },
}

/// What a caucus wants known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// A run began, or this node heard of one.
    Began,
    /// Who should lead is somebody else from now on; `None` while a run is under way. Whoever is not
    /// the nominee lets it go first.
    Nominee(Option<NodeId>),
}
