//! Settings that are known from lectures.
//!
//! Assumes: nothing.
//! Promises: each is a setting whose outcome the theory gives exactly.

use incumbent_protocol::node::NodeId;

use super::setting::{Manner, Setting};
use crate::random::Random;

/// A setting that is known from lectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Six nodes, the highest is dead, the third lowest finds it. By ring, numbers are digests of
    /// addresses, and the ring is in their order.
    Example,
    /// The most messages that one beginner can cause.
    Worst,
    /// The fewest.
    Best,
    /// By ring, everybody begins, in an order that is drawn.
    Average,
}

impl Case {
    /// All of them.
    pub const ALL: [Case; 4] = [Case::Example, Case::Worst, Case::Best, Case::Average];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Case::Example => "example",
            Case::Worst => "worst",
            Case::Best => "best",
            Case::Average => "average",
        }
    }

    /// With so many nodes, the dead leader of a bully among them; the example is always of six unless
    /// another number is given.
    pub fn setting(self, manner: Manner, nodes: Option<usize>, seed: u64) -> Setting {
        let count = nodes.unwrap_or(6);
        let mut ids = match (self, manner) {
            (Case::Example, Manner::Ring) => addresses(count),
            _ => numbers(count),
        };
        ids.sort_unstable();
        let (first, last) = (ids.first().copied(), ids.last().copied());
        let second = ids.iter().rev().nth(1).copied().or(last);
        let begins: Vec<NodeId> = match (self, manner) {
            (Case::Example, _) => ids
                .iter()
                .take(count.saturating_sub(1))
                .nth(2)
                .copied()
                .or(first)
                .into_iter()
                .collect(),
            (Case::Worst, _) => first.into_iter().collect(),
            (Case::Best, Manner::Ring) => last.into_iter().collect(),
            (Case::Best, Manner::Bully) => second.into_iter().collect(),
            (Case::Average, _) => ids.clone(),
        };
        let leader_died = self == Case::Example || manner == Manner::Bully;
        if self == Case::Average {
            shuffle(&mut ids, seed);
        }
        let mut setting = Setting::new(manner, ids);
        setting.seed = seed;
        setting.initiators = begins.into_iter().map(|node| (node, 0)).collect();
        setting.failures = last.filter(|_| leader_died).map(|node| (node, 0)).into_iter().collect();
        setting
    }
}

/// Nodes that are numbered from one.
pub fn numbers(count: usize) -> Vec<NodeId> {
    (1..).map(NodeId::given).take(count).collect()
}

/// Nodes that are known by the digests of their addresses.
fn addresses(count: usize) -> Vec<NodeId> {
    (1..=count).map(|host| NodeId::of_address(&format!("10.0.0.{host}:7600"))).collect()
}

fn shuffle(ids: &mut [NodeId], seed: u64) {
    let mut random = Random::from_seed(seed).fork();
    for place in (1..ids.len()).rev() {
        ids.swap(place, random.index(place + 1));
    }
}
