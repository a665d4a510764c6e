//! What was proposed in a small world, what a majority accepted, and whether that is one chain.
//!
//! Assumes: it is told of every value that goes out and of every acceptance. It counts
//! majorities by itself.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::lease::page::Page;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::Charter;
use incumbent_protocol::ratify::{Ballot, Electorate};

/// Which register: 0 is that of electorates.
pub type Key = u8;

/// What registers hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// All changes so far, oldest first.
    Changes(Vec<u8>),
    /// Those who vote.
    Voters(Electorate),
    /// An election.
    Page(Page),
}

impl Charter for Value {
    fn of(electorate: Electorate) -> Self {
        Value::Voters(electorate)
    }

    fn electorate(&self) -> Option<&Electorate> {
        match self {
            Value::Voters(electorate) => Some(electorate),
            _ => None,
        }
    }
}

impl Value {
    /// Whether a later value may follow.
    fn leads_to(&self, later: &Value) -> bool {
        match (self, later) {
            (Value::Changes(a), Value::Changes(b)) => b.starts_with(a),
            (Value::Voters(a), Value::Voters(b)) => {
                let (then, now) = ((a.number(), a.is_settled()), (b.number(), b.is_settled()));
                then < now || (then == now && a.is_same(b))
            }
            (Value::Page(a), Value::Page(b)) => pages_follow(a, b),
            _ => false,
        }
    }
}

/// A page follows another if its term is higher, or if it is a later beat of the same holder.
fn pages_follow(a: &Page, b: &Page) -> bool {
    match (&a.record, &b.record) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(a), Some(b)) => {
            b.term > a.term || (b.term == a.term && b.holder == a.holder && b.beat >= a.beat)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Proposed {
    value: Value,
    /// Those who were asked: by the proposer, and by others who relayed it.
    under: Vec<Electorate>,
    by: BTreeSet<NodeId>,
}

impl Proposed {
    fn is_chosen(&self) -> bool {
        self.under.iter().any(|under| {
            let voters = under.voters();
            voters.intersection(&self.by).count() * 2 > voters.len()
        })
    }
}

/// Everything that was proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chain {
    proposed: BTreeMap<(Key, Ballot), Proposed>,
    /// What is wrong, if anything.
    pub broken: Option<&'static str>,
}

impl Chain {
    /// A value goes out.
    pub(super) fn propose(&mut self, key: Key, ballot: Ballot, value: &Value, under: &Electorate) {
        let new = || Proposed { value: value.clone(), under: Vec::new(), by: BTreeSet::new() };
        let before = self.proposed.entry((key, ballot)).or_insert_with(new);
        if before.value != *value {
            self.broken = Some("two values for one ballot");
        }
        if !before.under.iter().any(|before| before.is_same(under)) {
            before.under.push(under.clone());
        }
    }

    /// A voter accepted.
    pub(super) fn accept(&mut self, node: NodeId, key: Key, ballot: Ballot) {
        let Some(proposed) = self.proposed.get_mut(&(key, ballot)) else { return };
        if !proposed.by.insert(node) || !proposed.is_chosen() {
            return;
        }
        let value = proposed.value.clone();
        let follows = self.chosen(key).all(|(other, chosen)| {
            if other < ballot { chosen.leads_to(&value) } else { value.leads_to(chosen) }
        });
        if !follows {
            self.broken = Some("two chosen values of which neither follows the other");
        }
    }

    /// Somebody is told that its proposal was chosen.
    pub(super) fn tell_chosen(&mut self, key: Key, ballot: Ballot) {
        if !self.proposed.get(&(key, ballot)).is_some_and(Proposed::is_chosen) {
            self.broken = Some("a proposal that is told to be chosen and is not");
        }
    }

    /// Somebody asks under this electorate.
    pub(super) fn uses(&mut self, electorate: &Electorate) {
        let is_it = |value: &Value| value.electorate().is_some_and(|it| it.is_same(electorate));
        if electorate.number() > 0 && !self.chosen(0).any(|(_, value)| is_it(value)) {
            self.broken = Some("an electorate is in use that was not chosen");
        }
    }

    /// What is chosen of a register, in the order of ballots.
    pub fn chosen(&self, key: Key) -> impl DoubleEndedIterator<Item = (Ballot, &Value)> {
        let chosen = self.proposed.iter().filter(move |((of, _), it)| *of == key && it.is_chosen());
        chosen.map(|((_, ballot), it)| (*ballot, &it.value))
    }
}
