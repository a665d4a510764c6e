//! The registers of a quorum, as one process uses them: reading, and changing by proposals.
//!
//! Assumes: whoever waits gives up after a while by dropping the future. A proposal that is given up
//! may still be chosen.
//! Promises: questions about several registers travel together. A read disturbs nobody unless it
//! finds a change that was left half done, which it completes. A leader that renews sends one message
//! to each voter.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::proposal::{Proposer, Reading, Sight};
use incumbent_protocol::ratify::voter::Inventory;
use incumbent_protocol::ratify::{Ask, Ballot, Electorate, Proposal, Reply, Step};
use incumbent_protocol::time::StoreTime;

use super::message::{Key, Message, Value};
use super::node::{Inbox, Node};
use super::voters::drawn;
use crate::clock;
use crate::error::Error;

/// After this long without an answer a question is put again: it may have been lost.
const AGAIN: Duration = Duration::from_millis(60);

/// For this long a read waits for voters to be of one mind; twice as long with every further look.
const PATIENCE: Duration = Duration::from_millis(4);

/// So often a read looks before it completes what it found half done. Whoever is at it may only wait
/// for a slow disk, and would be disturbed.
const LOOKS: u32 = 4;

/// The number of the first electorate that is used.
pub(super) const FOUNDED: u64 = 2;

/// The registers.
#[derive(Debug)]
pub(super) struct Registers {
    node: Node,
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
        Ok(Registers::new(node, electorate, names, drawn()?))
    }

    /// Whether all voters are known to have been there once.
    pub(super) fn is_founded(&self) -> bool {
        self.electorate.number() >= FOUNDED
    }

    /// Those who vote, as far as this process knows.
    pub(super) const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    pub(super) const fn node(&self) -> &Node {
        &self.node
    }

    /// The voters' clock, as far as this process can tell.
    pub(super) fn now(&self) -> StoreTime {
        let micros = clock::wall().as_micros().saturating_add_signed(self.ahead);
        StoreTime::from_micros(micros)
    }

    /// The values of these registers, and the voters' clock.
    pub(super) async fn read(
        &mut self,
        keys: &[Key],
    ) -> Result<(Vec<Option<Value>>, StoreTime), Error> {
        self.found().await?;
        loop {
            let mut unclear = Vec::new();
            for look in 0..LOOKS {
                match self.look(keys, PATIENCE * 2u32.pow(look)).await? {
                    Seen::All(found, now) => return Ok((found, now)),
                    Seen::Unclear(keys) => unclear = keys,
                }
            }
            // Somebody left a change half done: complete it, by proposing what is there.
            let (heeded, _) = self.heed(&unclear).await?;
            let there = heeded.into_iter().filter_map(|one| Some((one.value.clone()?, one)));
            let same = there.map(|(value, one)| (one, value)).collect();
            if self.propose(same).await?.contains(&Fate::Doubtful) {
                self.step_aside().await;
            }
        }
    }

    /// One look, that waits so long for voters to be of one mind.
    async fn look(&mut self, keys: &[Key], patience: Duration) -> Result<Seen, Error> {
        let asks: Vec<_> = keys.iter().map(|key| (key.clone(), Ask::Show)).collect();
        let mut inbox = self.put(asks);
        let mut readings = vec![Reading::new(self.electorate.clone()); keys.len()];
        let mut known: Vec<Option<Option<Value>>> = vec![None; keys.len()];
        let mut clocks = Clocks::default();
        loop {
            let doubtful =
                known.iter().zip(&readings).any(|(it, r)| it.is_none() && r.is_unclear());
            let answer = if doubtful {
                match tokio::time::timeout(patience, inbox.replies()).await {
                    Ok(answer) => answer,
                    Err(_) => return Ok(Seen::unclear(keys, &known)),
                }
            } else {
                inbox.replies().await
            };
            let (from, now, replies) = answer;
            clocks.hear(from, now);
            let mut outdated = None;
            for (at, reply) in replies.into_iter().enumerate().take(keys.len()) {
                if let Reply::Shown(Some((ballot, _))) = &reply {
                    // So that what it proposes later is not overruled at once.
                    self.proposer.heard_of(*ballot);
                }
                match readings[at].hear(from, reply) {
                    Sight::Known(value) => known[at] = Some(value),
                    Sight::Outdated(electorate) => outdated = Some(electorate),
                    Sight::Wait | Sight::Unclear => {}
                }
            }
            if let Some(electorate) = outdated
                && self.adopt(electorate)?
            {
                return Ok(Seen::unclear(keys, &known));
            }
            if known.iter().all(Option::is_some) {
                let now = self.set(&clocks);
                return Ok(Seen::All(known.into_iter().flatten().collect(), now));
            }
        }
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
                        if !self.adopt(electorate)? {
                            continue;
                        }
                    }
                }
                over[place] = true;
                left -= 1;
            }
        }
        if self.electorate.is_majority(clocks.0.keys()) {
            self.set(&clocks);
        }
        Ok(fates)
    }

    /// Every register that a majority knows of.
    pub(super) async fn keys(&mut self) -> Result<Vec<Key>, Error> {
        self.found().await?;
        self.questions += 1;
        let mut inbox = self.node.inventory(&self.electorate, AGAIN);
        let mut heard: BTreeMap<NodeId, Vec<Key>> = BTreeMap::new();
        while !self.electorate.is_majority(heard.keys()) {
            let (from, Message::Registers { inventory, .. }) = inbox.next().await else { continue };
            let outdated = match inventory {
                Inventory::Keys { keys, .. } => {
                    heard.insert(from, keys);
                    false
                }
                Inventory::Outdated(electorate) => self.adopt(electorate)?,
                Inventory::NoVoter { .. } => false,
            };
            if outdated {
                heard.clear();
                inbox = self.node.inventory(&self.electorate, AGAIN);
            }
        }
        let keys: BTreeSet<Key> = heard.into_values().flatten().collect();
        Ok(keys.into_iter().collect())
    }

    /// Sees to it that an electorate is known that counts on the disks of its voters.
    ///
    /// The list that everybody starts with names nodes only, and a node that lost its disk would pass
    /// for who it was. So nothing is asked under that list. The first time all of the listed must be
    /// there once, to say which disk each has: that makes the electorate of number 1. It is used by
    /// nobody until all of them keep it, which the one of number 2 says.
    pub(super) async fn found(&mut self) -> Result<(), Error> {
        while self.electorate.number() < FOUNDED {
            let asked = self.electorate.clone();
            let mut lineages = BTreeMap::new();
            let mut kept = BTreeSet::new();
            let mut inbox = self.node.inventory(&asked, AGAIN);
            while self.electorate == asked {
                let (from, Message::Registers { inventory, .. }) = inbox.next().await else {
                    continue;
                };
                match inventory {
                    Inventory::Outdated(electorate) => {
                        let _ = self.adopt(electorate)?;
                    }
                    Inventory::NoVoter { lineage: Some(lineage) } if asked.number() == 0 => {
                        lineages.insert(from, lineage);
                        if asked.voters().iter().all(|voter| lineages.contains_key(voter)) {
                            self.electorate = Electorate::founded(lineages.clone());
                        }
                    }
                    Inventory::Keys { .. } => {
                        kept.insert(from);
                        if *asked.voters() == kept {
                            let _ = self.adopt(asked.confirmed())?;
                        }
                    }
                    Inventory::NoVoter { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Wakes everybody who waits.
    pub(super) fn ring(&self) {
        self.node.ring();
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

    /// Takes over the voters' clock.
    fn set(&mut self, clocks: &Clocks) -> StoreTime {
        let (theirs, mine) = (clocks.median(), clock::wall());
        let signed = |time: StoreTime| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.ahead = signed(theirs).saturating_sub(signed(mine));
        theirs
    }

    /// Another electorate votes by now, as a voter says. Tells whether that is news.
    pub(super) fn adopt(&mut self, electorate: Electorate) -> Result<bool, Error> {
        let (mine, theirs) = (self.electorate.number(), electorate.number());
        if mine == 0 && theirs < FOUNDED && self.electorate.voters() != electorate.voters() {
            return Err(self.differs(&electorate));
        }
        if !self.electorate.is_akin(&electorate)
            || (mine == theirs && !self.electorate.is_same(&electorate))
        {
            if !std::mem::replace(&mut self.estranged, true) {
                tracing::warn!(
                    voters = self.list(&electorate),
                    "a node votes in another cluster and is left alone: did its file come from there?"
                );
            }
            return Ok(false);
        }
        if theirs <= mine {
            return Ok(false);
        }
        self.compare(&electorate);
        self.node.electorate(&electorate);
        self.electorate = electorate;
        Ok(true)
    }

    fn differs(&self, electorate: &Electorate) -> Error {
        let (mine, theirs) = (self.list(&self.electorate), self.list(electorate));
        let problem = format!(
            "this process counts {mine} as voters, another one {theirs}: give all of them the same list of peers;              voters that were started before are changed by `incumbent voters add` and `remove`"
        );
        Error::Open { place: "the peers".to_owned(), problem }
    }

    /// Tells if others vote than before.
    fn compare(&self, next: &Electorate) {
        let (number, before) = (next.number(), &self.electorate);
        if before.voters() == next.voters() {
            tracing::debug!(number, "the same voters");
        } else if before.number() == 0 {
            tracing::warn!(
                voters = self.list(next),
                listed = self.list(before),
                "others vote than the list of peers names: those who vote count; correct the list"
            );
        } else {
            tracing::info!(number, voters = self.list(next), "other voters");
        }
    }

    /// The voters, for people: by their addresses as far as they are known here.
    fn list(&self, electorate: &Electorate) -> String {
        let name = |node: &NodeId| self.names.get(node).cloned().unwrap_or(node.to_string());
        electorate.voters().iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Lets whoever was faster go on.
    pub(super) async fn step_aside(&mut self) {
        self.overruled = self.overruled.saturating_add(1);
        let most = 1u64 << self.overruled.min(5);
        let share = u64::try_from((self.me.bits() >> (self.overruled % 64)) % 1_000).unwrap_or(0);
        tokio::time::sleep(Duration::from_micros(200 + most * share)).await;
    }
}

/// What a look showed.
enum Seen {
    All(Vec<Option<Value>>, StoreTime),
    /// Of these registers it is not known.
    Unclear(Vec<Key>),
}

impl Seen {
    fn unclear<T>(keys: &[Key], known: &[Option<T>]) -> Seen {
        let open = keys.iter().zip(known).filter(|(_, known)| known.is_none());
        Seen::Unclear(open.map(|(key, _)| key.clone()).collect())
    }
}

enum Driven {
    Through(Vec<(Proposal<Value>, Option<Value>)>, StoreTime),
    Overruled(Ballot),
    Outdated,
}

/// The wall clocks of voters. The one in the middle is the store's: one that is far off moves it
/// little.
#[derive(Debug, Default)]
struct Clocks(BTreeMap<NodeId, StoreTime>);

impl Clocks {
    fn hear(&mut self, from: NodeId, now: StoreTime) {
        self.0.insert(from, now);
    }

    fn median(&self) -> StoreTime {
        // The own clock counts too: of two that differ neither is in the middle.
        let own = [clock::wall()];
        let mut all: Vec<StoreTime> = self.0.values().copied().chain(own).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_else(clock::wall)
    }
}

/// What a voter answers to questions, in their order.
pub(super) type Replies = Vec<Reply<Value>>;
