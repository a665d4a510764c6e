//! What the handles ask of the driver.
//!
//! Assumes: nothing.
//! Promises: every question carries the place where its answer goes.

use incumbent_protocol::candidacy::Rank;
use incumbent_protocol::identity::{CandidateName, ElectionName};
use incumbent_protocol::lease::forget::Removal;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;
use tokio::sync::oneshot;

use crate::contest::Contest;
use crate::error::Error;
use crate::health::Monitor;
use crate::leadership::Leadership;
use crate::observe::Feed;
#[cfg(feature = "peers")]
use crate::peers::{Ballot, Voters};
use crate::pulse::Pulse;
use crate::store::holder::LockHolder;
use crate::store::office::{OrderRecord, Removing, TermRecord, Warrant};
use crate::store::roster::Roster;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// One word from a handle to the driver.
#[derive(Debug)]
pub(crate) enum Command {
    /// Take part in an election, for now without wanting anything.
    Enter { election: ElectionName, contest: Contest, done: Reply<()> },
    /// Tell where this process is in line.
    Rank { election: ElectionName, done: oneshot::Sender<Option<Rank>> },
    /// Tell whether this process does what it takes to lead.
    Pulse { election: ElectionName, done: oneshot::Sender<Pulse> },
    /// Lead it, and say so here.
    Campaign { election: ElectionName, winner: Reply<Leadership> },
    /// Tell this queue what happens.
    Observe { election: ElectionName, feed: Feed },
    /// Somebody stopped waiting or listening.
    Recount,
    /// Let go of a term.
    Resign { election: ElectionName, term: Term, done: Option<oneshot::Sender<()>> },
    /// End the work under whatever is led, and then let go; say so here when it is done.
    Drain { election: ElectionName, to: Option<CandidateName>, done: oneshot::Sender<()> },
    /// Whether this process is well enough to lead; if not, why.
    Fit { unfit: Option<String> },
    /// From now on this says so.
    Monitor(Monitor),
    /// Note in the history that work began or ended.
    Work { election: ElectionName, term: Term, began: bool, at: Time },
    /// Ask the store something on behalf of a person.
    Office(Errand),
    /// Let go of everything and stop.
    Close { done: oneshot::Sender<()> },
}

/// Something that a person wants of the store.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Show one election, or all.
    Look { election: Option<ElectionName>, done: Reply<Vec<(ElectionName, Snapshot)>> },
    /// Show past terms.
    Terms { election: ElectionName, most: u32, done: Reply<Vec<TermRecord>> },
    /// Show everybody in line.
    Roster { election: ElectionName, done: Reply<Roster> },
    /// Show everybody who takes part.
    Roll { election: ElectionName, done: Reply<Vec<Peer>> },
    /// Show what operators ordered.
    Orders { election: ElectionName, most: u32, done: Reply<Vec<OrderRecord>> },
    /// Show who has locks.
    LockHolders { done: Reply<Vec<LockHolder>> },
    /// Carry out an order.
    Order { warrant: Warrant, done: Reply<Decree> },
    /// Remove an election.
    Forget { removing: Removing, done: Reply<Removal> },
    /// Show or change who votes.
    #[cfg(feature = "peers")]
    Voters { ballot: Ballot, done: Reply<Voters> },
    /// Count the statements that were run so far.
    Statements { done: Reply<u64> },
}
