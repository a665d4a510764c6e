//! Voters in memory, and the way to them.
//!
//! Assumes: a clock that stands while anybody has something to do.
//! Promises: what is said takes as long as the constants say, and nothing else takes any time.

use std::collections::BTreeMap;
use std::convert::Infallible;
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
use crate::peers::register::Registers;
use crate::peers::store::{Parts, Store};

/// How long it takes to ask a voter.
pub(super) const QUESTION: Duration = Duration::from_millis(1);

/// How long it takes to hear what it answers.
pub(super) const ANSWER: Duration = Duration::from_millis(1);

/// How long a value takes to reach it: longer, because there is more of it.
pub(super) const VALUE: Duration = Duration::from_millis(5);

type Voters = Arc<Mutex<BTreeMap<NodeId, Voter<Key, Value>>>>;

/// Three voters that were founded.
pub(super) struct Scene {
    electorate: Electorate,
    voters: Voters,
}

impl Scene {
    pub(super) fn new() -> Scene {
        let lineages: BTreeMap<_, _> =
            [1, 2, 3].map(|it| (NodeId::given(it), Lineage::drawn(it))).into();
        let electorate = Electorate::founded(lineages.clone()).confirmed();
        let voter = |(node, lineage)| (node, Voter::new(node, electorate.clone()).of(lineage));
        let voters = lineages.into_iter().map(voter).collect();
        Scene { voters: Arc::new(Mutex::new(voters)), electorate }
    }

    /// A process that reaches all of them. Its pauses depend on the number.
    pub(super) fn process(&self, incarnation: u128) -> Store {
        let (say, words) = mpsc::unbounded_channel();
        tokio::spawn(carry(words, Arc::clone(&self.voters)));
        let (node, me) = (Node::new(say), Incarnation::from_random(incarnation));
        let registers = Registers::new(node.clone(), self.electorate.clone(), BTreeMap::new(), me);
        let ((_, rings), (_, nominations)) = (mpsc::channel(1), mpsc::unbounded_channel());
        let (hints, contends, preempts) = (None, true, false);
        Store::new(Parts { node, registers, hints, rings, nominations, contends, preempts })
    }
}

/// Carries questions to the voters, and back what they answer. Nothing is lost on the way.
async fn carry(mut words: mpsc::UnboundedReceiver<Word>, voters: Voters) {
    while let Some(word) = words.recv().await {
        let Word::Question { to, message, answers, .. } = word else { continue };
        let Message::Ask { id, electorate, asks } = message else { continue };
        let proposes = asks.iter().any(|(_, ask)| matches!(ask, Ask::Accept(..)));
        let way = if proposes { VALUE } else { QUESTION };
        for node in to {
            let (asks, answers) = (asks.clone(), answers.clone());
            let (electorate, voters) = (electorate.clone(), Arc::clone(&voters));
            tokio::spawn(async move {
                sleep(way).await;
                let promise = voters
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_mut(&node)
                    .map(|voter| voter.handle(&electorate, asks));
                let Some(promise) = promise else { return };
                let Ok(replies) = promise.keep(|_| Ok::<(), Infallible>(()));
                sleep(ANSWER).await;
                // Whoever asked may have heard enough.
                let _ = answers.send((node, Message::Answer { id, now: clock::wall(), replies }));
            });
        }
    }
}
