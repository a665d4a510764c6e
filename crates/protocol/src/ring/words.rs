//! What nodes of a ring say to each other.
//!
//! Assumes: nothing. Promises: every word carries its run, so that a late one is known to be late.

use serde::{Deserialize, Serialize};

use crate::node::NodeId;
use crate::nomination::Run;

/// What goes round from neighbour to neighbour. These are the messages that the theory counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Word {
    /// Who should be picked?
    Election {
        /// In which run.
        run: Run,
        /// The highest so far; `None` if only nodes had it that may not be picked.
        best: Option<NodeId>,
    },
    /// Somebody's number came round.
    Elected {
        /// In which run.
        run: Run,
        /// Whose.
        nominee: NodeId,
    },
}

impl Word {
    /// Its run.
    pub const fn run(&self) -> Run {
        match self {
            Word::Election { run, .. } | Word::Elected { run, .. } => *run,
        }
    }
}

/// What one node says to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the next neighbour that can be reached.
    Hop(Word),
    /// The word arrived. It need not be sent to the neighbour after.
    Ack(Word),
    /// From whoever was picked, to all: the run is over.
    Unblock {
        /// Which run.
        run: Run,
        /// Who was picked, for those whom the elected message passed by.
        nominee: NodeId,
    },
    /// From whoever is new: who leads?
    Ask,
    /// The answer to a question, and to anything that is late.
    Current {
        /// The newest run that the sender knows of.
        run: Run,
        /// Whom it picked; `None` while it is under way.
        nominee: Option<NodeId>,
    },
}
