//! In which way a node picks leaders.
//!
//! Assumes: nothing; what is here is told to peers.
//! Promises: nodes of one group do so in one way, or they do not talk to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How peers pick one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scheme {
    Ring,
    Bully,
}

impl Scheme {
    /// As it stands in a URL.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Scheme::Ring => "ring",
            Scheme::Bully => "bully",
        }
    }
}

/// How a node comes to pick leaders. Those of one group do so in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Way {
    pub(crate) scheme: Scheme,
    /// Whether whoever is picked needs the vote of a majority.
    pub(crate) ratified: bool,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unratified = if self.ratified { "" } else { " without ratification" };
        write!(f, "{}://{unratified}", self.scheme.as_str())
    }
}
