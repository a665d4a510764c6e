//! Voters in memory, and the way to them.
//!
//! Assumes: a clock that stands while anybody has something to do.
//! Promises: what is said takes as long as the constants say, and nothing else takes any time.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::electorate::Lineage;
use incumbent_protocol::ratify::{Ask, Electorate, Voter};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::clock;
use crate::peers::message::{Key, Message, Value};
use crate::peers::node::{Node, Word};
use crate::peers::numbers::Numbers;
use crate::peers::quorum::Quorum;
use crate::peers::store::{Parts, Store};

/// How long it takes to ask a voter.
pub(super) const QUESTION: Duration = Duration::from_millis(1);

/// How long it takes to hear what it answers.
pub(super) const ANSWER: Duration = Duration::from_millis(1);

/// How long a value takes to reach it: longer, because there is more of it.
pub(super) const VALUE: Duration = Duration::from_millis(5);

type Voters = Arc<Mutex<BTreeMap<NodeId, Voter<Key, Value>>>>;

/// Three voters.
pub(super) struct Scene {
    electorate: Electorate,
    voters: Voters,
    /// Whether values reach the first voter alone.
    cut: Arc<AtomicBool>,
}

impl Scene {
    /// They were founded, and everybody knows it.
    pub(super) fn new() -> Scene {
        let disks = [1, 2, 3];
        Scene::of(disks, founded(disks).confirmed())
    }

    /// They have these disks, and nobody knows more than who is to vote.
    pub(super) fn unfounded(disks: [u128; 3]) -> Scene {
        Scene::of(disks, Electorate::first([1, 2, 3].map(NodeId::given)))
    }

    fn of(disks: [u128; 3], electorate: Electorate) -> Scene {
        let voter = |(node, lineage)| (node, Voter::new(node, electorate.clone()).of(lineage));
        let voters = lineages(disks).into_iter().map(voter).collect();
        Scene { voters: Arc::new(Mutex::new(voters)), electorate, cut: Arc::default() }
    }

    /// From now on values reach the first voter alone, or all of them.
    pub(super) fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }

    /// These voters come to keep an electorate.
    pub(super) fn keep(&self, voters: &[u128], electorate: &Electorate) {
        let mut all = self.voters.lock().unwrap_or_else(PoisonError::into_inner);
        for node in voters {
            let voter = all.get_mut(&NodeId::given(*node)).expect("a voter");
            let Ok(_) = voter.list(electorate).keep(|_| Ok::<(), Infallible>(()));
        }
    }

    /// A process that reaches all of them. Its pauses depend on the number.
    pub(super) fn process(&self, incarnation: u128) -> Store {
        self.process_reaching(incarnation, &[1, 2, 3])
    }

    /// A process that reaches these voters only.
    pub(super) fn process_reaching(&self, incarnation: u128, reached: &[u128]) -> Store {
        let (say, words) = mpsc::unbounded_channel();
        let reached: Vec<NodeId> = reached.iter().copied().map(NodeId::given).collect();
        tokio::spawn(carry(words, Arc::clone(&self.voters), Arc::clone(&self.cut), reached));
        let (node, me) =
            (Node::new(say, Numbers::default()), Incarnation::from_random(incarnation));
        let quorum = Quorum::new(node.clone(), self.electorate.clone(), BTreeMap::new(), me);
        let ((_, rings), (_, nominations)) = (mpsc::channel(1), mpsc::unbounded_channel());
        let (hints, contends, preempts) = (None, true, false);
        Store::new(Parts { node, quorum, hints, rings, nominations, contends, preempts })
    }
}

/// The first electorate of voters with these disks.
pub(super) fn founded(disks: [u128; 3]) -> Electorate {
    Electorate::founded(lineages(disks))
}

fn lineages(disks: [u128; 3]) -> BTreeMap<NodeId, Lineage> {
    let nodes = [1, 2, 3].map(NodeId::given);
    nodes.into_iter().zip(disks.map(Lineage::drawn)).collect()
}

/// Carries questions to the voters, and back what they answer. Nothing else is lost on the way than
/// the values that are cut off.
async fn carry(
    mut words: mpsc::UnboundedReceiver<Word>,
    voters: Voters,
    cut: Arc<AtomicBool>,
    reached: Vec<NodeId>,
) {
    while let Some(word) = words.recv().await {
        let Word::Question { to, message, answers, .. } = word else { continue };
        let (first, cut) = (NodeId::given(1), cut.load(Ordering::Relaxed));
        let lost = |node: &NodeId| {
            !reached.contains(node) || (cut && *node != first && way(&message) == VALUE)
        };
        for node in to.into_iter().filter(|node| !lost(node)) {
            let (message, answers) = (message.clone(), answers.clone());
            let voters = Arc::clone(&voters);
            tokio::spawn(async move {
                sleep(way(&message)).await;
                let answer = voters
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_mut(&node)
                    .and_then(|voter| answer(voter, message));
                let Some(answer) = answer else { return };
                sleep(ANSWER).await;
                // Whoever asked may have heard enough.
                let _ = answers.send((node, answer));
            });
        }
    }
}

fn way(message: &Message) -> Duration {
    match message {
        Message::Ask { asks, .. } if asks.iter().any(|it| matches!(it.1, Ask::Accept(..))) => VALUE,
        _ => QUESTION,
    }
}

fn answer(voter: &mut Voter<Key, Value>, message: Message) -> Option<Message> {
    match message {
        Message::Ask { id, electorate, asks } => {
            let promise = voter.handle(&electorate, asks);
            let Ok(replies) = promise.keep(|_| Ok::<(), Infallible>(()));
            Some(Message::Answer { id, now: clock::wall(), replies })
        }
        Message::Inventory { id, electorate } => {
            let promise = voter.list(&electorate);
            let Ok(inventory) = promise.keep(|_| Ok::<(), Infallible>(()));
            Some(Message::Registers { id, inventory })
        }
        _ => None,
    }
}
