//! This process among its peers: one task that hears everything and answers what it can by itself.
//!
//! Assumes: it is polled. What waits for the disk is the voter's affair ([`booth`](super::booth)).
//! Promises: it never waits for a peer. Every question has a number, and whoever put it hears every
//! answer to it until it stops listening.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::term::Term;
use tokio::sync::{mpsc, oneshot};

use super::message::Message;
use super::numbers::Numbers;
use super::way::Way;

/// After this long a question is put again at the latest: some wait for an answer without an end, and
/// what was dropped because much was to be said does not come by itself.
const PATIENCE_MAX: Duration = Duration::from_secs(1);

/// A handle on the task. It ends with the last one.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    words: mpsc::UnboundedSender<Word>,
    questions: Arc<AtomicU64>,
    numbers: Numbers,
}

/// What handles say to the task.
#[derive(Debug)]
pub(super) enum Word {
    /// Put this to these nodes, and pass on what they answer.
    Question { id: u64, to: BTreeSet<NodeId>, message: Message, answers: Answers },
    /// Put it again to those who did not answer.
    Again(u64),
    /// Nobody waits for answers any more.
    Forget(u64),
    /// The voter of this process says something to this process.
    Heard(Message),
    /// Everybody is to look; among other things these terms ended.
    Ring { ended: Vec<(ElectionName, u64)> },
    /// Others vote by now.
    Electorate(Electorate),
    /// How this process takes part in an election; not at all if there is nothing.
    Takes { election: ElectionName, part: Option<Part> },
    /// Let what was said leave, and stop.
    Close { done: oneshot::Sender<()> },
    /// Who was picked in an election.
    Nominee { election: ElectionName, done: oneshot::Sender<Option<CandidateId>> },
    /// Who is known, with what is known of them.
    Acquaintances { done: oneshot::Sender<Vec<Acquaintance>> },
    /// How many voters can be reached.
    Reach { done: oneshot::Sender<Reach> },
}

/// How a process takes part in an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Whether it would take a term.
    pub(crate) eligible: bool,
    /// Who leads, as far as it can see.
    pub(crate) leader: Option<CandidateId>,
    /// In which term.
    pub(crate) term: Option<Term>,
}

/// Whether this process is the one to bid in an election.
#[derive(Clone, Debug)]
pub(crate) struct Nomination {
    pub(crate) election: ElectionName,
    pub(crate) mine: bool,
}

/// A node that this one knows.
#[derive(Clone, Debug)]
pub(super) struct Acquaintance {
    pub(super) node: NodeId,
    pub(super) address: Option<String>,
    pub(super) name: Option<String>,
    /// How it picks leaders, if it does and said so.
    pub(super) way: Option<Way>,
    pub(super) up: bool,
}

/// Who of the voters can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reach {
    /// How many of them can.
    pub up: usize,
    /// How many there are.
    pub voters: usize,
    /// How many are needed: a majority, and at the first start ever all of them.
    pub needed: usize,
    /// The addresses of the others.
    pub missing: Vec<String>,
    /// Those of the missing at which a process has another secret.
    pub strange: Vec<String>,
    /// Numbers that two processes have at once, with the names and addresses of both.
    pub twins: Vec<String>,
}

pub(super) type Answers = mpsc::UnboundedSender<(NodeId, Message)>;

impl Node {
    pub(super) fn new(words: mpsc::UnboundedSender<Word>, numbers: Numbers) -> Node {
        // From a random start: the answers of a former life must not be taken for this one's.
        Node { words, questions: Arc::new(AtomicU64::new(drawn_number() >> 1)), numbers }
    }

    /// What operators watch.
    pub(super) const fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The number of the first question of a quorum client. Those of two clients lie far apart, and
    /// the answers of a former life are not taken for this one's.
    pub(super) fn first_question(&self) -> u64 {
        drawn_number() ^ self.questions.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a question to these nodes, for the first time or again.
    pub(super) fn put(&self, id: u64, to: BTreeSet<NodeId>, message: Message, answers: Answers) {
        self.say(Word::Question { id, to, message, answers });
    }

    /// Nobody waits for answers to this question any more.
    pub(super) fn forget(&self, id: u64) {
        self.say(Word::Forget(id));
    }

    /// Puts a question to these nodes.
    pub(super) fn question(
        &self,
        to: BTreeSet<NodeId>,
        patience: Duration,
        message: impl FnOnce(u64) -> Message,
    ) -> Inbox {
        let id = self.questions.fetch_add(1, Ordering::Relaxed);
        let (answers, inbox) = mpsc::unbounded_channel();
        self.put(id, to, message(id), answers);
        Inbox { id, node: self.clone(), answers: inbox, patience }
    }

    /// Wakes everybody who waits, and tells which terms ended.
    pub(super) fn ring(&self, ended: Vec<(ElectionName, u64)>) {
        self.say(Word::Ring { ended });
    }

    /// Others vote by now.
    pub(super) fn electorate(&self, electorate: &Electorate) {
        self.say(Word::Electorate(electorate.clone()));
    }

    /// Says how this process takes part in an election.
    pub(crate) fn takes(&self, election: &ElectionName, part: Option<Part>) {
        self.say(Word::Takes { election: election.clone(), part });
    }

    /// Who was picked in an election, as far as this process knows.
    pub(super) async fn nominee(&self, election: &ElectionName) -> Option<CandidateId> {
        let (done, nominee) = oneshot::channel();
        self.say(Word::Nominee { election: election.clone(), done });
        nominee.await.ok().flatten()
    }

    /// Everybody who is listed or linked.
    pub(super) async fn acquaintances(&self) -> Vec<Acquaintance> {
        let (done, known) = oneshot::channel();
        self.say(Word::Acquaintances { done });
        known.await.unwrap_or_default()
    }

    /// Who of the voters can be reached; `None` if the task is gone.
    pub(crate) async fn reach(&self) -> Option<Reach> {
        let (done, reach) = oneshot::channel();
        self.say(Word::Reach { done });
        reach.await.ok()
    }

    /// Lets what was said leave, and stops the task for all handles.
    pub(super) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        self.say(Word::Close { done });
        let _ = closed.await;
    }

    /// A way to the task that does not keep it alive.
    pub(super) fn downgrade(&self) -> mpsc::WeakUnboundedSender<Word> {
        self.words.downgrade()
    }

    fn say(&self, word: Word) {
        // The task ends only after the last handle.
        let _ = self.words.send(word);
    }
}

/// Where the answers to a question arrive.
#[derive(Debug)]
pub(super) struct Inbox {
    id: u64,
    node: Node,
    answers: mpsc::UnboundedReceiver<(NodeId, Message)>,
    patience: Duration,
}

impl Inbox {
    /// The next answer. When none comes for a while, the question is put again to the others, later
    /// each time: whoever does not answer may have too much to do already.
    pub(super) async fn next(&mut self) -> (NodeId, Message) {
        loop {
            match tokio::time::timeout(self.patience, self.answers.recv()).await {
                Ok(Some(answer)) => return answer,
                // The task is gone: whoever waits gives up by itself.
                Ok(None) => std::future::pending().await,
                Err(_) => {
                    self.patience = (self.patience * 2).min(PATIENCE_MAX);
                    self.node.say(Word::Again(self.id));
                }
            }
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.node.forget(self.id);
    }
}

fn drawn_number() -> u64 {
    let mut bits = [0; 8];
    let _ = getrandom::fill(&mut bits);
    u64::from_le_bytes(bits)
}
