//! Who votes, and how that is changed.
//!
//! Assumes: whoever waits gives up by dropping the future. A change that is given up half way is
//! completed by the next one.
//! Promises: voters come and go one at a time ([`incumbent_protocol::ratify::amend`]).

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::amend::{Change, Charter};
use incumbent_protocol::ratify::voter::Inventory;
use serde::Serialize;

use super::message::{Key, Message};
use super::node::Acquaintance;
use super::quorum::Quorum;
use crate::error::Error;

/// How long answers of voters are waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long a node that is to vote may take to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// After so long without a step a change of the voters is given up; the next one completes it.
pub(super) const STANDSTILL: Duration = Duration::from_secs(30);

/// Those who vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Voters {
    /// How often they were changed, counted from the first start.
    pub number: u64,
    /// Whether the last change is complete.
    pub settled: bool,
    /// How many of them must agree.
    pub majority: usize,
    /// Each of them.
    pub members: Vec<VoterStatus>,
}

/// One of those who vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VoterStatus {
    /// Its number: decimal if a person chose it, else the digest of its address.
    pub node: String,
    /// Where it listens, as far as this process knows.
    pub address: Option<String>,
    /// What its process is called, while it can be reached.
    pub name: Option<String>,
    /// Whether it can be reached from here.
    pub up: bool,
    /// Whether its file is not the one that the others count on: it does not vote until it was removed
    /// and added again.
    pub lost: bool,
}

/// What to do to the voters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ballot {
    /// Look who they are.
    Look,
    /// Add this node, by number, address or name.
    Add(String),
    /// Remove this one.
    Remove(String),
}

/// Looks who votes, or changes it. It may take as long as it likes while it gets on: each election
/// is written anew.
pub(super) async fn carry_out(mut quorum: Quorum, ballot: &Ballot) -> Result<Voters, Error> {
    // Whoever knows better who votes says so.
    within(quorum.read(vec![Key::Electorate])).await?;
    match ballot {
        Ballot::Look => {}
        Ballot::Add(who) => {
            let node = within(quorum.node_of(who)).await?;
            within(quorum.can_vote(node, who)).await?;
            quorum.amend(Change::Add(node)).await?;
        }
        Ballot::Remove(who) => {
            let node = within(quorum.node_of(who)).await?;
            quorum.amend(Change::Remove(node)).await?;
        }
    }
    let electorate = within(quorum.charter()).await?;
    Ok(quorum.voters(&electorate).await)
}

/// Waits for a part that is one or two questions.
async fn within<T>(part: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(STANDSTILL, part).await.unwrap_or(Err(Error::Timeout(STANDSTILL)))
}

impl Quorum {
    async fn voters(&mut self, electorate: &Electorate) -> Voters {
        let lost = self.lost().await;
        let known = self.node().acquaintances().await;
        let status = |voter: &NodeId| {
            let known = known.iter().find(|it| it.node == *voter);
            VoterStatus {
                node: voter.to_string(),
                address: known.and_then(|it| it.address.clone()),
                name: known.and_then(|it| it.name.clone()),
                up: known.is_some_and(|it| it.up),
                lost: lost.contains(voter),
            }
        };
        Voters {
            number: electorate.number(),
            settled: electorate.is_settled(),
            majority: electorate.majority(),
            members: electorate.voters().iter().map(status).collect(),
        }
    }

    /// Whether a node can keep promises: one that does not say which file it has would count as a
    /// voter and never vote.
    async fn can_vote(&self, node: NodeId, who: &str) -> Result<(), Error> {
        let electorate = self.client().electorate().clone();
        let mut inbox = self
            .node()
            .question(BTreeSet::from([node]), PATIENCE, |id| Message::Inventory { id, electorate });
        let answer = async {
            loop {
                match inbox.next().await {
                    (_, Message::Registers { inventory: Inventory::Outdated(_), .. }) => {}
                    (_, Message::Registers { .. }) => return,
                    _ => {}
                }
            }
        };
        tokio::time::timeout(ANSWER, answer).await.map_err(|_| Error::Setting {
            setting: "voter",
            problem: format!(
                "{who:?} does not say that it can vote: it must run, under an address that stays (me=HOST:PORT)"
            ),
        })
    }

    /// The node that a person means: by number, by address, or by the name of its process.
    async fn node_of(&self, who: &str) -> Result<NodeId, Error> {
        let known = self.node().acquaintances().await;
        let named = |it: &&Acquaintance| {
            it.node.to_string() == who
                || it.address.as_deref() == Some(who)
                || it.name.as_deref() == Some(who)
        };
        let found: Vec<_> = known.iter().filter(named).collect();
        let wrong = |problem: String| Err(Error::Setting { setting: "voter", problem });
        match found.as_slice() {
            [one] => Ok(one.node),
            [] => match who.parse() {
                Ok(node) => Ok(node),
                Err(_) => wrong(format!("{who:?} is none of the nodes that are listed or linked")),
            },
            _ => wrong(format!("{who:?} may be several nodes: give its address or number")),
        }
    }

    /// The electorate as its register shows it.
    pub(super) async fn charter(&mut self) -> Result<Electorate, Error> {
        let (values, _) = self.read(vec![Key::Electorate]).await?;
        let kept = values.iter().flatten().find_map(Charter::electorate);
        let known = self.client().electorate();
        Ok(kept.filter(|kept| kept.is_same(known)).unwrap_or(known).clone())
    }

    /// Those voters that answer and may not vote, because they have lost their file.
    pub(super) async fn lost(&self) -> BTreeSet<NodeId> {
        let (mut lost, mut heard) = (BTreeSet::new(), BTreeSet::new());
        let electorate = self.client().electorate().clone();
        let voters = electorate.voters().clone();
        let mut inbox = self
            .node()
            .question(voters.clone(), PATIENCE, |id| Message::Inventory { id, electorate });
        let all = async {
            while heard.len() < voters.len() {
                if let (from, Message::Registers { inventory, .. }) = inbox.next().await {
                    heard.insert(from);
                    if matches!(inventory, Inventory::NoVoter { .. }) {
                        lost.insert(from);
                    }
                }
            }
        };
        // Whoever is away says nothing.
        let _ = tokio::time::timeout(PATIENCE, all).await;
        lost
    }
}

pub(super) fn drawn() -> Result<Incarnation, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Error::Store(format!("the system gives no random numbers: {error}")))?;
    Ok(Incarnation::from_random(u128::from_le_bytes(bits)))
}
