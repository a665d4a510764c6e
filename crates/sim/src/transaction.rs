//! A fenced transaction, as its client knows it and as the database does.
//!
//! Assumes: a connection carries one statement at a time and throws away copies.
//! Promises: a number names one attempt at one work for ever, on both sides.

use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::lease::row::{Snapshot, State};
use incumbent_protocol::term::Term;

use crate::clock::At;

/// Names a transaction and the connection that it has to itself.
pub(crate) type SessionId = u32;

/// What a client asks of the database inside a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// BEGIN, and the early check of the term.
    Begin,
    /// A write of the user's own.
    Write,
    /// The guard and the COMMIT in one message.
    Commit,
}

/// What the database answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Go on.
    Done,
    /// It had no effect, and the transaction is over.
    Refused,
    /// The transaction is committed.
    Committed,
    /// There is no such connection.
    Gone,
}

/// A transaction as its client knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction {
    pub(crate) session: SessionId,
    pub(crate) term: Term,
    /// How many writes it makes.
    pub(crate) writes: u8,
    /// How many statements were answered.
    pub(crate) step: u8,
    /// Whether a statement is under way.
    pub(crate) waits: bool,
}

impl Transaction {
    /// The statement that is under way or comes next.
    pub(crate) const fn ask(&self) -> Ask {
        match self.step {
            0 => Ask::Begin,
            step if step <= self.writes => Ask::Write,
            _ => Ask::Commit,
        }
    }

    /// Whether only the database can tell what became of it.
    pub(crate) fn is_committing(&self) -> bool {
        self.waits && self.ask() == Ask::Commit
    }
}

/// How far the database is with a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for the next statement.
    Idle,
    /// It waits for a lock.
    Waiting,
    /// It has passed its guard and is about to commit.
    Guarded,
}

/// A transaction as the database knows it.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) process: u8,
    pub(crate) life: u32,
    pub(crate) election: u8,
    pub(crate) holding: Holding,
    pub(crate) phase: Phase,
    /// The election row as it was when the transaction began, at a level that minds.
    pub(crate) seen: Option<RowSeen>,
    pub(crate) idle_since: At,
}

/// What distinguishes one version of an election row from another. Beats are in a row of their own.
pub(crate) type RowSeen = Option<(Term, State)>;

/// The version of the election row that a snapshot shows.
pub(crate) fn seen(snapshot: &Snapshot) -> RowSeen {
    snapshot.record.as_ref().map(|record| (record.term, record.state))
}
