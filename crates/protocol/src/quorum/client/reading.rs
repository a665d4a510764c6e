//! Reading registers without disturbing anybody.
//!
//! Promises: what is read was chosen, and nothing older than what was chosen when the read began. A
//! change that was left half done is completed, after its proposer had time to do so. While a
//! proposer makes progress a read raises no ballot: a follower that the leader cannot reach relays
//! the leader's values to the voters that it reaches, and the leader goes on by shortcuts.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use super::{Doing, Notice, QuorumClient, Stage};
use crate::node::NodeId;
use crate::quorum::question::Question;
use crate::ratify::amend::Charter;
use crate::ratify::ballot::Ballot;
use crate::ratify::electorate::Electorate;
use crate::ratify::proposal::{Reading, Sight};
use crate::ratify::voter::{Ask, Inventory, Reply};
use crate::time::{StoreTime, Time};

/// For this long a read waits for voters to be of one mind; twice as long with every further look.
const PATIENCE: Duration = Duration::from_millis(4);

/// So often a read looks before it completes what it found half done. The proposer may only wait for
/// a slow disk, and would be disturbed.
const LOOKS: u32 = 4;

/// A read, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Read<K: Ord, V> {
    keys: Vec<K>,
    look: u32,
    /// What the next look relays.
    relays: Vec<(K, Ask<V>)>,
    relayed: BTreeMap<K, Ballot>,
    /// What was left half done, and is to be completed before the next look.
    stuck: Vec<K>,
}

/// One look.
#[derive(Clone, Debug)]
pub(super) struct Looking<V> {
    /// How many of the questions relay something.
    relays: usize,
    seen: Vec<Seen<V>>,
    until: Option<Time>,
}

/// What was seen of one register.
#[derive(Clone, Debug)]
struct Seen<V> {
    reading: Reading<V>,
    known: bool,
    value: Option<V>,
}

impl<K: Ord + Clone, V> Read<K, V> {
    pub(super) fn new(keys: Vec<K>) -> Self {
        let (relays, relayed, stuck) = (Vec::new(), BTreeMap::new(), Vec::new());
        Read { keys, look: 0, relays, relayed, stuck }
    }

    pub(super) const fn is_stuck(&self) -> bool {
        !self.stuck.is_empty()
    }

    pub(super) fn stuck(&self) -> Vec<K> {
        self.stuck.clone()
    }

    /// What was stuck is completed, or another proposer was at it.
    pub(super) fn completed(&mut self) {
        self.stuck.clear();
    }
}

impl<V> Looking<V> {
    pub(super) const fn until(&self) -> Option<Time> {
        self.until
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl<K: Ord + Clone, V: Charter + PartialEq> QuorumClient<K, V> {
    /// Looks, after it relayed what was new.
    pub(super) fn look(&mut self, now: Time) {
        let Some(Doing::Read(read)) = &mut self.operation else { return };
        let mut asks = core::mem::take(&mut read.relays);
        let (relays, count) = (asks.len(), read.keys.len());
        asks.extend(read.keys.iter().map(|key| (key.clone(), Ask::Show)));
        let reading = Reading::new(self.electorate.clone());
        let seen = vec![Seen { reading, known: false, value: None }; count];
        self.stage = Stage::Looking(Looking { relays, seen, until: None });
        self.ask(now, Question::Registers(asks));
    }

    pub(super) fn looking(
        &mut self,
        now: Time,
        from: NodeId,
        replies: Vec<Reply<V>>,
        mut looking: Looking<V>,
    ) {
        let mut outdated = None;
        let replies = replies.into_iter().skip(looking.relays);
        for (it, reply) in looking.seen.iter_mut().zip(replies) {
            if let Reply::Shown(Some((ballot, _))) = &reply {
                // So that what it proposes later is not overruled at once.
                self.proposer.heard_of(*ballot);
            }
            match it.reading.hear(from, reply) {
                Sight::Known(value) => (it.known, it.value) = (true, value),
                Sight::Outdated(electorate) => outdated = Some(electorate),
                Sight::Wait | Sight::Unclear => {}
            }
        }
        if outdated.is_some_and(|electorate| self.adopt(electorate)) {
            self.stage = Stage::Looking(looking);
            return self.unclear(now);
        }
        if looking.seen.iter().all(|it| it.known) {
            let values = looking.seen.into_iter().map(|it| it.value).collect();
            let now = self.set_clock(now);
            return self.end(Notice::Read { values, now });
        }
        let doubtful = looking.seen.iter().any(|it| !it.known && it.reading.is_unclear());
        let look = match &self.operation {
            Some(Doing::Read(read)) => read.look,
            _ => 0,
        };
        looking.until = doubtful.then(|| now + PATIENCE * 2u32.pow(look));
        self.stage = Stage::Looking(looking);
    }

    /// The voters were not of one mind in time: looks again. What is new is relayed first. If that
    /// did not help and nothing newer came, a change was left half done: that is completed.
    pub(super) fn unclear(&mut self, now: Time) {
        let (Stage::Looking(looking), Some(Doing::Read(read))) = (&self.stage, &mut self.operation)
        else {
            return;
        };
        read.look += 1;
        if read.look >= LOOKS {
            read.look = 0;
            let all = read.keys.iter().zip(&looking.seen);
            for (key, it) in all.filter(|(_, it)| !it.known) {
                match it.reading.relay() {
                    Some((ballot, ask)) if read.relayed.get(key) != Some(&ballot) => {
                        read.relayed.insert(key.clone(), ballot);
                        read.relays.push((key.clone(), ask));
                    }
                    _ => read.stuck.push(key.clone()),
                }
            }
        }
        self.go_on(now);
    }

    /// Asks every voter which registers it knows of.
    pub(super) fn list(&mut self, now: Time) {
        self.stage = Stage::Listing { heard: BTreeSet::new(), keys: BTreeSet::new() };
        self.ask(now, Question::Inventory);
    }

    pub(super) fn listing(&mut self, now: Time, from: NodeId, inventory: Inventory<K>) {
        match inventory {
            Inventory::Keys { keys: named, .. } => {
                let Stage::Listing { heard, keys } = &mut self.stage else { return };
                heard.insert(from);
                keys.extend(named);
                if self.electorate.is_majority(&*heard) {
                    let keys = core::mem::take(keys).into_iter().collect();
                    self.end(Notice::Listed(keys));
                }
            }
            Inventory::Outdated(electorate) => {
                if self.adopt(electorate) {
                    self.list(now);
                }
            }
            Inventory::NoVoter { .. } => {}
        }
    }

    /// Takes over the voters' clock, as the answers to the open question show it.
    pub(super) fn set_clock(&mut self, now: Time) -> StoreTime {
        match &self.open {
            Some(open) => self.clock.set(now, &open.clocks),
            None => self.clock.now(now),
        }
    }

    /// Whether those who answered the open question are a majority.
    pub(super) fn is_majority_heard(&self, electorate: &Electorate) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| electorate.is_majority(open.clocks.keys()))
    }
}
