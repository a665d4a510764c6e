//! Who votes, and how that changes: by one voter at a time.
//!
//! Assumes: an electorate is itself the value of a register, and is used only once it was chosen
//! there, by the electorate before it.
//! Promises: any majority of an electorate and any majority of the next one share a voter. The next
//! change is refused until the last one is *settled*: a majority of the new electorate knows of it,
//! so that the old one can choose nothing more, and every register was rewritten under the new one.
//!
//! A voter must remember what it promised. One that lost its disk would promise again what it
//! promised the opposite of, so it must not pass for who it was. Therefore a disk may have a
//! [`Lineage`], drawn when it is first written, and the electorate says which one it counts on. A
//! voter that has one is silent wherever another one, or none, is on the roll. In particular it does
//! not vote in the electorate that everybody starts with from a configuration, because that names
//! nodes only: such voters are [founded](Electorate::founded) first.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::node::NodeId;
use crate::planted::{self, Bug};

/// Most voters that an election may have.
pub const VOTERS_MAX: usize = 64;

/// The number of a disk, drawn at random when a voter first writes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lineage(u128);

impl Lineage {
    /// A number that was drawn, and is kept next to what the voter keeps.
    pub const fn drawn(number: u128) -> Self {
        Lineage(number)
    }
}

/// Those who vote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Electorate {
    number: u64,
    voters: BTreeSet<NodeId>,
    lineages: BTreeMap<NodeId, Lineage>,
    /// Which founding it goes back to; zero for those who were never founded.
    founding: u128,
    settled: bool,
}

/// Why the electorate stays as it is. *Standing:* unchanged. *Retry:* as each says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Unchanged {
    /// The change before it is not complete. Complete it first.
    #[error("the last change of the voters is not complete yet")]
    Unsettled,
    /// Another electorate has the same number, or the kept one is older than one in use: nodes were
    /// started with different voters. Nothing can be changed safely.
    #[error("nodes disagree about who votes: compare what they were started with")]
    Unlike,
    /// It votes already.
    #[error("{0} votes already")]
    Votes(NodeId),
    /// It does not vote.
    #[error("{0} does not vote")]
    DoesNotVote(NodeId),
    /// Nobody would be left.
    #[error("{0} is the last voter; add another one first")]
    Last(NodeId),
    /// There would be too many.
    #[error("there are {VOTERS_MAX} voters, and no more can be added")]
    TooMany,
}

impl Electorate {
    /// Those who vote from the start.
    pub fn first(voters: impl IntoIterator<Item = NodeId>) -> Self {
        let voters = voters.into_iter().collect();
        Electorate { number: 0, voters, lineages: BTreeMap::new(), founding: 0, settled: true }
    }

    /// The first electorate of voters that have lineages. Two of them may exist, if somebody loses
    /// its disk meanwhile; so it may be used only once *all* of its voters know it.
    pub fn founded(lineages: BTreeMap<NodeId, Lineage>) -> Self {
        let voters = lineages.keys().copied().collect();
        let mut digest = Md5::new();
        for (node, lineage) in &lineages {
            digest.update(node.number().to_be_bytes());
            digest.update(lineage.0.to_be_bytes());
        }
        let founding = u128::from_be_bytes(digest.finalize().into());
        Electorate { number: 1, voters, lineages, founding, settled: true }
    }

    /// A founded electorate once all of its voters keep it.
    #[must_use]
    pub fn confirmed(&self) -> Electorate {
        Electorate { number: self.number + 1, ..self.clone() }
    }

    /// How many there were before it. Whoever knows of a later one does not answer an earlier one.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Those who vote.
    pub const fn voters(&self) -> &BTreeSet<NodeId> {
        &self.voters
    }

    /// The disks that it counts on, of those voters that have a lineage.
    pub const fn lineages(&self) -> &BTreeMap<NodeId, Lineage> {
        &self.lineages
    }

    /// Whether the change that led to it is complete.
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether this node votes.
    pub fn has(&self, node: NodeId) -> bool {
        self.voters.contains(&node)
    }

    /// Whether this node votes with a disk of this lineage.
    pub fn admits(&self, node: NodeId, lineage: Option<Lineage>) -> bool {
        self.has(node)
            && (self.lineages.get(&node).copied() == lineage || planted::is(Bug::LineageIgnored))
    }

    /// Whether both can go back to the same founding. Those that cannot have nothing to do with each
    /// other, whatever their numbers are.
    pub const fn is_akin(&self, other: &Electorate) -> bool {
        self.founding == 0 || other.founding == 0 || self.founding == other.founding
    }

    /// Whether it is the same one, settled or not.
    pub fn is_same(&self, other: &Electorate) -> bool {
        self.number == other.number
            && self.voters == other.voters
            && self.lineages == other.lineages
    }

    /// How many are more than half.
    pub fn majority(&self) -> usize {
        self.voters.len() / 2 + 1
    }

    /// Whether these are more than half of the voters.
    pub fn is_majority<'a>(&self, nodes: impl IntoIterator<Item = &'a NodeId>) -> bool {
        let count = nodes.into_iter().filter(|node| self.voters.contains(node)).count();
        let need = if planted::is(Bug::HalfIsEnough) {
            self.voters.len().div_ceil(2)
        } else {
            self.majority()
        };
        count >= need
    }

    /// The electorate with one more voter.
    pub fn with(&self, node: NodeId) -> Result<Electorate, Unchanged> {
        if self.has(node) {
            return Err(Unchanged::Votes(node));
        }
        if self.voters.len() >= VOTERS_MAX {
            return Err(Unchanged::TooMany);
        }
        self.changed(|next| {
            next.voters.insert(node);
        })
    }

    /// The electorate with one voter less.
    pub fn without(&self, node: NodeId) -> Result<Electorate, Unchanged> {
        if !self.has(node) {
            return Err(Unchanged::DoesNotVote(node));
        }
        if self.voters.len() == 1 {
            return Err(Unchanged::Last(node));
        }
        self.changed(|next| {
            next.voters.remove(&node);
            next.lineages.remove(&node);
        })
    }

    /// The electorate that counts on these disks, of voters of which none was known before.
    pub fn counting_on(
        &self,
        lineages: &BTreeMap<NodeId, Lineage>,
    ) -> Result<Electorate, Unchanged> {
        self.changed(|next| next.note(lineages))
    }

    /// Adds lineages of voters of which none is known.
    pub(super) fn note(&mut self, lineages: &BTreeMap<NodeId, Lineage>) {
        for (&node, &lineage) in lineages.iter().filter(|(node, _)| self.voters.contains(node)) {
            self.lineages.entry(node).or_insert(lineage);
        }
    }

    /// The same electorate, once every register was rewritten under it.
    #[must_use]
    pub fn settle(&self) -> Electorate {
        Electorate { settled: true, ..self.clone() }
    }

    fn changed(&self, change: impl FnOnce(&mut Electorate)) -> Result<Electorate, Unchanged> {
        if !self.settled {
            return Err(Unchanged::Unsettled);
        }
        let mut next = Electorate { number: self.number + 1, settled: false, ..self.clone() };
        change(&mut next);
        Ok(next)
    }
}
