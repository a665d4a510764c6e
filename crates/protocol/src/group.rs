//! One election of one node: the caucus in which it takes part, and what it was last told.
//!
//! Assumes: the driver passes on everything that concerns it, as often as it likes.
//! Promises: whatever is told to it counts only if it is news, and whether this node is the nominee is
//! told only when that changed. A term that is known to have ended is nobody's, whoever still sees it.
//!
//! | file | noun |
//! |---|---|
//! | `lookout` | when a node looks because somebody rang |

use core::time::Duration;

use crate::caucus::{self, Caucus, Effect, Notice};
use crate::node::NodeId;
use crate::protocol::Protocol;
use crate::time::Time;

mod lookout;
#[cfg(test)]
mod tests;

pub use lookout::Lookout;

/// How peers pick one of them.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// By a ring or by a bully.
    pub algorithm: caucus::Manner,
    /// What one does that comes back.
    pub rejoin: caucus::Rejoin,
    /// How long whoever is picked may take to lead.
    pub patience: Duration,
    /// Whether whoever is picked leads, without a vote.
    pub unratified: bool,
}

/// One election.
#[derive(Debug)]
pub struct Group {
    me: NodeId,
    caucus: Caucus,
    /// The number of the newest term that is known to have ended.
    ended: Option<u64>,
    told: Option<Told>,
    nodes: Vec<NodeId>,
    nominee: Option<NodeId>,
    said: Option<bool>,
    runs: u64,
    unratified: bool,
}

/// What the driver says of its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whether it would take a term.
    pub eligible: bool,
    /// On which node somebody leads.
    pub leader: Option<NodeId>,
    /// Whether that node can be reached.
    pub reachable: bool,
    /// The number of the term in which it leads.
    pub term: Option<u64>,
}

impl Group {
    /// A node that was told nothing yet.
    pub fn new(me: NodeId, manner: &Manner, now: Time) -> Self {
        let unratified = manner.unratified;
        let mut caucus = if unratified {
            // In the textbook whoever comes up and is higher takes over.
            Caucus::unratified(me, manner.algorithm, caucus::Rejoin::Preempting)
        } else {
            Caucus::new(me, manner.algorithm, manner.rejoin, manner.patience)
        };
        caucus.begin(now);
        if unratified {
            caucus.handle(now, caucus::Input::Leader(None));
        }
        Group {
            me,
            caucus,
            ended: None,
            told: None,
            nodes: Vec::new(),
            nominee: None,
            said: None,
            runs: 0,
            unratified,
        }
    }

    /// When it wants its turn.
    pub fn wake_at(&self) -> Option<Time> {
        self.caucus.wake_at()
    }

    /// Time has passed. Whether something was due.
    pub fn wake(&mut self, now: Time) -> bool {
        let due = self.caucus.wake_at().is_some_and(|at| at <= now);
        if due {
            self.handle(now, caucus::Input::Wake);
        }
        due
    }

    /// Passes on what reached this node.
    pub fn handle(&mut self, now: Time, input: caucus::Input) {
        self.caucus.handle(now, input);
    }

    /// Takes what the driver says, as far as it is new. Whether anything was.
    pub fn tell(&mut self, now: Time, mut told: Told) -> bool {
        // It may not have looked since that ended.
        told.leader = told.leader.filter(|_| told.term.is_none_or(|it| Some(it) > self.ended));
        let before = self.told.replace(told);
        let news = before != Some(told);
        if before.is_none_or(|before| before.eligible != told.eligible) {
            self.handle(now, caucus::Input::Eligible(told.eligible));
        }
        if !self.unratified {
            self.tell_of_leader(now, before, told);
        }
        news
    }

    fn tell_of_leader(&mut self, now: Time, before: Option<Told>, told: Told) {
        if let (Some(before), Some(leader)) = (before, told.leader)
            && before.leader == told.leader
            && !before.reachable
            && told.reachable
        {
            // It is linked again: from now on it is for the detector to say.
            self.handle(now, caucus::Input::Trusted(leader));
        }
        if before.is_none_or(|before| before.leader != told.leader) {
            self.handle(now, caucus::Input::Leader(told.leader));
            if let Some(leader) = told.leader.filter(|_| !told.reachable) {
                self.handle(now, caucus::Input::Suspected(leader));
            }
        }
    }

    /// The term of that number ended, as whoever ended it says: nobody has to look to know that nobody
    /// leads.
    pub fn ended(&mut self, now: Time, term: u64) {
        self.ended = self.ended.max(Some(term));
        if let Some(told) = self.told {
            self.tell(now, told);
        }
    }

    /// Takes who takes part, if that changed.
    pub fn nodes(&mut self, now: Time, nodes: Vec<NodeId>) {
        if self.nodes != nodes {
            self.nodes.clone_from(&nodes);
            self.handle(now, caucus::Input::Nodes(nodes));
        }
    }

    /// Whom a [`Detector`](crate::detector::Detector) is to watch.
    pub fn watches(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.caucus.watches().into_iter()
    }

    /// The next thing to say to a peer.
    pub fn poll_message(&mut self) -> Option<(NodeId, caucus::Message)> {
        self.caucus.poll_effect().map(|Effect::Send { to, message }| (to, message))
    }

    /// Whether this node is the nominee, if that is news.
    pub fn poll_nomination(&mut self) -> Option<bool> {
        while let Some(notice) = self.caucus.poll_notice() {
            match notice {
                Notice::Nominee(nominee) => self.nominee = nominee,
                Notice::Began => self.runs += 1,
            }
        }
        let mine = self.nominee == Some(self.me);
        (self.said.replace(mine) != Some(mine)).then_some(mine)
    }

    /// Whoever was picked last, or leads, as of the last poll.
    pub const fn nominee(&self) -> Option<NodeId> {
        self.nominee
    }

    /// How many runs began here or were heard of.
    pub const fn runs(&self) -> u64 {
        self.runs
    }
}
