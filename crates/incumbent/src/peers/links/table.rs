//! Who can be talked to, over which lines, and who is dialled.
//!
//! Assumes: a process that restarts says hello with another incarnation.
//! Promises: all lines of a node lead to one process; when another one says hello with the same
//! number it takes over, and the former one is not let in again. The table is bounded.

use std::collections::{HashMap, VecDeque};

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use tokio::sync::{mpsc, watch};

use crate::peers::hello::Hello;

/// Most lines that one node may have opened: one, and some that it gave up but did not close.
const INBOUND_MOST: usize = 4;

/// How many processes that were replaced are remembered.
const PAST_MOST: usize = 256;

/// How many nodes that are down are remembered.
const DOWN_MOST: usize = 1024;

/// A connection to a node.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Whether this node dialled.
    pub(super) outbound: bool,
    /// Where the other end is: the address that was dialled, or the host that it came from.
    pub(super) place: String,
    /// Encoded messages. Dropping it ends the line after what waits was written.
    pub(super) queue: mpsc::Sender<Vec<u8>>,
}

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) hello: Hello,
    /// In the order of coming.
    pub(super) lines: Vec<Line>,
}

/// What a new line means for its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It can be talked to from now on.
    First,
    /// It could be talked to before.
    Another,
    /// Another process of that number could be talked to, and no longer can.
    Instead,
    /// None: the process was replaced by another one of its number.
    Replaced,
    /// None: everything ends.
    Closed,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) peers: HashMap<NodeId, Peer>,
    /// Who is dialled; dropping what is kept here ends it.
    pub(super) dials: HashMap<String, watch::Sender<()>>,
    past: VecDeque<(NodeId, Incarnation)>,
    numbers: u64,
    closed: bool,
}

impl Table {
    /// A number for a line or a stranger.
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Notes that an address is dialled, if it is not yet; what comes back says when to stop.
    pub(super) fn dial(&mut self, address: &str) -> Option<watch::Receiver<()>> {
        if self.closed || self.dials.contains_key(address) {
            return None;
        }
        let (keep, stop) = watch::channel(());
        self.dials.insert(address.to_owned(), keep);
        Some(stop)
    }

    pub(super) fn enter(&mut self, hello: &Hello, line: Line) -> Entry {
        if self.closed {
            return Entry::Closed;
        }
        if self.past.contains(&(hello.node, hello.incarnation)) {
            return Entry::Replaced;
        }
        self.forget();
        let peer = self.peers.entry(hello.node);
        let peer = peer.or_insert_with(|| Peer { hello: hello.clone(), lines: Vec::new() });
        let was_up = !peer.lines.is_empty();
        let entry = if peer.hello.incarnation == hello.incarnation {
            if was_up { Entry::Another } else { Entry::First }
        } else {
            if self.past.len() >= PAST_MOST {
                self.past.pop_front();
            }
            self.past.push_back((hello.node, peer.hello.incarnation));
            peer.lines.clear();
            if was_up { Entry::Instead } else { Entry::First }
        };
        peer.hello = hello.clone();
        peer.lines.push(line);
        let inbound = peer.lines.iter().filter(|line| !line.outbound).count();
        if inbound > INBOUND_MOST
            && let Some(oldest) = peer.lines.iter().position(|line| !line.outbound)
        {
            peer.lines.remove(oldest);
        }
        entry
    }

    /// Takes a line away; returns whether its node cannot be talked to any more because of that.
    pub(super) fn exit(&mut self, node: NodeId, number: u64) -> bool {
        let Some(peer) = self.peers.get_mut(&node) else { return false };
        let before = peer.lines.len();
        peer.lines.retain(|line| line.number != number);
        before > 0 && peer.lines.is_empty()
    }

    pub(super) fn has(&self, node: NodeId, number: u64) -> bool {
        self.peers
            .get(&node)
            .is_some_and(|peer| peer.lines.iter().any(|line| line.number == number))
    }

    /// The line over which a node is talked to: one that this node dialled, else the latest.
    pub(super) fn line(&self, node: NodeId) -> Option<&Line> {
        let lines = &self.peers.get(&node)?.lines;
        lines.iter().rev().find(|line| line.outbound).or(lines.last())
    }

    /// How many nodes can be talked to.
    pub(super) fn nodes(&self) -> usize {
        self.peers.values().filter(|peer| !peer.lines.is_empty()).count()
    }

    #[cfg(test)]
    pub(super) fn lines(&self) -> usize {
        self.peers.values().map(|peer| peer.lines.len()).sum()
    }

    /// Ends all lines and all dialling, for good.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.dials.clear();
        self.peers.clear();
    }

    /// Keeps the number of remembered nodes bounded.
    fn forget(&mut self) {
        if self.peers.len() >= DOWN_MOST {
            self.peers.retain(|_, peer| !peer.lines.is_empty());
        }
    }
}
