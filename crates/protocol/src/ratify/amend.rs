//! A change of the voters by one, carried out safely; and the completion of a change that somebody
//! else left half done.
//!
//! Assumes: the [`Electorate`] that it is given was chosen, or is the one that everybody began with;
//! what [`Amendment::question`] says is sent, under [`Amendment::electorate`], to everybody in
//! [`Amendment::whom`], again and again; answers to it are handed to [`Amendment::hear`] with the
//! serial number of the question.
//! Promises: whatever interrupts it, no two majorities choose apart from each other. It gets to its
//! end if a majority of the present voters and a majority of the next ones live and are not
//! overruled for ever; whether the voter that comes or goes lives does not matter. It does not begin
//! a change under which no majority would answer.
//!
//! # Why it is safe
//!
//! Electorates have numbers; write `E(n)` for the one of number n. The register of electorates holds
//! the newest. `E(n+1)` is proposed there under `E(n)`, and used only once it was chosen. Every
//! question names its electorate, and a voter that knows of `E(n+1)` never answers `E(n)` again.
//!
//! 1. *Neighbours meet.* `E(n)` and `E(n+1)` differ by one voter at most, so any majority of one and
//!    any majority of the other share a voter. As far as only neighbours are in use, ballots keep a
//!    register in one chain as they do under one electorate: whoever is heeded by a majority of one
//!    sees, or forbids, whatever a majority of the other accepts.
//! 2. *Others never do.* `E(n+2)` is proposed only on a settled `E(n+1)`, and before `E(n+1)` is
//!    settled a majority of it has answered [`Question::List`] under it, so that this majority
//!    knows it. It shares a voter with any majority of `E(n)`: nothing is heeded, accepted or read
//!    under `E(n)` any more.
//! 3. *Nothing stays behind.* Let something be chosen under `E(n)`, or only be heeded by a majority.
//!    That majority shares a voter with the one that was listed, and that voter answered `E(n)`
//!    before it was listed: so the register is on the list. It is then rewritten under `E(n+1)`: a
//!    majority heeds a new ballot and shows what it accepted, which by 1 is the newest value, and
//!    accepts that value under the new ballot. By 1 again, everybody under `E(n+2)` meets that
//!    ballot: a lower one is overruled, a higher one goes on from the value. Where nothing was
//!    accepted there is nothing to rewrite; that a majority heeds the new ballot is enough to keep
//!    every attempt that was begun under `E(n)` from being chosen or taken for newer. Of each register
//!    that holds by itself, so that many of them may travel in one message and share a ballot.
//! 4. *The register of electorates is one of them.* It is rewritten last, by the proposal that
//!    settles. Whoever finds an electorate in it that may not be chosen yet chooses it first, under
//!    the electorate that it asked.
//!
//! 5. *A relay is no attempt.* A reader may ask for a value to be accepted again under its own
//!    ballot ([`Reading::relay`](super::proposal::Reading::relay)), and under a later electorate than
//!    the proposer's. Under a neighbour that is as good as under the same one, by 1. Any other one
//!    rewrote the register since: by 3 a majority heeds higher ballots, and refuses it.
//!
//! A voter that was away during all of that knows old ballots only, all of them below those that
//! registers were rewritten with: it does no harm when it is added again.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::electorate::{Electorate, Lineage, Unchanged};
use super::proposal::{Proposal, Proposer, Step};
use super::voter::{Inventory, Reply};
use crate::identity::Incarnation;
use crate::node::NodeId;
use crate::planted::{self, Bug};

mod batch;
mod decide;
mod words;

use batch::{Batch, Pass};

pub use words::{Answer, Change, Charter, Move, Progress, Question};

/// How many registers are rewritten together: their values must fit into one message.
pub const TOGETHER: usize = 100;

/// One change, from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Amendment<K: Ord, V> {
    /// The register of electorates.
    key: K,
    change: Change,
    electorate: Electorate,
    proposer: Proposer<K, V>,
    serial: u64,
    /// The number of the electorate whose successor was found to have a majority.
    sounded: Option<u64>,
    lineages: BTreeMap<NodeId, Lineage>,
    /// What it proposed itself, and may be chosen.
    proposed: Option<Electorate>,
    stage: Stage<K, V>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage<K: Ord, V> {
    /// What is the newest electorate? Choose the next one.
    Choosing { proposal: Proposal<V>, next: Option<Electorate> },
    /// Would the next electorate have a majority?
    Sounding { next: Electorate, heard: BTreeSet<NodeId> },
    /// Make the electorate known, and collect registers.
    Listing { heard: BTreeSet<NodeId>, keys: BTreeSet<K> },
    /// Rewrite these registers, the first of them now.
    Rewriting { batch: Batch<K, V>, left: BTreeSet<K> },
    /// Everything is rewritten but the register of electorates.
    Settling { proposal: Proposal<V> },
    /// The end.
    Over,
}

impl<K: Ord + Clone, V: Charter> Amendment<K, V> {
    /// A change of the electorate in the register `key`. No other proposer may have the incarnation.
    pub fn new(me: Incarnation, key: K, electorate: Electorate, change: Change) -> Self {
        let mut amendment = Amendment {
            key,
            change,
            electorate,
            proposer: Proposer::new(me),
            serial: 0,
            sounded: None,
            lineages: BTreeMap::new(),
            proposed: None,
            stage: Stage::Over,
        };
        let _asks = amendment.choose(Move::Ask);
        amendment
    }

    /// Under whom to ask.
    pub const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// Whom to ask.
    pub fn whom(&self) -> BTreeSet<NodeId> {
        match &self.stage {
            Stage::Sounding { next, .. } => {
                self.electorate.voters().union(next.voters()).copied().collect()
            }
            _ => self.electorate.voters().clone(),
        }
    }

    /// What to ask, and the serial number of the question; `None` once it is over.
    pub fn question(&self) -> Option<(u64, Question<K, V>)> {
        let question = match &self.stage {
            Stage::Sounding { .. } | Stage::Listing { .. } => Question::List,
            Stage::Choosing { proposal, .. } | Stage::Settling { proposal } => {
                Question::Asks(vec![(self.key.clone(), proposal.ask()?)])
            }
            Stage::Rewriting { batch, .. } => Question::Asks(batch.asks()),
            Stage::Over => return None,
        };
        Some((self.serial, question))
    }

    /// Whether the change may come true even if nobody goes on with it.
    pub const fn was_proposed(&self) -> bool {
        self.proposed.is_some()
    }

    /// How far it is. It gets further only by what stays so, never by an attempt that is overruled.
    pub fn progress(&self) -> Progress {
        let (stage, left) = match &self.stage {
            Stage::Choosing { .. } => (0, 0),
            Stage::Sounding { .. } => (1, 0),
            Stage::Listing { .. } => (2, 0),
            Stage::Rewriting { left, .. } => (3, left.len()),
            Stage::Settling { .. } => (4, 0),
            Stage::Over => (5, 0),
        };
        Progress { electorate: self.electorate.number(), stage, left: Reverse(left) }
    }

    /// Takes an answer to the question of this serial number.
    pub fn hear(&mut self, from: NodeId, serial: u64, answer: Answer<K, V>) -> Move {
        if serial != self.serial {
            return Move::Wait;
        }
        match answer {
            Answer::Inventory(inventory) => self.hear_inventory(from, inventory),
            Answer::Replies(replies) => self.hear_replies(from, replies),
        }
    }

    /// Nobody is expected to answer any more: goes on with fewer answers than wished for, if they
    /// are enough; else the same is to be asked again.
    pub fn go_on(&mut self) -> Move {
        if let Stage::Rewriting { batch, .. } = &mut self.stage {
            // Whoever overruled it does so again: only a higher ballot helps.
            let pass = batch.give_up();
            return if pass == Pass::Wait { Move::Contended } else { self.passed(pass) };
        }
        match &self.stage {
            Stage::Sounding { next, heard } if next.is_majority(heard) => self.sounded(),
            Stage::Over => Move::Wait,
            _ => Move::Contended,
        }
    }

    fn enter(&mut self, stage: Stage<K, V>) {
        self.serial += 1;
        self.stage = stage;
    }

    fn electorate_after(
        &self,
        present: &Electorate,
        change: Change,
    ) -> Result<Electorate, Unchanged> {
        let mut next = match change {
            Change::Add(node) => present.with(node)?,
            Change::Remove(node) => present.without(node)?,
            Change::Note => present.counting_on(&self.lineages)?,
            Change::Complete => return Ok(present.clone()),
        };
        next.note(&self.lineages);
        Ok(next)
    }

    fn choose(&mut self, how: Move) -> Move {
        let proposal = self.proposer.attempt(&self.electorate);
        self.enter(Stage::Choosing { proposal, next: None });
        how
    }

    /// Enough would vote: now that can be proposed.
    fn sounded(&mut self) -> Move {
        self.sounded = Some(self.electorate.number());
        self.choose(Move::Ask)
    }

    fn list(&mut self) -> Move {
        self.enter(Stage::Listing { heard: BTreeSet::new(), keys: BTreeSet::new() });
        Move::Ask
    }

    /// Rewrites what is left, and settles once nothing is.
    fn rewrite(&mut self, left: BTreeSet<K>, how: Move) -> Move {
        let proposal = self.proposer.attempt(&self.electorate);
        let spared = usize::from(planted::is(Bug::LastRegisterLeft));
        let most = left.len().saturating_sub(spared).min(TOGETHER);
        self.enter(if most == 0 || planted::is(Bug::SettledTooSoon) {
            Stage::Settling { proposal }
        } else {
            Stage::Rewriting { batch: Batch::new(left.iter().take(most), &proposal), left }
        });
        how
    }

    /// Goes on with what a batch came to.
    fn passed(&mut self, pass: Pass<K>) -> Move {
        let Stage::Rewriting { left, .. } = &mut self.stage else { return Move::Wait };
        let (done, overruled, asks) = match pass {
            Pass::Wait => return Move::Wait,
            Pass::Outdated(other) => return self.meet(other),
            Pass::On { done, overruled, asks } => (done, overruled, asks),
        };
        left.retain(|key| !done.contains(key));
        if let Some(higher) = overruled {
            self.proposer.heard_of(higher);
        }
        if asks {
            self.serial += 1;
            return Move::Ask;
        }
        let left = core::mem::take(left);
        let how = if overruled.is_some() { Move::Contended } else { Move::Ask };
        self.rewrite(left, how)
    }

    /// The electorate is settled: that is the end, unless it was somebody else's change.
    fn complete(&mut self) -> Move {
        self.electorate = self.electorate.settle();
        let mine = self.proposed.as_ref().is_some_and(|mine| mine.is_same(&self.electorate));
        if mine || self.change == Change::Complete {
            return self.end(Move::Done(self.electorate.clone()));
        }
        self.choose(Move::Ask)
    }

    fn end(&mut self, how: Move) -> Move {
        self.enter(Stage::Over);
        how
    }

    /// Somebody uses this electorate, so it was chosen.
    fn meet(&mut self, other: Electorate) -> Move {
        if other.number() > self.electorate.number() {
            self.electorate = other;
            return self.choose(Move::Ask);
        }
        if other.number() == self.electorate.number() && !other.is_same(&self.electorate) {
            return self.end(Move::Refused(Unchanged::Unlike));
        }
        Move::Wait
    }

    fn hear_inventory(&mut self, from: NodeId, inventory: Inventory<K>) -> Move {
        let (listed, lineage) = match inventory {
            Inventory::Outdated(other) => return self.meet(other),
            Inventory::Keys { keys, lineage } => (Some(keys), lineage),
            Inventory::NoVoter { lineage } => (None, lineage),
        };
        match &mut self.stage {
            Stage::Sounding { next, heard } => {
                let noted = self.electorate.lineages().get(&from);
                if noted.is_some_and(|noted| Some(*noted) != lineage) {
                    // It lost its disk and will not vote: no majority can count on it.
                    return Move::Wait;
                }
                heard.insert(from);
                self.lineages.extend(lineage.map(|lineage| (from, lineage)));
                let wanted = match self.change {
                    Change::Add(node) => heard.contains(&node),
                    Change::Note => next.voters().is_subset(heard),
                    Change::Remove(_) | Change::Complete => true,
                };
                if wanted && next.is_majority(&*heard) { self.sounded() } else { Move::Wait }
            }
            Stage::Listing { heard, keys } => {
                let Some(listed) = listed else { return Move::Wait };
                heard.insert(from);
                keys.extend(listed);
                if !self.electorate.is_majority(&*heard) {
                    return Move::Wait;
                }
                let mut left = core::mem::take(keys);
                left.remove(&self.key);
                self.rewrite(left, Move::Ask)
            }
            _ => Move::Wait,
        }
    }

    fn hear_replies(&mut self, from: NodeId, replies: Vec<Reply<V>>) -> Move {
        let proposal = match &mut self.stage {
            Stage::Choosing { proposal, .. } | Stage::Settling { proposal } => proposal,
            Stage::Rewriting { batch, .. } => {
                let pass = batch.hear(from, replies);
                return self.passed(pass);
            }
            _ => return Move::Wait,
        };
        let Some(reply) = replies.into_iter().next() else { return Move::Wait };
        match proposal.hear(from, reply) {
            Step::Wait => Move::Wait,
            Step::Decide(value) => self.decide(value.as_ref()),
            Step::Chosen => self.chosen(),
            Step::Overruled(higher) => self.overruled(higher),
            Step::Outdated(other) => self.meet(other),
        }
    }

    fn overruled(&mut self, higher: super::Ballot) -> Move {
        self.proposer.heard_of(higher);
        match &self.stage {
            Stage::Choosing { .. } => self.choose(Move::Contended),
            _ => self.rewrite(BTreeSet::new(), Move::Contended),
        }
    }
}
