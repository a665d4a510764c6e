//! What a candidate is, and why that changed.
//!
//! Assumes: nothing.
//! Promises: the four standings and the reasons are the same words in code, logs, histories and
//! answers to people.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What a candidate is in one election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It takes no part.
    Out,
    /// It watches, and contends if it wants to lead.
    Following,
    /// It leads.
    Leading,
    /// It led a moment ago and cannot tell whether it still does; it must not act as a leader.
    Unsure,
}

impl Standing {
    /// The word used everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Out => "out",
            Standing::Following => "following",
            Standing::Leading => "leading",
            Standing::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a leadership ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The candidate let go.
    Resigned,
    /// Renewals did not get through, and the rest of the lease is kept for stopping the work.
    Ending,
    /// The lease ran out.
    Expired,
    /// The store refused a renewal: an operator or another candidate ended the term.
    Deposed,
}

impl Reason {
    /// The word used everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Resigned => "resigned",
            Reason::Ending => "ending",
            Reason::Expired => "expired",
            Reason::Deposed => "deposed",
        }
    }

    /// Whether what is left of the lease may still be used to finish work.
    pub const fn lease_still_runs(self) -> bool {
        matches!(self, Reason::Ending)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
