//! Elections kept by a quorum of peers.
//!
//! Assumes: one call at a time; whoever waits too long drops the call, and then nothing is known of
//! what it was to do.
//! Promises: what [`Arbiter`] says. A write is decided on the value that a majority holds, and
//! counts only if nothing was chosen in between.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::rounds::round::Round;
use incumbent_protocol::time::StoreTime;
use tokio::sync::mpsc;

use super::hints::Hints;
use super::message::{Key, Line, Message, Value};
use super::node::{Node, Nomination, Reach};
use super::register::{Fate, Heeded, Registers};
use super::sheet::{Sheet, no_rounds};
use super::voters::{self, Ballot, Voters};
use crate::bell::{Bell, Ring};
use crate::clock;
use crate::error::Error;
use crate::store::arbiter::{Arbiter, Plan, Rolls, Roster, Snapshots};
use crate::store::office::{OrderRecord, TermRecord};
use crate::store::round::Answer;

/// How many elections travel in one message, so that it never becomes too long.
const TOGETHER: usize = 100;

/// How long a call of the roll waits for those who are slower than most.
const ROLL_PATIENCE: Duration = Duration::from_millis(50);

/// How long an order waits before it is tried again.
const CONFLICT: Duration = Duration::from_millis(20);

/// How long an onlooker waits for a majority.
const REACH_PATIENCE: Duration = Duration::from_secs(5);

/// Elections kept by peers, as this process uses them.
#[derive(Debug)]
pub(crate) struct Store {
    node: Node,
    registers: Box<Registers>,
    /// In the place of registers, if nothing is ratified.
    hints: Option<Box<Hints>>,
    rings: Option<mpsc::Receiver<Ring>>,
    nominations: Option<mpsc::UnboundedReceiver<Nomination>>,
    contends: bool,
    preempts: bool,
}

/// What a store is made of.
pub(super) struct Parts {
    pub(super) node: Node,
    pub(super) registers: Registers,
    pub(super) hints: Option<Hints>,
    pub(super) rings: mpsc::Receiver<Ring>,
    pub(super) nominations: mpsc::UnboundedReceiver<Nomination>,
    pub(super) contends: bool,
    pub(super) preempts: bool,
}

/// How a driver learns whether its candidates are to bid, and tells how they stand.
#[derive(Debug)]
pub(crate) struct Nominations {
    pub(crate) node: Node,
    pub(crate) heard: mpsc::UnboundedReceiver<Nomination>,
    /// Whether whoever is picked asks for the place of whoever leads.
    pub(crate) preempts: bool,
}

impl Store {
    pub(super) fn new(parts: Parts) -> Store {
        let Parts { node, registers, hints, rings, nominations, contends, preempts } = parts;
        let (rings, nominations) = (Some(rings), Some(nominations));
        let (registers, hints) = (Box::new(registers), hints.map(Box::new));
        Store { node, registers, hints, rings, nominations, contends, preempts }
    }

    /// How long a short question takes at best. Whoever contends may be the first to come, and waits
    /// for the others later; whoever only looks needs a majority now.
    pub(crate) async fn round_trip(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        let ask = async {
            let mut best = Duration::MAX;
            for _ in 0..3 {
                let begun = clock::now();
                self.registers.read(&[Key::Electorate]).await?;
                best = best.min(clock::now().since(begun));
            }
            Ok(best)
        };
        if self.hints.is_some() {
            return Ok((Duration::from_millis(1), None));
        }
        let patience = if self.contends { REACH_PATIENCE / 20 } else { REACH_PATIENCE };
        match tokio::time::timeout(patience, ask).await {
            Ok(asked) => asked.map(|best| (best, None)),
            Err(_) if self.contends => {
                if let Some(reach) = self.node.reach().await {
                    let need = self.need();
                    tracing::info!(up = reach.up, voters = reach.voters, missing = ?reach.missing,
                        "waiting for voters: {need}");
                }
                Ok((Duration::from_millis(1), None))
            }
            Err(_) => Err(self.unreachable().await),
        }
    }

    /// How many voters are needed.
    fn need(&self) -> &'static str {
        if self.registers.is_founded() {
            "a majority of them must be there"
        } else {
            "the first time all of them must be there once, and later a majority"
        }
    }

    /// The way to the task of this node.
    pub(crate) const fn node(&self) -> &Node {
        &self.node
    }

    /// Who of the voters can be reached.
    pub(super) async fn reach(&self) -> Option<Reach> {
        self.node.reach().await
    }

    /// One short question.
    pub(super) async fn ask(&mut self) -> Result<(), Error> {
        self.registers.read(&[Key::Electorate]).await.map(drop)
    }

    /// The voters' clock.
    pub(super) async fn clock(&mut self) -> Result<StoreTime, Error> {
        self.registers.read(&[Key::Electorate]).await.map(|(_, now)| now)
    }

    /// Looks who votes, or changes it. Beside everything else, because it may take long: leases do not
    /// wait for it.
    pub(crate) fn voters(
        &self,
        ballot: Ballot,
    ) -> impl Future<Output = Result<Voters, Error>> + Send + 'static {
        let registers = if self.hints.is_some() {
            let problem = "without ratification nobody votes".to_owned();
            Err(Error::Setting { setting: "voter", problem })
        } else {
            self.registers.beside()
        };
        async move { voters::carry_out(registers?, &ballot).await }
    }

    async fn unreachable(&self) -> Error {
        let place = "the peers".to_owned();
        let Some(reach) = self.node.reach().await else { return Error::Closed };
        if reach.missing.is_empty() {
            let problem = "all voters are there and did not answer in time: they may have just begun, try again";
            return Error::Open { place, problem: problem.to_owned() };
        }
        let problem = format!(
            "{} of {} voters answer, and {}: no answer from {}; are they running, is the secret the same, and does no \
             firewall stand between?",
            reach.up,
            reach.voters,
            self.need(),
            reach.missing.join(", ")
        );
        Error::Open { place, problem }
    }

    /// Rings come from peers.
    pub(crate) fn bell(&mut self, _round_trip: Duration, _beat: Duration) -> Bell {
        match self.rings.take() {
            Some(rings) => Bell::Peers(rings),
            None => Bell::Silent,
        }
    }

    /// How a driver learns whether its candidates are to bid.
    pub(crate) fn nominations(&mut self) -> Option<Nominations> {
        let heard = self.nominations.take()?;
        Some(Nominations { node: self.node.clone(), heard, preempts: self.preempts })
    }

    /// Questions put so far, each to all voters.
    pub(crate) const fn statements(&self) -> u64 {
        self.registers.questions
    }

    /// Lets go of the peers.
    pub(crate) async fn close(self) {
        // What was said last is still to leave.
        self.node.close().await;
    }

    async fn sheets(
        &mut self,
        names: &[&ElectionName],
    ) -> Result<(BTreeMap<ElectionName, Sheet>, StoreTime), Error> {
        let names: BTreeSet<&ElectionName> = names.iter().copied().collect();
        let mut sheets = BTreeMap::new();
        if let Some(hints) = self.hints.as_mut().filter(|_| self.contends) {
            for name in names {
                sheets.insert(name.clone(), hints.sheet(name).await);
            }
            return Ok((sheets, clock::wall()));
        }
        if self.hints.is_some() {
            return self.hearsay(&names.into_iter().collect::<Vec<_>>()).await;
        }
        let names: Vec<&ElectionName> = names.into_iter().collect();
        let mut now = self.registers.now();
        for some in names.chunks(TOGETHER) {
            let keys: Vec<Key> = some.iter().map(|name| key(name)).collect();
            let (values, at) = self.registers.read(&keys).await?;
            now = at;
            for (name, value) in some.iter().zip(values) {
                sheets.insert((*name).clone(), Sheet::read(value.as_ref())?);
            }
        }
        Ok((sheets, now))
    }

    /// Who says that it leads: all that an onlooker can see if nothing is ratified.
    async fn hearsay(
        &mut self,
        names: &[&ElectionName],
    ) -> Result<(BTreeMap<ElectionName, Sheet>, StoreTime), Error> {
        let rolls = self.roll(&[], names).await?;
        let now = clock::wall();
        let leads = |peer: &&Peer| {
            peer.is_present(now) && matches!(peer.presence, Presence::Leading | Presence::Draining)
        };
        let mut sheets = BTreeMap::new();
        for (name, peers) in rolls {
            let leader = peers.iter().filter(leads).max_by_key(|peer| peer.beaten_at);
            if let Some(hints) = &mut self.hints {
                let sheet = hints.seen(&name, leader.map(|peer| peer.id.clone()));
                sheets.insert(name, sheet);
            }
        }
        Ok((sheets, now))
    }

    /// Every election that was ever held here.
    async fn elections(&mut self) -> Result<Vec<ElectionName>, Error> {
        if let Some(hints) = &self.hints {
            return Ok(hints.elections());
        }
        let named = |key| match key {
            Key::Election(name) => Some(name),
            Key::Electorate => None,
        };
        Ok(self.registers.keys().await?.into_iter().filter_map(named).collect())
    }

    async fn sheet(&mut self, election: &ElectionName) -> Result<Sheet, Error> {
        let (mut sheets, _) = self.sheets(&[election]).await?;
        Ok(sheets.remove(election).unwrap_or_default())
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

    /// Prolongs some of the held terms, and names those that still stood.
    async fn renew_some(
        &mut self,
        held: &[(&ElectionName, &Holding)],
        renewed: &mut Vec<String>,
    ) -> Result<(), Error> {
        let mut fresh: Vec<(&ElectionName, &Holding)> = Vec::new();
        let mut changes = Vec::new();
        let mut by = Vec::new();
        let now = self.registers.now();
        for (election, holding) in held.iter().copied() {
            let known = self.registers.shortcut(&key(election));
            let next = known.as_ref().and_then(|heeded| {
                Sheet::read(heeded.value.as_ref()).ok()?.renewed(holding, now)?.write().ok()
            });
            match (known, next) {
                (Some(heeded), Some(value)) => {
                    changes.push((heeded, value));
                    by.push((election, holding));
                }
                _ => fresh.push((election, holding)),
            }
        }
        let fates = self.registers.propose(changes).await?;
        // By an order, most likely, which is not to lose against every beat.
        let overruled = fates.contains(&Fate::Doubtful);
        for ((election, holding), fate) in by.into_iter().zip(fates) {
            match fate {
                Fate::Chosen => renewed.push(election.to_string()),
                Fate::Doubtful => fresh.push((election, holding)),
            }
        }
        if overruled {
            self.registers.step_aside().await;
        }
        while !fresh.is_empty() {
            let keys: Vec<Key> = fresh.iter().map(|(election, _)| key(election)).collect();
            let (heeded, now) = self.registers.heed(&keys).await?;
            let mut changes = Vec::new();
            let mut by = Vec::new();
            for (one, (election, holding)) in heeded.into_iter().zip(std::mem::take(&mut fresh)) {
                let sheet = Sheet::read(one.value.as_ref())?;
                if let Some(next) = sheet.renewed(holding, now) {
                    changes.push((one, next.write()?));
                    by.push((election, holding));
                }
            }
            let fates = self.registers.propose(changes).await?;
            for ((election, holding), fate) in by.into_iter().zip(fates) {
                match fate {
                    Fate::Chosen => renewed.push(election.to_string()),
                    // A beat more does no harm.
                    Fate::Doubtful => fresh.push((election, holding)),
                }
            }
            if !fresh.is_empty() {
                self.registers.step_aside().await;
            }
        }
        Ok(())
    }
}

impl Arbiter for Store {
    async fn renew(&mut self, held: &[(&ElectionName, &Holding)]) -> Result<Vec<String>, Error> {
        let mut renewed = Vec::with_capacity(held.len());
        if let Some(hints) = &mut self.hints {
            for (election, holding) in held {
                if hints.renew(election, holding).await {
                    renewed.push(election.to_string());
                }
            }
            return Ok(renewed);
        }
        for some in held.chunks(TOGETHER) {
            self.renew_some(some, &mut renewed).await?;
        }
        Ok(renewed)
    }

    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error> {
        let every = match names {
            Some(_) => Vec::new(),
            None => self.elections().await?,
        };
        let every: Vec<&ElectionName> = every.iter().collect();
        let names = names.unwrap_or(&every);
        let (sheets, now) = self.sheets(names).await?;
        Ok(snapshots(sheets.iter().map(|(name, sheet)| (name.clone(), sheet)), now))
    }

    async fn write<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send,
    {
        if self.hints.is_some() {
            let (plans, decided) = decide(self.read(Some(names)).await?)?;
            if let Some(hints) = &mut self.hints {
                plans.iter().try_for_each(|plan| hints.carry_out(plan))?;
            }
            return Ok(decided);
        }
        let names: BTreeSet<&ElectionName> = names.iter().copied().collect();
        let keys: Vec<Key> = names.iter().map(|name| key(name)).collect();
        let (heeded, now) = self.registers.heed(&keys).await?;
        let mut held: BTreeMap<ElectionName, (Heeded, Sheet)> = BTreeMap::new();
        for (name, one) in names.into_iter().zip(heeded) {
            let sheet = Sheet::read(one.value.as_ref())?;
            held.insert(name.clone(), (one, sheet));
        }
        let shown = held.iter().map(|(name, (_, sheet))| (name.clone(), sheet));
        let (plans, decided) = decide(snapshots(shown, now))?;
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
            let both = "another process changed it at the same time".to_owned();
            match orders.get(&key) {
                // Orders stay on the sheet, whatever follows.
                Some(order) if Sheet::read(Some(&held))?.orders.contains(order) => {}
                Some(_) => {
                    // Whoever was faster may need another moment.
                    tokio::time::sleep(CONFLICT).await;
                    return Err(Error::Conflict(both));
                }
                // Nobody can tell whether another term followed that one.
                None => return Err(Error::Store(both)),
            }
        }
        Ok(decided)
    }

    async fn terms(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<TermRecord>, Error> {
        let mut terms = self.sheet(election).await?.terms;
        terms.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(terms)
    }

    async fn beats(
        &mut self,
        _rounds: &[(&ElectionName, &Round)],
        _answers: &mut Vec<Answer>,
    ) -> Result<(), Error> {
        Err(no_rounds())
    }

    async fn round(&mut self, _election: &ElectionName, _round: &Round) -> Result<Answer, Error> {
        Err(no_rounds())
    }

    /// Nobody stands in a line here.
    async fn roster(&mut self, election: &ElectionName) -> Result<Roster, Error> {
        let mut found = self.read(Some(&[election])).await?;
        Ok(Roster { snapshot: found.take(election), vars: None, rows: Vec::new() })
    }

    async fn roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        let now = self.registers.now();
        let line = |(name, peer): &(&ElectionName, &Peer)| ((*name).clone(), Line::of(peer, now));
        let lines: Vec<_> = lines.iter().map(line).collect();
        let wanted: Vec<ElectionName> = elections.iter().map(|name| (*name).clone()).collect();
        let electorate = self.registers.electorate().clone();
        let voters = electorate.voters().clone();
        let mut inbox = self.node.question(voters.clone(), ROLL_PATIENCE, |id| Message::Roll {
            id,
            lines,
            elections: wanted,
        });
        let mut heard = BTreeSet::new();
        let mut found: BTreeMap<(ElectionName, CandidateId), Line> = BTreeMap::new();
        while heard.len() < voters.len() {
            let enough = if self.hints.is_some() {
                !heard.is_empty()
            } else {
                electorate.is_majority(heard.iter())
            };
            // For people: not worth waiting for the slow ones.
            let patience = if enough { ROLL_PATIENCE } else { REACH_PATIENCE };
            let Ok(answer) = tokio::time::timeout(patience, inbox.next()).await else { break };
            let (from, Message::Rolled { lines, .. }) = answer else { continue };
            heard.insert(from);
            for (election, line) in lines {
                merge(&mut found, election, line);
            }
        }
        let mut rolls: Rolls = elections.iter().map(|name| ((*name).clone(), Vec::new())).collect();
        for ((election, _), line) in found {
            rolls.entry(election).or_default().push(line.peer());
        }
        Ok(rolls)
    }

    async fn orders(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error> {
        let mut orders = self.sheet(election).await?.orders;
        orders.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(orders)
    }

    fn ring(&mut self) {
        self.registers.ring();
    }
}

/// Of lines of the same candidate the newest counts, with the earliest start.
pub(super) fn merge(
    roll: &mut BTreeMap<(ElectionName, CandidateId), Line>,
    election: ElectionName,
    line: Line,
) {
    let key = (election, line.id().clone());
    match roll.get_mut(&key) {
        Some(known) => {
            let started = known.started.min(line.started);
            if line.beaten_at >= known.beaten_at {
                *known = line;
            }
            known.started = started;
        }
        None => drop(roll.insert(key, line)),
    }
}

fn key(election: &ElectionName) -> Key {
    Key::Election(election.clone())
}

const fn election_of(plan: &Plan) -> &ElectionName {
    match plan {
        Plan::Claim { election, .. }
        | Plan::Release { election, .. }
        | Plan::Register { election, .. } => election,
        Plan::Order { warrant, .. } => &warrant.election,
    }
}

/// Whether a plan is an order in that election.
fn orders_in(plan: &Plan, election: &ElectionName) -> bool {
    matches!(plan, Plan::Order { .. }) && election_of(plan) == election
}

fn snapshots<'a>(
    sheets: impl Iterator<Item = (ElectionName, &'a Sheet)>,
    now: StoreTime,
) -> Snapshots {
    let found = sheets.map(|(name, sheet)| (name, sheet.page.snapshot(now))).collect();
    let controls = Controls::default();
    let blank = Snapshot { record: None, now, holder_died: false, replaced: None, controls };
    Snapshots { found, blank }
}
