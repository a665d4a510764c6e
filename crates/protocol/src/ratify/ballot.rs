//! The number of an attempt to change a register.
//!
//! Assumes: a proposer has an incarnation that no other ever had.
//! Promises: no two attempts have the same one, and any two can be compared.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::identity::Incarnation;
use crate::planted::{self, Bug};

/// The number of an attempt: a count first, whose attempt it is where counts are equal, and which of
/// a chain of attempts that follow each other without asking.
///
/// The last part is what keeps such a chain apart from every other attempt of the same proposer: a
/// fresh attempt always has a count of its own, and a link of a chain never has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ballot {
    count: u64,
    by: Incarnation,
    link: u64,
}

impl Ballot {
    /// The first ballot of a proposer.
    pub const fn first(by: Incarnation) -> Self {
        Ballot { count: 1, by, link: 0 }
    }

    /// The ballot of `by` that comes after `seen`.
    pub const fn after(seen: Ballot, by: Incarnation) -> Self {
        Ballot { count: seen.count.saturating_add(1), by, link: 0 }
    }

    /// The ballot that follows this one directly: there is none between them.
    #[must_use]
    pub fn next(self) -> Self {
        if planted::is(Bug::BallotReused) {
            return Ballot::after(self, self.by);
        }
        Ballot { link: self.link.saturating_add(1), ..self }
    }

    /// Whether it follows another ballot directly, so that nobody was asked to heed it.
    pub const fn is_shortcut(self) -> bool {
        self.link > 0
    }

    /// Whose attempt it is.
    pub const fn by(self) -> Incarnation {
        self.by
    }
}

impl fmt::Display for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}#{:08x}", self.count, self.link, self.by.bits() >> 96)
    }
}
