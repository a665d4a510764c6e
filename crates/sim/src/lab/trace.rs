//! What happened in a lab, in order.
//!
//! Assumes: nothing.
//! Promises: whatever is drawn or counted stands here; the same setting gives the same trace.

use std::collections::BTreeMap;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::Run;

use super::kind::Kind;
use crate::clock::At;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Who sent it.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// What it is called.
    pub kind: Kind,
    /// Whom it speaks of, where it speaks of somebody.
    pub about: Option<NodeId>,
    /// In which run.
    pub run: Run,
    /// When it was sent.
    pub sent: At,
    /// What became of it.
    pub fate: Fate,
    /// When it arrived once more.
    pub again: Option<At>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived.
    Arrived(At),
    /// It arrived where nobody was alive to read it.
    Unread(At),
    /// The link lost it.
    Lost,
    /// It was still on its way when the lab ended.
    OnItsWay(At),
}

impl Fate {
    /// When it arrived or would have, unless it was lost.
    pub const fn at(self) -> Option<At> {
        match self {
            Fate::Arrived(at) | Fate::Unread(at) | Fate::OnItsWay(at) => Some(at),
            Fate::Lost => None,
        }
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: At,
    /// What.
    pub what: What,
}

/// What happens. A letter is named by its place in [`Trace::letters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message was sent.
    Sent(usize),
    /// A message arrived, for the first time or once more.
    Arrived(usize),
    /// A message was lost on its way; told at the instant at which it was sent.
    Lost(usize),
    /// A message arrived where nobody was alive.
    Unread(usize),
    /// A node did something because time had passed.
    Timer(NodeId),
    /// A node found that another one is dead.
    Found {
        /// Who found it.
        node: NodeId,
        /// Who is dead.
        dead: NodeId,
    },
    /// A node began to look for a leader.
    Began {
        /// Which.
        node: NodeId,
        /// In which run.
        run: Run,
    },
    /// A node holds that somebody was picked.
    Picked {
        /// Which.
        node: NodeId,
        /// In which run.
        run: Run,
        /// Whom.
        nominee: NodeId,
    },
    /// A node died.
    Crashed(NodeId),
    /// A node came back, and knows nothing of before.
    Returned(NodeId),
}

/// What happened in a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Every message, in the order in which they were sent.
    pub letters: Vec<Letter>,
    /// Everything, in order.
    pub events: Vec<Event>,
}

impl Trace {
    pub(super) fn note(&mut self, at: At, what: What) {
        self.events.push(Event { at, what });
    }

    /// How many messages of each kind were sent.
    pub fn counts(&self) -> BTreeMap<Kind, usize> {
        self.count(|_| true)
    }

    /// How many messages of each kind were sent and are as they should be.
    pub fn count(&self, should: impl Fn(&Letter) -> bool) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for letter in self.letters.iter().filter(|letter| should(letter)) {
            *counts.entry(letter.kind).or_default() += 1;
        }
        counts
    }
}
