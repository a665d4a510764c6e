//! What can go wrong, and what that does to one's standing.
//!
//! Assumes: nothing.
//! Promises: every error says in words what happened and what to do, and in [`Error::standing`] and
//! [`Error::retry`] what it does to a candidate and whether to try again.

use std::path::PathBuf;
use std::time::Duration;

use incumbent_protocol::identity::NameError;
use incumbent_protocol::lease::order::OrderError;
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::rules::TimingError;
use thiserror::Error;

/// What an error does to the standing of the candidate that meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was taken and nothing was lost.
    None,
    /// A leadership that was held ends.
    Lost,
}

/// Whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same call may succeed later.
    Later,
    /// Only after something was changed: the configuration, the file, the program.
    AfterChange,
}

/// Everything that can go wrong in this library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL names no backend. *Standing:* none. *Retry:* after a change.
    #[error("cannot use the URL {url:?}: {problem}")]
    Url {
        /// As given.
        url: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A name has odd characters. *Standing:* none. *Retry:* after a change.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The timings do not fit together. *Standing:* none. *Retry:* after a change.
    #[error(transparent)]
    Timing(#[from] TimingError),
    /// A setting that cannot be used as it is. *Standing:* none. *Retry:* after a change.
    #[error("cannot use this {setting}: {problem}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The same election is open in this process with other timings. *Standing:* none. *Retry:*
    /// after a change.
    #[error("the election {election:?} is already open in this process with other timings")]
    OtherTiming {
        /// Which election.
        election: String,
    },
    /// No rights can be given to this user. *Standing:* none. *Retry:* after a change.
    #[error("cannot give rights to the user {user:?}: {problem}")]
    User {
        /// As given.
        user: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The election does not take this candidate. *Standing:* out. *Retry:* after a change.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An operator's order was not carried out. *Standing:* none. *Retry:* after a change.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The number in an order is no term. *Standing:* everyone's is as it was. *Retry:* after
    /// looking again.
    #[error("{0} is not the number of a term: look again")]
    NoTerm(u64),
    /// The store could not be opened. *Standing:* none. *Retry:* after a change; a server that was
    /// away may be back later.
    #[error("cannot use {place}: {problem}")]
    Open {
        /// Which file, folder or database.
        place: String,
        /// What is wrong, and what to do about it if that is known.
        problem: String,
    },
    /// There is no store to look at. *Standing:* none. *Retry:* after a first candidate has contended.
    #[error("{place} does not exist or holds no elections: no election was ever held here")]
    Missing {
        /// Which file.
        place: String,
    },
    /// A database server has not got our tables. *Standing:* none. *Retry:* after making them.
    #[error(
        "{place} has no tables of Incumbent: make them once with `incumbent schema --apply --url URL` as a user that may \
         create tables, or run what `incumbent schema --url URL` prints"
    )]
    SchemaMissing {
        /// Which database.
        place: String,
    },
    /// The schema was written by an older version. *Standing:* none. *Retry:* after bringing it up
    /// to date.
    #[error(
        "the schema in {place} has version {found}, this program needs {known}: bring it up to date with \
         `incumbent schema --apply --url URL`; running candidates may go on meanwhile"
    )]
    SchemaOlder {
        /// Which database.
        place: String,
        /// As stored.
        found: i64,
        /// As needed here.
        known: i64,
    },
    /// What is stored is not what was ever written by this program. *Standing:* lost. *Retry:* after a
    /// change.
    #[error(
        "{place} is damaged or is something else ({problem}): move it away or restore it; nothing was written to it"
    )]
    Corrupt {
        /// Which file or database.
        place: String,
        /// What was found.
        problem: String,
    },
    /// The schema was written by a newer version. *Standing:* none. *Retry:* after an upgrade of
    /// this program.
    #[error(
        "the schema in the store has version {found}, this program knows up to {known}: upgrade the program"
    )]
    SchemaNewer {
        /// As stored.
        found: i64,
        /// As known here.
        known: i64,
    },
    /// The database file was deleted or replaced while in use. *Standing:* lost. *Retry:* after a
    /// change.
    #[error(
        "the database file {place} was deleted or replaced while in use: leadership on it is over; stop all candidates, \
         restore the file if it held anything else, and start again"
    )]
    StoreGone {
        /// Which file.
        place: String,
    },
    /// The store did not do what was asked. Where its own words tell what to do, the text says so.
    /// *Standing:* kept until the lease ends. *Retry:* later.
    #[error("the store did not answer as it should: {0}")]
    Store(String),
    /// The server cannot be written to, a standby perhaps. *Standing:* kept until the lease ends. *Retry:* later;
    /// another server may have taken its place.
    #[error("the server cannot be written to: {0}")]
    ReadOnly(String),
    /// The store undid a transaction because another one came first. *Standing:* kept until the lease
    /// ends. *Retry:* at once.
    #[error("the store undid the transaction for the sake of another one: {0}")]
    Conflict(String),
    /// Another process was faster, and whether this one's wish was granted before that cannot be told.
    /// *Standing:* kept until the lease ends. *Retry:* later.
    #[error("another process changed the election at the same time: look again")]
    Overtaken,
    /// A fenced transaction did not commit, because the leadership that began it is over. *Standing:*
    /// lost. *Retry:* never under this term.
    #[error("the transaction was undone: term {term} of election {election:?} is over")]
    Fenced {
        /// Which election.
        election: String,
        /// Which term.
        term: u64,
    },
    /// A fenced transaction was not begun or did not commit, because it cannot be told now whether the
    /// leadership stands. *Standing:* kept. *Retry:* later; until then nothing was written.
    #[error(
        "nothing was written: whether term {term} of election {election:?} stands cannot be told now ({problem}); try again, \
         and give up when the leadership is lost"
    )]
    Unconfirmed {
        /// Which election.
        election: String,
        /// Which term.
        term: u64,
        /// Why.
        problem: String,
    },
    /// The answer to a COMMIT was lost. *Standing:* kept. *Retry:* after looking whether it took
    /// effect.
    #[error(
        "it is not known whether the transaction was committed ({0}): look before doing it again"
    )]
    InDoubt(String),
    /// The store did not answer in time. *Standing:* kept until the lease ends. *Retry:* later.
    #[error(
        "the store did not answer within {0:?}: try again; if that goes on, check the store and the network, or choose \
         a longer lease"
    )]
    Timeout(Duration),
    /// The history file could not be written. *Standing:* kept. *Retry:* after a change.
    #[error("cannot write the history {}: {problem}", path.display())]
    History {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The backend was closed. *Standing:* lost. *Retry:* with a new backend.
    #[error("the backend was closed")]
    Closed,
}

impl Error {
    /// What this error does to the standing of the candidate that meets it.
    pub const fn standing(&self) -> Effect {
        match self {
            Error::Corrupt { .. }
            | Error::StoreGone { .. }
            | Error::Fenced { .. }
            | Error::Closed => Effect::Lost,
            _ => Effect::None,
        }
    }

    /// Whether to try again.
    pub const fn retry(&self) -> Retry {
        match self {
            Error::Store(_)
            | Error::ReadOnly(_)
            | Error::Conflict(_)
            | Error::Overtaken
            | Error::Unconfirmed { .. }
            | Error::Timeout(_) => Retry::Later,
            _ => Retry::AfterChange,
        }
    }

    /// A copy for each of several callers that wait for the same thing.
    pub(crate) fn again(&self) -> Error {
        match self {
            Error::Corrupt { place, problem } => {
                Error::Corrupt { place: place.clone(), problem: problem.clone() }
            }
            Error::SchemaNewer { found, known } => {
                Error::SchemaNewer { found: *found, known: *known }
            }
            Error::SchemaMissing { place } => Error::SchemaMissing { place: place.clone() },
            Error::SchemaOlder { place, found, known } => {
                Error::SchemaOlder { place: place.clone(), found: *found, known: *known }
            }
            Error::Open { place, problem } => {
                Error::Open { place: place.clone(), problem: problem.clone() }
            }
            Error::StoreGone { place } => Error::StoreGone { place: place.clone() },
            Error::Timeout(after) => Error::Timeout(*after),
            Error::Overtaken => Error::Overtaken,
            other => Error::Store(other.to_string()),
        }
    }
}
