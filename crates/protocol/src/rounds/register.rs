//! What a store keeps about the rounds of an election, and what it shows of it in one atomic step.
//!
//! Assumes: a store writes these only as the decisions in [`round`](super::round) say.
//! Promises: a row of the roster belongs to one incarnation; VARS tells which life of it this is, so
//! that nobody takes an id of a former life for its own.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::pace::{Pace, Pacing};
use crate::identity::CandidateId;
use crate::lease::row::Snapshot;
use crate::time::StoreTime;

/// A candidate's place in line: lower ids go first. Ids grow and are never given twice in one life
/// of VARS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemberId(u64);

impl MemberId {
    /// Before the first.
    pub const NONE: MemberId = MemberId(0);
    /// The last that stores can keep.
    pub const MAX: MemberId = MemberId(i64::MAX.unsigned_abs());

    /// The id with this number.
    pub const fn new(number: u64) -> MemberId {
        MemberId(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next one, if there is one left.
    pub(super) fn next(self) -> Option<MemberId> {
        (self < Self::MAX).then(|| MemberId(self.0 + 1))
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The register that all candidates of an election share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vars {
    /// Which life of the register this is: the store's clock when it was made.
    pub epoch: StoreTime,
    /// The highest id that was given.
    pub max_id: MemberId,
    /// What all candidates agree on.
    pub pacing: Pacing,
    /// How long a round is.
    pub pace: Pace,
    /// Somebody was evicted who was not dead: rounds are too short.
    pub evicted: bool,
}

/// One row of the roster, as far as rounds need it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pulse {
    /// The place in line.
    pub id: MemberId,
    /// Whose row it is.
    pub candidate: CandidateId,
    /// How often it beat.
    pub counter: u64,
}

/// A row of the roster as one read found it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shown {
    /// The row.
    pub pulse: Pulse,
    /// Proof, not belief, that the process is gone, where a store has such proof.
    pub died: bool,
}

/// Which place a candidate believes to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// In which life of VARS.
    pub epoch: StoreTime,
    /// The id.
    pub id: MemberId,
}

/// What a candidate tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Profile {
    /// Where others reach it.
    pub address: Option<String>,
    /// What it says about itself, in the order given.
    pub labels: Vec<(String, String)>,
}

/// A whole row of the roster, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// What rounds need of it.
    pub pulse: Pulse,
    /// What the candidate tells of itself.
    pub profile: Profile,
    /// When it joined, by the store's clock.
    pub joined: StoreTime,
    /// When it last beat, by the store's clock.
    pub beaten_at: StoreTime,
    /// Whether its process is proved to be gone.
    pub died: bool,
}

/// Which rows of the roster to show: those after an id, lowest first, so many at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// After which.
    pub after: MemberId,
    /// How many.
    pub most: u32,
}

/// What a store shows to one candidate in one atomic step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scene {
    /// The row of the election itself.
    pub election: Snapshot,
    /// VARS, if it was ever made.
    pub vars: Option<Vars>,
    /// The row of the incarnation that asks.
    pub mine: Option<Pulse>,
    /// The rows that were asked for.
    pub shown: Vec<Shown>,
    /// Rows that the asker wants to evict, as they are.
    pub suspects: Vec<Pulse>,
    /// The highest id in the roster; only for those who join.
    pub top: Option<MemberId>,
}

impl Scene {
    /// Whether the candidate still has the place that it believes to have.
    pub fn keeps(&self, place: Place) -> bool {
        self.vars.as_ref().is_some_and(|vars| vars.epoch == place.epoch)
            && self.mine.as_ref().is_some_and(|mine| mine.id == place.id)
    }
}
