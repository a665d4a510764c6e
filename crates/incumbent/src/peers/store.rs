//! Elections kept by a quorum of peers.
//!
//! Assumes: one call at a time; whoever waits too long drops the call, and then nothing is known of
//! what it was to do.
//! Promises: what [`Arbiter`] says. A write is decided on the value that a majority holds, and
//! counts only if nothing was chosen in between.
//!
//! | file | what |
//! |---|---|
//! | [`sheets`] | what is seen of elections |
//! | [`change`] | how they are changed, and terms prolonged |
//! | [`reach`] | who of the voters is there |
//! | [`roll`] | who is there |

use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rounds::round::Round;
use incumbent_protocol::time::StoreTime;
use tokio::sync::mpsc;

use super::hints::Hints;
use super::message::Key;
use super::node::{Node, Nomination};
use super::quorum::Quorum;
use super::sheet::no_rounds;
use super::voters::{self, Ballot, Voters};
use crate::bell::{Bell, Ring};
use crate::error::Error;
use crate::store::arbiter::{Arbiter, Plan, Rolls, Roster, Snapshots};
use crate::store::office::{OrderRecord, TermRecord};
use crate::store::round::Answer;

mod change;
mod reach;
mod roll;
mod sheets;

use sheets::snapshots;

pub(super) use roll::merge;

/// How many elections travel in one message, so that it never becomes too long.
const TOGETHER: usize = 100;

/// Elections kept by peers, as this process uses them.
#[derive(Debug)]
pub(crate) struct Store {
    node: Node,
    quorum: Box<Quorum>,
    /// In the place of a quorum, if nothing is ratified.
    hints: Option<Box<Hints>>,
    rings: Option<mpsc::Receiver<Ring>>,
    nominations: Option<mpsc::UnboundedReceiver<Nomination>>,
    contends: bool,
    preempts: bool,
    /// Numbers of the terms that this process ended since it last rang.
    ended: Vec<(ElectionName, u64)>,
}

/// What a store is made of.
pub(super) struct Parts {
    pub(super) node: Node,
    pub(super) quorum: Quorum,
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
        let Parts { node, quorum, hints, rings, nominations, contends, preempts } = parts;
        let (rings, nominations) = (Some(rings), Some(nominations));
        let (quorum, hints) = (Box::new(quorum), hints.map(Box::new));
        let ended = Vec::new();
        Store { node, quorum, hints, rings, nominations, contends, preempts, ended }
    }

    /// Whether the voters have not all met yet, as at their first start.
    pub(crate) fn waits(&self) -> bool {
        self.hints.is_none() && !self.quorum.client().is_founded()
    }

    /// The way to the task of this node.
    pub(crate) const fn node(&self) -> &Node {
        &self.node
    }

    /// One short question.
    pub(super) async fn ask(&mut self) -> Result<(), Error> {
        self.quorum.read(vec![Key::Electorate]).await.map(drop)
    }

    /// The voters' clock.
    pub(super) async fn clock(&mut self) -> Result<StoreTime, Error> {
        self.quorum.read(vec![Key::Electorate]).await.map(|(_, now)| now)
    }

    /// Looks who votes, or changes it. Beside everything else, because it may take long: leases do not
    /// wait for it.
    pub(crate) fn voters(
        &self,
        ballot: Ballot,
    ) -> impl Future<Output = Result<Voters, Error>> + Send + 'static {
        let quorum = if self.hints.is_some() {
            let problem = "without ratification nobody votes".to_owned();
            Err(Error::Setting { setting: "voter", problem })
        } else {
            self.quorum.beside()
        };
        async move { voters::carry_out(quorum?, &ballot).await }
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
        self.quorum.client().asked()
    }

    /// Lets go of the peers.
    pub(crate) async fn close(self) {
        // What was said last is still to leave.
        self.node.close().await;
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
            renewed.extend(self.renew_some(some).await?);
        }
        Ok(renewed)
    }

    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error> {
        let Some(names) = names else {
            let every = self.elections().await?;
            let (mut sheets, now) = self.sheets(&every.iter().collect::<Vec<_>>()).await?;
            sheets.retain(|_, sheet| !sheet.is_forgotten());
            return Ok(snapshots(sheets.iter().map(|(name, sheet)| (name.clone(), sheet)), now));
        };
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
        self.write_ratified(names, decide).await
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
        self.call(lines, elections).await
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
        self.node.ring(std::mem::take(&mut self.ended));
    }
}

fn key(election: &ElectionName) -> Key {
    Key::Election(election.clone())
}

fn named(key: Key) -> Option<ElectionName> {
    match key {
        Key::Election(name) => Some(name),
        Key::Electorate => None,
    }
}

#[cfg(test)]
mod tests;
