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

    /// Takes what the driver says, as far as it is new.
    pub(super) fn tell(&mut self, now: Time, told: Told) {
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
mod tests {
    use std::collections::BTreeMap;

    use incumbent_protocol::{bully, ring};

    use super::*;

    const MESSAGE: Duration = Duration::from_millis(50);

    fn algorithms() -> [caucus::Manner; 2] {
        let bully = bully::Timeouts::of_message_time(MESSAGE).expect("waits");
        let ring = ring::Timeouts::of_message_time(MESSAGE).expect("waits");
        [caucus::Manner::Bully(bully), caucus::Manner::Ring(ring)]
    }

    const fn manner(algorithm: caucus::Manner) -> Manner {
        Manner {
            algorithm,
            rejoin: caucus::Rejoin::Sticky,
            patience: Duration::from_secs(6),
            unratified: true,
        }
    }

    /// Lets time pass and messages arrive for a while.
    fn run(groups: &mut BTreeMap<NodeId, Group>, now: &mut Time) {
        for _ in 0..200 {
            *now = *now + Duration::from_millis(10);
            for group in groups.values_mut() {
                group.wake(*now);
            }
            let mut said = Vec::new();
            for (from, group) in groups.iter_mut() {
                while let Some((to, message)) = group.poll_message() {
                    said.push((*from, to, message));
                }
                group.poll_nomination(*from);
            }
            for (from, to, message) in said {
                if let Some(group) = groups.get_mut(&to) {
                    group.handle(*now, caucus::Input::Message { from, message });
                }
            }
        }
    }

    #[test]
    fn without_ratification_those_who_led_alone_agree_once_they_meet() {
        for algorithm in algorithms() {
            for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [3, 1, 2]] {
                meet(algorithm, order.map(NodeId::given), &[3]);
                meet(algorithm, order.map(NodeId::given), &[2, 3]);
            }
        }
    }

    /// Each is alone at first; then so many of them meet at a time.
    fn meet(algorithm: caucus::Manner, nodes: [NodeId; 3], meetings: &[usize]) {
        let mut now = Time::from_nanos(1);
        let mut groups = BTreeMap::new();
        for node in &nodes {
            let mut group = Group::new(*node, &manner(algorithm), now);
            group.tell(now, Told { eligible: true, leader: None, reachable: false });
            group.nodes(now, vec![*node]);
            groups.insert(*node, group);
        }
        run(&mut groups, &mut now);
        for (node, group) in &groups {
            assert_eq!(group.nominee(), Some(*node), "alone, each picks itself");
        }
        for count in meetings {
            let mut there = nodes[..*count].to_vec();
            there.sort_unstable();
            for node in &there {
                groups.get_mut(node).expect("node").nodes(now, there.clone());
            }
            run(&mut groups, &mut now);
            for node in &there {
                assert_eq!(groups[node].nominee(), there.last().copied(), "{node} of {nodes:?}");
            }
        }
    }
}
