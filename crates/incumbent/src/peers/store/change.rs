//! How elections are changed: a decision on what a majority holds, and a proposal of what follows.
//!
//! Assumes: one change at a time in this process.
//! Promises: a change counts only if nothing was chosen between the look and the proposal, and whoever
//! made it knows whether it was chosen, or is told that this is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::row::State;

use super::sheets::snapshots;
use super::{Store, key};
use crate::error::Error;
use crate::peers::message::{Key, Value};
use crate::peers::register::{Fate, Heeded};
use crate::peers::sheet::{Sheet, no_rounds};
use crate::store::arbiter::{Plan, Snapshots};
use crate::store::office::OrderRecord;

/// How long an order waits before it is tried again.
const CONFLICT: Duration = Duration::from_millis(20);

impl Store {
    /// Decides on what a majority holds, and has it keep what follows.
    pub(super) async fn write_ratified<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send,
    {
        let names: BTreeSet<&ElectionName> = names.iter().copied().collect();
        let keys: Vec<Key> = names.iter().map(|name| key(name)).collect();
        let (heeded, now) = match self.held_here(&keys) {
            Some(heeded) => (heeded, self.registers.now()),
            None => self.registers.heed(&keys).await?,
        };
        let mut held: BTreeMap<ElectionName, (Heeded, Sheet)> = BTreeMap::new();
        for (name, one) in names.into_iter().zip(heeded) {
            let sheet = Sheet::read(one.value.as_ref())?;
            held.insert(name.clone(), (one, sheet));
        }
        let shown = held.iter().map(|(name, (_, sheet))| (name.clone(), sheet));
        let (plans, decided) = decide(snapshots(shown, now))?;
        let ended = plans.iter().filter(|plan| ends(plan)).map(election_of);
        let ended = ended.filter_map(|name| {
            Some((name.clone(), held.get(name)?.1.page.record.as_ref()?.term.get()))
        });
        let ended: Vec<_> = ended.collect();
        let mut changes: BTreeMap<ElectionName, (Heeded, Sheet)> = BTreeMap::new();
        for plan in &plans {
            let election = election_of(plan);
            let (one, sheet) = match changes.remove(election) {
                Some(changed) => changed,
                None => held.remove(election).ok_or_else(no_rounds)?,
            };
            changes.insert(election.clone(), (one, sheet.after(plan)?));
        }
        let orders: BTreeMap<Key, OrderRecord> = changes
            .iter()
            .filter(|(name, _)| plans.iter().any(|plan| orders_in(plan, name)))
            .filter_map(|(name, (_, sheet))| Some((key(name), sheet.orders.first()?.clone())))
            .collect();
        let changes = changes.into_values().map(|(one, sheet)| Ok((one, sheet.write()?)));
        let changes = changes.collect::<Result<Vec<_>, Error>>()?;
        for (key, held) in self.commit(changes).await? {
            match orders.get(&key) {
                // Orders stay on the sheet, whatever follows.
                Some(order) if Sheet::read(Some(&held))?.orders.contains(order) => {}
                Some(_) => {
                    // Whoever was faster may need another moment.
                    tokio::time::sleep(CONFLICT).await;
                    let both = "another process changed it at the same time";
                    return Err(Error::Conflict(both.to_owned()));
                }
                // Nobody can tell whether another term followed that one.
                None => return Err(Error::Overtaken),
            }
        }
        self.ended.extend(ended);
        // What is left as it is may have been half done. If every look showed one value, and every bid
        // another one, neither would be seen to stand still.
        let kept = self.registers.complete(held.into_values().map(|(one, _)| one)).await?;
        if kept == Fate::Doubtful && plans.is_empty() {
            return Err(Error::Overtaken);
        }
        Ok(decided)
    }

    /// These registers, if this process leads in all of them and was the last to change them, as with
    /// every beat. They need not be read then, and if somebody was faster the proposal tells.
    fn held_here(&mut self, keys: &[Key]) -> Option<Vec<Heeded>> {
        let known = keys.iter().map(|key| {
            let known = self.registers.shortcut(key)?;
            let record = Sheet::read(known.value.as_ref()).ok()?.page.record?;
            let mine = record.holder.incarnation == self.registers.me();
            (mine && record.state == State::Held).then_some(known)
        });
        known.collect()
    }

    /// Proposes what was decided, and sees to it that it is known whether it was chosen. Gives back what
    /// voters hold where others were faster.
    async fn commit(
        &mut self,
        changes: Vec<(Heeded, Value)>,
    ) -> Result<BTreeMap<Key, Value>, Error> {
        let wanted: Vec<(Key, Value)> =
            changes.iter().map(|(heeded, value)| (heeded.key.clone(), value.clone())).collect();
        let fates = self.registers.propose(changes).await?;
        let doubtful = wanted.into_iter().zip(fates).filter(|(_, fate)| *fate == Fate::Doubtful);
        let mut others = BTreeMap::new();
        for ((key, value), _) in doubtful {
            let held = self.insist(&key, &value).await?;
            if held != value {
                others.insert(key, held);
            }
        }
        Ok(others)
    }

    /// A value was overruled on its way. What voters hold is proposed once more, be it that value or
    /// another one: after that it is chosen, or it never will be, though another one may have followed
    /// it. Gives back what is chosen now.
    async fn insist(&mut self, key: &Key, value: &Value) -> Result<Value, Error> {
        loop {
            let (mut heeded, _) = self.registers.heed(std::slice::from_ref(key)).await?;
            let Some(one) = heeded.pop() else { return Ok(value.clone()) };
            let held = one.value.clone().map_or_else(|| Sheet::default().write(), Ok)?;
            if self.registers.propose(vec![(one, held.clone())]).await? == [Fate::Chosen] {
                return Ok(held);
            }
            self.registers.step_aside().await;
        }
    }
}

const fn election_of(plan: &Plan) -> &ElectionName {
    match plan {
        Plan::Claim { election, .. }
        | Plan::Release { election, .. }
        | Plan::Register { election, .. } => election,
        Plan::Order { warrant, .. } => &warrant.election,
        Plan::Forget { removing, .. } => &removing.election,
    }
}

/// Whether a plan ends the term that stands.
fn ends(plan: &Plan) -> bool {
    match plan {
        Plan::Release { .. } => true,
        Plan::Order { decree, .. } => decree.ends,
        Plan::Claim { .. } | Plan::Forget { .. } | Plan::Register { .. } => false,
    }
}

/// Whether a plan is an order in that election.
fn orders_in(plan: &Plan, election: &ElectionName) -> bool {
    matches!(plan, Plan::Order { .. } | Plan::Forget { .. }) && election_of(plan) == election
}
