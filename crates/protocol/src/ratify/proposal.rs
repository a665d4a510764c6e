//! One attempt to change a register, and what a proposer remembers from one to the next.
//!
//! Assumes: what [`Proposal::ask`] says is sent to every voter, and whatever they answer to *this*
//! attempt is handed to [`Proposal::hear`], once or several times, in any order.
//! Promises: a value is proposed only after a majority showed what they accepted and heeded the
//! ballot. [`Step::Chosen`] means that a majority accepted. Anything short of that, once a value was
//! proposed, leaves its fate unknown: it may still be chosen by whoever finds it.

use std::collections::{BTreeMap, BTreeSet};

use super::ballot::Ballot;
use super::electorate::Electorate;
use super::voter::{Ask, Reply};
use crate::identity::Incarnation;
use crate::node::NodeId;
use crate::planted::{self, Bug};

/// What an answer led to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step<V> {
    /// More answers are needed.
    Wait,
    /// A majority heeds the ballot: decide on this value, and [`propose`](Proposal::propose).
    Decide(Option<V>),
    /// A majority accepted what was proposed.
    Chosen,
    /// A majority cannot be had for this ballot. Try again after this one.
    Overruled(Ballot),
    /// Another electorate votes by now.
    Outdated(Electorate),
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proposal<V> {
    electorate: Electorate,
    ballot: Ballot,
    phase: Phase<V>,
    refused: BTreeMap<NodeId, Option<Ballot>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase<V> {
    Heeding { shown: BTreeMap<NodeId, Option<(Ballot, V)>> },
    Deciding,
    Accepting { value: V, by: BTreeSet<NodeId> },
    Over,
}

impl<V: Clone> Proposal<V> {
    /// An attempt that begins by asking to be heeded.
    pub const fn new(electorate: Electorate, ballot: Ballot) -> Self {
        let phase = Phase::Heeding { shown: BTreeMap::new() };
        Proposal { electorate, ballot, phase, refused: BTreeMap::new() }
    }

    /// An attempt whose ballot a majority heeds already.
    const fn heeded(electorate: Electorate, ballot: Ballot) -> Self {
        Proposal { electorate, ballot, phase: Phase::Deciding, refused: BTreeMap::new() }
    }

    /// Its number.
    pub const fn ballot(&self) -> Ballot {
        self.ballot
    }

    /// Under whom it runs.
    pub const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// What to ask every voter now; `None` while it is to be decided, and when it is over.
    pub fn ask(&self) -> Option<Ask<V>> {
        match &self.phase {
            Phase::Heeding { .. } => Some(Ask::Heed(self.ballot)),
            Phase::Accepting { value, .. } => Some(Ask::Accept(self.ballot, value.clone())),
            Phase::Deciding | Phase::Over => None,
        }
    }

    /// Whether a value went out, so that it may be chosen whatever happens.
    pub const fn was_proposed(&self) -> bool {
        matches!(self.phase, Phase::Accepting { .. } | Phase::Over)
    }

    /// The highest ballot that any voter heeds instead, as far as they said so.
    pub fn overruled(&self) -> Option<Ballot> {
        self.refused.values().flatten().max().copied()
    }

    /// Proposes what was decided. Does nothing unless it was asked to decide.
    pub fn propose(&mut self, value: V) {
        if matches!(self.phase, Phase::Deciding) {
            self.refused.clear();
            self.phase = Phase::Accepting { value, by: BTreeSet::new() };
        }
    }

    /// Takes the answer of one voter.
    pub fn hear(&mut self, from: NodeId, reply: Reply<V>) -> Step<V> {
        if !self.electorate.has(from) || matches!(self.phase, Phase::Deciding | Phase::Over) {
            return Step::Wait;
        }
        let reply = match (&reply, &self.phase) {
            (Reply::Overruled(_), Phase::Accepting { by, .. })
                if planted::is(Bug::RefusalCounted) && !by.is_empty() =>
            {
                Reply::Accepted
            }
            _ => reply,
        };
        match (reply, &mut self.phase) {
            (Reply::Shown(accepted), Phase::Heeding { shown }) => {
                shown.insert(from, accepted);
                if !self.electorate.is_majority(shown.keys()) && !planted::is(Bug::Unratified) {
                    return Step::Wait;
                }
                let newest = shown.values().flatten().max_by_key(|(ballot, _)| *ballot);
                let first = shown.values().flatten().next();
                let newest = if planted::is(Bug::AnyValue) { first } else { newest };
                let newest = newest.map(|(_, value)| value.clone());
                self.phase = Phase::Deciding;
                Step::Decide(newest)
            }
            (Reply::Accepted, Phase::Accepting { by, .. }) => {
                by.insert(from);
                if !self.electorate.is_majority(by.iter()) && !planted::is(Bug::Unratified) {
                    return Step::Wait;
                }
                self.phase = Phase::Over;
                Step::Chosen
            }
            (Reply::Overruled(higher), _) => self.refuse(from, Some(higher)),
            (Reply::NoVoter, _) => self.refuse(from, None),
            (Reply::Outdated(electorate), _) => Step::Outdated(electorate),
            // An answer to the question before.
            (Reply::Shown(_) | Reply::Accepted, _) => Step::Wait,
        }
    }

    fn refuse(&mut self, from: NodeId, higher: Option<Ballot>) -> Step<V> {
        if matches!(&self.phase, Phase::Accepting { by, .. } if by.contains(&from)) {
            // It heeds a higher ballot by now, which does not undo that it accepted this one.
            return Step::Wait;
        }
        self.refused.insert(from, higher);
        let left =
            self.electorate.voters().iter().filter(|voter| !self.refused.contains_key(voter));
        if self.electorate.is_majority(left) {
            return Step::Wait;
        }
        Step::Overruled(self.overruled().unwrap_or(self.ballot))
    }
}

/// What a plain read of a register came to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sight<V> {
    /// More answers are needed.
    Wait,
    /// A majority holds this.
    Known(Option<V>),
    /// A change is under way: look again, [relay](Reading::relay) it, or complete it by a proposal
    /// that changes nothing.
    Unclear,
    /// Another electorate votes by now.
    Outdated(Electorate),
}

/// A read: known once a majority shows the same ballot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reading<V> {
    electorate: Electorate,
    shown: BTreeMap<NodeId, Option<(Ballot, V)>>,
}

impl<V: Clone> Reading<V> {
    /// A read that asks everybody to show.
    pub const fn new(electorate: Electorate) -> Self {
        Reading { electorate, shown: BTreeMap::new() }
    }

    /// Takes the answer of one voter.
    pub fn hear(&mut self, from: NodeId, reply: Reply<V>) -> Sight<V> {
        match reply {
            Reply::Shown(accepted) if self.electorate.has(from) => {
                self.shown.insert(from, accepted);
            }
            Reply::Outdated(electorate) => return Sight::Outdated(electorate),
            _ => {}
        }
        if !self.electorate.is_majority(self.shown.keys()) {
            return Sight::Wait;
        }
        let ballot = |shown: &Option<(Ballot, V)>| shown.as_ref().map(|(ballot, _)| *ballot);
        for candidate in self.shown.values() {
            let same = self.shown.iter().filter(|(_, it)| ballot(it) == ballot(candidate));
            if self.electorate.is_majority(same.map(|(voter, _)| voter)) {
                return Sight::Known(candidate.as_ref().map(|(_, value)| value.clone()));
            }
        }
        if self.shown.len() < self.electorate.voters().len() { Sight::Wait } else { Sight::Unclear }
    }

    /// What to ask of all voters so that they become of one mind, and its ballot: to accept the newest
    /// value that was shown. To a voter that is the proposer's own message, late or for the second
    /// time; so it disturbs no proposer, and a voter that heeds a higher ballot refuses it. Nothing
    /// can be taken from what they answer but by another read, and it is no reason for a
    /// [shortcut](Proposer::shortcut): the next ballot belongs to the proposer.
    pub fn relay(&self) -> Option<(Ballot, Ask<V>)> {
        if !self.is_unclear() {
            return None;
        }
        let newest = self.shown.values().flatten().max_by_key(|(ballot, _)| *ballot);
        newest.map(|(ballot, value)| (*ballot, Ask::Accept(*ballot, value.clone())))
    }

    /// Whether nothing more than what was heard is needed to say that it is unclear: a majority
    /// answered, though not with one voice.
    pub fn is_unclear(&self) -> bool {
        self.electorate.is_majority(self.shown.keys())
    }
}

/// What a proposer remembers: which ballots it used, and which registers it may change by one
/// message because a majority heeds its next ballot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proposer<K: Ord, V> {
    me: Incarnation,
    /// The highest ballot that it used or heard of. Shared by all registers, which does no harm.
    highest: Option<Ballot>,
    held: BTreeMap<K, (u64, Ballot, V)>,
}

impl<K: Ord + Clone, V: Clone> Proposer<K, V> {
    /// One that never proposed.
    pub const fn new(me: Incarnation) -> Self {
        Proposer { me, highest: None, held: BTreeMap::new() }
    }

    /// A fresh attempt that asks first.
    pub fn attempt(&mut self, electorate: &Electorate) -> Proposal<V> {
        let ballot =
            self.highest.map_or(Ballot::first(self.me), |seen| Ballot::after(seen, self.me));
        self.highest = Some(ballot);
        Proposal::new(electorate.clone(), ballot)
    }

    /// What a register holds, if this proposer was the last to change it, as far as it knows.
    pub fn known(&self, key: &K, electorate: &Electorate) -> Option<&V> {
        let (number, _, value) = self.held.get(key)?;
        (*number == electorate.number()).then_some(value)
    }

    /// An attempt that needs no asking, and the value to decide on; if this proposer was the last to
    /// change the register, as far as it knows. It gets only one such attempt.
    pub fn shortcut(&mut self, key: &K, electorate: &Electorate) -> Option<(Proposal<V>, V)> {
        let reused = planted::is(Bug::ShortcutReused);
        let held = if reused { self.held.get(key).cloned() } else { self.held.remove(key) };
        let (number, ballot, value) = held?;
        if number != electorate.number() {
            return None;
        }
        self.heard_of(ballot);
        Some((Proposal::heeded(electorate.clone(), ballot), value))
    }

    /// What it proposed was chosen: the next change is a shortcut. To be said once for a proposal,
    /// and with the value that was proposed.
    pub fn chosen(&mut self, key: K, proposal: &Proposal<V>, value: V) {
        let next = proposal.ballot.next();
        if self.held.get(&key).is_none_or(|(_, held, _)| *held < next) {
            self.held.insert(key, (proposal.electorate.number(), next, value));
        }
    }

    /// Somebody used this ballot.
    pub fn heard_of(&mut self, ballot: Ballot) {
        self.highest = self.highest.max(Some(ballot));
    }
}
