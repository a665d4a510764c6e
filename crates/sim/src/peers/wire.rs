//! Letters on their way, and links between nodes.
//!
//! Assumes: the world decides what becomes of them.
//! Promises: a letter is delivered once for each time that it arrives.

use std::collections::BTreeMap;

use super::words::Message;
use crate::clock::At;

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) from: u8,
    pub(super) from_life: u32,
    pub(super) to: u8,
    pub(super) to_life: u32,
    pub(super) session: u64,
    pub(super) message: Message,
}

/// All letters on their way.
#[derive(Debug)]
pub(super) struct Letters {
    open: BTreeMap<usize, Letter>,
    sent: usize,
    /// When the last one arrives, by sender and recipient: those of one link keep their order.
    last: Vec<At>,
    nodes: usize,
}

impl Letters {
    pub(super) fn new(nodes: usize) -> Self {
        Letters { open: BTreeMap::new(), sent: 0, last: vec![0; nodes * nodes], nodes }
    }

    pub(super) fn insert(&mut self, letter: Letter) -> usize {
        let id = self.sent;
        self.sent += 1;
        self.open.insert(id, letter);
        id
    }

    /// How many are on their way.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    pub(super) fn get(&self, id: usize) -> Option<&Letter> {
        self.open.get(&id)
    }

    pub(super) fn remove(&mut self, id: usize) -> Option<Letter> {
        self.open.remove(&id)
    }

    /// When a letter arrives that must not overtake those before it.
    pub(super) fn in_order(&mut self, from: u8, to: u8, at: At) -> At {
        let last = &mut self.last[usize::from(from) * self.nodes + usize::from(to)];
        *last = at.max(*last);
        *last
    }
}

/// The connection between two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    /// Which of all connections between the two it is, or was.
    pub(super) session: u64,
    pub(super) live: bool,
    /// Whether an attempt to make one is scheduled.
    pub(super) dialling: bool,
}
