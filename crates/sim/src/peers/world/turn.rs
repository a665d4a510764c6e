//! A node's turn: it takes one thing that happened, and then does whatever is due.
//!
//! Assumes: nothing but the clocks, the links and the disk of its own host.
//! Promises: what the task of a node and the driver of its candidate do in `incumbent`: `peers/task.rs`,
//! `driver.rs` and `driver/nominated.rs`, in one thread.

use core::time::Duration;
use std::collections::BTreeSet;

use incumbent_protocol::candidacy::{Effect, Input, Wish};
use incumbent_protocol::identity::{CandidateId, Incarnation};
use incumbent_protocol::lease::request::{Denied, Done};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};
use incumbent_protocol::{caucus, detector};

use super::{Event, World, about};
use crate::clock::At;
use crate::peers::clerk::{Clerk, Clocks, Finished, Task};
use crate::peers::group::{Group, Told};
use crate::peers::node::{Flight, Neighbour, Parts};
use crate::peers::words::Message;

impl World<'_> {
    /// Gives a node its turn, or keeps the event until it goes on.
    pub(super) fn take_turn(&mut self, event: Event) {
        let Some((number, life)) = self.whose(event) else { return };
        let node = &mut self.nodes[usize::from(number)];
        let lives = node.up && node.life == life;
        if lives && node.frozen.is_some() {
            if !matches!(event, Event::Wake { .. }) {
                node.deferred.push(event);
            }
            return;
        }
        if let Event::Deliver { letter } = event {
            if !lives {
                self.letters.remove(letter);
                return;
            }
            if !self.is_delivered(letter) {
                return;
            }
        }
        if lives {
            self.run_turn(number, event);
        }
    }

    /// To which life of which node an event belongs.
    fn whose(&self, event: Event) -> Option<(u8, u32)> {
        match event {
            Event::Wake { node, turn } => {
                let its = &self.nodes[usize::from(node)];
                (its.turn == turn).then_some((node, its.life))
            }
            Event::Deliver { letter } => {
                self.letters.get(letter).map(|letter| (letter.to, letter.to_life))
            }
            Event::Kept { node, life }
            | Event::Up { node, life, .. }
            | Event::Down { node, life, .. }
            | Event::Work { node, life, .. }
            | Event::Stopped { node, life, .. }
            | Event::Campaign { node, life } => Some((node, life)),
            _ => None,
        }
    }

    pub(super) fn run_turn(&mut self, number: u8, event: Event) {
        let node = &mut self.nodes[usize::from(number)];
        let Some(mut parts) = node.parts.take() else { return };
        let now = node.clocks(self.now);
        if node.clock_jumped() {
            parts.candidacy.handle(now.local, Input::ClockJumped);
        }
        if matches!(event, Event::Wake { .. }) {
            node.wakes_at = At::MAX;
        }
        let life = node.life;
        self.take(number, &mut parts, now, event);
        self.settle(number, &mut parts, now);
        let node = &mut self.nodes[usize::from(number)];
        node.parts = Some(parts);
        if matches!(event, Event::Kept { .. })
            && let Some(down) = node.crash_kept.take()
        {
            self.tally.fire(crate::peers::fault::Kind::CrashKept);
            self.crash(number, Some(down));
        }
        if self.nodes[usize::from(number)].life == life {
            self.arm(number);
        }
    }

    fn take(&mut self, number: u8, parts: &mut Parts, now: Clocks, event: Event) {
        match event {
            Event::Deliver { letter } => {
                let Some(letter) = self.letters.remove(letter) else { return };
                let sender = &self.nodes[usize::from(letter.from)];
                let from = sender.number;
                let incarnation = sender.incarnation(letter.from_life);
                let known = parts.neighbours.get(&from);
                if known.is_some_and(|known| known.incarnation == incarnation) {
                    hear(parts, now, from, letter.message);
                }
            }
            Event::Kept { .. } => self.kept(number, parts, now),
            Event::Up { peer, session, incarnation, .. } => {
                self.up(number, parts, now, peer, session, incarnation);
            }
            Event::Down { peer, session, .. } => {
                let peer = self.nodes[usize::from(peer)].number;
                if parts.neighbours.get(&peer).is_some_and(|known| known.session == session) {
                    down(parts, now, peer);
                }
            }
            Event::Work { serial, .. } => self.work(number, parts, now, serial),
            Event::Stopped { serial, .. } => self.stopped(number, parts, now, serial),
            Event::Campaign { .. } => parts.wants = parts.held.is_none(),
            _ => {}
        }
    }

    fn up(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        peer: u8,
        session: u64,
        incarnation: Incarnation,
    ) {
        let node = self.nodes[usize::from(peer)].number;
        if parts.neighbours.contains_key(&node) {
            down(parts, now, node);
        }
        parts.homes.insert(incarnation, node);
        let neighbour = Neighbour { incarnation, session, contends: false, serial: 0 };
        parts.neighbours.insert(node, neighbour);
        parts.serial += 1;
        let contends = Message::Contends { contends: parts.group.is_some(), serial: parts.serial };
        self.say(number, session, peer, contends);
    }

    /// Does whatever is due, until nothing is.
    fn settle(&mut self, number: u8, parts: &mut Parts, now: Clocks) {
        // Each of these wakes others; a node that never comes to rest would be a bug of its own.
        for _ in 0..1_000 {
            let mut moved = self.serve(number, parts, now);
            moved |= nominate(parts, now);
            moved |= self.drive(number, parts, now);
            if !moved {
                return;
            }
        }
        let story = format!("{} never comes to rest", self.nodes[usize::from(number)].id);
        self.accuse("comes_to_rest", story);
    }

    /// The node's task: what it says to itself and to others.
    fn serve(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        let me = self.nodes[usize::from(number)].number;
        while let Some(message) = parts.inbox.pop_front() {
            hear(parts, now, me, message);
            moved = true;
        }
        if parts.booth.promise() {
            self.write_disk(number, parts, now);
            moved = true;
        }
        while let Some(detector::Effect::Send { to, message }) = parts.detector.poll_effect() {
            self.send(number, parts, to, Message::Beat(message));
        }
        while let Some((to, message)) = parts.group.as_mut().and_then(Group::poll_message) {
            self.send(number, parts, to, Message::Caucus(message));
        }
        while let Some((to, message)) = poll_clerks(parts) {
            self.send(number, parts, to, message);
            moved = true;
        }
        let office = parts.office.as_mut().is_some_and(Clerk::take_ring);
        if parts.clerk.take_ring() || office {
            let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
            for to in all {
                self.send(number, parts, to, Message::Rung);
            }
        }
        moved
    }

    /// Sends something to a node, or to this one.
    pub(super) fn send(&mut self, number: u8, parts: &mut Parts, to: NodeId, message: Message) {
        if self.nodes[usize::from(number)].number == to {
            parts.inbox.push_back(message);
            return;
        }
        let session = parts.neighbours.get(&to).map(|neighbour| neighbour.session);
        if let (Some(session), Some(place)) = (session, self.place(to)) {
            self.say(number, session, place, message);
        }
    }

    /// The candidate's driver.
    fn drive(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        for clerk in [Some(&mut parts.clerk), parts.office.as_mut()].into_iter().flatten() {
            if clerk.wake_at().is_some_and(|at| at <= now.local) {
                clerk.wake(now);
                moved = true;
            }
        }
        moved |= self.finished(number, parts, now);
        if parts.candidacy.wake_at().is_some_and(|at| at <= now.local) {
            parts.candidacy.handle(now.local, Input::Wake);
            moved = true;
        }
        moved |= self.note(number, parts, now);
        let wish = wish(parts, self.story.setting.watches);
        if wish != parts.candidacy.wish() {
            parts.candidacy.handle(now.local, Input::Wish(wish));
            self.note(number, parts, now);
            moved = true;
        }
        moved |= self.take_part(number, parts, now);
        moved |= self.look_after(parts, now);
        if !parts.clerk.is_busy()
            && let Some(Effect::Ask { ticket, request }) = parts.candidacy.poll_effect()
        {
            parts.flight = Some(Flight { asked_at: now.local });
            let deadline = now.local + self.timing.timeout();
            parts.clerk.begin(now, deadline, Task::Request(ticket, request));
            moved = true;
        }
        moved
    }

    /// What errands came to.
    fn finished(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        while let Some(finished) = parts.clerk.poll_finished() {
            moved = true;
            let Finished::Request(ticket, outcome) = finished else { continue };
            let Some(flight) = parts.flight.take() else { continue };
            self.tally.unknown += u64::from(matches!(outcome, Outcome::Unknown));
            if let Outcome::Committed(Done::Looked(snapshot))
            | Outcome::Refused(Denied { snapshot: Some(snapshot), .. }) = &outcome
            {
                parts.barred = self.is_barred(number, snapshot);
            }
            if let Outcome::Committed(Done::Claimed(claim)) = &outcome {
                let at = Time::from_nanos(self.now);
                self.no_term_against_orders.begun(at, claim, &parts.clerk.in_force);
            }
            let asked_at = AskedAt::before_sending(flight.asked_at);
            let heard_at = HeardAt::after_answer(now.local);
            let answer = Input::Answer { ticket, asked_at, heard_at, outcome };
            parts.candidacy.handle(now.local, answer);
        }
        let office = parts.office.as_mut().and_then(Clerk::poll_finished);
        if let Some(finished) = office {
            parts.office = None;
            moved = true;
            self.tally.ordered += u64::from(matches!(finished, Finished::Order(true)));
            self.tally.amended += u64::from(matches!(finished, Finished::Amend(true)));
            if let Finished::Looked(Some(controls)) = finished {
                self.looked(number, parts, now, &controls);
            }
        }
        moved
    }

    fn is_barred(&self, number: u8, snapshot: &Snapshot) -> bool {
        let name = &self.nodes[usize::from(number)].id.name;
        snapshot.controls.bar_on(name, snapshot.now).is_some()
    }

    /// Tells the caucus how the candidate stands, if that is news; not before it has looked.
    fn take_part(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let node = &self.nodes[usize::from(number)];
        let holder = parts.candidacy.holder(now.local).filter(|_| parts.takes_part());
        let Some(holder) = holder else {
            if parts.group.take().is_some() {
                self.announce(number, parts);
                return true;
            }
            return false;
        };
        // Whoever could not take a term must not be picked for it again and again.
        let eligible = parts.candidacy.wish() == Wish::Lead
            && !parts.candidacy.is_held_off(now.local)
            && parts.candidacy.is_heard();
        let leader = holder.map(|holder| home(parts, &node.id, node.number, holder));
        let up = |it: &NodeId| *it == node.number || parts.neighbours.contains_key(it);
        let told = Told { eligible, leader, reachable: leader.as_ref().is_some_and(up) };
        let known = parts.group.is_some();
        let (me, manner) = (node.number, self.manner);
        let group = parts.group.get_or_insert_with(|| Group::new(me, &manner, now.local));
        let news = group.tell(now.local, told);
        if !known {
            self.announce(number, parts);
            recount(parts, me, now);
        }
        news || !known
    }

    fn announce(&mut self, number: u8, parts: &mut Parts) {
        parts.serial += 1;
        let (contends, serial) = (parts.group.is_some(), parts.serial);
        let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
        for to in all {
            self.send(number, parts, to, Message::Contends { contends, serial });
        }
    }

    /// Sets the timer of a node for when it wants its next turn.
    pub(super) fn arm(&mut self, number: u8) {
        let node = &mut self.nodes[usize::from(number)];
        let Some(wake) = node.parts.as_ref().and_then(|parts| parts.wake_at()) else { return };
        let due = node.when(wake).max(self.now);
        if due >= node.wakes_at && node.wakes_at >= self.now {
            return; // It wakes before that anyway, and will set its timer anew then.
        }
        let late = self.random.between(0, self.story.setting.lateness);
        node.wakes_at = due + late;
        node.turn += 1;
        let turn = node.turn;
        self.queue.push(due + late, Event::Wake { node: number, turn });
    }
}

/// Heartbeats and nominations.
fn nominate(parts: &mut Parts, now: Clocks) -> bool {
    let mut moved = false;
    if parts.detector.wake_at().is_some_and(|at| at <= now.local) {
        parts.detector.handle(now.local, detector::Input::Wake);
        moved = true;
    }
    moved |= parts.group.as_mut().is_some_and(|group| group.wake(now.local));
    let watched: BTreeSet<NodeId> = parts.group.iter().flat_map(Group::watches).collect();
    if parts.watched != watched {
        parts.watched.clone_from(&watched);
        parts.detector.handle(now.local, detector::Input::Watch(watched));
        moved = true;
    }
    while let Some(notice) = parts.detector.poll_notice() {
        moved = true;
        if let Some(group) = &mut parts.group {
            group.handle(now.local, about(notice));
        }
    }
    let mine = parts.group.as_mut().and_then(Group::poll_nomination);
    if let Some(mine) = mine {
        let deference = if mine { Duration::ZERO } else { Duration::MAX };
        parts.candidacy.handle(now.local, Input::Defer(deference));
        if mine {
            parts.candidacy.handle(now.local, Input::Bell);
        }
        moved = true;
    }
    moved
}

fn hear(parts: &mut Parts, now: Clocks, from: NodeId, message: Message) {
    match message {
        Message::Ask { .. } | Message::Inventory { .. } => parts.booth.put(from, message),
        Message::Answer { .. } | Message::Registers { .. } => {
            if let Some(office) = &mut parts.office {
                office.hear(now, from, message.clone());
            }
            parts.clerk.hear(now, from, message);
        }
        Message::Rung => parts.candidacy.handle(now.local, Input::Bell),
        Message::Beat(message) => {
            parts.detector.handle(now.local, detector::Input::Message { from, message });
        }
        Message::Caucus(message) => {
            if let Some(group) = &mut parts.group {
                group.handle(now.local, caucus::Input::Message { from, message });
            }
        }
        Message::Contends { contends, serial } => {
            if let Some(known) = parts.neighbours.get_mut(&from)
                && known.serial < serial
            {
                (known.contends, known.serial) = (contends, serial);
            }
            let me = parts.booth.me();
            recount(parts, me, now);
        }
    }
}

fn down(parts: &mut Parts, now: Clocks, node: NodeId) {
    parts.neighbours.remove(&node);
    parts.detector.handle(now.local, detector::Input::Unreachable(node));
    if let Some(group) = &mut parts.group {
        group.handle(now.local, caucus::Input::Unreachable(node));
    }
    let me = parts.booth.me();
    recount(parts, me, now);
}

/// Tells the group who takes part in it.
fn recount(parts: &mut Parts, me: NodeId, now: Clocks) {
    let there = parts.neighbours.iter().filter(|(_, it)| it.contends).map(|(node, _)| *node);
    let nodes: BTreeSet<NodeId> = there.chain([me]).collect();
    if let Some(group) = &mut parts.group {
        group.nodes(now.local, nodes.into_iter().collect());
    }
}

/// Which node a candidate runs on. One that was never heard of has a number that no node has.
fn home(parts: &Parts, me: &CandidateId, node: NodeId, who: &CandidateId) -> NodeId {
    if who == me {
        return node;
    }
    let known = parts.homes.get(&who.incarnation).copied();
    known.unwrap_or(NodeId::given(who.incarnation.bits()))
}

fn poll_clerks(parts: &mut Parts) -> Option<(NodeId, Message)> {
    let own = parts.clerk.poll_send();
    own.or_else(|| parts.office.as_mut().and_then(Clerk::poll_send))
}

/// How much of the election the process wants.
fn wish(parts: &Parts, watches: bool) -> Wish {
    let abstains = parts.held.is_none() && (parts.unfit || parts.barred);
    match (parts.takes_part(), watches) {
        (true, _) if abstains => Wish::Watch,
        (true, _) => Wish::Lead,
        (false, true) => Wish::Watch,
        (false, false) => Wish::Nothing,
    }
}
