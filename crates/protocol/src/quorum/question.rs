//! What is asked of voters, and asked again of those that do not answer.
//!
//! Assumes: what is sent may be lost, late or doubled.
//! Promises: a question is repeated to the voters that did not answer, later each time: a voter that
//! does not answer may have too much to do already.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use crate::node::NodeId;
use crate::ratify::electorate::Electorate;
use crate::ratify::voter::{Ask, Inventory, Reply};
use crate::time::{StoreTime, Time};

/// After this long without an answer a question is repeated: it may have been lost.
pub(super) const AGAIN: Duration = Duration::from_millis(60);

/// It is repeated after this long at the latest.
const AGAIN_MAX: Duration = Duration::from_secs(1);

/// What is asked of voters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question<K, V> {
    /// Do this to these registers.
    Registers(Vec<(K, Ask<V>)>),
    /// Which registers do you know of?
    Inventory,
}

/// What a voter answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<K, V> {
    /// To [`Question::Registers`]: a reply for each, and what the voter's wall clock shows.
    Replies {
        /// The voter's time.
        now: StoreTime,
        /// In the order of the registers.
        replies: Vec<Reply<V>>,
    },
    /// To [`Question::Inventory`].
    Inventory(Inventory<K>),
}

/// A question that is open.
#[derive(Clone, Debug)]
pub(super) struct Open<K, V> {
    pub(super) id: u64,
    pub(super) electorate: Electorate,
    pub(super) question: Question<K, V>,
    /// The voters that did not answer yet.
    pub(super) waiting: BTreeSet<NodeId>,
    /// What the clocks of the others showed.
    pub(super) clocks: BTreeMap<NodeId, StoreTime>,
    again_at: Time,
    patience: Duration,
}

impl<K, V> Open<K, V> {
    pub(super) fn new(
        now: Time,
        id: u64,
        electorate: Electorate,
        to: BTreeSet<NodeId>,
        question: Question<K, V>,
        patience: Duration,
    ) -> Self {
        let (clocks, again_at) = (BTreeMap::new(), now + patience);
        Open { id, electorate, question, waiting: to, clocks, again_at, patience }
    }

    /// When it is repeated.
    pub(super) fn again_at(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(self.again_at)
    }

    /// Whether it is to be repeated now.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        let due = self.again_at().is_some_and(|at| at <= now);
        if due {
            self.patience = (self.patience * 2).min(AGAIN_MAX);
            self.again_at = now + self.patience;
        }
        due
    }
}
