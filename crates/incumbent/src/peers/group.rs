//! One election of this node: the caucus in which it takes part, and what was last said of it.
//!
//! Assumes: the task passes on everything that concerns it.
//! Promises: whoever is told whether this node is the nominee is told only when that changed.

use std::time::Duration;

use incumbent_protocol::caucus::{self, Caucus, Effect, Notice};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use super::node::Part;

/// How peers pick one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) algorithm: caucus::Manner,
    pub(super) rejoin: caucus::Rejoin,
    /// How long whoever is picked may take to lead.
    pub(super) patience: Duration,
    /// Whether whoever is picked leads, without a vote.
    pub(super) unratified: bool,
}

/// One election.
#[derive(Debug)]
pub(super) struct Group {
    caucus: Caucus,
    /// What the driver said last.
    pub(super) part: Option<Part>,
    /// The number of the newest term that is known to have ended.
    ended: Option<u64>,
    told: Option<Told>,
    nodes: Vec<NodeId>,
    nominee: Option<NodeId>,
    said: Option<bool>,
    unratified: bool,
}

/// What the driver says of its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) eligible: bool,
    pub(super) leader: Option<NodeId>,
    /// Whether the leader's node can be reached.
    pub(super) reachable: bool,
    /// The number of the term in which it leads.
    pub(super) term: Option<u64>,
}

impl Group {
    pub(super) fn new(node: NodeId, manner: &Manner, now: Time) -> Group {
        let mut caucus = if manner.unratified {
            // In the textbook whoever comes up and is higher takes over.
            Caucus::unratified(node, manner.algorithm, caucus::Rejoin::Preempting)
        } else {
            Caucus::new(node, manner.algorithm, manner.rejoin, manner.patience)
        };
        caucus.begin(now);
        let unratified = manner.unratified;
        if unratified {
            caucus.handle(now, caucus::Input::Leader(None));
        }
        Group {
            caucus,
            part: None,
            ended: None,
            told: None,
            nodes: Vec::new(),
            nominee: None,
            said: None,
            unratified,
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        self.caucus.wake_at()
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.caucus.wake_at().is_some_and(|at| at <= now) {
            self.handle(now, caucus::Input::Wake);
        }
    }

    pub(super) fn handle(&mut self, now: Time, input: caucus::Input) {
        self.caucus.handle(now, input);
    }

    /// Whoever was picked last, or leads.
    pub(super) const fn nominee(&self) -> Option<NodeId> {
        self.nominee
    }

    /// The term of that number ended, as whoever ended it says: nobody has to look to know that nobody
    /// leads.
    pub(super) fn ended(&mut self, now: Time, term: u64) {
        self.ended = self.ended.max(Some(term));
        if let Some(told) = self.told {
            self.tell(now, told);
        }
    }

    /// Takes what the driver says, as far as it is new.
    pub(super) fn tell(&mut self, now: Time, mut told: Told) {
        // It may not have looked since that ended.
        told.leader = told.leader.filter(|_| told.term.is_none_or(|it| Some(it) > self.ended));
        let before = self.told.replace(told);
        if before.is_none_or(|before| before.eligible != told.eligible) {
            self.handle(now, caucus::Input::Eligible(told.eligible));
        }
        if self.unratified {
            return;
        }
        if let (Some(before), Some(leader)) = (before, told.leader)
            && before.leader == told.leader
            && !before.reachable
            && told.reachable
        {
            // It is linked again: from now on it is for the detector to say.
            self.handle(now, caucus::Input::Trusted(leader));
        }
        if before.is_none_or(|before| before.leader != told.leader) {
            self.caucus.handle(now, caucus::Input::Leader(told.leader));
            if let Some(leader) = told.leader.filter(|_| !told.reachable) {
                self.caucus.handle(now, caucus::Input::Suspected(leader));
            }
        }
    }

    /// Takes who takes part, if that changed.
    pub(super) fn nodes(&mut self, now: Time, nodes: Vec<NodeId>) {
        if self.nodes == nodes {
            return;
        }
        self.nodes.clone_from(&nodes);
        self.handle(now, caucus::Input::Nodes(nodes));
    }

    pub(super) fn watches(&self) -> impl Iterator<Item = NodeId> {
        self.caucus.watches().into_iter()
    }

    /// The next thing to say to a peer.
    pub(super) fn poll_message(&mut self) -> Option<(NodeId, caucus::Message)> {
        self.caucus.poll_effect().map(|Effect::Send { to, message }| (to, message))
    }

    /// Whether this node is the nominee, if that is news.
    pub(super) fn poll_nomination(&mut self, node: NodeId) -> Option<bool> {
        while let Some(notice) = self.caucus.poll_notice() {
            if let Notice::Nominee(nominee) = notice {
                tracing::debug!(%node, nominee = ?nominee.map(|it| it.to_string()), "nominated");
                self.nominee = nominee;
            }
        }
        let mine = self.nominee == Some(node);
        (self.said.replace(mine) != Some(mine)).then_some(mine)
    }
}

#[cfg(test)]
mod tests;
