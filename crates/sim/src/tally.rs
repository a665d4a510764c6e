//! What happened in a run, counted.
//!
//! Assumes: nothing.
//! Promises: the tallies of several runs add up in any order.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::clock::Span;
use crate::fault::Kind;
use crate::story::Protocol;

/// Counts of one run or of many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many worlds were run.
    pub runs: u64,
    /// How much time passed in them, in nanoseconds.
    pub simulated: Span,
    /// How many events there were.
    pub events: u64,
    /// How many elections took place at the same time, summed over runs.
    pub contests: u64,
    /// How many terms the databases issued.
    pub terms: u64,
    /// How many leaderships began.
    pub gained: u64,
    /// How many requests had an outcome that nobody could tell.
    pub unknown: u64,
    /// How many writes resources accepted.
    pub accepted: u64,
    /// How many writes under an old token resources refused.
    pub refused: u64,
    /// How many writes under an old token resources accepted, because they did not check.
    pub stale: u64,
    /// How many fenced transactions were committed.
    pub committed: u64,
    /// How many fenced transactions were refused because their term was over.
    pub barred: u64,
    /// How many fenced transactions had an outcome that nobody could tell.
    pub doubted: u64,
    /// How many places in line candidates had.
    pub joined: u64,
    /// How many of them were taken away.
    pub evicted: u64,
    /// How often rounds became longer.
    pub longer: u64,
    /// How often rounds became shorter.
    pub shorter: u64,
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
            contests: 0,
            terms: 0,
            gained: 0,
            unknown: 0,
            accepted: 0,
            refused: 0,
            stale: 0,
            committed: 0,
            barred: 0,
            doubted: 0,
            joined: 0,
            evicted: 0,
            longer: 0,
            shorter: 0,
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

    /// The kinds of fault of such worlds that never did anything.
    pub fn missing(&self, protocol: Protocol) -> Vec<Kind> {
        let never = |kind: &Kind| self.fired(*kind) == 0;
        protocol.kinds().filter(never).collect()
    }

    /// How many faults did something, of all kinds.
    pub fn all_faults(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.simulated += other.simulated;
        self.events += other.events;
        self.contests += other.contests;
        self.terms += other.terms;
        self.gained += other.gained;
        self.unknown += other.unknown;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.stale += other.stale;
        self.committed += other.committed;
        self.barred += other.barred;
        self.doubted += other.doubted;
        self.joined += other.joined;
        self.evicted += other.evicted;
        self.longer += other.longer;
        self.shorter += other.shorter;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_never_fired_is_missing_until_it_does() {
        let mut tally = Tally::default();
        assert_eq!(tally.missing(Protocol::Rounds).len(), Kind::COUNT);
        tally.fire(Kind::Crash);
        assert!(!tally.missing(Protocol::Rounds).contains(&Kind::Crash));
    }

    #[test]
    fn what_takes_a_roster_is_not_missed_where_there_is_none() {
        let missing = Tally::default().missing(Protocol::Lease);
        assert!(!missing.contains(&Kind::VarsReset) && missing.contains(&Kind::Delete));
    }

    #[test]
    fn tallies_add_up() {
        let mut one = Tally::default();
        one.fire(Kind::Pause);
        one.events = 3;
        let mut sum = one.clone();
        sum.add(&one);
        assert_eq!((sum.events, sum.fired(Kind::Pause)), (6, 2));
    }
}
