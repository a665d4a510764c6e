//! Watches every voter's disk, and says when a promise of ratification is broken.
//!
//! Assumes: it is told of every value that is proposed and of every entry that is kept. It counts
//! majorities by itself.
//! Promises: for each register, no ballot has two values, and whatever a majority accepted is one
//! chain in the order of ballots, in which nothing is lost and nothing is done twice.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::Charter;
use incumbent_protocol::ratify::{Ballot, Electorate};

/// Which register: 0 is that of electorates.
pub(super) type Key = u8;

/// What registers hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// All changes so far, oldest first.
    Changes(Vec<u32>),
    /// Those who vote.
    Voters(Electorate),
}

impl Charter for Value {
    fn of(electorate: Electorate) -> Self {
        Value::Voters(electorate)
    }

    fn electorate(&self) -> Option<&Electorate> {
        match self {
            Value::Voters(electorate) => Some(electorate),
            Value::Changes(_) => None,
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
            _ => false,
        }
    }

    fn does_nothing_twice(&self) -> bool {
        let Value::Changes(changes) = self else { return true };
        changes.iter().collect::<BTreeSet<_>>().len() == changes.len()
    }
}

struct Proposed {
    value: Value,
    /// Those who were asked: by the proposer, and by others who relayed it.
    electorates: Vec<Electorate>,
    by: BTreeSet<NodeId>,
    chosen: bool,
}

/// What happened so far.
#[derive(Default)]
pub(super) struct Judge {
    proposed: BTreeMap<(Key, Ballot), Proposed>,
    /// What is wrong, if anything.
    pub(super) wrong: Option<String>,
}

impl Judge {
    /// Somebody asks for this to be accepted.
    pub(super) fn proposes(
        &mut self,
        key: Key,
        ballot: Ballot,
        value: &Value,
        electorate: &Electorate,
    ) {
        if !value.does_nothing_twice() {
            self.wrong.get_or_insert(format!("a change that was made twice: {value:?}"));
        }
        let new = || Proposed {
            value: value.clone(),
            electorates: Vec::new(),
            by: BTreeSet::new(),
            chosen: false,
        };
        let before = self.proposed.entry((key, ballot)).or_insert_with(new);
        if before.value != *value {
            let text = format!("two values for {ballot}: {:?} and {value:?}", before.value);
            self.wrong.get_or_insert(text);
        }
        if !before.electorates.iter().any(|before| before.is_same(electorate)) {
            before.electorates.push(electorate.clone());
        }
    }

    /// A voter keeps that it accepted this.
    pub(super) fn accepts(&mut self, node: NodeId, key: Key, ballot: Ballot) {
        let Some(proposed) = self.proposed.get_mut(&(key, ballot)) else { return };
        proposed.by.insert(node);
        let majority = |electorate: &Electorate| {
            let voters = electorate.voters();
            voters.intersection(&proposed.by).count() * 2 > voters.len()
        };
        if proposed.chosen || !proposed.electorates.iter().any(majority) {
            return;
        }
        proposed.chosen = true;
        let value = proposed.value.clone();
        let broken = self.chosen(key).find(|(other, chosen)| {
            let in_order = if *other < ballot { (*chosen, &value) } else { (&value, *chosen) };
            !in_order.0.leads_to(in_order.1)
        });
        let text = broken.map(|(other, chosen)| {
            format!("{other} and {ballot} are no chain: {chosen:?} and {value:?}")
        });
        self.wrong = self.wrong.take().or(text);
    }

    /// Somebody was told that its proposal was chosen.
    pub(super) fn tells_chosen(&mut self, key: Key, ballot: Ballot) {
        if !self.proposed.get(&(key, ballot)).is_some_and(|it| it.chosen) {
            self.wrong.get_or_insert(format!("{ballot} is told to be chosen and is not"));
        }
    }

    /// What is chosen of a register, in the order of ballots.
    pub(super) fn chosen(&self, key: Key) -> impl DoubleEndedIterator<Item = (Ballot, &Value)> {
        let chosen = self.proposed.iter().filter(move |((of, _), it)| *of == key && it.chosen);
        chosen.map(|((_, ballot), it)| (*ballot, &it.value))
    }

    /// The newest value of a register.
    pub(super) fn newest(&self, key: Key) -> Option<Value> {
        self.chosen(key).next_back().map(|(_, value)| value.clone())
    }

    /// A read that began when `least` was the newest value came to `value`.
    pub(super) fn reads(&mut self, least: Option<&Value>, value: Option<&Value>) {
        let fresh = match (least, value) {
            (None, _) => true,
            (Some(least), Some(value)) => least.leads_to(value),
            (Some(_), None) => false,
        };
        if !fresh {
            self.wrong.get_or_insert(format!("a read of {value:?} after {least:?} was chosen"));
        }
    }
}
