//! The floor of a lab: nodes, what is on its way between them, and one event after the other.
//!
//! Assumes: a setting that passed its check.
//! Promises: events of one instant come in the order in which they were scheduled, so that a seed
//! replays a run; the floor ends, whatever a machine does.

use std::collections::BTreeMap;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice};
use incumbent_protocol::time::Time;

use super::machine::Machine;
use super::outcome::{self, End, Outcome};
use super::setting::Setting;
use super::trace::{Fate, Letter, Trace, What};
use crate::clock::At;
use crate::random::Random;

/// A lab that does not come to rest is ended after so many events.
const MOST_EVENTS: usize = 2_000_000;

/// So many message times away is far.
const FAR: u64 = 10;

/// What is going to happen.
#[derive(Clone, Copy)]
enum Next {
    Fail(NodeId),
    Return(NodeId),
    Initiate(NodeId),
    Find { node: NodeId, dead: NodeId },
    Deliver { letter: usize },
    Wake { node: NodeId, life: u32 },
}

/// A place for a node: its machine while it is alive.
struct Seat<M> {
    machine: Option<M>,
    life: u32,
    pick: Option<NodeId>,
    wake: Option<At>,
}

/// Everything at one instant.
pub(super) struct Floor<'a, M: Machine> {
    setting: &'a Setting,
    random: Random,
    now: At,
    seats: BTreeMap<NodeId, Seat<M>>,
    next: BTreeMap<(At, u64), Next>,
    scheduled: u64,
    messages: Vec<M::Message>,
    trace: Trace,
}

impl<'a, M: Machine> Floor<'a, M> {
    pub(super) fn new(setting: &'a Setting) -> Self {
        let seat = |node: &NodeId| (*node, Seat { machine: None, life: 0, pick: None, wake: None });
        let mut floor = Floor {
            setting,
            random: Random::from_seed(setting.seed),
            now: 0,
            seats: setting.nodes.iter().map(seat).collect(),
            next: BTreeMap::new(),
            scheduled: 0,
            messages: Vec::new(),
            trace: Trace::default(),
        };
        // Whoever dies at an instant does not read what arrives at it.
        setting.failures.iter().for_each(|(node, at)| floor.schedule(*at, Next::Fail(*node)));
        setting.returns.iter().for_each(|(node, at)| floor.schedule(*at, Next::Return(*node)));
        setting.initiators.iter().for_each(|(node, at)| floor.schedule(*at, Next::Initiate(*node)));
        floor
    }

    /// Lets everything happen.
    pub(super) fn run(mut self) -> Outcome {
        let dead = self.setting.dead_at_first();
        for node in &self.setting.nodes {
            if !dead.contains(node) {
                self.start(*node);
                self.remember(*node);
            }
        }
        let mut end = End::AtRest;
        for count in 0.. {
            let Some(((at, _), next)) = self.next.pop_first() else { break };
            if at > self.setting.limit || count > MOST_EVENTS {
                end = End::Limit;
                break;
            }
            self.now = at;
            self.happen(next);
            if self.is_at_rest() {
                break;
            }
        }
        let picks = self.picks();
        Outcome::new(self.trace, picks, self.now, end)
    }

    /// All agree, and nothing is to come but timers that are far away. Whoever was picked may say so
    /// again for ever; nobody needs to see that.
    fn is_at_rest(&self) -> bool {
        let far = self.now + FAR * self.setting.bound;
        let near = |(at, _): &(At, u64)| *at <= far;
        let idle = self.next.iter().all(|(when, next)| match next {
            Next::Wake { .. } => !near(when),
            Next::Find { node, dead } => self.seats[node].pick != Some(*dead),
            Next::Fail(_) | Next::Return(_) | Next::Initiate(_) | Next::Deliver { .. } => false,
        });
        idle && outcome::agreed(&self.picks()).is_some()
    }

    fn picks(&self) -> BTreeMap<NodeId, Option<NodeId>> {
        let alive = self.seats.iter().filter(|(_, seat)| seat.machine.is_some());
        alive.map(|(node, seat)| (*node, seat.pick)).collect()
    }

    fn happen(&mut self, next: Next) {
        match next {
            Next::Fail(node) => self.fail(node),
            Next::Return(node) => {
                self.trace.note(self.now, What::Returned(node));
                self.start(node);
                // It knows of nobody who leads: it asks, or runs at once.
                self.tell(node, Input::Vacant);
            }
            Next::Initiate(node) => self.initiate(node),
            Next::Find { node, dead } => self.find(node, dead),
            Next::Deliver { letter } => self.deliver(letter),
            Next::Wake { node, life } => self.wake(node, life),
        }
    }

    fn start(&mut self, node: NodeId) {
        let mut machine = M::seated(node, self.setting);
        machine.begin(Time::from_nanos(self.now));
        if let Some(seat) = self.seats.get_mut(&node) {
            *seat = Seat { machine: Some(machine), life: seat.life + 1, pick: None, wake: None };
        }
        self.tell(node, Input::Nodes(self.setting.nodes.clone()));
    }

    /// Before anything happens, everybody knows who leads: the highest. If it is dead, those who
    /// begin are about to find that; the others know that something is wrong, and wait to be told.
    fn remember(&mut self, node: NodeId) {
        let Some(leader) = self.setting.nodes.iter().max().copied() else { return };
        let died = self.setting.dead_leader().is_some();
        let begins = self.setting.initiators.iter().any(|(it, _)| *it == node);
        if !died || begins {
            self.tell(node, Input::Led(leader));
        }
        if let Some(seat) = self.seats.get_mut(&node) {
            seat.pick = Some(leader).filter(|_| !died);
        }
    }

    fn fail(&mut self, node: NodeId) {
        self.trace.note(self.now, What::Crashed(node));
        if let Some(seat) = self.seats.get_mut(&node) {
            (seat.machine, seat.pick, seat.wake) = (None, None, None);
        }
        let found = self.now.saturating_add(self.setting.detection);
        let others: Vec<NodeId> = self.setting.nodes.clone();
        for other in others {
            self.schedule(found, Next::Find { node: other, dead: node });
        }
    }

    /// A node finds that nobody leads. It knows of the dead leader, if there is one, and of no other
    /// dead node.
    fn initiate(&mut self, node: NodeId) {
        if !self.is_alive(node) {
            return;
        }
        if let Some(dead) = self.setting.dead_leader().filter(|dead| !self.is_alive(*dead)) {
            self.trace.note(self.now, What::Found { node, dead });
            if M::knows(node, dead, self.setting) {
                self.tell(node, Input::Unreachable(dead));
            }
        }
        self.tell(node, Input::Vacant);
    }

    /// The death of whoever a node holds for picked is found.
    fn find(&mut self, node: NodeId, dead: NodeId) {
        let holds = self.seats.get(&node).is_some_and(|seat| seat.pick == Some(dead));
        if !holds || self.is_alive(dead) {
            return;
        }
        self.trace.note(self.now, What::Found { node, dead });
        self.tell(node, Input::Unreachable(dead));
        self.tell(node, Input::Vacant);
    }

    fn deliver(&mut self, place: usize) {
        let now = self.now;
        let Some(letter) = self.trace.letters.get_mut(place) else { return };
        let (from, to) = (letter.from, letter.to);
        let alive = self.seats.get(&to).is_some_and(|seat| seat.machine.is_some());
        if letter.fate == Fate::OnItsWay(now) {
            letter.fate = if alive { Fate::Arrived(now) } else { Fate::Unread(now) };
        }
        self.trace.note(now, if alive { What::Arrived(place) } else { What::Unread(place) });
        if alive {
            let message = self.messages[place].clone();
            self.tell(to, Input::Message { from, message });
        }
    }

    fn wake(&mut self, node: NodeId, life: u32) {
        let now = Time::from_nanos(self.now);
        let Some(seat) = self.seats.get_mut(&node).filter(|seat| seat.life == life) else { return };
        if seat.wake != Some(self.now) {
            return;
        }
        seat.wake = None;
        let before = self.trace.events.len();
        if seat.machine.as_ref().and_then(M::wake_at).is_some_and(|at| at <= now) {
            self.tell(node, Input::Wake);
        } else {
            self.plan(node);
        }
        // A timer that led to nothing is nobody's business.
        if self.trace.events.len() > before {
            let timer = super::trace::Event { at: self.now, what: What::Timer(node) };
            self.trace.events.insert(before, timer);
        }
    }

    /// Gives a node an input, and does what it wants done.
    fn tell(&mut self, node: NodeId, input: Input<M::Message>) {
        let now = Time::from_nanos(self.now);
        let Some(machine) = self.machine(node) else { return };
        machine.handle(now, input);
        self.drain(node);
        self.plan(node);
    }

    /// What it wants known comes before what it wants done.
    fn drain(&mut self, node: NodeId) {
        while let Some(notice) = self.machine(node).and_then(M::poll_notice) {
            self.notice(node, notice);
        }
        while let Some(effect) = self.machine(node).and_then(M::poll_effect) {
            let Effect::Send { to, message } = effect;
            self.send(node, to, message);
        }
    }

    fn machine(&mut self, node: NodeId) -> Option<&mut M> {
        self.seats.get_mut(&node)?.machine.as_mut()
    }

    fn notice(&mut self, node: NodeId, notice: Notice) {
        let (what, pick) = match notice {
            Notice::Began { run } => (What::Began { node, run }, None),
            Notice::Picked { run, nominee } => (What::Picked { node, run, nominee }, Some(nominee)),
        };
        self.trace.note(self.now, what);
        if let Some(seat) = self.seats.get_mut(&node) {
            seat.pick = pick;
        }
        if let Some(dead) = pick.filter(|nominee| !self.is_alive(*nominee)) {
            let found = self.now.saturating_add(self.setting.detection);
            self.schedule(found, Next::Find { node, dead });
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: M::Message) {
        let passage = self.setting.links.send(&mut self.random, self.now, from, to);
        let place = self.trace.letters.len();
        let face = M::face(&message);
        self.trace.letters.push(Letter {
            from,
            to,
            kind: face.kind,
            about: face.about,
            run: face.run,
            sent: self.now,
            fate: passage.first.map_or(Fate::Lost, Fate::OnItsWay),
            again: passage.again,
        });
        self.messages.push(message);
        self.trace.note(self.now, What::Sent(place));
        if passage.first.is_none() {
            self.trace.note(self.now, What::Lost(place));
        }
        for at in [passage.first, passage.again].into_iter().flatten() {
            self.schedule(at, Next::Deliver { letter: place });
        }
    }

    /// Sees to it that a node is woken when it wants to be.
    fn plan(&mut self, node: NodeId) {
        let Some(seat) = self.seats.get_mut(&node) else { return };
        let Some(at) = seat.machine.as_ref().and_then(M::wake_at) else { return };
        // One that wants to be woken in the past is woken a little later, so that time goes on.
        let at = at.as_nanos().max(self.now + 1);
        if seat.wake.is_some_and(|planned| planned <= at && planned > self.now) {
            return;
        }
        seat.wake = Some(at);
        let life = seat.life;
        self.schedule(at, Next::Wake { node, life });
    }

    fn is_alive(&self, node: NodeId) -> bool {
        self.seats.get(&node).is_some_and(|seat| seat.machine.is_some())
    }

    fn schedule(&mut self, at: At, next: Next) {
        self.next.insert((at, self.scheduled), next);
        self.scheduled += 1;
    }
}
