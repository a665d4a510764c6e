//! The elections in which this process takes part, and with whom.
//!
//! Assumes: the driver says how its candidates stand, and every neighbour in which elections it
//! contends.
//! Promises: a group is told who takes part and who leads as soon as either changes.

use std::collections::BTreeSet;

use incumbent_protocol::group::{Group, Told};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::Task;
use crate::peers::message::Message;
use crate::peers::node::Part;

impl Task {
    pub(super) fn takes(&mut self, now: Time, election: ElectionName, part: Option<Part>) {
        let Some(part) = part else {
            self.state.parts.remove(&election);
            if self.state.groups.remove(&election).is_some() {
                self.announce();
            }
            return;
        };
        let told = self.resolve(&part);
        let known = self.state.parts.insert(election.clone(), part).is_some();
        let (node, manner) = (self.node, &self.manner);
        let group = self.state.groups.entry(election);
        let group = group.or_insert_with(|| Group::new(node, manner, now));
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
        let term = part.term.map(Term::get);
        Told { eligible: part.eligible, leader, reachable: leader.is_some_and(up), term }
    }

    /// A node came, on which somebody may lead of whom was not known where it is.
    pub(super) fn resolve_again(&mut self, now: Time) {
        let parts = self.state.parts.iter();
        let told: Vec<_> = parts.map(|(name, part)| (name.clone(), self.resolve(part))).collect();
        for (election, told) in told {
            if let Some(group) = self.state.groups.get_mut(&election) {
                group.tell(now, told);
            }
        }
    }

    pub(super) fn announce(&self) {
        let contends = self.contends();
        for node in self.state.neighbours.keys() {
            self.links.send(*node, &contends);
        }
    }

    pub(super) fn contends(&self) -> Message {
        Message::Contends(self.state.groups.keys().cloned().collect())
    }

    /// Tells every group who takes part in it.
    pub(super) fn recount(&mut self, now: Time) {
        for (election, group) in &mut self.state.groups {
            let there = self.state.neighbours.iter();
            let there = there.filter(|(_, it)| it.contends.contains(election));
            let nodes: BTreeSet<NodeId> = there.map(|(node, _)| *node).chain([self.node]).collect();
            group.nodes(now, nodes.into_iter().collect());
        }
    }

    /// Whoever was picked in an election, if its process is known.
    pub(super) fn nominee(&self, election: &ElectionName) -> Option<CandidateId> {
        let node = self.state.groups.get(election)?.nominee()?;
        if node == self.node {
            return Some(self.me.clone());
        }
        let hello = &self.state.neighbours.get(&node)?.hello;
        let name = CandidateName::new(&hello.name).ok()?;
        Some(CandidateId::new(name, hello.incarnation))
    }
}
