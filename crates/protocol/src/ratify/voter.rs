//! A voter: what it heeds, what it accepted, and what it must keep before it says so.
//!
//! Assumes: whoever runs it keeps what a [`Promise`] lists, for good, before it sends the reply, and
//! before it hands over the next message: an answer to that may rest on what is not kept yet.
//! Promises: it never accepts a ballot below one that it heeds, never answers an electorate older
//! than one it knows, and gives the same answer to the same message twice. If it has a [`Lineage`],
//! it votes only where that is on the roll; so a voter whose disk was lost is nobody until it was
//! removed and added again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ballot::Ballot;
use super::electorate::{Electorate, Lineage};
use crate::node::NodeId;
use crate::planted::{self, Bug};

/// What a voter keeps of one register.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot<V> {
    /// The lowest ballot that it still accepts.
    pub heeds: Option<Ballot>,
    /// What it accepted last, and under which ballot.
    pub accepted: Option<(Ballot, V)>,
}

impl<V> Default for Slot<V> {
    fn default() -> Self {
        Slot { heeds: None, accepted: None }
    }
}

/// What is asked of a voter about one register.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ask<V> {
    /// Show what you accepted.
    Show,
    /// Heed this ballot and no lower one, and show what you accepted.
    Heed(Ballot),
    /// Accept this, unless you heed a higher ballot.
    Accept(Ballot, V),
}

/// What a voter answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reply<V> {
    /// What it accepted. Also means that it heeds the ballot, if that was asked.
    Shown(Option<(Ballot, V)>),
    /// It accepted, and heeds the next ballot of the same proposer.
    Accepted,
    /// It heeds a higher ballot.
    Overruled(Ballot),
    /// It knows of a later electorate, or of another one of the same number.
    Outdated(Electorate),
    /// It is not among those who vote.
    NoVoter,
}

/// What a voter answers who is asked which registers it knows of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Inventory<K> {
    /// It knows the electorate that it was asked under, and these registers.
    Keys {
        /// Every register of which it heeds or accepted anything.
        keys: Vec<K>,
        /// Which disk it has.
        lineage: Option<Lineage>,
    },
    /// It knows of a later electorate, or of another one of the same number.
    Outdated(Electorate),
    /// It is not among those who vote, but it lives.
    NoVoter {
        /// Which disk it has.
        lineage: Option<Lineage>,
    },
}

/// Something to keep.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry<K, V> {
    /// The newest electorate that it knows of.
    Electorate(Electorate),
    /// A register.
    Slot(K, Slot<V>),
}

/// An answer that may be given once its entries are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Promise<K, V, R = Vec<Reply<V>>> {
    entries: Vec<Entry<K, V>>,
    replies: R,
}

impl<K, V, R> Promise<K, V, R> {
    /// Keeps the entries, and only then gives the replies out, in the order of the asks.
    pub fn keep<E>(self, keep: impl FnOnce(&[Entry<K, V>]) -> Result<(), E>) -> Result<R, E> {
        if !self.entries.is_empty() && !planted::is(Bug::PromiseNotKept) {
            keep(&self.entries)?;
        }
        Ok(self.replies)
    }

    /// What must be kept.
    pub fn entries(&self) -> &[Entry<K, V>] {
        &self.entries
    }
}

/// One voter and all its registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voter<K: Ord, V> {
    me: NodeId,
    lineage: Option<Lineage>,
    electorate: Electorate,
    slots: BTreeMap<K, Slot<V>>,
}

impl<K: Ord + Clone, V: Clone> Voter<K, V> {
    /// A voter that never promised anything.
    pub const fn new(me: NodeId, electorate: Electorate) -> Self {
        Voter { me, lineage: None, electorate, slots: BTreeMap::new() }
    }

    /// The same voter, which votes only where this lineage of its disk is on the roll. Without one
    /// it must be certain that its disk is never lost.
    #[must_use]
    pub fn of(self, lineage: Lineage) -> Self {
        Voter { lineage: Some(lineage), ..self }
    }

    /// A voter as it was kept. Of entries about the same thing the last one counts.
    pub fn from_entries(
        me: NodeId,
        electorate: Electorate,
        entries: impl IntoIterator<Item = Entry<K, V>>,
    ) -> Self {
        let mut voter = Voter::new(me, electorate);
        for entry in entries {
            match entry {
                Entry::Electorate(known) => voter.electorate = known,
                Entry::Slot(key, slot) => {
                    let heeds = slot.heeds.filter(|_| !planted::is(Bug::HeedForgotten));
                    voter.slots.insert(key, Slot { heeds, ..slot });
                }
            }
        }
        voter
    }

    /// Those who vote, as far as it knows.
    pub const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// Every register that it knows of.
    pub fn slots(&self) -> impl Iterator<Item = (&K, &Slot<V>)> {
        self.slots.iter()
    }

    /// Answers what a proposer asks under the electorate that it knows.
    ///
    /// After an error in keeping what this returns the voter must be made anew from what was kept.
    pub fn handle(&mut self, electorate: &Electorate, asks: Vec<(K, Ask<V>)>) -> Promise<K, V> {
        let mut entries = Vec::new();
        if let Err(reply) = self.meet(electorate, &mut entries) {
            return Promise { entries, replies: vec![reply; asks.len()] };
        }
        let replies = asks.into_iter().map(|(key, ask)| self.answer(key, ask, &mut entries));
        let replies = replies.collect();
        Promise { entries, replies }
    }

    /// Says which registers it knows of; and from then on answers no electorate before this one.
    pub fn list(&mut self, electorate: &Electorate) -> Promise<K, V, Inventory<K>> {
        let (mut entries, lineage) = (Vec::new(), self.lineage);
        let replies = match self.meet(electorate, &mut entries) {
            Ok(()) => Inventory::Keys { keys: self.slots.keys().cloned().collect(), lineage },
            Err(Reply::Outdated(known)) => Inventory::Outdated(known),
            Err(_) => Inventory::NoVoter { lineage },
        };
        Promise { entries, replies }
    }

    /// Compares the proposer's electorate with the one known here.
    fn meet(&mut self, other: &Electorate, entries: &mut Vec<Entry<K, V>>) -> Result<(), Reply<V>> {
        if !self.electorate.is_akin(other) {
            return Err(Reply::NoVoter);
        }
        let (mine, theirs) = (self.electorate.number(), other.number());
        let differ = mine == theirs && !self.electorate.is_same(other);
        if (theirs < mine && !planted::is(Bug::OldElectorate)) || differ {
            return Err(Reply::Outdated(self.electorate.clone()));
        }
        if theirs > mine {
            self.electorate = other.clone();
            entries.push(Entry::Electorate(other.clone()));
        }
        if other.admits(self.me, self.lineage) { Ok(()) } else { Err(Reply::NoVoter) }
    }

    fn answer(&mut self, key: K, ask: Ask<V>, entries: &mut Vec<Entry<K, V>>) -> Reply<V> {
        let slot = self.slots.get(&key).cloned().unwrap_or_default();
        let accepted = slot.accepted.clone();
        match ask {
            Ask::Show => Reply::Shown(accepted),
            Ask::Heed(ballot) => match slot.heeds {
                Some(higher) if higher > ballot => Reply::Overruled(higher),
                heeds => {
                    if heeds != Some(ballot) {
                        self.keep(
                            key,
                            Slot { heeds: Some(ballot), accepted: slot.accepted },
                            entries,
                        );
                    }
                    Reply::Shown(accepted)
                }
            },
            Ask::Accept(ballot, _) if slot.accepted.as_ref().is_some_and(|a| a.0 == ballot) => {
                // Said twice, or heard twice.
                Reply::Accepted
            }
            Ask::Accept(ballot, value) => match slot.heeds {
                Some(higher) if higher > ballot && !planted::is(Bug::BallotIgnored) => {
                    Reply::Overruled(higher)
                }
                _ => {
                    let unheeded = planted::is(Bug::UnheededAccept);
                    let heeds = if unheeded { slot.heeds } else { Some(ballot.next()) };
                    let slot = Slot { heeds, accepted: Some((ballot, value)) };
                    self.keep(key, slot, entries);
                    Reply::Accepted
                }
            },
        }
    }

    fn keep(&mut self, key: K, slot: Slot<V>, entries: &mut Vec<Entry<K, V>>) {
        entries.push(Entry::Slot(key.clone(), slot.clone()));
        self.slots.insert(key, slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Incarnation;

    fn founded(disks: [u128; 3]) -> Electorate {
        let lineages = (1..).zip(disks);
        let lineages =
            lineages.map(|(node, disk)| (NodeId::given(node), Lineage::drawn(disk))).collect();
        Electorate::founded(lineages).confirmed()
    }

    #[test]
    fn an_electorate_of_another_founding_is_left_alone_whatever_its_number() {
        let (own, other) = (founded([1, 2, 3]), founded([1, 8, 9]));
        let later = other.without(NodeId::given(3)).expect("one less");
        assert!(later.number() > own.number() && !own.is_akin(&later));
        let voter = Voter::<u8, u8>::new(NodeId::given(1), own.clone());
        let mut voter = voter.of(Lineage::drawn(1));
        let heed = vec![(0, Ask::Heed(Ballot::first(Incarnation::from_random(7))))];
        let promise = voter.handle(&later, heed.clone());
        assert_eq!(promise.entries(), [], "nothing of it is kept");
        let replies = promise.keep(|_| Ok::<(), ()>(())).expect("kept");
        assert_eq!(replies, [Reply::NoVoter]);
        assert_eq!(voter.electorate(), &own);
        // Those who were founded together go on.
        let replies = voter.handle(&own, heed).keep(|_| Ok::<(), ()>(())).expect("kept");
        assert_eq!(replies, [Reply::Shown(None)]);
    }
}
