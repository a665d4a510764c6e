//! What happened in a run, counted.
//!
//! Assumes: nothing.
//! Promises: the tallies of several runs add up in any order.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::fault::{Kind, Menu};
use crate::story::Protocol;

/// How many faults of each kind did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired<K>(BTreeMap<K, u64>);

impl<K> Default for Fired<K> {
    fn default() -> Self {
        Fired(BTreeMap::new())
    }
}

impl<K: Menu> Fired<K> {
    /// How many of one kind did.
    pub fn of(&self, kind: K) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// How many did, of all kinds.
    pub fn all(&self) -> u64 {
        self.0.values().sum()
    }

    pub(crate) fn add(&mut self, kind: K, times: u64) {
        *self.0.entry(kind).or_default() += times;
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, times)| self.add(*kind, *times));
    }
}

impl<K: Menu> Serialize for Fired<K> {
    /// Kinds that never did anything are told too.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(K::ALL.len()))?;
        for kind in K::ALL {
            map.serialize_entry(kind, &self.of(*kind))?;
        }
        map.end()
    }
}

/// Declares what is counted in one sort of world, beside its faults.
macro_rules! tally {
    ($($(#[$doc:meta])* $count:ident,)+) => {
        /// Counts of one run or of many.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Tally {
            $($(#[$doc])* pub $count: u64,)+
            /// How many faults of each kind did something.
            pub faults: $crate::tally::Fired<Kind>,
        }

        impl Tally {
            /// Counts a fault that did something.
            pub fn fire(&mut self, kind: Kind) {
                self.faults.add(kind, 1);
            }

            /// How many faults of a kind did something.
            pub fn fired(&self, kind: Kind) -> u64 {
                self.faults.of(kind)
            }

            /// How many faults did something, of all kinds.
            pub fn all_faults(&self) -> u64 {
                self.faults.all()
            }
        }

        impl core::ops::AddAssign for Tally {
            fn add_assign(&mut self, other: Tally) {
                $(self.$count += other.$count;)+
                self.faults.add_all(&other.faults);
            }
        }
    };
}

pub(crate) use tally;

tally! {
    /// How many worlds were run.
    runs,
    /// How much time passed in them, in nanoseconds.
    simulated,
    /// How many events there were.
    events,
    /// How many elections took place at the same time, summed over runs.
    contests,
    /// How many terms the databases issued.
    terms,
    /// How many leaderships began.
    gained,
    /// How many requests had an outcome that nobody could tell.
    unknown,
    /// How many writes resources accepted.
    accepted,
    /// How many writes under an old token resources refused.
    refused,
    /// How many writes under an old token resources accepted, because they did not check.
    stale,
    /// How many fenced transactions were committed.
    committed,
    /// How many fenced transactions were refused because their term was over.
    barred,
    /// How many fenced transactions had an outcome that nobody could tell.
    doubted,
    /// How many rollbacks lost writes in an outage shorter than leases, with a database that knows it.
    short_known,
    /// How many lost writes in an outage in which every lease ends, with a database that knows it.
    long_known,
    /// How many lost writes in such an outage, with a database that does not know it.
    long_unknown,
    /// How many of all these lost writes under a clock that was set back and had not caught up.
    lost_behind,
    /// How many times a database went back, or was made anew, within ten leases after all rules changed.
    back_after_rules,
    /// How many places in line candidates had.
    joined,
    /// How many of them were taken away.
    evicted,
    /// How often rounds became longer.
    longer,
    /// How often rounds became shorter.
    shorter,
    /// How often a better candidate asked a leader for its place.
    preempted,
    /// How often the work of a leader was asked to end.
    drained,
    /// How often it did not end in time, and its term was ended by order.
    forced,
}

impl Tally {
    /// The kinds of fault of such worlds that never did anything.
    pub fn missing(&self, protocol: Protocol) -> Vec<Kind> {
        let never = |kind: &Kind| self.fired(*kind) == 0;
        protocol.kinds().filter(never).collect()
    }
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
        sum += one;
        assert_eq!((sum.events, sum.fired(Kind::Pause)), (6, 2));
    }
}
