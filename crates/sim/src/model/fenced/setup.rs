//! The bounds of a small world of fenced transactions.

use core::time::Duration;

use incumbent_protocol::lease::request::{Bid, Holding};
use incumbent_protocol::observation::{Mark, Observation, View};
use incumbent_protocol::rules::Rules;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{HeardAt, StoreTime, Time};

use crate::model;

/// What a database lets a transaction see, and what it locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Every statement sees the newest committed rows. A locking read does so too on databases
    /// whose stricter levels let it, as the `REPEATABLE READ` of `MySQL` does.
    ReadCommitted,
    /// A transaction sees what was committed when it began; a locking read of a row that has
    /// changed since is a serialization failure.
    Snapshot,
    /// One writer at a time, from the beginning of its transaction to its end.
    OneWriter,
}

/// How often what may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Fenced transactions that each candidate begins.
    pub works: u8,
    /// Bids, by all candidates together.
    pub bids: u8,
    /// Renewals.
    pub renewals: u8,
    /// Leaders that let go of their own accord, whatever their work is doing.
    pub resignations: u8,
    /// Orders of an operator to end the term.
    pub demotions: u8,
    /// Clients that give up on a request: it is lost, or comes late, or its answer does.
    pub unknown: u8,
    /// Processes that stop.
    pub stops: u8,
    /// Processes that are killed.
    pub kills: u8,
    /// Crashes of the server.
    pub crashes: u8,
    /// Losses of all connections at once.
    pub drops: u8,
}

/// Mistakes that the explorer must find, and a few that turn out to be harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// The term is checked when the transaction begins, and not again.
    GuardAtBegin,
    /// The guard reads without a lock.
    GuardWithoutLock,
    /// The guard and the COMMIT are two messages.
    GuardApart,
    /// A guard that refuses keeps its lock until its client rolls back, as databases do in which an
    /// error does not end the transaction.
    RefusalKeepsLock,
    /// The guard locks a row that no takeover writes.
    OtherRowLocked,
    /// A takeover decides on what it read before it waited for its lock, and writes it without
    /// comparing.
    StaleTakeover,
    /// The same, but it compares the mark when it writes.
    StaleTakeoverCompared,
    /// A client takes an unknown outcome for a refusal.
    UnknownTakenForRefused,
    /// A client takes an unknown outcome for a commit.
    UnknownTakenForCommitted,
}

/// What a world may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many candidates. The first of them leads when the world begins.
    pub candidates: usize,
    /// How the database runs transactions.
    pub level: Level,
    /// How often what may happen.
    pub budget: Budget,
    /// Whether the server ends a transaction whose client says nothing.
    pub idle_timeout: bool,
    /// Whether a stopped process can be counted on to go on.
    pub goes_on: bool,
    /// What is wrong, if anything.
    pub flaw: Option<Flaw>,
}

impl Setup {
    /// A world of two candidates, each with one transaction, and one bid.
    pub fn new(level: Level) -> Setup {
        Setup {
            candidates: 2,
            level,
            budget: Budget { works: 1, bids: 1, ..Budget::default() },
            idle_timeout: true,
            goes_on: false,
            flaw: None,
        }
    }

    pub(super) fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// What the candidate in a seat names when it renews, resigns or commits.
    pub(super) fn holding(seat: u8, term: Term) -> Holding {
        Holding { candidate: model::Setup::candidate(usize::from(seat)), term }
    }

    /// The bid of a candidate that has seen this mark stand for a full lease.
    pub(super) fn bid(seat: u8, seen: Mark) -> Bid {
        let rules = Setup::rules();
        // The clock of this world's store stands still.
        let beaten_at = seen.map(|_| StoreTime::from_micros(1));
        let view = View { mark: seen, beaten_at, replaced: None };
        let observed = Observation::first(view, HeardAt::after_answer(Time::ZERO));
        let patience: Duration = rules.lease() * 2;
        Bid {
            candidate: model::Setup::candidate(usize::from(seat)),
            rules,
            suspicion: observed.suspect(Time::ZERO + patience, patience),
            newest: seen.map(|(term, _)| term),
            longest: rules.lease(),
        }
    }

    pub(super) fn rules() -> Rules {
        *model::Setup::timing().rules()
    }
}
