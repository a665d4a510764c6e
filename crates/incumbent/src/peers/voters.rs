//! Who votes, and how that is changed.
//!
//! Assumes: whoever waits gives up by dropping the future. A change that is given up half way is
//! completed by the next one.
//! Promises: voters come and go one at a time ([`incumbent_protocol::ratify::amend`]).

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::amend::{Amendment, Answer, Change, Charter, Move, Question};
use incumbent_protocol::ratify::voter::Inventory;
use serde::Serialize;

use super::message::{Key, Message};
use super::node::{Acquaintance, Inbox};
use super::register::Registers;
use crate::error::Error;

/// How long an answer is waited for before one goes on with fewer.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long a node that is to vote may take to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// After so long without a step a change of the voters is given up; the next one completes it.
const STANDSTILL: Duration = Duration::from_secs(30);

/// How long two who change the voters at once keep out of each other's way.
const PAUSE: Duration = Duration::from_millis(20);

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
pub(super) async fn carry_out(registers: Registers, ballot: &Ballot) -> Result<Voters, Error> {
    let steps = AtomicU64::new(0);
    while_it_gets_on(STANDSTILL, &steps, work(registers, ballot, &steps)).await
}

/// Waits for some work, unless no step of it is taken for so long.
async fn while_it_gets_on<T>(
    limit: Duration,
    steps: &AtomicU64,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut work = pin!(work);
    loop {
        let before = steps.load(Ordering::Relaxed);
        match tokio::time::timeout(limit, &mut work).await {
            Ok(done) => return done,
            Err(_) if steps.load(Ordering::Relaxed) == before => return Err(Error::Timeout(limit)),
            Err(_) => {}
        }
    }
}

async fn work(
    mut registers: Registers,
    ballot: &Ballot,
    steps: &AtomicU64,
) -> Result<Voters, Error> {
    // Whoever knows better who votes says so.
    registers.read(&[Key::Electorate]).await?;
    match ballot {
        Ballot::Look => {}
        Ballot::Add(who) => {
            let node = registers.node_of(who).await?;
            registers.can_vote(node, who).await?;
            registers.amend(Change::Add(node), steps).await?;
        }
        Ballot::Remove(who) => {
            let node = registers.node_of(who).await?;
            registers.amend(Change::Remove(node), steps).await?;
        }
    }
    let electorate = registers.charter().await?;
    Ok(registers.voters(&electorate).await)
}

impl Registers {
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
        let electorate = self.electorate().clone();
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

    /// Carries out a change of the voters, and whatever was left half done before it. Counts the steps
    /// that got it on.
    async fn amend(&mut self, change: Change, steps: &AtomicU64) -> Result<Electorate, Error> {
        self.found().await?;
        let me = drawn()?;
        let mut amendment = Amendment::new(me, Key::Electorate, self.electorate().clone(), change);
        let mut furthest = amendment.progress();
        loop {
            let Some((serial, question)) = amendment.question() else {
                return Err(Error::Store("the change of the voters came to no end".to_owned()));
            };
            let mut inbox = self.put_to(&amendment, question);
            let mut step = Move::Wait;
            while step == Move::Wait {
                step = match tokio::time::timeout(PATIENCE, inbox.next()).await {
                    Ok((from, message)) => hear(&mut amendment, from, serial, message),
                    Err(_) => amendment.go_on(),
                };
            }
            if amendment.progress() > furthest {
                furthest = amendment.progress();
                steps.fetch_add(1, Ordering::Relaxed);
            }
            match step {
                Move::Wait | Move::Ask => {}
                Move::Contended => tokio::time::sleep(PAUSE).await,
                Move::Done(electorate) => {
                    self.adopt(electorate.clone())?;
                    return Ok(electorate);
                }
                Move::Refused(why) => {
                    return Err(Error::Setting { setting: "voter", problem: why.to_string() });
                }
            }
        }
    }

    /// The electorate as its register shows it.
    pub(super) async fn charter(&mut self) -> Result<Electorate, Error> {
        let (values, _) = self.read(&[Key::Electorate]).await?;
        let kept = values.iter().flatten().find_map(Charter::electorate);
        let kept = kept.filter(|kept| kept.is_same(self.electorate()));
        Ok(kept.unwrap_or(self.electorate()).clone())
    }

    /// Those voters that answer and may not vote, because they have lost their file.
    pub(super) async fn lost(&self) -> BTreeSet<NodeId> {
        let (mut lost, mut heard) = (BTreeSet::new(), BTreeSet::new());
        let mut inbox = self.node().inventory(self.electorate(), PATIENCE);
        let all = async {
            while heard.len() < self.electorate().voters().len() {
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

    fn put_to(
        &self,
        amendment: &Amendment<Key, super::message::Value>,
        question: Question<Key, super::message::Value>,
    ) -> Inbox {
        let electorate = amendment.electorate().clone();
        self.node().question(amendment.whom(), PATIENCE / 4, |id| match question {
            Question::List => Message::Inventory { id, electorate },
            Question::Asks(asks) => Message::Ask { id, electorate, asks },
        })
    }
}

fn hear(
    amendment: &mut Amendment<Key, super::message::Value>,
    from: NodeId,
    serial: u64,
    message: Message,
) -> Move {
    match message {
        Message::Registers { inventory, .. } => {
            amendment.hear(from, serial, Answer::Inventory(inventory))
        }
        Message::Answer { replies, .. } => amendment.hear(from, serial, Answer::Replies(replies)),
        _ => Move::Wait,
    }
}

pub(super) fn drawn() -> Result<Incarnation, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Error::Store(format!("the system gives no random numbers: {error}")))?;
    Ok(Incarnation::from_random(u128::from_le_bytes(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_that_gets_on_may_take_long_and_work_that_stands_still_may_not() {
        let steps = AtomicU64::new(0);
        let work = async {
            for _ in 0..100 {
                tokio::time::sleep(STANDSTILL / 2).await;
                steps.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        while_it_gets_on(STANDSTILL, &steps, work).await.expect("it gets on");
        let idle = while_it_gets_on::<()>(STANDSTILL, &steps, std::future::pending()).await;
        assert!(matches!(idle, Err(Error::Timeout(_))), "{idle:?}");
    }
}
