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
use crate::peers::clerk::{Clerk, Clocks};
use crate::peers::node::Parts;
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
        while let Some((to, message)) = parts.group.as_mut().and_then(Group::poll_message) {
            self.send(number, parts, to, Message::Caucus(message));
        }
        while let Some((to, message)) = poll_clerks(parts) {
            self.send(number, parts, to, message);
            moved = true;
        }
        while let Some(rung) = poll_rings(parts) {
            let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
            for to in all {
                self.send(number, parts, to, rung.clone());
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
}

/// Heartbeats and nominations.
pub(super) fn nominate(parts: &mut Parts, now: Clocks) -> bool {
    let mut moved = false;
    if parts.detector.wake_at().is_some_and(|at| at <= now.local) {
        parts.detector.handle(now.local, detector::Input::Wake);
        moved = true;
    }
    moved |= parts.group.as_mut().is_some_and(|group| group.wake(now.local));
    if parts.lookout.take(now.local) {
        parts.candidacy.handle(now.local, Input::Bell);
        moved = true;
    }
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
        parts.candidacy.handle(now.local, Input::Nominated(mine));
        if mine {
            parts.candidacy.handle(now.local, Input::Bell);
        }
        moved = true;
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
            parts.clerk.hear(now, from, message);
        }
        Message::Rung { ended } => {
            let me = parts.booth.me();
            let higher = parts.neighbours.keys().filter(|node| **node > me && **node != from);
            parts.lookout.rung(now.local, ended.is_some(), higher.count());
            if let (Some(group), Some(term)) = (&mut parts.group, ended) {
                group.ended(now.local, term);
            }
        }
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

pub(super) fn down(parts: &mut Parts, now: Clocks, node: NodeId) {
    parts.neighbours.remove(&node);
    parts.detector.handle(now.local, detector::Input::Unreachable(node));
    if let Some(group) = &mut parts.group {
        group.handle(now.local, caucus::Input::Unreachable(node));
    }
    let me = parts.booth.me();
    recount(parts, me, now);
}

/// Tells the group who takes part in it.
pub(super) fn recount(parts: &mut Parts, me: NodeId, now: Clocks) {
    let there = parts.neighbours.iter().filter(|(_, it)| it.contends).map(|(node, _)| *node);
    let nodes: BTreeSet<NodeId> = there.chain([me]).collect();
    if let Some(group) = &mut parts.group {
        group.nodes(now.local, nodes.into_iter().collect());
    }
}

fn poll_clerks(parts: &mut Parts) -> Option<(NodeId, Message)> {
    let own = parts.clerk.poll_send();
    own.or_else(|| parts.office.as_mut().and_then(Clerk::poll_send))
}

fn poll_rings(parts: &mut Parts) -> Option<Message> {
    let own = parts.clerk.take_ring();
    own.or_else(|| parts.office.as_mut().and_then(Clerk::take_ring))
}
