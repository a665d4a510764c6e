//! What a bully's nodes say to each other.
//!
//! Assumes: nothing. Promises: every message but a question carries its run, so that a late one is
//! known to be late.

use serde::{Deserialize, Serialize};

use crate::node::NodeId;
use crate::nomination::Run;

/// What one node says to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To those who are higher: does any of you live?
    Election {
        /// In which run.
        run: Run,
    },
    /// Yes, and I see to it.
    Ok {
        /// In which run.
        run: Run,
    },
    /// The sender is picked.
    Coordinator {
        /// In which run.
        run: Run,
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
