//! One connection of a small world: what was asked, how far it is, and what it keeps locked.
//!
//! Assumes: the server runs one statement of a connection after the other.
//! Promises: locks follow from how far a session is, so that none can be forgotten.

use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::observation::Mark;
use incumbent_protocol::term::Term;

use super::setup::{Flaw, Level, Setup};

/// What a session is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A leader's work under a term. At a snapshot level it remembers which version of the election
    /// row it saw.
    Work {
        /// The term.
        term: Term,
        /// The version.
        seen: Option<u8>,
    },
    /// A takeover: which mark was seen to stand still, and what was decided.
    Bid {
        /// The mark.
        seen: Mark,
        /// The decision, once it is taken.
        claim: Option<Claim>,
    },
    /// A renewal of a term.
    Renew(Term),
    /// The end of a term.
    Resign(Term),
}

/// Which statement of a transaction is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The first: of work, BEGIN and the early check; of a takeover, BEGIN and the lock.
    Begin,
    /// The write.
    Write,
    /// The guard, where it is a message of its own.
    Guard,
    /// The guard and the COMMIT in one message.
    Commit,
}

/// How far a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// On its way to the server, or waiting there for a lock.
    Sent,
    /// A takeover that has read before it waits for its lock.
    Waiting,
    /// All that is left to do is to commit.
    Ready,
    /// The answer is on its way.
    Answered(Said),
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// Go on.
    Done,
    /// It had no effect, and the transaction is over.
    Refused,
    /// The transaction is committed.
    Committed,
}

/// What the client was told of its work, or told itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It still waits to be told.
    Nothing,
    /// It had no effect and never will.
    Refused,
    /// Nobody can tell.
    Unknown,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// Of which candidate.
    pub seat: u8,
    /// What for.
    pub ask: Ask,
    /// Which statement.
    pub stage: Stage,
    /// How far it is.
    pub phase: Phase,
    /// Whether it has taken its locks.
    pub locked: bool,
    /// Whether what it wrote is in the store.
    pub kept: bool,
    /// What its client was told.
    pub told: Told,
}

/// Which session. Numbers are seats, or places among the orphans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The work of a candidate.
    Work(u8),
    /// What a candidate asks about the election.
    Ask(u8),
    /// A session whose client is gone.
    Orphan(u8),
}

/// A row that can be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    /// Who leads, under which term.
    Election,
    /// The beats of the leader.
    Beats,
}

/// How a row is locked. Two sessions may share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Not at all.
    Free,
    /// Against changes.
    Shared,
    /// Against changes and shared locks.
    Exclusive,
}

impl Session {
    /// A session whose first statement leaves.
    pub(super) const fn new(seat: u8, ask: Ask) -> Session {
        Session {
            seat,
            ask,
            stage: Stage::Begin,
            phase: Phase::Sent,
            locked: false,
            kept: false,
            told: Told::Nothing,
        }
    }

    /// How it keeps a row locked.
    pub fn holds(&self, row: Row, setup: &Setup) -> Mode {
        if !self.locked {
            return Mode::Free;
        }
        if setup.level == Level::OneWriter {
            return Mode::Exclusive;
        }
        let other = setup.has(Flaw::OtherRowLocked);
        match (&self.ask, row) {
            (Ask::Work { .. }, Row::Election) if !other => Mode::Shared,
            (Ask::Work { .. }, Row::Beats) if other => Mode::Shared,
            (Ask::Bid { .. }, Row::Election) => Mode::Exclusive,
            (Ask::Bid { .. }, Row::Beats) if self.phase == Phase::Ready && !other => {
                Mode::Exclusive
            }
            _ => Mode::Free,
        }
    }

    /// Whether its server waits for the next statement of its client.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Answered(Said::Done)
    }

    /// Whether a COMMIT of its work may be under way or done: then only the server can tell what
    /// became of it.
    pub fn is_committing(&self) -> bool {
        matches!(self.ask, Ask::Work { .. }) && self.stage == Stage::Commit
    }

    /// The transaction ends without effect.
    pub(super) fn refuse(&mut self) {
        self.locked = false;
        self.phase = Phase::Answered(Said::Refused);
    }

    /// The next statement leaves.
    pub(super) fn send(&mut self, stage: Stage) {
        self.stage = stage;
        self.phase = Phase::Sent;
    }
}
