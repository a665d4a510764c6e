//! Voters, writers, readers and changers of voters, and a post office that may lose, double and
//! reorder every letter.
//!
//! Assumes: whoever plays it says what happens next, one [`Happening`] after the other.
//! Promises: everything that voters and proposers do is done by the shipping code.

use std::collections::BTreeMap;

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::amend::{Amendment, Answer, Change, Move, Question};
use incumbent_protocol::ratify::proposal::{Proposer, Reading, Sight};
use incumbent_protocol::ratify::voter::Entry;
use incumbent_protocol::ratify::{Ask, Electorate, Lineage, Proposal, Step, Voter};

use super::judge::{Judge, Key, Value};

/// What happens next. Numbers choose among what there is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    /// A writer begins to change a register, by a shortcut if it can.
    Write(u8, Key),
    /// A writer begins to change a register and asks first, whether it must or not.
    Ask(u8, Key),
    /// A writer begins to read.
    Read(u8, Key),
    /// A writer looks at all voters at once, except at one node, and relays the newest value.
    Relay(u8, Key, u8),
    /// Somebody's letters, and the answers to them, all arrive at once, except at one node.
    Finish(u8, u8),
    /// A letter arrives.
    Deliver(u16),
    /// A letter arrives, and will arrive again.
    Double(u16),
    /// A letter is lost.
    Lose(u16),
    /// A voter crashes and starts again with its disk.
    Crash(u8),
    /// A voter crashes after it handled a letter, before anything was kept.
    CrashBeforeKeeping(u16),
    /// A writer crashes and starts again.
    Restart(u8),
    /// Somebody begins to remove this node from those who vote, or to add it.
    Amend(u8),
    /// Whoever changes the voters asks again.
    Remind(u8),
    /// Somebody changes the voters no more.
    Abandon(u8),
}

struct Node {
    voter: Voter<Key, Value>,
    disk: Vec<Entry<Key, Value>>,
    lineage: Option<Lineage>,
}

struct Attempt {
    key: Key,
    proposal: Proposal<Value>,
    change: u32,
    value: Option<Value>,
}

struct Read {
    reading: Reading<Value>,
    least: Option<Value>,
}

struct Writer {
    proposer: Proposer<Key, Value>,
    electorate: Electorate,
    attempts: BTreeMap<u64, Attempt>,
    reads: BTreeMap<u64, Read>,
}

#[derive(Clone)]
enum Letter {
    Question { from: Who, to: NodeId, serial: u64, under: Electorate, what: Question<Key, Value> },
    Answer { to: Who, from: NodeId, serial: u64, what: Answer<Key, Value> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Writer(usize),
    Amender(u64),
}

impl Letter {
    /// Who asks.
    fn who(&self) -> Who {
        match self {
            Letter::Question { from: who, .. } | Letter::Answer { to: who, .. } => *who,
        }
    }

    /// Who is asked.
    fn node(&self) -> NodeId {
        match self {
            Letter::Question { to: node, .. } | Letter::Answer { from: node, .. } => *node,
        }
    }
}

/// The world at one moment.
pub(super) struct World {
    first: Electorate,
    nodes: BTreeMap<NodeId, Node>,
    writers: Vec<Writer>,
    amenders: BTreeMap<u64, Amendment<Key, Value>>,
    letters: Vec<Letter>,
    drawn: u64,
    /// What is right and wrong.
    pub(super) judge: Judge,
    /// How often a shortcut was taken, a read came to an end, the voters were changed, and something
    /// was relayed.
    pub(super) seen: [usize; 4],
}

impl World {
    /// Nodes of which the first few vote, and some writers.
    pub(super) fn new(nodes: u8, voters: u8, writers: usize) -> Self {
        let id = |number: u8| NodeId::given(number.into());
        let first = Electorate::first((0..voters).map(id));
        let mut world = World {
            first: first.clone(),
            nodes: BTreeMap::new(),
            writers: Vec::new(),
            amenders: BTreeMap::new(),
            letters: Vec::new(),
            drawn: 0,
            judge: Judge::default(),
            seen: [0; 4],
        };
        for number in 0..nodes {
            let voter = Voter::new(id(number), first.clone());
            world.nodes.insert(id(number), Node { voter, disk: Vec::new(), lineage: None });
        }
        for _ in 0..writers {
            let writer = world.new_writer(first.clone());
            world.writers.push(writer);
        }
        world
    }

    /// Gives every node a disk of a lineage, and founds an electorate of the first few.
    pub(super) fn found(&mut self) {
        let mut lineages = BTreeMap::new();
        for node in self.nodes.keys().copied().collect::<Vec<_>>() {
            let lineage = Lineage::drawn(self.draw().into());
            self.lose_disk(node, Some(lineage));
            if self.first.has(node) {
                lineages.insert(node, lineage);
            }
        }
        let founded = Electorate::founded(lineages);
        for writer in &mut self.writers {
            writer.electorate = founded.clone();
        }
    }

    /// Lets a voter start with an empty disk, of a new lineage if it had one.
    pub(super) fn forget(&mut self, node: NodeId) {
        let fresh = Lineage::drawn(self.draw().into());
        let has_one = self.nodes.get(&node).is_some_and(|it| it.lineage.is_some());
        self.lose_disk(node, has_one.then_some(fresh));
    }

    fn new_writer(&mut self, electorate: Electorate) -> Writer {
        let proposer = Proposer::new(self.incarnation());
        Writer { proposer, electorate, attempts: BTreeMap::new(), reads: BTreeMap::new() }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    /// Those of later writers are not always higher.
    fn incarnation(&mut self) -> Incarnation {
        Incarnation::from_random(u128::from(self.draw()).wrapping_mul(0x9E37_79B9_7F4A_7C15) << 64)
    }

    /// Lets something happen.
    pub(super) fn play(&mut self, happening: Happening) {
        let writer = |number: u8, world: &World| usize::from(number) % world.writers.len();
        match happening {
            Happening::Write(number, key) => self.write(writer(number, self), key, true),
            Happening::Ask(number, key) => self.write(writer(number, self), key, false),
            Happening::Read(number, key) => self.read(writer(number, self), key),
            Happening::Relay(number, key, away) => {
                self.relay(writer(number, self), key, NodeId::given(away.into()));
            }
            Happening::Finish(who, away) => self.finish(who, NodeId::given(away.into())),
            Happening::Deliver(at) => drop(self.take(at).map(|letter| self.deliver(letter))),
            Happening::Double(at) => drop(self.take(at).map(|letter| {
                self.letters.push(letter.clone());
                self.deliver(letter);
            })),
            Happening::Lose(at) => drop(self.take(at)),
            Happening::Crash(number) => self.crash(self.node(number)),
            Happening::CrashBeforeKeeping(at) => {
                if let Some(Letter::Question { to, under, what, .. }) = self.take(at) {
                    drop(self.handle(to, &under, what, false));
                    self.crash(to);
                }
            }
            Happening::Restart(number) => {
                let at = writer(number, self);
                self.writers[at] = self.new_writer(self.writers[at].electorate.clone());
            }
            Happening::Amend(number) => {
                let node = self.node(number);
                let votes = self.electorate().has(node);
                let change = if votes { Change::Remove(node) } else { Change::Add(node) };
                self.amend(change, self.first.clone());
            }
            Happening::Remind(number) => self.remind(number),
            Happening::Abandon(number) => {
                let which = self.amenders.keys().nth(usize::from(number)).copied();
                drop(which.map(|which| self.amenders.remove(&which)));
            }
        }
    }

    /// Writers and changers of voters are chosen by one number.
    fn finish(&mut self, who: u8, away: NodeId) {
        let writers = (0..self.writers.len()).map(Who::Writer);
        let all: Vec<Who> =
            writers.chain(self.amenders.keys().copied().map(Who::Amender)).collect();
        let who = all[usize::from(who) % all.len()];
        for _ in 0..500 {
            let of = |letter: &Letter| letter.who() == who && letter.node() != away;
            let Some(at) = self.letters.iter().position(of) else { return };
            let letter = self.letters.remove(at);
            self.deliver(letter);
        }
    }

    fn node(&self, number: u8) -> NodeId {
        NodeId::given(u128::from(number) % self.nodes.len() as u128)
    }

    fn take(&mut self, at: u16) -> Option<Letter> {
        let at = usize::from(at).checked_rem(self.letters.len())?;
        Some(self.letters.swap_remove(at))
    }

    /// Starts a voter again from what it kept.
    fn crash(&mut self, node: NodeId) {
        let Some(it) = self.nodes.get_mut(&node) else { return };
        it.voter = Voter::from_entries(node, self.first.clone(), it.disk.iter().cloned());
        if let Some(lineage) = it.lineage {
            it.voter = it.voter.clone().of(lineage);
        }
    }

    /// Starts a voter with an empty disk, of this lineage.
    fn lose_disk(&mut self, node: NodeId, lineage: Option<Lineage>) {
        if let Some(it) = self.nodes.get_mut(&node) {
            it.disk.clear();
            it.lineage = lineage;
        }
        self.crash(node);
    }

    fn write(&mut self, at: usize, key: Key, shortcut: bool) {
        let change = u32::try_from(self.draw()).unwrap_or(u32::MAX);
        let serial = self.draw();
        let writer = &mut self.writers[at];
        let held = if shortcut { writer.proposer.shortcut(&key, &writer.electorate) } else { None };
        let attempt = if let Some((proposal, value)) = held {
            self.seen[0] += 1;
            let mut attempt = Attempt { key, proposal, change, value: None };
            attempt.decide(Some(value));
            attempt
        } else {
            let proposal = writer.proposer.attempt(&writer.electorate);
            Attempt { key, proposal, change, value: None }
        };
        writer.attempts.insert(serial, attempt);
        self.ask_about(at, serial);
    }

    fn ask_about(&mut self, at: usize, serial: u64) {
        let Some(attempt) = self.writers[at].attempts.get(&serial) else { return };
        let (key, under) = (attempt.key, attempt.proposal.electorate().clone());
        if let Some(ask) = attempt.proposal.ask() {
            self.send(Who::Writer(at), serial, &under, &Question::Asks(vec![(key, ask)]));
        }
    }

    fn read(&mut self, at: usize, key: Key) {
        let serial = self.draw();
        let under = self.writers[at].electorate.clone();
        let read = Read { reading: Reading::new(under.clone()), least: self.judge.newest(key) };
        self.writers[at].reads.insert(serial, read);
        self.send(Who::Writer(at), serial, &under, &Question::Asks(vec![(key, Ask::Show)]));
    }

    fn relay(&mut self, at: usize, key: Key, away: NodeId) {
        let under = self.writers[at].electorate.clone();
        let mut reading = Reading::new(under.clone());
        for &node in under.voters().iter().filter(|node| **node != away) {
            let shown = self.handle(node, &under, Question::Asks(vec![(key, Ask::Show)]), true);
            if let Some(Answer::Replies(mut replies)) = shown
                && let Some(reply) = replies.pop()
            {
                reading.hear(node, reply);
            }
        }
        if let Some((_, ask)) = reading.relay() {
            self.seen[3] += 1;
            let serial = self.draw();
            self.send(Who::Writer(at), serial, &under, &Question::Asks(vec![(key, ask)]));
        }
    }

    /// Begins a change of the voters by somebody who knows of this electorate.
    pub(super) fn amend(&mut self, change: Change, known: Electorate) {
        let amendment = Amendment::new(self.incarnation(), 0, known, change);
        let which = self.draw();
        self.amenders.insert(which, amendment);
        self.ask_for(which);
    }

    fn remind(&mut self, number: u8) {
        let Some(which) = self.amenders.keys().nth(usize::from(number)).copied() else { return };
        if let Some(amendment) = self.amenders.get_mut(&which)
            && amendment.go_on() != Move::Wait
        {
            self.ask_for(which);
        }
    }

    fn ask_for(&mut self, which: u64) {
        let Some(amendment) = self.amenders.get(&which) else { return };
        let Some((serial, what)) = amendment.question() else { return };
        let under = amendment.electorate().clone();
        for to in amendment.whom() {
            self.post(Who::Amender(which), to, serial, &under, what.clone());
        }
    }

    fn send(&mut self, from: Who, serial: u64, under: &Electorate, what: &Question<Key, Value>) {
        for &to in under.voters() {
            self.post(from, to, serial, under, what.clone());
        }
    }

    fn post(
        &mut self,
        from: Who,
        to: NodeId,
        serial: u64,
        under: &Electorate,
        what: Question<Key, Value>,
    ) {
        let asks = if let Question::Asks(asks) = &what { asks.as_slice() } else { &[] };
        for (key, ask) in asks {
            if let Ask::Accept(ballot, value) = ask {
                self.judge.proposes(*key, *ballot, value, under);
            }
        }
        self.letters.push(Letter::Question { from, to, serial, under: under.clone(), what });
    }

    fn deliver(&mut self, letter: Letter) {
        match letter {
            Letter::Question { from, to, serial, under, what } => {
                if let Some(what) = self.handle(to, &under, what, true) {
                    self.letters.push(Letter::Answer { to: from, from: to, serial, what });
                }
            }
            Letter::Answer { to: Who::Writer(at), from, serial, what } => {
                self.hear(at, from, serial, what);
            }
            Letter::Answer { to: Who::Amender(which), from, serial, what } => {
                let Some(amendment) = self.amenders.get_mut(&which) else { return };
                match amendment.hear(from, serial, what) {
                    Move::Wait => {}
                    Move::Ask | Move::Contended => self.ask_for(which),
                    Move::Done(_) => {
                        self.seen[2] += 1;
                        drop(self.amenders.remove(&which));
                    }
                    Move::Refused(_) => drop(self.amenders.remove(&which)),
                }
            }
        }
    }

    /// A voter answers, and keeps what it must, unless it crashes before.
    fn handle(
        &mut self,
        node: NodeId,
        under: &Electorate,
        what: Question<Key, Value>,
        keeps: bool,
    ) -> Option<Answer<Key, Value>> {
        let Node { voter, disk, .. } = self.nodes.get_mut(&node)?;
        let mut kept = Vec::new();
        let mut keep = |entries: &[Entry<Key, Value>]| {
            kept.extend(entries.iter().filter(|_| keeps).cloned());
            if keeps { Ok(()) } else { Err(()) }
        };
        let answer = match what {
            Question::List => voter.list(under).keep(&mut keep).ok().map(Answer::Inventory),
            Question::Asks(asks) => {
                voter.handle(under, asks).keep(&mut keep).ok().map(Answer::Replies)
            }
        };
        disk.extend(kept.iter().cloned());
        for entry in kept {
            if let Entry::Slot(key, slot) = entry
                && let Some((ballot, _)) = slot.accepted
            {
                self.judge.accepts(node, key, ballot);
            }
        }
        answer.filter(|_| keeps)
    }

    fn hear(&mut self, at: usize, from: NodeId, serial: u64, what: Answer<Key, Value>) {
        let Answer::Replies(mut replies) = what else { return };
        let Some(reply) = replies.pop() else { return };
        let writer = &mut self.writers[at];
        if let Some(read) = writer.reads.get_mut(&serial) {
            match read.reading.hear(from, reply) {
                Sight::Wait => return,
                Sight::Known(value) => {
                    self.seen[1] += 1;
                    self.judge.reads(read.least.as_ref(), value.as_ref());
                }
                Sight::Outdated(newer) => writer.learn(newer),
                Sight::Unclear => {}
            }
            writer.reads.remove(&serial);
        } else if let Some(mut attempt) = writer.attempts.remove(&serial) {
            let new_serial = match attempt.proposal.hear(from, reply) {
                Step::Wait => serial,
                Step::Decide(value) => {
                    attempt.decide(value);
                    self.draw()
                }
                Step::Chosen => {
                    self.judge.tells_chosen(attempt.key, attempt.proposal.ballot());
                    if let Some(value) = attempt.value {
                        writer.proposer.chosen(attempt.key, &attempt.proposal, value);
                    }
                    return;
                }
                Step::Overruled(higher) => return writer.proposer.heard_of(higher),
                Step::Outdated(newer) => return writer.learn(newer),
            };
            self.writers[at].attempts.insert(new_serial, attempt);
            if new_serial != serial {
                self.ask_about(at, new_serial);
            }
        }
    }

    /// Delivers everything in turn until nothing is under way.
    pub(super) fn calm(&mut self) {
        for _ in 0..10_000 {
            if self.letters.is_empty() {
                return;
            }
            let letter = self.letters.remove(0);
            self.deliver(letter);
        }
    }

    /// What somebody who writes knows of those who vote.
    pub(super) fn known_to(&self, writer: usize) -> Electorate {
        self.writers[writer].electorate.clone()
    }

    /// The newest electorate that any voter knows of.
    pub(super) fn electorate(&self) -> Electorate {
        let known = self.nodes.values().map(|node| node.voter.electorate());
        known.max_by_key(|it| it.number()).cloned().unwrap_or_else(|| self.first.clone())
    }

    /// Once there is peace, voters can be changed and every register written.
    pub(super) fn ends_well(&mut self, keys: Key) -> Result<(), String> {
        self.letters.clear();
        self.amenders.clear();
        self.amend(Change::Complete, self.electorate());
        let before = self.seen[2];
        self.calm();
        if self.seen[2] == before {
            return Err("in peace a change of the voters cannot be completed".to_owned());
        }
        let writer = self.new_writer(self.electorate());
        self.writers.push(writer);
        let last = self.writers.len() - 1;
        for key in 1..=keys {
            let count = self.judge.chosen(key).count();
            for _ in 0..50 {
                self.write(last, key, false);
                self.calm();
                if self.judge.chosen(key).count() > count {
                    break;
                }
            }
            if self.judge.chosen(key).count() == count {
                return Err(format!("in peace register {key} cannot be written"));
            }
        }
        self.judge.wrong.clone().map_or(Ok(()), Err)
    }
}

impl Writer {
    fn learn(&mut self, newer: Electorate) {
        if newer.number() > self.electorate.number() {
            self.electorate = newer;
        }
    }
}

impl Attempt {
    fn decide(&mut self, value: Option<Value>) {
        let mut changes = match value {
            Some(Value::Changes(changes)) => changes,
            _ => Vec::new(),
        };
        changes.push(self.change);
        self.value = Some(Value::Changes(changes.clone()));
        self.proposal.propose(Value::Changes(changes));
    }
}
