//! How elections are changed, and terms prolonged: what is decided on what a majority holds.
//!
//! Assumes: one change at a time in this process.
//! Promises: a change counts only if nothing was chosen between the look and the proposal, and whoever
//! made it knows whether it was chosen, or is told that this is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::quorum::elections::is_held_by;
use incumbent_protocol::time::StoreTime;

use super::sheets::snapshots;
use super::{Store, key, named};
use crate::error::Error;
use crate::peers::message::{Key, Value};
use crate::peers::sheet::{Sheet, no_rounds};
use crate::store::arbiter::{Plan, Snapshots, odd};
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
        let keys: Vec<Key> = names.into_iter().map(key).collect();
        let at_once = keys.iter().all(|key| self.leads_in(key));
        let decide = |shown, now| Decision::make(shown, now, decide);
        let (written, (decided, decision)) = self.quorum.write(keys, at_once, decide).await?;
        for (key, held) in written.others {
            match decision.orders.get(&key) {
                // Orders stay on the sheet, whatever follows.
                Some(order) if Sheet::read(Some(&held))?.orders.contains(order) => {}
                Some(_) => {
                    // The faster process may need another moment.
                    tokio::time::sleep(CONFLICT).await;
                    let both = "another process changed it at the same time";
                    return Err(Error::Conflict(both.to_owned()));
                }
                // Nobody can tell whether another term followed that one.
                None => return Err(Error::Overtaken),
            }
        }
        self.ended.extend(decision.ended);
        // If every look showed one value, and every bid another one, neither would be seen to stand
        // still.
        if !written.kept && decision.changes_nothing {
            return Err(Error::Overtaken);
        }
        Ok(decided)
    }

    /// Whether this process leads there and was the last to write it, as with every beat.
    fn leads_in(&self, key: &Key) -> bool {
        let client = self.quorum.client();
        let known = client.known(key).and_then(|known| Sheet::read(Some(known)).ok());
        known.is_some_and(|sheet| is_held_by(&sheet.page, client.me()))
    }

    /// Prolongs some of the held terms, and names those that still stood.
    pub(super) async fn renew_some(
        &mut self,
        held: &[(&ElectionName, &Holding)],
    ) -> Result<Vec<String>, Error> {
        let held: BTreeMap<Key, &Holding> =
            held.iter().map(|(election, holding)| (key(election), *holding)).collect();
        let keys = held.keys().cloned().collect();
        let decide = |key: &Key, value: Option<&Value>, now| {
            let Some(holding) = held.get(key) else { return Ok(None) };
            let next = Sheet::read(value)?.renewed(holding, now);
            next.map(|next| next.write()).transpose()
        };
        let renewed = self.quorum.renew(keys, decide).await?;
        Ok(renewed.into_iter().filter_map(named).map(|name| name.to_string()).collect())
    }
}

/// The values to propose, the answer to the caller, and what the plans mean.
type Decided<T> = (Vec<Option<Value>>, (T, Decision));

/// What a write decided.
struct Decision {
    /// The terms that end with it.
    ended: Vec<(ElectionName, u64)>,
    /// What it notes of orders.
    orders: BTreeMap<Key, OrderRecord>,
    changes_nothing: bool,
}

impl Decision {
    /// Decides on what a majority holds. The values are in the order of the registers.
    fn make<T>(
        shown: Vec<(Key, Option<Value>)>,
        now: StoreTime,
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error>,
    ) -> Result<Decided<T>, Error> {
        let mut sheets = Vec::with_capacity(shown.len());
        for (key, value) in shown {
            let name = named(key).ok_or_else(|| odd("kind"))?;
            sheets.push((name, Sheet::read(value.as_ref())?));
        }
        let seen = sheets.iter().map(|(name, sheet)| (name.clone(), sheet));
        let (plans, decided) = decide(snapshots(seen, now))?;
        let mut next: BTreeMap<ElectionName, Sheet> = BTreeMap::new();
        let mut ended = Vec::new();
        for plan in &plans {
            let election = election_of(plan);
            let before = sheets.iter().find(|(name, _)| name == election);
            let (_, before) = before.ok_or_else(no_rounds)?;
            if let Some(record) = before.page.record.as_ref().filter(|_| ends(plan)) {
                ended.push((election.clone(), record.term.get()));
            }
            let after = next.get(election).unwrap_or(before).after(plan)?;
            next.insert(election.clone(), after);
        }
        let ordered = next.iter().filter(|(name, _)| plans.iter().any(|it| orders_in(it, name)));
        let orders = ordered.filter_map(|(name, it)| Some((key(name), it.orders.first()?.clone())));
        let orders = orders.collect();
        let write =
            |(name, _): &(ElectionName, Sheet)| next.get(name).map(Sheet::write).transpose();
        let values = sheets.iter().map(write).collect::<Result<_, _>>()?;
        Ok((values, (decided, Decision { ended, orders, changes_nothing: plans.is_empty() })))
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
