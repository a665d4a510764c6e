//! Elections kept by a quorum, as one simulated process uses them: one task at a time.
//!
//! Assumes: what it wants sent is sent or lost, and it gets its turn when it asks for one.
//! Promises: what `incumbent`'s `peers/quorum.rs` and `peers/store.rs` do around the same
//! [`QuorumClient`]: they hand operations to it, decide on what it shows as a database would inside a
//! transaction, and give up what takes too long. Nothing is known of that then.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::page::Page;
use incumbent_protocol::lease::request::{Denied, Done, Refusal, Request};
use incumbent_protocol::lease::row::{Snapshot, State};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::quorum::elections::is_held_by;
use incumbent_protocol::quorum::{
    Answer, Input, Notice, Operation, Question, QuorumClient, Written,
};
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::amend::Change;
use incumbent_protocol::time::{StoreTime, Time};

use super::words::{Key, Message, Value};

/// What a process's clocks show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    pub(super) local: Time,
    pub(super) wall: StoreTime,
}

/// What became of one request.
type Fate = Outcome<Done, Denied>;

/// What one candidacy asks.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) election: u8,
    pub(super) ticket: Ticket,
    pub(super) request: Request,
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Task {
    /// What candidacies ask, of one kind.
    Round(Vec<Ask>),
    /// What an operator orders in an election.
    Order(u8, Order, Papers),
    /// A look at what operators have in force in an election.
    Look(u8),
    /// A change of the voters, under an incarnation of its own.
    Amend(Incarnation, Change),
}

/// What came of it.
#[expect(clippy::large_enum_variant, reason = "answers are the common case and are moved once")]
#[derive(Debug)]
pub(super) enum Finished {
    Request(u8, Ticket, Fate),
    /// Whether it was carried out, as far as anybody knows.
    Order(bool),
    /// What is in force, if that could be seen.
    Looked(u8, Option<Controls>),
    Amend(bool),
}

/// A process's way to the registers, or an operator's.
#[derive(Debug)]
pub(super) struct Store {
    client: QuorumClient<Key, Value>,
    task: Option<(Task, Time)>,
    /// What a write decided, and is true once it is chosen.
    decided: Decided,
    sends: VecDeque<(NodeId, Message)>,
    finished: VecDeque<Finished>,
    /// What to say to everybody, once something was written that they should look at.
    rings: Option<Message>,
    /// The terms that this process ended since it last rang.
    ended: Vec<(u8, u64)>,
    /// What was in force on the page that the last claim was decided on, by election.
    pub(super) in_force: BTreeMap<u8, Controls>,
    /// Whether it met another voter set of the same number, which must never be.
    pub(super) unlike: bool,
}

#[derive(Debug, Default)]
struct Decided {
    answers: Vec<Finished>,
    ended: Vec<(u8, u64)>,
    changes: bool,
}

impl Store {
    pub(super) fn new(me: Incarnation, electorate: &Electorate, first: u64) -> Self {
        let client = QuorumClient::new(me, Key::Electorate, electorate.clone(), first >> 1);
        Store::of(client)
    }

    /// For another proposer, which knows as much of the voters.
    pub(super) fn beside(&self, me: Incarnation, first: u64) -> Self {
        Store::of(self.client.beside(me, first >> 1))
    }

    const fn of(client: QuorumClient<Key, Value>) -> Self {
        Store {
            client,
            task: None,
            decided: Decided { answers: Vec::new(), ended: Vec::new(), changes: false },
            sends: VecDeque::new(),
            finished: VecDeque::new(),
            rings: None,
            ended: Vec::new(),
            in_force: BTreeMap::new(),
            unlike: false,
        }
    }

    pub(super) const fn client(&self) -> &QuorumClient<Key, Value> {
        &self.client
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Begins a task. There must be no other.
    pub(super) fn begin(&mut self, now: Clocks, deadline: Time, task: Task) {
        let operation = match &task {
            Task::Round(asks) => self.operation(asks),
            Task::Order(election, ..) => self.write(vec![Key::Election(*election)]),
            Task::Look(election) => Operation::Read(vec![Key::Election(*election)]),
            Task::Amend(me, change) => Operation::Amend { me: *me, change: *change },
        };
        self.task = Some((task, deadline));
        self.operate(now, operation);
    }

    fn operation(&self, asks: &[Ask]) -> Operation<Key> {
        let keys = asks.iter().map(|ask| Key::Election(ask.election)).collect();
        match asks.first().map(|ask| &ask.request) {
            Some(Request::Renew(_)) => Operation::Renew(keys),
            Some(Request::Resign(_)) => self.write(keys),
            _ => Operation::Read(keys),
        }
    }

    fn write(&self, keys: Vec<Key>) -> Operation<Key> {
        let leads = |key: &Key| {
            let known = self.client.known(key);
            known.is_some_and(|it| is_held_by(&Value::page(Some(it)), self.client.me()))
        };
        let at_once = keys.iter().all(leads);
        Operation::Write { keys, at_once }
    }

    fn operate(&mut self, now: Clocks, operation: Operation<Key>) {
        self.handle(now, Input::Begin { wall: now.wall, operation });
    }

    /// When it wants its turn.
    pub(super) fn wake_at(&self) -> Option<Time> {
        let (_, deadline) = self.task.as_ref()?;
        self.client.wake_at().into_iter().chain([*deadline]).min()
    }

    /// Time has passed.
    pub(super) fn wake(&mut self, now: Clocks) {
        match &self.task {
            Some((_, deadline)) if *deadline <= now.local => self.give_up(now),
            Some(_) => self.handle(now, Input::Wake),
            None => {}
        }
    }

    /// Takes an answer.
    pub(super) fn hear(&mut self, now: Clocks, from: NodeId, message: Message) {
        let (id, answer) = match message {
            Message::Answer { id, now, replies } => (id, Answer::Replies { now, replies }),
            Message::Registers { id, inventory } => (id, Answer::Inventory(inventory)),
            _ => return,
        };
        self.handle(now, Input::Heard { from, id, wall: now.wall, answer });
    }

    pub(super) fn poll_send(&mut self) -> Option<(NodeId, Message)> {
        self.sends.pop_front()
    }

    pub(super) fn poll_finished(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// What to say to everybody, if they should look.
    pub(super) const fn take_ring(&mut self) -> Option<Message> {
        self.rings.take()
    }

    fn handle(&mut self, now: Clocks, input: Input<Key, Value>) {
        self.client.handle(now.local, input);
        while let Some(effect) = self.client.poll_effect() {
            let (id, electorate) = (effect.id, Rc::new(effect.electorate));
            let message = match effect.question {
                Question::Registers(asks) => Message::Ask { id, electorate, asks: Rc::new(asks) },
                Question::Inventory => Message::Inventory { id, electorate },
            };
            self.sends.extend(effect.to.into_iter().map(|to| (to, message.clone())));
        }
        while let Some(notice) = self.client.poll_notice() {
            self.told(now, notice);
        }
    }

    fn told(&mut self, now: Clocks, notice: Notice<Key, Value>) {
        match notice {
            Notice::Decide { shown, now: theirs } => {
                let values = self.decide(&shown, theirs);
                self.handle(now, Input::Decided(values));
            }
            Notice::Read { values, now: theirs } => self.seen(now, &values, theirs),
            Notice::Renewed(keys) => self.renewed(&keys),
            Notice::Written(written) => self.written(now, &written),
            Notice::Amended(amended) => self.finish([Finished::Amend(amended.is_ok())]),
            Notice::Stranger(other) => {
                self.unlike |= other.number() == self.client.electorate().number();
            }
            Notice::Differs(_) => self.give_up(now),
            Notice::Listed(_) | Notice::Voters { .. } | Notice::Proposed(_) => {}
        }
    }

    /// A plain read has shown this: the answers to looks, and to bids that are hopeless. The others are
    /// decided again.
    fn seen(&mut self, now: Clocks, values: &[Option<Value>], theirs: StoreTime) {
        let Some((Task::Round(asks), _)) = &mut self.task else {
            let controls = Value::page(values.first().and_then(Option::as_ref)).controls.clone();
            let Some((Task::Look(election), _)) = &self.task else { return };
            return self.finish([Finished::Looked(*election, Some(controls))]);
        };
        let mut promising = Vec::new();
        for (ask, value) in core::mem::take(asks).into_iter().zip(values) {
            let snapshot = Value::page(value.as_ref()).snapshot(theirs);
            let fate = match &ask.request {
                Request::Bid(bid) => match bid.decide(&snapshot) {
                    Ok(_) => {
                        promising.push(ask);
                        continue;
                    }
                    Err(refusal) => denied(refusal, Some(snapshot)),
                },
                _ => Outcome::Committed(Done::Looked(snapshot)),
            };
            self.finished.push_back(Finished::Request(ask.election, ask.ticket, fate));
        }
        if promising.is_empty() {
            return self.finish([]);
        }
        let keys = promising.iter().map(|ask| Key::Election(ask.election)).collect();
        *asks = promising;
        let operation = self.write(keys);
        self.operate(now, operation);
    }

    fn renewed(&mut self, keys: &[Key]) {
        let Some((Task::Round(asks), _)) = self.task.take() else { return };
        let fate = |ask: &Ask| {
            let renewed = keys.contains(&Key::Election(ask.election));
            let over = denied(Refusal::Over, None);
            if renewed { Outcome::Committed(Done::Renewed) } else { over }
        };
        let answers = asks.iter().map(|ask| Finished::Request(ask.election, ask.ticket, fate(ask)));
        self.finish(answers);
    }

    /// Decides as a database would inside its transaction.
    fn decide(&mut self, shown: &[(Key, Option<Value>)], now: StoreTime) -> Vec<Option<Value>> {
        self.decided = Decided::default();
        let page = |value: &Option<Value>| Value::page(value.as_ref());
        match &self.task {
            Some((Task::Round(asks), _)) => {
                let asks = asks.clone();
                let next = shown.iter().map(|(key, value)| {
                    let ask = asks.iter().find(|ask| Key::Election(ask.election) == *key)?;
                    self.decide_one(ask, &page(value), now)
                });
                next.collect()
            }
            Some((Task::Order(election, order, papers), _)) => {
                let election = *election;
                let next = shown.iter().map(|(_, value)| {
                    let page = page(value);
                    let decree = order.decide(&page.snapshot(now), papers).ok()?;
                    Some((page.obeying(&decree)?, page))
                });
                let next: Vec<_> = next.collect();
                self.decided.answers.push(Finished::Order(next.iter().all(Option::is_some)));
                next.into_iter()
                    .map(|it| it.map(|(next, page)| self.changed(election, &page, next)))
                    .collect()
            }
            _ => vec![None; shown.len()],
        }
    }

    fn decide_one(&mut self, ask: &Ask, page: &Page, now: StoreTime) -> Option<Value> {
        let snapshot = page.snapshot(now);
        let (next, fate) = match &ask.request {
            // Answered once it is known which of them were renewed.
            Request::Renew(holding) => {
                return page.renewed(holding, now).map(|next| Value::Page(Rc::new(next)));
            }
            Request::Bid(bid) => match bid.decide(&snapshot) {
                Err(refusal) => (None, denied(refusal, Some(snapshot))),
                Ok(claim) => {
                    self.in_force.insert(ask.election, page.controls.clone());
                    (page.claimed(&claim), Outcome::Committed(Done::Claimed(claim)))
                }
            },
            Request::Resign(end) if end.holding.may_resign(&snapshot) => {
                let successor = snapshot.record.as_ref().and_then(|record| end.successor(record));
                (Some(page.released(successor)), Outcome::Committed(Done::Resigned))
            }
            _ => (None, denied(Refusal::Over, None)),
        };
        self.decided.answers.push(Finished::Request(ask.election, ask.ticket, fate));
        next.map(|next| self.changed(ask.election, page, next))
    }

    fn changed(&mut self, election: u8, before: &Page, next: Page) -> Value {
        let held = |page: &Page| page.record.as_ref().is_some_and(|it| it.state == State::Held);
        if let Some(record) = before.record.as_ref().filter(|_| held(before) && !held(&next)) {
            self.decided.ended.push((election, record.term.get()));
        }
        self.decided.changes = true;
        Value::Page(Rc::new(next))
    }

    /// What was decided is chosen, but where others were faster.
    fn written(&mut self, now: Clocks, written: &Written<Key, Value>) {
        let Decided { answers, ended, changes } = core::mem::take(&mut self.decided);
        if !written.others.is_empty() || (!written.kept && !changes) {
            // Nobody can tell whether another term followed that one.
            return self.give_up(now);
        }
        self.ended.extend(ended);
        self.rings = Some(Message::Rung { ended: core::mem::take(&mut self.ended) });
        self.finish(answers);
    }

    fn finish(&mut self, answers: impl IntoIterator<Item = Finished>) {
        self.finished.extend(answers);
        self.task = None;
    }

    /// Nothing is known of it.
    fn give_up(&mut self, now: Clocks) {
        let Some((task, _)) = self.task.take() else { return };
        match task {
            Task::Round(asks) => {
                let unknown =
                    |ask: Ask| Finished::Request(ask.election, ask.ticket, Outcome::Unknown);
                self.finished.extend(asks.into_iter().map(unknown));
            }
            Task::Order(..) => self.finished.push_back(Finished::Order(false)),
            Task::Look(election) => self.finished.push_back(Finished::Looked(election, None)),
            Task::Amend(..) => self.finished.push_back(Finished::Amend(false)),
        }
        self.client.handle(now.local, Input::GiveUp);
    }
}

const fn denied(refusal: Refusal, snapshot: Option<Snapshot>) -> Fate {
    Outcome::Refused(Denied { refusal, snapshot })
}
