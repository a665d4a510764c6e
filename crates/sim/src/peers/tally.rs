//! What happened in worlds of peers, counted.
//!
//! Assumes: nothing. Promises: the tallies of several runs add up in any order.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::fault::Kind;
use crate::clock::Span;

/// Counts of one run or of many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many worlds were run.
    pub runs: u64,
    /// How much time passed in them, in nanoseconds.
    pub simulated: Span,
    /// How many events there were.
    pub events: u64,
    /// How many messages were sent.
    pub messages: u64,
    /// How many leaderships began.
    pub gained: u64,
    /// How many requests had an outcome that nobody could tell.
    pub unknown: u64,
    /// How often a node heard of a run of an election.
    pub began: u64,
    /// How many writes resources accepted.
    pub accepted: u64,
    /// How many writes under an old token resources refused.
    pub refused: u64,
    /// How many orders were carried out.
    pub ordered: u64,
    /// How often the voters changed.
    pub amended: u64,
    /// How many faults of each kind did something.
    #[serde(serialize_with = "by_name")]
    pub faults: [u64; Kind::COUNT],
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            runs: 0,
            simulated: 0,
            events: 0,
            messages: 0,
            gained: 0,
            unknown: 0,
            began: 0,
            accepted: 0,
            refused: 0,
            ordered: 0,
            amended: 0,
            faults: [0; Kind::COUNT],
        }
    }
}

impl Tally {
    /// Counts a fault that did something.
    pub fn fire(&mut self, kind: Kind) {
        self.faults[kind as usize] += 1;
    }

    /// How many faults of a kind did something.
    pub const fn fired(&self, kind: Kind) -> u64 {
        self.faults[kind as usize]
    }

    /// The kinds of fault that never did anything.
    pub fn missing(&self) -> Vec<Kind> {
        Kind::ALL.iter().copied().filter(|kind| self.fired(*kind) == 0).collect()
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.simulated += other.simulated;
        self.events += other.events;
        self.messages += other.messages;
        self.gained += other.gained;
        self.unknown += other.unknown;
        self.began += other.began;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.ordered += other.ordered;
        self.amended += other.amended;
        for (sum, more) in self.faults.iter_mut().zip(other.faults) {
            *sum += more;
        }
    }
}

fn by_name<S: Serializer>(faults: &[u64; Kind::COUNT], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(Kind::COUNT))?;
    for (kind, times) in Kind::ALL.iter().zip(faults) {
        map.serialize_entry(kind.as_str(), times)?;
    }
    map.end()
}
