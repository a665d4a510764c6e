//! What is tried out: who takes part, who begins, who fails and when.
//!
//! Assumes: nothing; settings come from people.
//! Promises: a setting that passed [`Setting::check`] can be run.

use core::fmt;
use std::collections::BTreeSet;

use incumbent_protocol::node::NodeId;

use super::links::{Links, MESSAGE_TIME};
use crate::clock::{At, Span};

/// More nodes than anybody can look at, and few enough to be run at once.
pub const MOST_NODES: usize = 512;

/// How peers pick one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Chang and Roberts: messages go round a ring.
    Ring,
    /// Garcia-Molina: the highest number wins.
    Bully,
}

impl Manner {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Manner::Ring => "ring",
            Manner::Bully => "bully",
        }
    }
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A node and an instant.
pub type When = (NodeId, At);

/// What is tried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How peers pick.
    pub manner: Manner,
    /// Who takes part, in ring order.
    pub nodes: Vec<NodeId>,
    /// Who finds that nobody leads, and when.
    pub initiators: Vec<When>,
    /// Who dies, and when. Whoever dies at zero was dead before anything began.
    pub failures: Vec<When>,
    /// Who comes back, and when.
    pub returns: Vec<When>,
    /// Whether one that comes back runs for election at once, instead of asking who leads.
    pub preempt: bool,
    /// How messages travel.
    pub links: Links,
    /// The longest that a message is expected to take: all timeouts follow from it.
    pub bound: Span,
    /// How long it takes until the death of whoever was picked is found.
    pub detection: Span,
    /// From where chance is drawn.
    pub seed: u64,
    /// When the lab ends, whatever happens.
    pub limit: At,
}

/// Why a setting makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Too few to pick from.
    #[error("a lab needs at least one node")]
    NoNodes,
    /// Too many.
    #[error("a lab has room for {MOST_NODES} nodes, not for {0}")]
    TooMany(usize),
    /// Two of one number.
    #[error("two nodes have the number {0}: numbers must differ")]
    Twice(NodeId),
    /// Somebody who does not take part.
    #[error("node {0} does not take part")]
    Unknown(NodeId),
    /// Nobody would begin.
    #[error("nobody begins an election: every node that should is dead by then")]
    NobodyBegins,
    /// A node that is dead dies.
    #[error("node {0} dies while it is dead")]
    DeadDies(NodeId),
    /// A node that is alive comes back.
    #[error("node {0} comes back while it is alive")]
    LiveReturns(NodeId),
    /// The least is more than the most.
    #[error("the shortest delay is longer than the longest one")]
    Delays,
    /// Messages must take some time.
    #[error("a message must take some time")]
    Instant,
}

impl Setting {
    /// Nodes of these numbers, in this order, with ideal links; nobody begins yet.
    pub fn new(manner: Manner, nodes: Vec<NodeId>) -> Self {
        let size = Span::try_from(nodes.len()).unwrap_or(Span::MAX);
        Setting {
            manner,
            nodes,
            initiators: Vec::new(),
            failures: Vec::new(),
            returns: Vec::new(),
            preempt: false,
            links: Links::default(),
            bound: MESSAGE_TIME,
            detection: 4 * MESSAGE_TIME,
            seed: 0,
            limit: size.saturating_add(10).saturating_mul(20 * MESSAGE_TIME),
        }
    }

    /// Whether it can be run.
    pub fn check(&self) -> Result<(), SettingError> {
        match self.nodes.len() {
            0 => return Err(SettingError::NoNodes),
            many if many > MOST_NODES => return Err(SettingError::TooMany(many)),
            _ => {}
        }
        let mut known = BTreeSet::new();
        if let Some(twice) = self.nodes.iter().find(|node| !known.insert(**node)) {
            return Err(SettingError::Twice(*twice));
        }
        let times = [&self.initiators, &self.failures, &self.returns];
        let named = times.into_iter().flatten().map(|(node, _)| *node);
        let linked = self.links.unlike.iter().flat_map(|link| [link.from, link.to]);
        if let Some(unknown) = named.chain(linked).find(|node| !known.contains(node)) {
            return Err(SettingError::Unknown(unknown));
        }
        if self.links.delay.0 > self.links.delay.1 {
            return Err(SettingError::Delays);
        }
        let fastest = self.links.unlike.iter().map(|link| link.delay).min();
        if self.bound == 0 || fastest.unwrap_or(Span::MAX).min(self.links.delay.0) == 0 {
            return Err(SettingError::Instant);
        }
        self.nodes.iter().try_for_each(|node| self.check_life(*node))?;
        let mut begin = self.initiators.iter();
        let begins = begin.any(|(node, at)| self.is_alive(*node, *at));
        if begins { Ok(()) } else { Err(SettingError::NobodyBegins) }
    }

    /// Lives and deaths of one node take turns.
    fn check_life(&self, node: NodeId) -> Result<(), SettingError> {
        let mut alive = true;
        for (_, dies) in self.turns(node) {
            match (alive, dies) {
                (false, true) => return Err(SettingError::DeadDies(node)),
                (true, false) => return Err(SettingError::LiveReturns(node)),
                _ => alive = !dies,
            }
        }
        Ok(())
    }

    /// When a node dies (true) and comes back (false), in order.
    fn turns(&self, node: NodeId) -> Vec<(At, bool)> {
        let of = |list: &[When], dies: bool| -> Vec<(At, bool)> {
            let its = list.iter().filter(|(it, _)| *it == node);
            its.map(|(_, at)| (*at, dies)).collect()
        };
        let mut turns = [of(&self.failures, true), of(&self.returns, false)].concat();
        turns.sort_by_key(|(at, dies)| (*at, !dies));
        turns
    }

    /// Whether a node is alive at an instant.
    pub fn is_alive(&self, node: NodeId, at: At) -> bool {
        let past = self.turns(node).into_iter().take_while(|(when, _)| *when <= at);
        past.last().is_none_or(|(_, dies)| !dies)
    }

    /// Whether whoever was picked says so again from time to time: needed only where messages get
    /// lost.
    pub(super) const fn repeats(&self) -> bool {
        self.links.loss > 0
    }

    /// Who was dead before anything began.
    pub fn dead_at_first(&self) -> BTreeSet<NodeId> {
        self.nodes.iter().copied().filter(|node| !self.is_alive(*node, 0)).collect()
    }

    /// Who led before, if it is dead: the highest number of all.
    pub fn dead_leader(&self) -> Option<NodeId> {
        let highest = self.nodes.iter().max().copied();
        highest.filter(|node| !self.is_alive(*node, 0))
    }
}
