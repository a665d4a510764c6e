//! A node's task: what it hears, and what it says to itself and to others.
//!
//! Assumes: links that prove who speaks.
//! Promises: what `incumbent`'s `peers/task.rs` does.

use std::collections::BTreeSet;

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::group::Group;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::{caucus, detector};

use super::{World, about};
use crate::peers::node::Parts;
use crate::peers::store::{Clocks, Store};
use crate::peers::words::Message;

impl World<'_> {
    /// The node's task: what it says to itself and to others.
    pub(super) fn serve(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
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
        while let Some((election, to, message)) = poll_groups(parts) {
            self.send(number, parts, to, Message::Caucus { election, message });
        }
        while let Some((to, message)) = poll_sends(parts) {
            self.send(number, parts, to, message);
            moved = true;
        }
        while let Some(rung) = poll_rings(parts) {
            self.ring(number, parts, Some(rung));
        }
        moved
    }

    /// Says to everybody that they should look, if they should.
    pub(super) fn ring(&mut self, number: u8, parts: &mut Parts, rung: Option<Message>) {
        let Some(rung) = rung else { return };
        let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
        for to in all {
            self.send(number, parts, to, rung.clone());
        }
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
}

/// Heartbeats and nominations.
pub(super) fn nominate(parts: &mut Parts, now: Clocks) -> bool {
    let mut moved = false;
    if parts.detector.wake_at().is_some_and(|at| at <= now.local) {
        parts.detector.handle(now.local, detector::Input::Wake);
        moved = true;
    }
    for (_, group) in parts.groups() {
        moved |= group.wake(now.local);
    }
    if parts.lookout.take(now.local) {
        for it in &mut parts.elections {
            it.candidacy.handle(now.local, Input::Bell);
        }
        moved = true;
    }
    let watched: BTreeSet<NodeId> = parts.groups().flat_map(|(_, group)| group.watches()).collect();
    if parts.watched != watched {
        parts.watched.clone_from(&watched);
        parts.detector.handle(now.local, detector::Input::Watch(watched));
        moved = true;
    }
    while let Some(notice) = parts.detector.poll_notice() {
        moved = true;
        for (_, group) in parts.groups() {
            group.handle(now.local, about(notice));
        }
    }
    for it in &mut parts.elections {
        if let Some(mine) = it.group.as_mut().and_then(Group::poll_nomination) {
            it.candidacy.handle(now.local, Input::Nominated(mine));
            if mine {
                it.candidacy.handle(now.local, Input::Bell);
            }
            moved = true;
        }
    }
    moved
}

pub(super) fn hear(parts: &mut Parts, now: Clocks, from: NodeId, message: Message) {
    match message {
        Message::Ask { .. } | Message::Inventory { .. } => parts.booth.put(from, message),
        Message::Answer { .. } | Message::Registers { .. } => {
            if let Some(office) = &mut parts.office {
                office.hear(now, from, message.clone());
            }
            parts.store.hear(now, from, message);
        }
        Message::Rung { ended } => {
            let me = parts.booth.me();
            let higher = parts.neighbours.keys().filter(|node| **node > me && **node != from);
            parts.lookout.rung(now.local, !ended.is_empty(), higher.count());
            for (election, group) in parts.groups() {
                let ended = ended.iter().filter(|(it, _)| *it == election);
                ended.for_each(|(_, term)| group.ended(now.local, *term));
            }
        }
        Message::Beat(message) => {
            parts.detector.handle(now.local, detector::Input::Message { from, message });
        }
        Message::Caucus { election, message } => {
            if let Some((_, group)) = parts.groups().find(|(it, _)| *it == election) {
                group.handle(now.local, caucus::Input::Message { from, message });
            }
        }
        Message::Contends { elections, serial } => {
            if let Some(known) = parts.neighbours.get_mut(&from)
                && known.serial < serial
            {
                (known.contends, known.serial) = (elections, serial);
            }
            let me = parts.booth.me();
            recount(parts, me, now);
        }
    }
}

pub(super) fn down(parts: &mut Parts, now: Clocks, node: NodeId) {
    parts.neighbours.remove(&node);
    parts.detector.handle(now.local, detector::Input::Unreachable(node));
    for (_, group) in parts.groups() {
        group.handle(now.local, caucus::Input::Unreachable(node));
    }
    let me = parts.booth.me();
    recount(parts, me, now);
}

/// Tells each group who takes part in it.
pub(super) fn recount(parts: &mut Parts, me: NodeId, now: Clocks) {
    for (election, it) in (0..).zip(&mut parts.elections) {
        let Some(group) = &mut it.group else { continue };
        let there = parts.neighbours.iter().filter(|(_, it)| it.contends.contains(&election));
        let nodes: BTreeSet<NodeId> = there.map(|(node, _)| *node).chain([me]).collect();
        group.nodes(now.local, nodes.into_iter().collect());
    }
}

fn poll_groups(parts: &mut Parts) -> Option<(u8, NodeId, caucus::Message)> {
    parts.groups().find_map(|(election, group)| {
        let (to, message) = group.poll_message()?;
        Some((election, to, message))
    })
}

fn poll_sends(parts: &mut Parts) -> Option<(NodeId, Message)> {
    let own = parts.store.poll_send();
    own.or_else(|| parts.office.as_mut().and_then(Store::poll_send))
}

fn poll_rings(parts: &mut Parts) -> Option<Message> {
    let own = parts.store.take_ring();
    own.or_else(|| parts.office.as_mut().and_then(Store::take_ring))
}
