//! The quorum client at work: moves questions to the node, answers back, and waits in between.
//!
//! Assumes: a caller that waits too long drops the future. What that operation proposed may still be
//! chosen.
//! Promises: nothing is decided here: [`QuorumClient`] says what to ask, when to ask again, and what
//! the answers mean.

use std::collections::BTreeMap;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::quorum::{
    Answer, Effect, Input, Notice, Operation, Question, QuorumClient, Written,
};
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::amend::Change;
use incumbent_protocol::time::{StoreTime, Time};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::message::{Key, Message, Value};
use super::node::{Answers, Node};
use super::voters::{STANDSTILL, drawn};
use crate::clock;
use crate::error::Error;

/// The registers of a quorum, as this process uses them.
#[derive(Debug)]
pub(super) struct Quorum {
    node: Node,
    client: QuorumClient<Key, Value>,
    /// Where the nodes of the list are.
    names: BTreeMap<NodeId, String>,
    began: Instant,
    answers: Answers,
    heard: mpsc::UnboundedReceiver<(NodeId, Message)>,
    /// The question whose answers come here.
    open: Option<u64>,
}

impl Quorum {
    pub(super) fn new(
        node: Node,
        electorate: Electorate,
        names: BTreeMap<NodeId, String>,
        me: Incarnation,
    ) -> Self {
        let client = QuorumClient::new(me, Key::Electorate, electorate, node.first_question());
        Quorum::of(node, client, names)
    }

    fn of(node: Node, client: QuorumClient<Key, Value>, names: BTreeMap<NodeId, String>) -> Self {
        let (answers, heard) = mpsc::unbounded_channel();
        Quorum { node, client, names, began: Instant::now(), answers, heard, open: None }
    }

    /// The same registers for another proposer of this process.
    pub(super) fn beside(&self) -> Result<Quorum, Error> {
        let client = self.client.beside(drawn()?, self.node.first_question());
        Ok(Quorum::of(self.node.clone(), client, self.names.clone()))
    }

    pub(super) const fn client(&self) -> &QuorumClient<Key, Value> {
        &self.client
    }

    pub(super) const fn node(&self) -> &Node {
        &self.node
    }

    /// The voters' clock, as far as this process can tell.
    pub(super) fn now(&self) -> StoreTime {
        self.client.now(clock::wall())
    }

    /// The values of these registers, and the voters' clock.
    pub(super) async fn read(
        &mut self,
        keys: Vec<Key>,
    ) -> Result<(Vec<Option<Value>>, StoreTime), Error> {
        self.begin(Operation::Read(keys));
        match self.next().await? {
            Notice::Read { values, now } => Ok((values, now)),
            other => Err(odd(&other)),
        }
    }

    /// Every register that a majority knows of.
    pub(super) async fn list(&mut self) -> Result<Vec<Key>, Error> {
        self.begin(Operation::List);
        match self.next().await? {
            Notice::Listed(keys) => Ok(keys),
            other => Err(odd(&other)),
        }
    }

    /// Changes registers once, as `decide` says of what they hold.
    pub(super) async fn write<T>(
        &mut self,
        keys: Vec<Key>,
        at_once: bool,
        decide: impl FnOnce(
            Vec<(Key, Option<Value>)>,
            StoreTime,
        ) -> Result<(Vec<Option<Value>>, T), Error>,
    ) -> Result<(Written<Key, Value>, T), Error> {
        self.begin(Operation::Write { keys, at_once });
        let (shown, now) = match self.next().await? {
            Notice::Decide { shown, now } => (shown, now),
            other => return Err(odd(&other)),
        };
        let (values, decided) = decide(shown, now)?;
        self.handle(Input::Decided(values));
        match self.next().await? {
            Notice::Written(written) => Ok((written, decided)),
            other => Err(odd(&other)),
        }
    }

    /// Changes registers as `decide` says of what they hold, until it is known for each whether it was
    /// changed. Names those that were.
    pub(super) async fn renew(
        &mut self,
        keys: Vec<Key>,
        decide: impl Fn(&Key, Option<&Value>, StoreTime) -> Result<Option<Value>, Error>,
    ) -> Result<Vec<Key>, Error> {
        self.begin(Operation::Renew(keys));
        loop {
            match self.next().await? {
                Notice::Decide { shown, now } => {
                    let values = shown.iter().map(|(key, value)| decide(key, value.as_ref(), now));
                    let values = values.collect::<Result<_, _>>()?;
                    self.handle(Input::Decided(values));
                }
                Notice::Renewed(keys) => return Ok(keys),
                other => return Err(odd(&other)),
            }
        }
    }

    /// Changes the voters, and completes whatever was left half done before it. Gives up when it has
    /// not got any further for long.
    pub(super) async fn amend(&mut self, change: Change) -> Result<Electorate, Error> {
        self.begin(Operation::Amend { me: drawn()?, change });
        let mut furthest = self.client.progress();
        loop {
            let Ok(notice) = timeout(STANDSTILL, self.next()).await else {
                let progress = self.client.progress();
                if progress <= furthest {
                    return Err(Error::Timeout(STANDSTILL));
                }
                furthest = progress;
                continue;
            };
            return match notice? {
                Notice::Amended(Ok(electorate)) => Ok(electorate),
                Notice::Amended(Err(why)) => {
                    Err(Error::Setting { setting: "voter", problem: why.to_string() })
                }
                other => Err(odd(&other)),
            };
        }
    }

    fn begin(&mut self, operation: Operation<Key>) {
        self.handle(Input::Begin { wall: clock::wall(), operation });
    }

    fn handle(&mut self, input: Input<Key, Value>) {
        self.client.handle(self.time(), input);
        while let Some(effect) = self.client.poll_effect() {
            self.put(effect);
        }
    }

    fn put(&mut self, effect: Effect<Key, Value>) {
        let Effect { id, to, electorate, question } = effect;
        if self.open != Some(id) {
            self.forget();
            self.open = Some(id);
        }
        let message = match question {
            Question::Registers(asks) => Message::Ask { id, electorate, asks },
            Question::Inventory => Message::Inventory { id, electorate },
        };
        self.node.put(id, to, message, self.answers.clone());
    }

    fn forget(&mut self) {
        if let Some(id) = self.open.take() {
            self.node.forget(id);
        }
    }

    /// The next thing that the client wants known to its caller.
    async fn next(&mut self) -> Result<Notice<Key, Value>, Error> {
        loop {
            while let Some(notice) = self.client.poll_notice() {
                match notice {
                    Notice::Proposed(fates) => self.node.numbers().proposals(&fates),
                    Notice::Voters { before, after } => {
                        self.compare(&before, &after);
                        self.node.electorate(&after);
                    }
                    Notice::Stranger(electorate) => tracing::warn!(
                        voters = self.list_of(&electorate),
                        "a node votes in another cluster and is left alone: did its file come from there?"
                    ),
                    Notice::Differs(electorate) => return Err(self.differs(&electorate)),
                    notice => return Ok(notice),
                }
            }
            let wake = self.client.wake_at().map(|at| self.began + at.since(Time::ZERO));
            let input = tokio::select! {
                Some((from, message)) = self.heard.recv() => match heard(from, message) {
                    Some(input) => input,
                    None => continue,
                },
                () = until(wake) => Input::Wake,
            };
            self.handle(input);
        }
    }

    /// The time on the clock that its waits run on.
    fn time(&self) -> Time {
        Time::ZERO + self.began.elapsed()
    }

    fn differs(&self, electorate: &Electorate) -> Error {
        let mine = self.list_of(self.client.electorate());
        let theirs = self.list_of(electorate);
        let problem = format!(
            "this process counts {mine} as voters, another one {theirs}: give all of them the same list of peers; \
             voters that were started before are changed by `incumbent voters add` and `remove`"
        );
        Error::Open { place: "the peers".to_owned(), problem }
    }

    /// Tells if others vote than before.
    fn compare(&self, before: &Electorate, after: &Electorate) {
        let number = after.number();
        if before.voters() == after.voters() {
            tracing::debug!(number, "the same voters");
        } else if before.number() == 0 {
            tracing::warn!(
                voters = self.list_of(after),
                listed = self.list_of(before),
                "others vote than the list of peers names: those who vote count; correct the list"
            );
        } else {
            tracing::info!(number, voters = self.list_of(after), "other voters");
        }
    }

    /// The voters, for people: by their addresses as far as they are known here.
    fn list_of(&self, electorate: &Electorate) -> String {
        let name = |node: &NodeId| self.names.get(node).cloned().unwrap_or(node.to_string());
        electorate.voters().iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

impl Drop for Quorum {
    fn drop(&mut self) {
        self.forget();
    }
}

fn heard(from: NodeId, message: Message) -> Option<Input<Key, Value>> {
    let (id, answer) = match message {
        Message::Answer { id, now, replies } => (id, Answer::Replies { now, replies }),
        Message::Registers { id, inventory } => (id, Answer::Inventory(inventory)),
        _ => return None,
    };
    Some(Input::Heard { from, id, wall: clock::wall(), answer })
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

/// Operations end as the client promises.
fn odd(notice: &Notice<Key, Value>) -> Error {
    Error::Store(format!("an operation on registers ended with {notice:?}"))
}

#[cfg(test)]
impl Quorum {
    pub(super) const fn client_mut(&mut self) -> &mut QuorumClient<Key, Value> {
        &mut self.client
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::numbers::Numbers;

    #[tokio::test(start_paused = true)]
    async fn a_change_of_the_voters_that_stands_still_is_given_up() {
        let (say, _words) = mpsc::unbounded_channel();
        let [one, two] = [1, 2].map(NodeId::given);
        let (me, node) = (Incarnation::from_random(7), Node::new(say, Numbers::default()));
        let mut quorum = Quorum::new(node, Electorate::first([one]), BTreeMap::new(), me);
        let asked = Instant::now();
        let amended = quorum.amend(Change::Add(two)).await;
        assert!(matches!(amended, Err(Error::Timeout(STANDSTILL))), "{amended:?}");
        assert!(asked.elapsed() >= STANDSTILL && asked.elapsed() < STANDSTILL * 2);
    }
}
