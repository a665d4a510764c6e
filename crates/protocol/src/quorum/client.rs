//! One operation on many registers, from its first question to its end.
//!
//! Assumes: one operation at a time. What it wants sent is sent or lost. No other proposer has its
//! incarnation, and no earlier client of this process began with the same number of questions.
//! Promises: a change counts only if nothing was chosen between the value that it was decided on and
//! the change itself. Whoever made it learns whether it was chosen, or learns nothing. An operation
//! that is given up, at any moment, leaves nothing that a later one trusts; what it proposed may still
//! be chosen.
//!
//! Questions about several registers travel together. A register that this process was the last to
//! change is changed by one message to each voter.
//!
//! | file | what |
//! |---|---|
//! | `voters` | which voter set counts, and how it is founded and changed |
//! | `reading` | how registers are read without disturbing anybody |
//! | `updating` | how they are changed: prepare, decide, propose |

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::FOUNDED;
use super::clock::Clock;
use super::question::{AGAIN, Answer, Open, Question};
use crate::identity::Incarnation;
use crate::node::NodeId;
use crate::protocol::Protocol;
use crate::ratify::amend::{Amendment, Change, Charter};
use crate::ratify::electorate::{Electorate, Lineage, Unchanged};
use crate::ratify::proposal::Proposer;
use crate::time::{StoreTime, Time};

mod reading;
mod updating;
mod voters;

use reading::{Looking, Read};
use updating::{Prepared, Proposed, Update};

/// Something to do to registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<K> {
    /// Read these, in this order. Ends with [`Notice::Read`].
    Read(Vec<K>),
    /// Change these, as [`Notice::Decide`] is answered, and again whatever was overruled, until it is
    /// known for each whether the change was chosen or is not to be made. Those that this process was
    /// the last to change are decided on at once. Ends with [`Notice::Renewed`].
    Renew(Vec<K>),
    /// Change these once, as [`Notice::Decide`] is answered. Whatever is left as it is, is completed
    /// first: it may have been half done. Ends with [`Notice::Written`].
    Write {
        /// The registers.
        keys: Vec<K>,
        /// Whether to decide on what this process was the last to write, if that is all of them.
        at_once: bool,
    },
    /// Name every register that a majority knows of. Ends with [`Notice::Listed`].
    List,
    /// Change the voter set, and complete whatever change was left half done before. Ends with
    /// [`Notice::Amended`].
    Amend {
        /// Under which incarnation, that no proposer ever had.
        me: Incarnation,
        /// What to change.
        change: Change,
    },
}

/// What reaches a client.
#[derive(Clone, Debug)]
pub enum Input<K, V> {
    /// Begin this operation, in the place of any other.
    Begin {
        /// What this process's wall clock shows.
        wall: StoreTime,
        /// What to do.
        operation: Operation<K>,
    },
    /// The answer to [`Notice::Decide`]: what to propose for each register that was shown, in their
    /// order, if anything.
    Decided(Vec<Option<V>>),
    /// A voter answered.
    Heard {
        /// Which voter.
        from: NodeId,
        /// To which question.
        id: u64,
        /// What this process's wall clock shows.
        wall: StoreTime,
        /// What it said.
        answer: Answer<K, V>,
    },
    /// Nobody waits for the operation any more.
    GiveUp,
    /// Time has passed.
    Wake,
}

/// What a client wants done: put a question to these voters, for the first time or again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect<K, V> {
    /// The number of the question, which its answers name.
    pub id: u64,
    /// Whom to ask.
    pub to: BTreeSet<NodeId>,
    /// Under which voter set.
    pub electorate: Electorate,
    /// What to ask.
    pub question: Question<K, V>,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was chosen.
    Chosen,
    /// It was overruled, though it may be chosen by whoever finds it.
    Doubtful,
}

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<K, V> {
    /// What is chosen now where another proposer was faster. Whether the own value was chosen before
    /// that, nobody can tell.
    pub others: Vec<(K, V)>,
    /// Whether a majority keeps what was left as it is.
    pub kept: bool,
}

/// What a client wants known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice<K, V> {
    /// A majority holds these values, in the order of the registers that were asked for.
    Read {
        /// The values.
        values: Vec<Option<V>>,
        /// The voters' clock.
        now: StoreTime,
    },
    /// A majority showed this and accepts no older ballot: decide, and say so by [`Input::Decided`].
    Decide {
        /// The registers, and what they hold.
        shown: Vec<(K, Option<V>)>,
        /// The voters' clock.
        now: StoreTime,
    },
    /// These registers were changed, and no others.
    Renewed(Vec<K>),
    /// Everything was changed but the registers of others.
    Written(Written<K, V>),
    /// Every register that a majority knows of.
    Listed(Vec<K>),
    /// These vote from now on; or why that is not changed.
    Amended(Result<Electorate, Unchanged>),
    /// The voters were started with another list than this process. The operation is over.
    Differs(Electorate),
    /// Other voters vote than before. The operation goes on.
    Voters {
        /// As far as was known until now.
        before: Electorate,
        /// From now on.
        after: Electorate,
    },
    /// A node votes in another cluster and is left alone. It is told once.
    Stranger(Electorate),
    /// What became of proposals. The operation goes on.
    Proposed(Vec<Fate>),
}

/// The registers of a quorum, as one process uses them.
#[derive(Clone, Debug)]
pub struct QuorumClient<K: Ord, V> {
    me: Incarnation,
    /// The register of voter sets.
    charter: K,
    /// The voter set of the list that this process was started with.
    first: Electorate,
    electorate: Electorate,
    /// Whether it was told that a node votes elsewhere.
    estranged: bool,
    proposer: Proposer<K, V>,
    overruled: u32,
    clock: Clock,
    asked: u64,
    next: u64,
    operation: Option<Doing<K, V>>,
    stage: Stage<K, V>,
    open: Option<Open<K, V>>,
    effects: VecDeque<Effect<K, V>>,
    notices: VecDeque<Notice<K, V>>,
}

/// An operation, and how far it is.
#[derive(Clone, Debug)]
enum Doing<K: Ord, V> {
    Read(Read<K, V>),
    Update(Update<K, V>),
    List,
    Amend(Incarnation, Change),
}

/// What an operation waits for.
#[derive(Clone, Debug)]
enum Stage<K: Ord, V> {
    /// Nothing, or a decision.
    Idle,
    /// All voters, to say which disks they have.
    Founding { lineages: BTreeMap<NodeId, Lineage>, kept: BTreeSet<NodeId> },
    /// A majority, to name its registers.
    Listing { heard: BTreeSet<NodeId>, keys: BTreeSet<K> },
    /// A majority of one mind.
    Looking(Looking<V>),
    /// A majority that promises to accept nothing older.
    Preparing(Vec<Prepared<K, V>>),
    /// A decision.
    Deciding(Vec<Prepared<K, V>>),
    /// A majority that accepts.
    Proposing(Vec<Proposed<K, V>>),
    /// An instant, so that a faster proposer can go on.
    Pausing { until: Time },
    /// Whatever a change of the voters waits for, but no longer than this.
    Amending { amendment: Box<Amendment<K, V>>, serial: u64, until: Time, pausing: bool },
}

impl<K: Ord + Clone, V: Charter + PartialEq> QuorumClient<K, V> {
    /// A client that knows of these voters and asked nothing yet. `charter` is the register of voter
    /// sets; `first` the number of its first question, to be drawn at random.
    pub fn new(me: Incarnation, charter: K, electorate: Electorate, first: u64) -> Self {
        QuorumClient {
            me,
            charter,
            first: electorate.clone(),
            electorate,
            estranged: false,
            proposer: Proposer::new(me),
            overruled: 0,
            clock: Clock::new(),
            asked: 0,
            next: first,
            operation: None,
            stage: Stage::Idle,
            open: None,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// A client for another proposer of this process, which knows as much of the voters.
    #[must_use]
    pub fn beside(&self, me: Incarnation, first: u64) -> Self {
        let mut beside = Self::new(me, self.charter.clone(), self.first.clone(), first);
        beside.electorate = self.electorate.clone();
        beside
    }

    /// Who proposes.
    pub const fn me(&self) -> Incarnation {
        self.me
    }

    /// Those who vote, as far as this process knows.
    pub const fn electorate(&self) -> &Electorate {
        &self.electorate
    }

    /// Whether all voters are known to have been there once.
    pub const fn is_founded(&self) -> bool {
        self.electorate.number() >= FOUNDED
    }

    /// The voters' clock, as far as this process can tell, when its own wall clock shows this.
    pub const fn now(&self, wall: StoreTime) -> StoreTime {
        self.clock.ahead_of(wall)
    }

    /// How many questions it put so far, each to all voters.
    pub const fn asked(&self) -> u64 {
        self.asked
    }

    /// What a register holds, if this process was the last to change it, as far as it knows.
    pub fn known(&self, key: &K) -> Option<&V> {
        self.proposer.known(key, &self.electorate)
    }

    /// Whether an operation is under way.
    pub const fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    /// Whether it waits for a decision on what it proposed although every voter has answered: that
    /// never comes, unless voters are of another cluster.
    pub fn is_stranded(&self) -> bool {
        matches!(self.stage, Stage::Preparing(_) | Stage::Proposing(_))
            && self.open.as_ref().is_some_and(|open| open.waiting.is_empty())
    }

    /// Begins an operation, or goes on with one that was interrupted.
    fn go_on(&mut self, now: Time) {
        if !self.is_founded() {
            return self.found(now);
        }
        match &self.operation {
            None => self.rest(),
            Some(Doing::Read(read)) if read.is_stuck() => {
                let keys = read.stuck();
                self.prepare(now, keys);
            }
            Some(Doing::Read(_)) => self.look(now),
            Some(Doing::Update(update)) => {
                let keys = update.keys();
                self.prepare(now, keys);
            }
            Some(Doing::List) => self.list(now),
            Some(Doing::Amend(me, change)) => self.amend(now, *me, *change),
        }
    }

    /// Puts a question to all voters, in the place of the one before.
    fn ask(&mut self, now: Time, question: Question<K, V>) {
        let electorate = self.electorate.clone();
        let to = electorate.voters().clone();
        self.ask_these(now, electorate, to, question, AGAIN);
    }

    fn ask_these(
        &mut self,
        now: Time,
        electorate: Electorate,
        to: BTreeSet<NodeId>,
        question: Question<K, V>,
        patience: core::time::Duration,
    ) {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.asked += 1;
        let open = Open::new(now, id, electorate, to, question, patience);
        self.effects.push_back(Effect::of(&open));
        self.open = Some(open);
    }

    /// Nothing more is to be done.
    fn rest(&mut self) {
        self.operation = None;
        self.stage = Stage::Idle;
        self.open = None;
    }

    /// The operation is over.
    fn end(&mut self, notice: Notice<K, V>) {
        self.rest();
        self.notices.push_back(notice);
    }

    fn give_up(&mut self) {
        self.rest();
        self.effects.clear();
        self.notices.clear();
    }

    fn begin_operation(&mut self, now: Time, operation: Operation<K>) {
        self.give_up();
        let (doing, at_once) = match operation {
            Operation::Read(keys) => (Doing::Read(Read::new(keys)), false),
            Operation::Renew(keys) => (Doing::Update(Update::renew(keys)), true),
            Operation::Write { keys, at_once } => (Doing::Update(Update::write(keys)), at_once),
            Operation::List => (Doing::List, false),
            Operation::Amend { me, change } => (Doing::Amend(me, change), false),
        };
        self.operation = Some(doing);
        self.set_out(now, at_once);
    }

    fn hear(&mut self, now: Time, from: NodeId, id: u64, answer: Answer<K, V>) {
        // Answers to questions before are for nobody.
        let Some(open) = self.open.as_mut().filter(|open| open.id == id) else { return };
        open.waiting.remove(&from);
        match answer {
            Answer::Replies { now: theirs, replies } => {
                open.clocks.insert(from, theirs);
                match core::mem::replace(&mut self.stage, Stage::Idle) {
                    Stage::Looking(looking) => self.looking(now, from, replies, looking),
                    Stage::Preparing(asked) => self.preparing(now, from, replies, asked),
                    Stage::Proposing(open) => self.proposing(now, from, replies, open),
                    stage => {
                        self.stage = stage;
                        self.amending(now, from, replies);
                    }
                }
            }
            Answer::Inventory(inventory) => self.hear_inventory(now, from, inventory),
        }
    }

    /// Does what is due.
    fn wake(&mut self, now: Time) {
        match &mut self.stage {
            Stage::Looking(looking) if looking.is_due(now) => return self.unclear(now),
            Stage::Pausing { until } if *until <= now => return self.go_on(now),
            Stage::Amending { until, .. } if *until <= now => return self.amend_on(now),
            _ => {}
        }
        if let Some(open) = &mut self.open
            && open.is_due(now)
        {
            self.effects.push_back(Effect::of(open));
        }
    }
}

impl<K: Ord + Clone, V: Charter + PartialEq> Protocol for QuorumClient<K, V> {
    type Input = Input<K, V>;
    type Effect = Effect<K, V>;
    type Notice = Notice<K, V>;

    fn begin(&mut self, _now: Time) {}

    fn handle(&mut self, now: Time, input: Input<K, V>) {
        match input {
            Input::Begin { wall, operation } => {
                self.clock.read(now, wall);
                self.begin_operation(now, operation);
            }
            Input::Decided(values) => self.decided(now, values),
            Input::Heard { from, id, wall, answer } => {
                self.clock.read(now, wall);
                self.hear(now, from, id, answer);
            }
            Input::GiveUp => self.give_up(),
            Input::Wake => self.wake(now),
        }
    }

    fn wake_at(&self) -> Option<Time> {
        let stage = match &self.stage {
            Stage::Looking(looking) => looking.until(),
            Stage::Pausing { until } | Stage::Amending { until, .. } => Some(*until),
            _ => None,
        };
        let again = self.open.as_ref().and_then(Open::again_at);
        [stage, again].into_iter().flatten().min()
    }

    fn poll_effect(&mut self) -> Option<Effect<K, V>> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice<K, V>> {
        self.notices.pop_front()
    }
}

impl<K: Clone, V: Clone> Effect<K, V> {
    fn of(open: &Open<K, V>) -> Self {
        Effect {
            id: open.id,
            to: open.waiting.clone(),
            electorate: open.electorate.clone(),
            question: open.question.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
