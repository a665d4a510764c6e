//! The task of a node: hears links, the voter, the clock and its handles, and answers at once.
//!
//! Assumes: links that prove who speaks.
//! Promises: nothing here waits. A peer that says nonsense, or too much, costs no more than itself:
//! what it says of elections is kept for those only in which this process takes part.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::caucus;
use incumbent_protocol::detector::{self, Detector};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::time::Time;
use tokio::sync::mpsc;

use super::address::Seat;
use super::booth::{Booth, Question, What};
use super::group::{Group, Manner, Told};
use super::hello::Hello;
use super::links::{Event, Links};
use super::message::{Line, Message};
use super::node::{Acquaintance, Answers, Nomination, Part, Reach, Word};
use super::register::FOUNDED;
use super::store::merge;
use crate::bell::Ring;
use crate::clock;
use crate::store::arbiter::ROLL_KEPT;

/// For how long the address of a node is tried that is in nobody's list and went away.
const FORGET: Duration = Duration::from_secs(30);

/// Most lines of the roll that are kept.
const LINES_MAX: usize = 10_000;

/// How often it is said again in which elections this process contends.
const ANNOUNCE: Duration = Duration::from_secs(5);

/// Most candidates of which it is remembered where they run.
const HOMES_MAX: usize = 4_096;

/// Most addresses that are tried which are in nobody's list.
const STRANGERS_MAX: usize = 1_024;

/// Everything that the task of a node has.
pub(super) struct Task {
    pub(super) me: CandidateId,
    pub(super) node: NodeId,
    /// Where it listens, if it does.
    pub(super) address: Option<String>,
    pub(super) seats: Vec<Seat>,
    pub(super) links: Links<Message>,
    pub(super) events: mpsc::Receiver<Event<Message>>,
    pub(super) words: mpsc::UnboundedReceiver<Word>,
    pub(super) booth: Option<Booth>,
    pub(super) electorate: Electorate,
    pub(super) detector: Detector,
    pub(super) manner: Manner,
    pub(super) rings: mpsc::Sender<Ring>,
    pub(super) nominations: mpsc::UnboundedSender<Nomination>,
    pub(super) state: State,
}

/// What a task comes to know.
pub(super) struct State {
    groups: BTreeMap<ElectionName, Group>,
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// Which node a candidate runs on.
    homes: BTreeMap<Incarnation, NodeId>,
    pending: BTreeMap<u64, Pending>,
    roll: BTreeMap<(ElectionName, CandidateId), Line>,
    watched: BTreeSet<NodeId>,
    announce_at: Time,
    /// Listening nodes that are in nobody's list, and since when they are gone.
    strangers: BTreeMap<String, Option<Time>>,
}

impl State {
    /// Nothing yet.
    pub(super) const fn new() -> State {
        State {
            groups: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            homes: BTreeMap::new(),
            pending: BTreeMap::new(),
            roll: BTreeMap::new(),
            watched: BTreeSet::new(),
            announce_at: Time::ZERO,
            strangers: BTreeMap::new(),
        }
    }
}

struct Neighbour {
    hello: Hello,
    contends: BTreeSet<ElectionName>,
}

struct Pending {
    message: Message,
    waiting: BTreeSet<NodeId>,
    answers: Answers,
}

impl Task {
    /// Runs until the last handle is gone.
    pub(super) async fn run(mut self) {
        self.detector.begin(clock::now());
        loop {
            self.turn();
            let wake = self.wake_at().map(|at| at.since(clock::now()));
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.happened(event),
                    None => return,
                },
                word = self.words.recv() => match word {
                    Some(Word::Close { done }) => {
                        if let Some(booth) = self.booth.take() {
                            booth.close().await;
                        }
                        self.links.close().await;
                        drop(done);
                        return;
                    }
                    Some(word) => self.told(word),
                    None => return,
                },
                () = sleep(wake) => {}
            }
        }
    }

    fn wake_at(&self) -> Option<Time> {
        let groups = self.state.groups.values().filter_map(Group::wake_at);
        let gone = self.state.strangers.values().flatten().map(|since| *since + FORGET);
        let again = (!self.state.groups.is_empty()).then_some(self.state.announce_at);
        groups.chain(self.detector.wake_at()).chain(gone).chain(again).min()
    }

    /// Does what is due, and passes on what was said.
    fn turn(&mut self) {
        let now = clock::now();
        if self.detector.wake_at().is_some_and(|at| at <= now) {
            self.detector.handle(now, detector::Input::Wake);
        }
        for group in self.state.groups.values_mut() {
            group.wake(now);
        }
        self.forget_strangers(now);
        if now >= self.state.announce_at && !self.state.groups.is_empty() {
            // It may have been lost with a link that broke.
            self.state.announce_at = now + ANNOUNCE;
            self.announce();
        }
        // Suspicions wake groups, and groups change who is watched.
        loop {
            self.watch(now);
            if !self.pass_suspicions(now) {
                break;
            }
        }
        self.pass_on();
    }

    fn watch(&mut self, now: Time) {
        let watched = self.state.groups.values().flat_map(Group::watches);
        let watched: BTreeSet<NodeId> = watched.filter(|node| *node != self.node).collect();
        if self.state.watched != watched {
            self.state.watched.clone_from(&watched);
            self.detector.handle(now, detector::Input::Watch(watched));
        }
    }

    fn pass_suspicions(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some(notice) = self.detector.poll_notice() {
            any = true;
            let input = match notice {
                detector::Notice::Suspected(node) => {
                    tracing::debug!(%node, by = %self.node, "suspected");
                    caucus::Input::Suspected(node)
                }
                detector::Notice::Trusted(node) => {
                    tracing::debug!(%node, "trusted");
                    caucus::Input::Trusted(node)
                }
            };
            for group in self.state.groups.values_mut() {
                group.handle(now, input.clone());
            }
        }
        any
    }

    fn pass_on(&mut self) {
        while let Some(detector::Effect::Send { to, message }) = self.detector.poll_effect() {
            self.links.send(to, Message::Beat(message));
        }
        for (election, group) in &mut self.state.groups {
            while let Some((to, message)) = group.poll_message() {
                let election = election.clone();
                self.links.send(to, &Message::Caucus { election, message });
            }
            if let Some(mine) = group.poll_nomination(self.node) {
                let nomination = Nomination { election: election.clone(), mine };
                // The driver may be gone already.
                let _ = self.nominations.send(nomination);
                // Without ratification that alone changes who leads.
                let _ = self.rings.try_send(Ring::Changed);
            }
        }
    }

    fn happened(&mut self, event: Event<Message>) {
        let now = clock::now();
        match event {
            Event::Up(hello) => self.up(hello),
            Event::Down { node, .. } => {
                self.gone(now, node);
                self.detector.handle(now, detector::Input::Unreachable(node));
                for group in self.state.groups.values_mut() {
                    group.handle(now, caucus::Input::Unreachable(node));
                }
                self.recount(now);
            }
            Event::Message { from, message } => self.heard(now, from, message),
            Event::Twin(hello) => {
                tracing::error!(node = %self.node, other = %hello.name,
                    "another process has this node's number: give each its own address or id");
            }
        }
    }

    fn up(&mut self, hello: Hello) {
        let node = hello.node;
        tracing::debug!(%node, name = %hello.name, address = ?hello.address, "linked");
        if hello.address.is_some() {
            self.house(hello.incarnation, node);
        }
        if let Some(address) = &hello.address
            && !self.is_listed(address, node)
        {
            // Whoever is in nobody's list is told to everybody.
            self.stranger(address.clone());
            let listen = Message::Listen(vec![address.clone()]);
            for other in self.state.neighbours.keys().filter(|other| **other != node) {
                self.links.send(*other, &listen);
            }
        }
        let own = hello.address.clone();
        let strangers = self.state.strangers.keys().filter(|it| Some(*it) != own.as_ref());
        let strangers: Vec<String> = strangers.cloned().collect();
        if !strangers.is_empty() {
            self.links.send(node, Message::Listen(strangers));
        }
        self.links.send(node, self.contends());
        self.state.neighbours.insert(node, Neighbour { hello, contends: BTreeSet::new() });
        self.resolve_again(clock::now());
        // What was asked while it was away.
        for pending in self.state.pending.values().filter(|it| it.waiting.contains(&node)) {
            self.links.send(node, &pending.message);
        }
    }

    fn is_listed(&self, address: &str, node: NodeId) -> bool {
        self.seats.iter().any(|seat| seat.address == address || seat.id == node)
    }

    /// Remembers where a candidate runs, also when it is gone: its term may not be.
    fn house(&mut self, incarnation: Incarnation, node: NodeId) {
        let State { homes, neighbours, .. } = &mut self.state;
        if homes.len() >= HOMES_MAX {
            homes.retain(|_, home| neighbours.contains_key(home));
        }
        homes.insert(incarnation, node);
    }

    fn stranger(&mut self, address: String) {
        if self.state.strangers.len() >= STRANGERS_MAX {
            return;
        }
        self.links.keep(&address);
        self.state.strangers.insert(address, None);
    }

    fn gone(&mut self, now: Time, node: NodeId) {
        let Some(neighbour) = self.state.neighbours.remove(&node) else { return };
        tracing::debug!(%node, by = %self.node, name = %neighbour.hello.name, "link lost");
        let address = neighbour.hello.address;
        if let Some(since) = address.and_then(|it| self.state.strangers.get_mut(&it)) {
            *since = Some(now);
        }
    }

    fn forget_strangers(&mut self, now: Time) {
        let links = &self.links;
        self.state.strangers.retain(|address, since| {
            let stays = since.is_none_or(|since| now < since + FORGET);
            if !stays {
                links.leave(address);
            }
            stays
        });
    }

    fn heard(&mut self, now: Time, from: NodeId, message: Message) {
        match message {
            Message::Ask { id, electorate, asks } => {
                self.put(Question { from, id, electorate, what: What::Asks(asks) });
            }
            Message::Inventory { id, electorate } => {
                self.put(Question { from, id, electorate, what: What::Inventory });
            }
            Message::Answer { id, .. }
            | Message::Registers { id, .. }
            | Message::Rolled { id, .. } => self.answered(id, from, message),
            Message::Roll { id, lines, elections } => {
                let lines = self.roll(lines, &elections);
                self.say(from, Message::Rolled { id, lines });
            }
            // It is a hint: one that is lost because many wait is no loss.
            Message::Rung => drop(self.rings.try_send(Ring::Changed)),
            Message::Beat(message) => {
                self.detector.handle(now, detector::Input::Message { from, message });
            }
            Message::Caucus { election, message } => {
                if let Some(group) = self.state.groups.get_mut(&election) {
                    group.handle(now, caucus::Input::Message { from, message });
                }
            }
            Message::Contends(elections) => {
                if let Some(neighbour) = self.state.neighbours.get_mut(&from) {
                    neighbour.contends = elections.into_iter().collect();
                }
                self.recount(now);
            }
            Message::Listen(addresses) => {
                for address in addresses {
                    let own = self.state.strangers.contains_key(&address);
                    if !own && !self.seats.iter().any(|seat| seat.address == address) {
                        self.stranger(address);
                    }
                }
            }
        }
    }

    fn put(&self, question: Question) {
        if let Some(booth) = &self.booth {
            booth.put(question);
        }
    }

    fn answered(&mut self, id: u64, from: NodeId, message: Message) {
        if let Some(pending) = self.state.pending.get_mut(&id) {
            pending.waiting.remove(&from);
            let _ = pending.answers.send((from, message));
        }
    }

    /// Says something to another node, or to this one.
    fn say(&mut self, to: NodeId, message: Message) {
        if to == self.node {
            self.heard(clock::now(), to, message);
        } else {
            self.links.send(to, &message);
        }
    }

    fn told(&mut self, word: Word) {
        let now = clock::now();
        match word {
            Word::Question { id, to, message, answers } => {
                let waiting = to.clone();
                self.state
                    .pending
                    .insert(id, Pending { message: message.clone(), waiting, answers });
                for node in to {
                    self.say(node, message.clone());
                }
            }
            Word::Again(id) => {
                let again = self.state.pending.get(&id);
                let again = again.map(|it| (it.waiting.clone(), it.message.clone()));
                if let Some((waiting, message)) = again {
                    for node in waiting {
                        self.say(node, message.clone());
                    }
                }
            }
            Word::Forget(id) => drop(self.state.pending.remove(&id)),
            Word::Heard(message) => self.heard(now, self.node, message),
            Word::Ring => {
                for node in self.state.neighbours.keys() {
                    self.links.send(*node, &Message::Rung);
                }
            }
            Word::Electorate(electorate) => self.electorate = electorate,
            Word::Takes { election, part } => self.takes(now, election, part),
            Word::Reach { done } => drop(done.send(self.reach())),
            Word::Nominee { election, done } => drop(done.send(self.nominee(&election))),
            Word::Acquaintances { done } => drop(done.send(self.acquaintances())),
            // Answered where words are taken.
            Word::Close { .. } => {}
        }
    }

    fn takes(&mut self, now: Time, election: ElectionName, part: Option<Part>) {
        let Some(part) = part else {
            if self.state.groups.remove(&election).is_some() {
                self.announce();
            }
            return;
        };
        let told = self.resolve(&part);
        let known = self.state.groups.contains_key(&election);
        let (node, manner) = (self.node, &self.manner);
        let group = self.state.groups.entry(election);
        let group = group.or_insert_with(|| Group::new(node, manner, now));
        group.part = Some(part);
        group.tell(now, told);
        if !known {
            self.announce();
            self.recount(now);
        }
    }

    /// What a candidate says of itself, in numbers of nodes.
    fn resolve(&self, part: &Part) -> Told {
        let leader = part.leader.as_ref().map(|leader| self.home(leader));
        let up = |node: NodeId| node == self.node || self.state.neighbours.contains_key(&node);
        Told { eligible: part.eligible, leader, reachable: leader.is_some_and(up) }
    }

    /// A node came, on which somebody may lead of whom was not known where it is.
    fn resolve_again(&mut self, now: Time) {
        let parts = self.state.groups.iter();
        let parts = parts.filter_map(|(name, group)| Some((name.clone(), group.part.clone()?)));
        let told: Vec<_> = parts.map(|(name, part)| (name, self.resolve(&part))).collect();
        for (election, told) in told {
            if let Some(group) = self.state.groups.get_mut(&election) {
                group.tell(now, told);
            }
        }
    }

    /// Which node a candidate runs on. One that was never heard of has a number that is above all.
    fn home(&self, who: &CandidateId) -> NodeId {
        if *who == self.me {
            return self.node;
        }
        let known = self.state.homes.get(&who.incarnation).copied();
        known.unwrap_or(NodeId::given(u128::MAX))
    }

    fn announce(&self) {
        let contends = self.contends();
        for node in self.state.neighbours.keys() {
            self.links.send(*node, &contends);
        }
    }

    fn contends(&self) -> Message {
        Message::Contends(self.state.groups.keys().cloned().collect())
    }

    /// Tells every group who takes part in it.
    fn recount(&mut self, now: Time) {
        for (election, group) in &mut self.state.groups {
            let there = self.state.neighbours.iter();
            let there = there.filter(|(_, it)| it.contends.contains(election));
            let nodes: BTreeSet<NodeId> = there.map(|(node, _)| *node).chain([self.node]).collect();
            group.nodes(now, nodes.into_iter().collect());
        }
    }

    fn roll(
        &mut self,
        lines: Vec<(ElectionName, Line)>,
        elections: &[ElectionName],
    ) -> Vec<(ElectionName, Line)> {
        let now = clock::wall();
        let roll = &mut self.state.roll;
        for (election, line) in lines {
            if roll.len() < LINES_MAX || roll.contains_key(&(election.clone(), line.id().clone())) {
                merge(roll, election, line);
            }
        }
        roll.retain(|_, line| now.since(line.beaten_at) < ROLL_KEPT);
        let wanted = |(key, line): (&(ElectionName, CandidateId), &Line)| {
            elections.contains(&key.0).then(|| (key.0.clone(), line.clone()))
        };
        roll.iter().filter_map(wanted).collect()
    }

    /// Whoever was picked in an election, if its process is known.
    fn nominee(&self, election: &ElectionName) -> Option<CandidateId> {
        let node = self.state.groups.get(election)?.nominee()?;
        if node == self.node {
            return Some(self.me.clone());
        }
        let hello = &self.state.neighbours.get(&node)?.hello;
        let name = CandidateName::new(&hello.name).ok()?;
        Some(CandidateId::new(name, hello.incarnation))
    }

    fn acquaintances(&self) -> Vec<Acquaintance> {
        let listed = self.seats.iter().map(|seat| Acquaintance {
            node: seat.id,
            address: Some(seat.address.clone()),
            name: None,
            up: false,
        });
        let own = Acquaintance {
            node: self.node,
            address: self.address.clone(),
            name: Some(self.me.name.to_string()),
            up: true,
        };
        let linked = self.state.neighbours.iter().map(|(node, neighbour)| Acquaintance {
            node: *node,
            address: neighbour.hello.address.clone(),
            name: Some(neighbour.hello.name.clone()),
            up: true,
        });
        let all = listed.chain(linked).chain([own]).map(|it| (it.node, it));
        all.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    fn reach(&self) -> Reach {
        let voters = self.electorate.voters();
        let up = |node: &&NodeId| {
            (**node == self.node && self.booth.is_some())
                || self.state.neighbours.contains_key(node)
        };
        let address = |node: &NodeId| {
            let seat = self.seats.iter().find(|seat| seat.id == *node);
            seat.map_or_else(|| node.to_string(), |seat| seat.address.clone())
        };
        let missing = voters.iter().filter(|node| !up(node)).map(address).collect();
        let is_founded = self.electorate.number() >= FOUNDED;
        let needed = if is_founded { self.electorate.majority() } else { voters.len() };
        Reach { up: voters.iter().filter(up).count(), voters: voters.len(), needed, missing }
    }
}

async fn sleep(span: Option<Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}
