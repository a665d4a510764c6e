//! Registers that are rewritten together: each by a proposal of its own, all in the same messages.
//!
//! Assumes: replies come in the order of [`Batch::asks`], and are none of an earlier question.
//! Promises: a register is done only once a majority accepted its newest value under the new ballot,
//! or heeds that ballot and showed none. One that is overruled holds up no other.

use std::collections::BTreeSet;

use crate::node::NodeId;
use crate::ratify::ballot::Ballot;
use crate::ratify::electorate::Electorate;
use crate::ratify::proposal::{Proposal, Step};
use crate::ratify::voter::{Ask, Reply};

/// The registers that the present question is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Batch<K, V> {
    rows: Vec<Row<K, V>>,
    /// The highest ballot that overruled any of them, in this question or in the one before.
    overruled: Option<Ballot>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row<K, V> {
    key: K,
    ask: Ask<V>,
    proposal: Proposal<V>,
    fate: Option<Fate<V>>,
}

/// What the present question led to, for one register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fate<V> {
    /// A majority heeds the ballot, and this is the newest value.
    Heeded(Option<V>),
    /// A majority accepted.
    Chosen,
    Overruled,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pass<K> {
    /// More answers are needed.
    Wait,
    /// Another electorate votes by now.
    Outdated(Electorate),
    /// Every register has come to something.
    On {
        /// These are rewritten.
        done: BTreeSet<K>,
        /// Others were overruled by this ballot, and are to be tried again.
        overruled: Option<Ballot>,
        /// Whether the batch goes on with another question about the rest.
        asks: bool,
    },
}

impl<K: Ord + Clone, V: Clone> Batch<K, V> {
    /// A batch that begins by asking to be heeded.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a K>, proposal: &Proposal<V>) -> Self
    where
        K: 'a,
    {
        let rows = keys.filter_map(|key| Row::new(key.clone(), proposal.clone()));
        Batch { rows: rows.collect(), overruled: None }
    }

    /// What to ask; the same until [`hear`](Batch::hear) says that it goes on.
    pub(super) fn asks(&self) -> Vec<(K, Ask<V>)> {
        self.rows.iter().map(|row| (row.key.clone(), row.ask.clone())).collect()
    }

    /// Takes the answers of one voter.
    pub(super) fn hear(&mut self, from: NodeId, replies: Vec<Reply<V>>) -> Pass<K> {
        for (row, reply) in self.rows.iter_mut().zip(replies) {
            if row.fate.is_some() {
                continue;
            }
            row.fate = match row.proposal.hear(from, reply) {
                Step::Wait => None,
                Step::Decide(value) => Some(Fate::Heeded(value)),
                Step::Chosen => Some(Fate::Chosen),
                Step::Overruled(higher) => {
                    self.overruled = self.overruled.max(Some(higher));
                    Some(Fate::Overruled)
                }
                Step::Outdated(other) => return Pass::Outdated(other),
            };
        }
        self.pass()
    }

    /// Nobody else answers: what anybody overruled is overruled.
    pub(super) fn give_up(&mut self) -> Pass<K> {
        for row in self.rows.iter_mut().filter(|row| row.fate.is_none()) {
            if let Some(higher) = row.proposal.overruled() {
                self.overruled = self.overruled.max(Some(higher));
                row.fate = Some(Fate::Overruled);
            }
        }
        self.pass()
    }

    fn pass(&mut self) -> Pass<K> {
        if self.rows.iter().any(|row| row.fate.is_none()) {
            return Pass::Wait;
        }
        let mut done = BTreeSet::new();
        for Row { key, mut proposal, fate, .. } in core::mem::take(&mut self.rows) {
            match fate {
                Some(Fate::Heeded(Some(value))) => {
                    proposal.propose(value);
                    self.rows.extend(Row::new(key, proposal));
                }
                Some(Fate::Heeded(None) | Fate::Chosen) => drop(done.insert(key)),
                Some(Fate::Overruled) | None => {}
            }
        }
        Pass::On { done, overruled: self.overruled, asks: !self.rows.is_empty() }
    }
}

impl<K, V: Clone> Row<K, V> {
    fn new(key: K, proposal: Proposal<V>) -> Option<Self> {
        proposal.ask().map(|ask| Row { key, ask, proposal, fate: None })
    }
}
