//! A node's turn: it takes one thing that happened, and then does whatever is due.
//!
//! Assumes: nothing but the clocks, the links and the disk of its own host.
//! Promises: what the task of a node ([`serve`](super::serve)) and the driver of its candidate
//! ([`drive`](super::drive)) do side by side is done here in one thread, until nothing is due.

use std::collections::BTreeSet;

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::protocol::Protocol;

use super::serve::{down, hear, nominate};
use super::{Event, World};
use crate::clock::At;
use crate::peers::node::{Neighbour, Parts};
use crate::peers::store::Clocks;
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
            | Event::Campaign { node, life, .. } => Some((node, life)),
            _ => None,
        }
    }

    pub(super) fn run_turn(&mut self, number: u8, event: Event) {
        let node = &mut self.nodes[usize::from(number)];
        let Some(mut parts) = node.parts.take() else { return };
        let now = node.clocks(self.now);
        if node.clock_jumped() {
            for it in &mut parts.elections {
                it.candidacy.handle(now.local, Input::ClockJumped);
            }
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
            Event::Work { election, serial, .. } => {
                self.work(number, parts, now, election, serial);
            }
            Event::Stopped { election, serial, .. } => {
                self.stopped(number, parts, now, election, serial);
            }
            Event::Campaign { election, .. } => {
                let it = &mut parts.elections[usize::from(election)];
                it.wants = it.held.is_none();
            }
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
        let contends = BTreeSet::new();
        let neighbour = Neighbour { incarnation, session, contends, serial: 0 };
        parts.neighbours.insert(node, neighbour);
        parts.serial += 1;
        let contends = Message::Contends { elections: parts.contends(), serial: parts.serial };
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
                return self.look_for_the_stranded(number, parts);
            }
        }
        let story = format!("{} never comes to rest", self.nodes[usize::from(number)].id);
        self.accuse("comes_to_rest", story);
    }

    /// Whatever was answered by all voters is decided.
    fn look_for_the_stranded(&mut self, number: u8, parts: &Parts) {
        let stores = [Some(&parts.store), parts.office.as_ref()];
        if stores.into_iter().flatten().any(|store| store.client().is_stranded()) {
            let id = &self.nodes[usize::from(number)].id;
            let story = format!("all voters have answered {id}, and it waits for more");
            self.accuse("all_answers_suffice", story);
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
