//! The registers of a quorum, as one process uses them: reading, and changing by proposals.
//!
//! Assumes: whoever waits gives up after a while by dropping the future. A proposal that is given up
//! may still be chosen.
//! Promises: questions about several registers travel together. A read disturbs nobody unless it
//! finds a change that was left half done, which it completes. A leader that renews sends one message
//! to each voter.
//!
//! | file | what |
//! |---|---|
//! | [`founding`] | who votes, and how that is first agreed upon |
//! | [`reading`] | how they are read |
//! | [`clocks`] | what time it is |

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::proposal::Proposer;
use incumbent_protocol::ratify::{Ask, Ballot, Electorate, Proposal, Reply, Step};
use incumbent_protocol::time::StoreTime;

use super::message::{Key, Value};
use super::node::{Inbox, Node};
use super::voters::drawn;
use crate::error::Error;

mod clocks;
mod founding;
mod reading;

use clocks::Clocks;

pub(super) use founding::FOUNDED;

/// After this long without an answer a question is put again: it may have been lost.
const AGAIN: Duration = Duration::from_millis(60);

/// The registers.
#[derive(Debug)]
pub(super) struct Registers {
    node: Node,
    /// Those of the list.
    first: Electorate,
    electorate: Electorate,
    /// Where the nodes of the list are.
    names: BTreeMap<NodeId, String>,
    proposer: Proposer<Key, Value>,
    /// For pauses that differ between processes.
    me: Incarnation,
    overruled: u32,
    /// Whether it was said that a voter belongs elsewhere.
    estranged: bool,
    /// By how much the voters' clock is ahead of this process's, in microseconds.
    ahead: i64,
    /// Questions put so far, each to all voters.
    pub(super) questions: u64,
}

/// A register that heeds this process, and what it holds.
#[derive(Debug)]
pub(super) struct Heeded {
    pub(super) key: Key,
    proposal: Proposal<Value>,
    pub(super) value: Option<Value>,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was chosen.
    Chosen,
    /// It was overruled, though it may be chosen by whoever finds it.
    Doubtful,
}

impl Registers {
    pub(super) fn new(
        node: Node,
        electorate: Electorate,
        names: BTreeMap<NodeId, String>,
        me: Incarnation,
    ) -> Self {
        let proposer = Proposer::new(me);
        Registers {
            node,
            first: electorate.clone(),
            electorate,
            names,
            proposer,
            me,
            overruled: 0,
            estranged: false,
            ahead: 0,
            questions: 0,
        }
    }

    /// The same registers for somebody else in this process.
    pub(super) fn beside(&self) -> Result<Registers, Error> {
        let (node, electorate, names) =
            (self.node.clone(), self.electorate.clone(), self.names.clone());
        let first = self.first.clone();
        Ok(Registers { first, ..Registers::new(node, electorate, names, drawn()?) })
    }

    /// Those who vote, as far as this process knows.
    pub(super) const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// The process that proposes.
    pub(super) const fn me(&self) -> Incarnation {
        self.me
    }

    pub(super) const fn node(&self) -> &Node {
        &self.node
    }

    /// Has these registers heed this process, and reads them.
    pub(super) async fn heed(&mut self, keys: &[Key]) -> Result<(Vec<Heeded>, StoreTime), Error> {
        self.found().await?;
        loop {
            let proposals = keys.iter().map(|_| self.proposer.attempt(&self.electorate));
            let proposals: Vec<_> = proposals.collect();
            match self.drive(keys, proposals).await? {
                Driven::Through(done, now) => {
                    let heeded = done.into_iter().zip(keys).map(|((proposal, value), key)| {
                        Heeded { key: key.clone(), proposal, value }
                    });
                    return Ok((heeded.collect(), now));
                }
                Driven::Outdated => {}
                Driven::Overruled(by) => {
                    self.proposer.heard_of(by);
                    self.step_aside().await;
                }
            }
        }
    }

    /// A register that this process was the last to change, as far as it knows.
    pub(super) fn shortcut(&mut self, key: &Key) -> Option<Heeded> {
        let (proposal, value) = self.proposer.shortcut(key, &self.electorate)?;
        Some(Heeded { key: key.clone(), proposal, value: Some(value) })
    }

    /// Proposes new values; tells of each what became of it.
    pub(super) async fn propose(
        &mut self,
        changes: Vec<(Heeded, Value)>,
    ) -> Result<Vec<Fate>, Error> {
        let mut fates = vec![Fate::Doubtful; changes.len()];
        let mut open = Vec::with_capacity(changes.len());
        for (at, (heeded, value)) in changes.into_iter().enumerate() {
            let Heeded { key, mut proposal, .. } = heeded;
            proposal.propose(value.clone());
            open.push((at, key, proposal, value));
        }
        let asks = open
            .iter()
            .filter_map(|(_, key, proposal, _)| proposal.ask().map(|ask| (key.clone(), ask)));
        let mut inbox = self.put(asks.collect());
        let mut clocks = Clocks::default();
        let mut left = open.len();
        let mut over = vec![false; open.len()];
        while left > 0 {
            let (from, now, replies) = inbox.replies().await;
            clocks.hear(from, now);
            for (place, reply) in replies.into_iter().enumerate().take(open.len()) {
                if over[place] {
                    continue;
                }
                let (at, key, proposal, value) = &mut open[place];
                match proposal.hear(from, reply) {
                    Step::Wait | Step::Decide(_) => continue,
                    Step::Chosen => {
                        fates[*at] = Fate::Chosen;
                        self.overruled = 0;
                        self.proposer.chosen(key.clone(), proposal, value.clone());
                    }
                    Step::Overruled(by) => self.proposer.heard_of(by),
                    Step::Outdated(electorate) => {
                        self.adopt(electorate)?;
                        // Be it by this answer, or by what it said of another register.
                        if proposal.electorate().number() >= self.electorate.number() {
                            continue;
                        }
                    }
                }
                over[place] = true;
                left -= 1;
            }
        }
        if self.electorate.is_majority(clocks.of()) {
            self.set(&clocks);
        }
        self.node.numbers().proposals(&fates);
        Ok(fates)
    }

    fn put(&mut self, asks: Vec<(Key, Ask<Value>)>) -> Inbox {
        self.questions += 1;
        self.node.ask(&self.electorate, asks, AGAIN)
    }

    async fn drive(
        &mut self,
        keys: &[Key],
        mut proposals: Vec<Proposal<Value>>,
    ) -> Result<Driven, Error> {
        let asks = keys.iter().zip(&proposals);
        let asks = asks.filter_map(|(key, it)| it.ask().map(|ask| (key.clone(), ask))).collect();
        let mut inbox = self.put(asks);
        let mut decided: Vec<Option<Option<Value>>> = vec![None; keys.len()];
        let mut clocks = Clocks::default();
        while decided.iter().any(Option::is_none) {
            let (from, now, replies) = inbox.replies().await;
            clocks.hear(from, now);
            for (at, reply) in replies.into_iter().enumerate().take(keys.len()) {
                match proposals[at].hear(from, reply) {
                    Step::Wait | Step::Chosen => {}
                    Step::Decide(value) => decided[at] = Some(value),
                    Step::Overruled(by) => return Ok(Driven::Overruled(by)),
                    Step::Outdated(electorate) => {
                        if !self.adopt(electorate)? {
                            continue;
                        }
                        return Ok(Driven::Outdated);
                    }
                }
            }
        }
        let done = proposals.into_iter().zip(decided.into_iter().flatten()).collect();
        Ok(Driven::Through(done, self.set(&clocks)))
    }

    /// Lets whoever was faster go on.
    pub(super) async fn step_aside(&mut self) {
        self.overruled = self.overruled.saturating_add(1);
        let most = 1u64 << self.overruled.min(5);
        let share = u64::try_from((self.me.bits() >> (self.overruled % 64)) % 1_000).unwrap_or(0);
        tokio::time::sleep(Duration::from_micros(200 + most * share)).await;
    }
}

enum Driven {
    Through(Vec<(Proposal<Value>, Option<Value>)>, StoreTime),
    Overruled(Ballot),
    Outdated,
}

/// What a voter answers to questions, in their order.
pub(super) type Replies = Vec<Reply<Value>>;
