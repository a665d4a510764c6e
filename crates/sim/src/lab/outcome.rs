//! What came out of a lab.
//!
//! Assumes: nothing.
//! Promises: says whether all live nodes hold the same live node for picked, and since when.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::node::NodeId;

use super::trace::{Trace, What};
use crate::clock::At;

/// How a lab ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing was left to happen.
    AtRest,
    /// The limit of the setting came first.
    Limit,
}

/// The live node that all live nodes hold for picked.
pub(super) fn agreed(picks: &BTreeMap<NodeId, Option<NodeId>>) -> Option<NodeId> {
    let first = picks.values().next().copied().flatten()?;
    let all = picks.values().all(|pick| *pick == Some(first));
    Some(first).filter(|nominee| all && picks.contains_key(nominee))
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Everything that happened.
    pub trace: Trace,
    /// Whom each live node holds for picked at the end.
    pub picks: BTreeMap<NodeId, Option<NodeId>>,
    /// When the last thing happened.
    pub ended: At,
    /// How it ended.
    pub end: End,
}

impl Outcome {
    pub(super) const fn new(
        trace: Trace,
        picks: BTreeMap<NodeId, Option<NodeId>>,
        ended: At,
        end: End,
    ) -> Self {
        Outcome { trace, picks, ended, end }
    }

    /// The live node that all live nodes hold for picked at the end.
    pub fn agreed(&self) -> Option<NodeId> {
        agreed(&self.picks)
    }

    /// Since when they agree.
    pub fn agreed_at(&self) -> Option<At> {
        self.agreed()?;
        let mut picks: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let mut since = 0;
        for event in &self.trace.events {
            match event.what {
                What::Picked { node, nominee, .. } => {
                    let before = picks.insert(node, nominee);
                    if before != Some(nominee) && self.picks.contains_key(&node) {
                        since = event.at;
                    }
                }
                What::Began { node, .. } | What::Crashed(node) => drop(picks.remove(&node)),
                _ => {}
            }
        }
        Some(since)
    }

    /// Everybody that was picked by somebody at some time.
    pub fn nominees(&self) -> BTreeSet<NodeId> {
        let picked = self.trace.events.iter().filter_map(|event| match event.what {
            What::Picked { nominee, .. } => Some(nominee),
            _ => None,
        });
        picked.collect()
    }
}
