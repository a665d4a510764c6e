//! Reading registers without disturbing anybody.
//!
//! Assumes: nothing.
//! Promises: what is read was chosen, and nothing older than what was chosen when the read began. A
//! change that was left half done is completed, after whoever is at it had time to do so. While a
//! proposer makes progress a read raises no ballot: a follower that the leader cannot reach passes
//! the leader's values on to the voters that it reaches, and the leader goes on by shortcuts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::proposal::{Reading, Sight};
use incumbent_protocol::ratify::voter::Inventory;
use incumbent_protocol::ratify::{Ask, Ballot, Reply};
use incumbent_protocol::time::StoreTime;

use super::clocks::Clocks;
use super::{AGAIN, Fate, Heeded, Registers};
use crate::error::Error;
use crate::peers::message::{Key, Message, Value};

/// For this long a read waits for voters to be of one mind; twice as long with every further look.
const PATIENCE: Duration = Duration::from_millis(4);

/// So often a read looks before it completes what it found half done. Whoever is at it may only wait
/// for a slow disk, and would be disturbed.
const LOOKS: u32 = 4;

impl Registers {
    /// The values of these registers, and the voters' clock.
    pub(in crate::peers) async fn read(
        &mut self,
        keys: &[Key],
    ) -> Result<(Vec<Option<Value>>, StoreTime), Error> {
        self.found().await?;
        let mut relays = Vec::new();
        let mut relayed: BTreeMap<Key, Ballot> = BTreeMap::new();
        loop {
            let mut unclear = Vec::new();
            for look in 0..LOOKS {
                let (relays, patience) = (std::mem::take(&mut relays), PATIENCE * 2u32.pow(look));
                match self.look(keys, relays, patience).await? {
                    Seen::All(found, now) => return Ok((found, now)),
                    Seen::Unclear(keys) => unclear = keys,
                }
            }
            // What is new is relayed first.
            let mut stuck = Vec::new();
            for (key, relay) in unclear {
                match relay {
                    Some((ballot, ask)) if relayed.insert(key.clone(), ballot) != Some(ballot) => {
                        relays.push((key, ask));
                    }
                    _ => stuck.push(key),
                }
            }
            if stuck.is_empty() {
                continue;
            }
            // That did not help, and nothing newer came: somebody left a change half done.
            // Complete it, by proposing what is there.
            let (heeded, _) = self.heed(&stuck).await?;
            if self.complete(heeded).await? == Fate::Doubtful {
                self.step_aside().await;
            }
        }
    }

    /// Has a majority keep what it showed, which may have been half done.
    pub(in crate::peers) async fn complete(
        &mut self,
        heeded: impl IntoIterator<Item = Heeded>,
    ) -> Result<Fate, Error> {
        let there = heeded.into_iter().filter_map(|one| Some((one.value.clone()?, one)));
        let same: Vec<_> = there.map(|(value, one)| (one, value)).collect();
        if same.is_empty() {
            return Ok(Fate::Chosen);
        }
        let fates = self.propose(same).await?;
        Ok(if fates.contains(&Fate::Doubtful) { Fate::Doubtful } else { Fate::Chosen })
    }

    /// One look, that waits so long for voters to be of one mind, after it relayed this.
    async fn look(
        &mut self,
        keys: &[Key],
        relays: Vec<(Key, Ask<Value>)>,
        patience: Duration,
    ) -> Result<Seen, Error> {
        let relayed = relays.len();
        let shows = keys.iter().map(|key| (key.clone(), Ask::Show));
        let mut inbox = self.put(relays.into_iter().chain(shows).collect());
        let mut readings = vec![Reading::new(self.electorate.clone()); keys.len()];
        let mut known: Vec<Option<Option<Value>>> = vec![None; keys.len()];
        let mut clocks = Clocks::default();
        loop {
            let doubtful =
                known.iter().zip(&readings).any(|(it, r)| it.is_none() && r.is_unclear());
            let answer = if doubtful {
                match tokio::time::timeout(patience, inbox.replies()).await {
                    Ok(answer) => answer,
                    Err(_) => return Ok(Seen::unclear(keys, &known, &readings)),
                }
            } else {
                inbox.replies().await
            };
            let (from, now, replies) = answer;
            clocks.hear(from, now);
            let mut outdated = None;
            for (at, reply) in replies.into_iter().skip(relayed).take(keys.len()).enumerate() {
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
                return Ok(Seen::unclear(keys, &known, &readings));
            }
            if known.iter().all(Option::is_some) {
                let now = self.set(&clocks);
                return Ok(Seen::All(known.into_iter().flatten().collect(), now));
            }
        }
    }

    /// Every register that a majority knows of.
    pub(in crate::peers) async fn keys(&mut self) -> Result<Vec<Key>, Error> {
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
}

/// What to ask of all voters, and its ballot.
type Relay = (Ballot, Ask<Value>);

/// What a look showed.
enum Seen {
    All(Vec<Option<Value>>, StoreTime),
    /// Of these registers it is not known. What could be relayed of each.
    Unclear(Vec<(Key, Option<Relay>)>),
}

impl Seen {
    fn unclear<T>(keys: &[Key], known: &[Option<T>], readings: &[Reading<Value>]) -> Seen {
        let open = keys.iter().zip(readings).zip(known).filter(|(_, known)| known.is_none());
        Seen::Unclear(open.map(|((key, reading), _)| (key.clone(), reading.relay())).collect())
    }
}
