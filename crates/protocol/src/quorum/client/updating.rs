//! How registers are changed: prepare, decide, propose.
//!
//! Promises: what is decided on was shown by a majority that accepts nothing older from then on, or
//! was written by this process itself with a ballot whose successor belongs to it. Two proposers
//! that are at it at once do not overrule each other for ever.

use core::time::Duration;

use super::{Doing, Fate, Notice, QuorumClient, Stage, Written};
use crate::node::NodeId;
use crate::planted::{self, Bug};
use crate::quorum::question::Question;
use crate::ratify::amend::Charter;
use crate::ratify::proposal::{Proposal, Step};
use crate::ratify::voter::Reply;
use crate::time::{StoreTime, Time};

/// A change of registers, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Update<K, V> {
    /// What is still to be changed.
    left: Vec<K>,
    aim: Aim<K, V>,
}

#[derive(Clone, Debug)]
enum Aim<K, V> {
    /// Until it is known for each register: these were changed.
    Renew { changed: Vec<K>, fresh: bool },
    /// Once.
    Write,
    /// A value was overruled on its way. What voters hold is proposed once more, be it that value or
    /// another one: after that it is chosen, or it never will be, though another one may have
    /// followed it.
    Insist { mine: Vec<(K, V)>, written: Written<K, V> },
}

/// A register whose voters are to accept nothing older, and what it holds.
#[derive(Clone, Debug)]
pub(super) struct Prepared<K, V> {
    key: K,
    proposal: Proposal<V>,
    /// Whether a majority showed it.
    ready: bool,
    value: Option<V>,
}

/// A value that was proposed.
#[derive(Clone, Debug)]
pub(super) struct Proposed<K, V> {
    key: K,
    proposal: Proposal<V>,
    value: V,
    /// Whether the value is another one than the register held.
    changes: bool,
    fate: Option<Fate>,
}

impl<K: Clone, V: Clone> Update<K, V> {
    pub(super) const fn renew(keys: Vec<K>) -> Self {
        Update { left: keys, aim: Aim::Renew { changed: Vec::new(), fresh: false } }
    }

    pub(super) const fn write(keys: Vec<K>) -> Self {
        Update { left: keys, aim: Aim::Write }
    }

    pub(super) fn keys(&self) -> Vec<K> {
        self.left.clone()
    }

    /// What follows once what a write proposed has come to an end.
    fn written(&mut self, proposed: Vec<Proposed<K, V>>) -> Next<K, V>
    where
        K: PartialEq,
        V: PartialEq,
    {
        let (chosen, doubtful): (Vec<_>, Vec<_>) =
            proposed.into_iter().partition(|it| it.fate == Some(Fate::Chosen));
        let (mine, written, next) = match &mut self.aim {
            Aim::Insist { mine, written } => {
                for it in chosen {
                    let own = mine.iter().position(|(key, _)| *key == it.key);
                    let own = own.map(|at| mine.swap_remove(at));
                    if own.is_some_and(|(_, value)| value != it.value) {
                        written.others.push((it.key, it.value));
                    }
                }
                (core::mem::take(mine), written.clone(), Next::Again)
            }
            Aim::Write | Aim::Renew { .. } => {
                let kept = doubtful.iter().all(|it| it.changes);
                let mine = doubtful.into_iter().filter(|it| it.changes);
                let mine = mine.map(|it| (it.key, it.value)).collect();
                (mine, Written { others: Vec::new(), kept }, Next::Insist)
            }
        };
        if mine.is_empty() {
            return Next::Done(written);
        }
        self.left = mine.iter().map(|(key, _)| key.clone()).collect();
        self.aim = Aim::Insist { mine, written };
        next
    }
}

/// What follows a proposal.
enum Next<K, V> {
    Done(Written<K, V>),
    /// To see at once whether the values are there.
    Insist,
    /// The same, after a pause.
    Again,
}

impl<K: Ord + Clone, V: Charter + PartialEq> QuorumClient<K, V> {
    /// Begins; with what this process was the last to change, if there is any.
    pub(super) fn set_out(&mut self, now: Time, at_once: bool) {
        let Some(Doing::Update(update)) = &self.operation else { return self.go_on(now) };
        let known = |key: &&K| self.proposer.known(key, &self.electorate).is_some();
        let keys: Vec<K> = match update.aim {
            Aim::Renew { .. } => update.left.iter().filter(known).cloned().collect(),
            _ if at_once && update.left.iter().all(|key| known(&key)) => update.left.clone(),
            _ => Vec::new(),
        };
        let shortcut = |key: K| {
            let (proposal, value) = self.proposer.shortcut(&key, &self.electorate)?;
            Some(Prepared { key, proposal, ready: true, value: Some(value) })
        };
        let prepared: Vec<_> = keys.into_iter().filter_map(shortcut).collect();
        if prepared.is_empty() {
            return self.go_on(now);
        }
        let theirs = self.clock.now(now);
        self.show(prepared, theirs);
    }

    fn show(&mut self, prepared: Vec<Prepared<K, V>>, now: StoreTime) {
        let shown = prepared.iter().map(|it| (it.key.clone(), it.value.clone())).collect();
        self.open = None;
        self.stage = Stage::Deciding(prepared);
        self.notices.push_back(Notice::Decide { shown, now });
    }

    /// Has voters accept nothing older in these registers, and show them.
    pub(super) fn prepare(&mut self, now: Time, keys: Vec<K>) {
        let attempt = |key| {
            let proposal = self.proposer.attempt(&self.electorate);
            Prepared { key, proposal, ready: false, value: None }
        };
        let asked: Vec<_> = keys.into_iter().map(attempt).collect();
        let asks = asked.iter().filter_map(|it| Some((it.key.clone(), it.proposal.ask()?)));
        let asks = asks.collect();
        self.stage = Stage::Preparing(asked);
        self.ask(now, Question::Registers(asks));
    }

    pub(super) fn preparing(
        &mut self,
        now: Time,
        from: NodeId,
        replies: Vec<Reply<V>>,
        mut asked: Vec<Prepared<K, V>>,
    ) {
        for (it, reply) in asked.iter_mut().zip(replies) {
            match it.proposal.hear(from, reply) {
                Step::Wait | Step::Chosen => {}
                Step::Decide(value) => (it.ready, it.value) = (true, value),
                Step::Overruled(by) => {
                    self.proposer.heard_of(by);
                    return self.step_aside(now);
                }
                Step::Outdated(electorate) => {
                    if self.adopt(electorate) {
                        return self.go_on(now);
                    }
                }
            }
        }
        if asked.iter().all(|it| it.ready) {
            self.prepared(now, asked);
        } else {
            self.stage = Stage::Preparing(asked);
        }
    }

    fn prepared(&mut self, now: Time, prepared: Vec<Prepared<K, V>>) {
        let theirs = self.set_clock(now);
        match &mut self.operation {
            Some(Doing::Update(Update { aim: Aim::Insist { mine, .. }, .. })) => {
                let mine = mine.clone();
                let values = prepared.iter().map(|it| {
                    let own = mine.iter().find(|(key, _)| *key == it.key);
                    // Where nothing was chosen the decision on that still stands.
                    it.value.clone().or_else(|| own.map(|(_, value)| value.clone()))
                });
                let values = values.collect();
                self.propose(now, prepared, values);
            }
            Some(Doing::Update(_)) => self.show(prepared, theirs),
            // What was left half done is completed, by proposing what is there.
            _ => {
                let nothing = vec![None; prepared.len()];
                self.propose(now, prepared, nothing);
            }
        }
    }

    /// What is to be changed, as was decided.
    pub(super) fn decided(&mut self, now: Time, values: Vec<Option<V>>) {
        let Stage::Deciding(prepared) = core::mem::replace(&mut self.stage, Stage::Idle) else {
            return;
        };
        self.propose(now, prepared, values);
    }

    /// Proposes what is new, and what was shown where nothing is.
    fn propose(&mut self, now: Time, prepared: Vec<Prepared<K, V>>, values: Vec<Option<V>>) {
        let Some(operation) = &mut self.operation else { return };
        let mut proposed = Vec::with_capacity(prepared.len());
        for (it, new) in prepared.into_iter().zip(values) {
            let Prepared { key, mut proposal, value, .. } = it;
            let changes = new.is_some();
            if let Doing::Update(Update { left, aim: Aim::Renew { fresh, .. } }) = operation
                && !changes
            {
                // Known for certain only once a majority showed it.
                if *fresh {
                    left.retain(|other| *other != key);
                }
                continue;
            }
            if !changes && planted::is(Bug::RefusalNotKept) {
                continue;
            }
            let Some(value) = new.or(value) else { continue };
            proposal.propose(value.clone());
            proposed.push(Proposed { key, proposal, value, changes, fate: None });
        }
        if proposed.is_empty() {
            return self.proposed(now, proposed);
        }
        let asks = proposed.iter().filter_map(|it| Some((it.key.clone(), it.proposal.ask()?)));
        let asks = asks.collect();
        self.stage = Stage::Proposing(proposed);
        self.ask(now, Question::Registers(asks));
    }

    pub(super) fn proposing(
        &mut self,
        now: Time,
        from: NodeId,
        replies: Vec<Reply<V>>,
        mut proposed: Vec<Proposed<K, V>>,
    ) {
        for (it, reply) in proposed.iter_mut().zip(replies) {
            if it.fate.is_some() {
                continue;
            }
            match it.proposal.hear(from, reply) {
                Step::Wait | Step::Decide(_) => {}
                Step::Chosen => {
                    self.overruled = 0;
                    self.proposer.chosen(it.key.clone(), &it.proposal, it.value.clone());
                    it.fate = Some(Fate::Chosen);
                }
                Step::Overruled(by) => {
                    self.proposer.heard_of(by);
                    it.fate = Some(Fate::Doubtful);
                }
                Step::Outdated(electorate) => {
                    let news = self.adopt(electorate);
                    // Be it by this answer, or by what it said of another register.
                    let number = it.proposal.electorate().number();
                    let outdated = number < self.electorate.number();
                    if outdated && (news || !planted::is(Bug::OutdatedOnce)) {
                        it.fate = Some(Fate::Doubtful);
                    }
                }
            }
        }
        if proposed.iter().any(|it| it.fate.is_none()) {
            self.stage = Stage::Proposing(proposed);
            return;
        }
        if self.is_majority_heard(&self.electorate) {
            self.set_clock(now);
        }
        self.proposed(now, proposed);
    }

    /// All proposals have come to an end.
    fn proposed(&mut self, now: Time, proposed: Vec<Proposed<K, V>>) {
        let fates: Vec<Fate> = proposed.iter().filter_map(|it| it.fate).collect();
        let doubtful = fates.contains(&Fate::Doubtful);
        if !fates.is_empty() {
            self.notices.push_back(Notice::Proposed(fates));
        }
        match &mut self.operation {
            Some(Doing::Read(read)) => {
                read.completed();
                if doubtful { self.step_aside(now) } else { self.go_on(now) }
            }
            Some(Doing::Update(Update { left, aim: Aim::Renew { changed, fresh } })) => {
                *fresh = true;
                for it in proposed.into_iter().filter(|it| it.fate == Some(Fate::Chosen)) {
                    left.retain(|key| *key != it.key);
                    changed.push(it.key);
                }
                if left.is_empty() {
                    let changed = core::mem::take(changed);
                    return self.end(Notice::Renewed(changed));
                }
                // Overruled by an order, most likely, which must not lose against every renewal.
                if doubtful { self.step_aside(now) } else { self.go_on(now) }
            }
            Some(Doing::Update(update)) => match update.written(proposed) {
                Next::Done(written) => self.end(Notice::Written(written)),
                Next::Insist => self.go_on(now),
                Next::Again => self.step_aside(now),
            },
            _ => self.rest(),
        }
    }

    /// Lets a faster proposer go on.
    pub(super) fn step_aside(&mut self, now: Time) {
        self.overruled = self.overruled.saturating_add(1);
        let most = 1u64 << self.overruled.min(5);
        let share = u64::try_from((self.me.bits() >> (self.overruled % 64)) % 1_000).unwrap_or(0);
        self.open = None;
        self.stage = Stage::Pausing { until: now + Duration::from_micros(200 + most * share) };
    }
}
