//! Who is linked to this node, and what is known of others.
//!
//! Assumes: links that prove who speaks.
//! Promises: whoever listens and is in nobody's list becomes known to everybody, and is forgotten a
//! while after it left. However many come, only so many are remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName, Incarnation};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::quorum::FOUNDED;
use incumbent_protocol::time::Time;

use super::{State, Task};
use crate::clock;
use crate::peers::hello::Hello;
use crate::peers::message::Message;
use crate::peers::node::{Acquaintance, Reach};

/// For how long the address of a node is tried that is in nobody's list and went away.
pub(super) const FORGET: Duration = Duration::from_secs(30);

/// Most candidates of which it is remembered where they run.
const HOMES_MAX: usize = 4_096;

/// Most addresses that are tried which are in nobody's list.
const STRANGERS_MAX: usize = 1_024;

/// A node that is linked to this one.
pub(super) struct Neighbour {
    pub(super) hello: Hello,
    pub(super) contends: BTreeSet<ElectionName>,
}

impl Task {
    pub(super) fn up(&mut self, hello: Hello) {
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

    pub(super) fn stranger(&mut self, address: String) {
        if self.state.strangers.len() >= STRANGERS_MAX {
            return;
        }
        self.links.keep(&address);
        self.state.strangers.insert(address, None);
    }

    pub(super) fn gone(&mut self, now: Time, node: NodeId) {
        let Some(neighbour) = self.state.neighbours.remove(&node) else { return };
        for election in &neighbour.contends {
            self.recount(now, election);
        }
        tracing::debug!(%node, by = %self.node, name = %neighbour.hello.name, "link lost");
        let address = neighbour.hello.address;
        if let Some(since) = address.and_then(|it| self.state.strangers.get_mut(&it)) {
            *since = Some(now);
        }
    }

    pub(super) fn forget_strangers(&mut self, now: Time) {
        let links = &self.links;
        self.state.strangers.retain(|address, since| {
            let stays = since.is_none_or(|since| now < since + FORGET);
            if !stays {
                links.leave(address);
            }
            stays
        });
    }

    /// Which node a candidate runs on. One that was never heard of has a number that is above all.
    pub(super) fn home(&self, who: &CandidateId) -> NodeId {
        if *who == self.me {
            return self.node;
        }
        let known = self.state.homes.get(&who.incarnation).copied();
        known.unwrap_or(NodeId::given(u128::MAX))
    }

    pub(super) fn acquaintances(&self) -> Vec<Acquaintance> {
        let listed = self.seats.iter().map(|seat| Acquaintance {
            node: seat.id,
            address: Some(seat.address.clone()),
            name: None,
            way: None,
            up: false,
        });
        let own = Acquaintance {
            node: self.node,
            address: self.address.clone(),
            name: Some(self.me.name.to_string()),
            way: None,
            up: true,
        };
        let linked = self.state.neighbours.iter().map(|(node, neighbour)| Acquaintance {
            node: *node,
            address: neighbour.hello.address.clone(),
            name: Some(neighbour.hello.name.clone()),
            way: neighbour.hello.way,
            up: true,
        });
        let all = listed.chain(linked).chain([own]).map(|it| (it.node, it));
        all.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    pub(super) fn show_reach(&self) {
        // Where nobody votes nobody is needed.
        if !self.manner.unratified {
            self.numbers.reach(&self.reach());
        }
    }

    pub(super) fn reach(&self) -> Reach {
        let voters = self.electorate.voters();
        let up = |node: &&NodeId| {
            (**node == self.node && self.booth.is_some())
                || self.state.neighbours.contains_key(node)
        };
        let address = |node: &NodeId| {
            let seat = self.seats.iter().find(|seat| seat.id == *node);
            seat.map_or_else(|| node.to_string(), |seat| seat.address.clone())
        };
        let missing: Vec<String> = voters.iter().filter(|node| !up(node)).map(address).collect();
        let strange = missing.iter().filter(|address| self.links.has_another_secret(address));
        let strange = strange.cloned().collect();
        let is_founded = self.electorate.number() >= FOUNDED;
        let needed = if is_founded { self.electorate.majority() } else { voters.len() };
        let (up, twins) = (voters.iter().filter(up).count(), self.links.twins());
        Reach { up, voters: voters.len(), needed, missing, strange, twins }
    }
}
