//! The election of one node: the caucus in which it takes part, and what was last said of it.
//!
//! Assumes: the node passes on everything that concerns it.
//! Promises: what `incumbent`'s `peers/group.rs` does: whatever is told to it counts only if it is
//! news.

use core::time::Duration;

use incumbent_protocol::caucus::{self, Caucus, Effect, Notice};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

/// How peers pick one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) algorithm: caucus::Manner,
    pub(super) rejoin: caucus::Rejoin,
    /// How long whoever is picked may take to lead.
    pub(super) patience: Duration,
}

/// One election.
#[derive(Debug)]
pub(super) struct Group {
    me: NodeId,
    caucus: Caucus,
    told: Option<Told>,
    nodes: Vec<NodeId>,
    nominee: Option<NodeId>,
    said: Option<bool>,
    /// Runs that began here or were heard of.
    pub(super) began: u64,
}

/// What the driver says of its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) eligible: bool,
    pub(super) leader: Option<NodeId>,
    /// Whether the leader's node can be reached.
    pub(super) reachable: bool,
}

impl Group {
    pub(super) fn new(node: NodeId, manner: &Manner, now: Time) -> Group {
        let mut caucus = Caucus::new(node, manner.algorithm, manner.rejoin, manner.patience);
        caucus.begin(now);
        Group {
            me: node,
            caucus,
            told: None,
            nodes: Vec::new(),
            nominee: None,
            said: None,
            began: 0,
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        self.caucus.wake_at()
    }

    pub(super) fn wake(&mut self, now: Time) -> bool {
        let due = self.caucus.wake_at().is_some_and(|at| at <= now);
        if due {
            self.caucus.handle(now, caucus::Input::Wake);
        }
        due
    }

    pub(super) fn handle(&mut self, now: Time, input: caucus::Input) {
        self.caucus.handle(now, input);
    }

    /// Takes what the driver says, as far as it is new. Whether it was.
    pub(super) fn tell(&mut self, now: Time, told: Told) -> bool {
        let before = self.told.replace(told);
        let news = before != Some(told);
        if before.is_none_or(|before| before.eligible != told.eligible) {
            self.caucus.handle(now, caucus::Input::Eligible(told.eligible));
        }
        if let (Some(before), Some(leader)) = (before, told.leader)
            && before.leader == told.leader
            && !before.reachable
            && told.reachable
        {
            // It is linked again: from now on it is for the detector to say.
            self.caucus.handle(now, caucus::Input::Trusted(leader));
        }
        if before.is_none_or(|before| before.leader != told.leader) {
            self.caucus.handle(now, caucus::Input::Leader(told.leader));
            if let Some(leader) = told.leader.filter(|_| !told.reachable) {
                self.caucus.handle(now, caucus::Input::Suspected(leader));
            }
        }
        news
    }

    /// Takes who takes part, if that changed.
    pub(super) fn nodes(&mut self, now: Time, nodes: Vec<NodeId>) {
        if self.nodes != nodes {
            self.nodes.clone_from(&nodes);
            self.caucus.handle(now, caucus::Input::Nodes(nodes));
        }
    }

    pub(super) fn watches(&self) -> impl Iterator<Item = NodeId> {
        self.caucus.watches().into_iter()
    }

    /// The next thing to say to a peer.
    pub(super) fn poll_message(&mut self) -> Option<(NodeId, caucus::Message)> {
        self.caucus.poll_effect().map(|Effect::Send { to, message }| (to, message))
    }

    /// Whether this node is the nominee, if that is news.
    pub(super) fn poll_nomination(&mut self) -> Option<bool> {
        while let Some(notice) = self.caucus.poll_notice() {
            match notice {
                Notice::Nominee(nominee) => self.nominee = nominee,
                Notice::Began => self.began += 1,
            }
        }
        let mine = self.nominee == Some(self.me);
        (self.said.replace(mine) != Some(mine)).then_some(mine)
    }

    /// Whom it takes for the nominee.
    pub(super) const fn nominee(&self) -> Option<NodeId> {
        self.nominee
    }
}
