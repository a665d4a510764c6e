//! Which protocol a world runs, and how its rounds are paced if it has any.
//!
//! Assumes: nothing.
//! Promises: the words are those of commands, ledgers and seed files.

use core::fmt;
use core::str::FromStr;

use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::TimingError;
use serde::{Deserialize, Serialize};

use super::span;
use crate::clock::Span;
use crate::fault::Kind;

/// A protocol that has a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// One row per election.
    #[default]
    Lease,
    /// Registers and a roster.
    Rounds,
}

impl Protocol {
    /// All of them.
    pub const ALL: &'static [Protocol] = &[Protocol::Lease, Protocol::Rounds];

    /// The word used in commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Protocol::Lease => "lease",
            Protocol::Rounds => "rounds",
        }
    }

    /// What can go wrong in its worlds.
    pub fn kinds(self) -> impl Iterator<Item = Kind> {
        let here = move |kind: &Kind| self == Protocol::Rounds || !kind.is_of_rounds();
        Kind::ALL.iter().copied().filter(here)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Protocol::ALL.iter().find(|protocol| protocol.as_str() == word);
        found.copied().ok_or_else(|| format!("{word:?} has no world: use lease or rounds"))
    }
}

/// How rounds are paced. The first round time is the lease, divided by the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// How many rounds make a lease.
    pub limit: u32,
    /// By how much a round grows at a time.
    pub delta: Span,
    /// How long it becomes at most.
    pub cap: Span,
}

impl Rounds {
    /// The pacing of elections that begin with this lease.
    pub fn pacing(&self, lease: Span, margin: Span) -> Result<Pacing, TimingError> {
        let round = lease / u64::from(self.limit.max(1));
        Pacing::new(span(round), self.limit, span(margin), span(self.delta), span(self.cap))
    }

    /// That of somebody who keeps longer rounds than the rest.
    #[must_use]
    pub const fn longer(self) -> Rounds {
        Rounds { cap: self.cap + self.cap / 4, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_found_by_its_word() {
        for &protocol in Protocol::ALL {
            assert_eq!(protocol.as_str().parse(), Ok(protocol));
        }
        assert!("raft".parse::<Protocol>().is_err());
    }
}
