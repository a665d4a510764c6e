//! The registers of a quorum, as one process uses them: one errand at a time.
//!
//! Assumes: what it wants sent is sent or lost, and it gets its turn when it asks for one.
//! Promises: the steps of `incumbent`'s `peers/register.rs` and `peers/store.rs`, one by one, with the
//! shipping [`Proposer`], [`Proposal`] and [`Reading`]; what those wait for as futures is a stage here.
//! An errand that takes too long is given up, and nothing is known of it then.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{Denied, Done, Refusal, Request};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::ratify::amend::{Amendment, Change};
use incumbent_protocol::ratify::electorate::Lineage;
use incumbent_protocol::ratify::proposal::{Proposer, Reading};
use incumbent_protocol::ratify::{Ask, Electorate, Proposal};
use incumbent_protocol::time::{StoreTime, Time};

use super::words::{Key, Message, Value};

mod answers;
mod decide;

/// After this long without an answer a question is put again: it may have been lost.
const AGAIN: Duration = Duration::from_millis(60);

/// For this long a read waits for voters to be of one mind.
const PATIENCE: Duration = Duration::from_millis(4);

/// So often a read looks again before it completes what it found half done.
const LOOKS: u32 = 4;

/// The number of the first electorate that is used.
pub(super) const FOUNDED: u64 = 2;

/// What a process's clocks show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    pub(super) local: Time,
    pub(super) wall: StoreTime,
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Task {
    /// What a candidacy asks.
    Request(Ticket, Request),
    /// What an operator orders.
    Order(Order, Papers),
    /// A look at what operators have in force.
    Look,
    /// A change of the voters.
    Amend(Change),
}

/// What came of it.
#[expect(clippy::large_enum_variant, reason = "answers are the common case and are moved once")]
#[derive(Debug)]
pub(super) enum Finished {
    Request(Ticket, Outcome<Done, Denied>),
    /// Whether it was carried out, as far as anybody knows.
    Order(bool),
    /// What is in force, if that could be seen.
    Looked(Option<Controls>),
    Amend(bool),
}

/// Who does errands on registers for one process, or for an operator.
#[derive(Debug)]
pub(super) struct Clerk {
    me: Incarnation,
    electorate: Rc<Electorate>,
    proposer: Proposer<Key, Value>,
    overruled: u32,
    /// By how much the voters' clock is ahead of this process's, in microseconds.
    ahead: i64,
    /// The number of the next question.
    next: u64,
    errand: Option<Errand>,
    sends: VecDeque<(NodeId, Message)>,
    finished: VecDeque<Finished>,
    /// Whether something was written that others should look at.
    rings: bool,
    /// What was in force on the page that its last claim was decided on.
    pub(super) in_force: Controls,
    /// Whether it met another electorate of the same number, which must never be.
    pub(super) unlike: bool,
}

#[derive(Debug)]
struct Errand {
    task: Task,
    deadline: Time,
    stage: Stage,
    question: Option<Question>,
}

/// A question that is put to several nodes, again and again to those that do not answer.
#[derive(Debug)]
struct Question {
    id: u64,
    message: Message,
    waiting: BTreeSet<NodeId>,
    again_at: Time,
    clocks: BTreeMap<NodeId, StoreTime>,
}

#[derive(Debug)]
enum Stage {
    /// An electorate is needed that counts on the disks of its voters.
    Founding {
        lineages: BTreeMap<NodeId, Lineage>,
        kept: BTreeSet<NodeId>,
    },
    Looking {
        reading: Reading<Value>,
        looks: u32,
        until: Option<Time>,
    },
    Heeding {
        proposal: Proposal<Value>,
        aim: Aim,
    },
    Accepting {
        proposal: Proposal<Value>,
        value: Value,
        aim: Aim,
    },
    /// Lets whoever was faster go on.
    Aside {
        until: Time,
        aim: Option<Aim>,
    },
    Amending {
        amendment: Box<Amendment<Key, Value>>,
        serial: u64,
    },
}

/// What a register is heeded for.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Debug)]
enum Aim {
    /// To complete what somebody left half done, and so to read it.
    Read,
    /// The same, once it was shown, at this instant of the voters' clock.
    Reread { theirs: StoreTime },
    /// To decide on it.
    Decide,
    /// To see whether what was proposed before is there. The answer, if it is.
    Insist { value: Value, answer: Finished },
}

impl Clerk {
    pub(super) fn new(me: Incarnation, electorate: Rc<Electorate>, first: u64) -> Self {
        Clerk {
            me,
            electorate,
            proposer: Proposer::new(me),
            overruled: 0,
            ahead: 0,
            next: first >> 1,
            errand: None,
            sends: VecDeque::new(),
            finished: VecDeque::new(),
            rings: false,
            in_force: Controls::default(),
            unlike: false,
        }
    }

    /// Those who vote, as far as it knows.
    pub(super) const fn electorate(&self) -> &Rc<Electorate> {
        &self.electorate
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.errand.is_some()
    }

    /// Sets out on an errand. It must not be on one.
    pub(super) fn begin(&mut self, now: Clocks, deadline: Time, task: Task) {
        let stage = Stage::Aside { until: now.local, aim: None };
        self.errand = Some(Errand { task, deadline, stage, question: None });
        self.set_out(now);
    }

    /// When it wants its turn.
    pub(super) fn wake_at(&self) -> Option<Time> {
        let errand = self.errand.as_ref()?;
        let stage = match &errand.stage {
            Stage::Looking { until, .. } => *until,
            Stage::Aside { until, .. } => Some(*until),
            _ => None,
        };
        let again = errand.question.as_ref().map(|question| question.again_at);
        [stage, again].into_iter().flatten().chain([errand.deadline]).min()
    }

    /// Time has passed.
    pub(super) fn wake(&mut self, now: Clocks) {
        let Some(errand) = &mut self.errand else { return };
        if errand.deadline <= now.local {
            self.give_up();
            return;
        }
        match &mut errand.stage {
            Stage::Looking { looks, until: Some(until), .. } if *until <= now.local => {
                let looks = *looks + 1;
                return self.look(now, looks);
            }
            Stage::Aside { until, aim } if *until <= now.local => {
                let aim = aim.take();
                return match aim {
                    Some(aim) => self.heed(now, aim),
                    None => self.set_out(now),
                };
            }
            _ => {}
        }
        let due = |question: &mut Question| question.again_at <= now.local;
        if errand.question.as_mut().is_some_and(due) {
            self.put_again(now);
        }
    }

    pub(super) fn poll_send(&mut self) -> Option<(NodeId, Message)> {
        self.sends.pop_front()
    }

    pub(super) fn poll_finished(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// Whether others should look, told once.
    pub(super) const fn take_ring(&mut self) -> bool {
        core::mem::replace(&mut self.rings, false)
    }

    /// Begins, or goes on once an electorate is known.
    fn set_out(&mut self, now: Clocks) {
        if self.electorate.number() < FOUNDED {
            self.found(now);
            return;
        }
        let Some(errand) = &self.errand else { return };
        match &errand.task {
            Task::Request(_, Request::Look | Request::Bid(_)) | Task::Look => self.look(now, 0),
            Task::Request(_, Request::Renew(_)) => {
                if !self.renew_shortly(now) {
                    self.heed(now, Aim::Decide);
                }
            }
            Task::Request(..) | Task::Order(..) => self.heed(now, Aim::Decide),
            Task::Amend(change) => {
                let electorate = Electorate::clone(&self.electorate);
                let amendment = Amendment::new(self.me, Key::Electorate, electorate, *change);
                self.amend(now, Box::new(amendment));
            }
        }
    }

    fn found(&mut self, now: Clocks) {
        self.enter(Stage::Founding { lineages: BTreeMap::new(), kept: BTreeSet::new() });
        self.put_inventory(now);
    }

    fn look(&mut self, now: Clocks, looks: u32) {
        if looks >= LOOKS {
            return self.heed(now, Aim::Read);
        }
        let reading = Reading::new(Electorate::clone(&self.electorate));
        self.enter(Stage::Looking { reading, looks, until: None });
        self.put(now, Key::Election, Ask::Show);
    }

    fn heed(&mut self, now: Clocks, aim: Aim) {
        let proposal = self.proposer.attempt(&self.electorate);
        let ask = Ask::Heed(proposal.ballot());
        self.enter(Stage::Heeding { proposal, aim });
        self.put(now, Key::Election, ask);
    }

    fn propose(&mut self, now: Clocks, mut proposal: Proposal<Value>, value: Value, aim: Aim) {
        proposal.propose(value.clone());
        let ask = Ask::Accept(proposal.ballot(), value.clone());
        self.enter(Stage::Accepting { proposal, value, aim });
        self.put(now, Key::Election, ask);
    }

    fn step_aside(&mut self, now: Clocks, aim: Option<Aim>) {
        self.overruled = self.overruled.saturating_add(1);
        let most = 1u64 << self.overruled.min(5);
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let share = (self.me.bits() >> (self.overruled % 64)) as u64 % 1_000;
        let until = now.local + Duration::from_micros(200 + most * share);
        self.enter(Stage::Aside { until, aim });
    }

    fn enter(&mut self, stage: Stage) {
        if let Some(errand) = &mut self.errand {
            errand.stage = stage;
            errand.question = None;
        }
    }

    fn put(&mut self, now: Clocks, key: Key, ask: Ask<Value>) {
        let electorate = Rc::clone(&self.electorate);
        let to = electorate.voters().clone();
        self.question(now, to, |id| Message::Ask { id, electorate, key, ask });
    }

    fn put_inventory(&mut self, now: Clocks) {
        let electorate = Rc::clone(&self.electorate);
        let to = electorate.voters().clone();
        self.question(now, to, |id| Message::Inventory { id, electorate });
    }

    fn question(
        &mut self,
        now: Clocks,
        to: BTreeSet<NodeId>,
        message: impl FnOnce(u64) -> Message,
    ) {
        let id = self.next;
        self.next += 1;
        let message = message(id);
        self.sends.extend(to.iter().map(|node| (*node, message.clone())));
        let again_at = now.local + AGAIN;
        let clocks = BTreeMap::new();
        if let Some(errand) = &mut self.errand {
            errand.question = Some(Question { id, message, waiting: to, again_at, clocks });
        }
    }

    fn put_again(&mut self, now: Clocks) {
        if matches!(&self.errand, Some(Errand { stage: Stage::Amending { .. }, .. })) {
            return self.amend_again(now);
        }
        let Some(question) = self.errand.as_mut().and_then(|errand| errand.question.as_mut())
        else {
            return;
        };
        question.again_at = now.local + AGAIN;
        let again = question.waiting.iter().map(|node| (*node, question.message.clone()));
        self.sends.extend(again);
    }

    /// Nothing is known of it.
    fn give_up(&mut self) {
        let finished = match self.errand.as_ref().map(|errand| &errand.task) {
            Some(Task::Request(ticket, _)) => Finished::Request(*ticket, Outcome::Unknown),
            Some(Task::Order(..)) => Finished::Order(false),
            Some(Task::Look) => Finished::Looked(None),
            Some(Task::Amend(_)) => Finished::Amend(false),
            None => return,
        };
        self.finish(finished);
    }

    fn finish(&mut self, finished: Finished) {
        self.errand = None;
        self.finished.push_back(finished);
    }

    fn ticket(&self) -> Option<Ticket> {
        match self.errand.as_ref()?.task {
            Task::Request(ticket, _) => Some(ticket),
            _ => None,
        }
    }

    fn answer(&mut self, outcome: Outcome<Done, Denied>) {
        if let Some(ticket) = self.ticket() {
            self.finish(Finished::Request(ticket, outcome));
        }
    }

    fn over(&mut self) {
        self.answer(Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None }));
    }

    /// The voters' clock, as far as this process can tell.
    fn now(&self, now: Clocks) -> StoreTime {
        StoreTime::from_micros(now.wall.as_micros().saturating_add_signed(self.ahead))
    }

    /// Another electorate votes by now. Whether it could be taken over.
    fn adopt(&mut self, electorate: Electorate) -> bool {
        if electorate.number() > self.electorate.number() {
            self.electorate = Rc::new(electorate);
            return true;
        }
        let same = electorate.number() == self.electorate.number();
        self.unlike |= same && !electorate.is_same(&self.electorate);
        !same
    }
}
