//! The registers of a quorum, as one process uses them: one errand at a time.
//!
//! Assumes: what it wants sent is sent or lost, and it gets its turn when it asks for one.
//! Promises: the steps of `incumbent`'s `peers/register.rs` and `peers/store.rs`, one by one, with the
//! shipping [`Proposer`], [`Proposal`] and [`Reading`]; what those wait for as futures is a stage here.
//! An errand that takes too long is given up, and nothing is known of it then.
//!
//! | file | what |
//! |---|---|
//! | `steps` | which stages an errand goes through |
//! | `questions` | how questions are put to voters, and put again |
//! | `answers` | what it makes of what they answer |
//! | `decide` | what it decides on a page |

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::ratify::amend::{Amendment, Change};
use incumbent_protocol::ratify::electorate::Lineage;
use incumbent_protocol::ratify::proposal::{Proposer, Reading};
use incumbent_protocol::ratify::{Ballot, Electorate, Proposal};
use incumbent_protocol::time::{StoreTime, Time};

use super::words::{Key, Message, Value};

mod answers;
mod decide;
mod questions;
mod steps;

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
    /// What to say to everybody, once something was written that they should look at.
    rings: Option<Message>,
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
    /// What a read relayed last.
    relayed: Option<Ballot>,
}

/// A question that is put to several nodes, again and again to those that do not answer.
#[derive(Debug)]
struct Question {
    id: u64,
    message: Message,
    waiting: BTreeSet<NodeId>,
    again_at: Time,
    /// How long it waits then.
    patience: Duration,
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
#[derive(Debug)]
enum Aim {
    /// To complete what somebody left half done, and so to read it.
    Read,
    /// The same, once it was shown, at this instant of the voters' clock.
    Reread { theirs: StoreTime },
    /// To decide on it.
    Decide,
    /// To see whether what was proposed before is there. The answer, if it is, and which term that
    /// ended.
    Insist { value: Value, answer: Finished, ended: Option<u64> },
    /// To have a majority keep what it was decided on and left as it is. The answer, in any case.
    Complete { answer: Finished },
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
            rings: None,
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
        self.errand = Some(Errand { task, deadline, stage, question: None, relayed: None });
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
            Stage::Looking { reading, looks, until: Some(until) } if *until <= now.local => {
                let (looks, relay) = (*looks + 1, reading.relay());
                return self.look_again(now, looks, relay);
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

    /// What to say to everybody, if they should look.
    pub(super) const fn take_ring(&mut self) -> Option<Message> {
        self.rings.take()
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
