//! Work on the store that takes time: a round for all elections, or an errand for a person.
//!
//! Assumes: one piece of work at a time, because there is one connection.
//! Promises: a round is stamped before anything is sent; what takes too long is given up, and then
//! nothing is concluded from it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rates::Reading;
use incumbent_protocol::succession::presence::Call;
use incumbent_protocol::time::{AskedAt, HeardAt};
use tracing::{Instrument, debug_span};

use super::command::Errand;
use super::queue::{Chunk, Kind};
use crate::clock;
use crate::error::Error;
use crate::store::Store;
use crate::store::arbiter::{Rolls, Snapshots};
use crate::store::round::{Answer, Ask};

/// What came back from the store, together with the store.
pub(super) struct Finished {
    pub(super) store: Store,
    pub(super) round: Option<Round>,
    pub(super) rolled: Option<(Call, Result<Heard, Error>)>,
}

/// What a call of the roll showed.
pub(super) struct Heard {
    pub(super) rolls: Rolls,
    pub(super) snapshots: Option<Snapshots>,
    /// The store's clock, where it was read.
    pub(super) clock: Option<Reading>,
}

pub(super) struct Round {
    pub(super) kind: Kind,
    pub(super) asked_at: AskedAt,
    pub(super) asks: Vec<(Ticket, Ask)>,
    /// Nothing for what was not carried out yet.
    pub(super) answers: Vec<Option<Answer>>,
    pub(super) error: Option<Error>,
    /// Whether there was no store yet when it began.
    pub(super) waits: bool,
}

pub(super) type Running = Pin<Box<dyn Future<Output = Finished> + Send>>;

pub(super) async fn run_round(mut store: Store, chunk: Chunk, limit: Duration) -> Finished {
    let Chunk { kind, asks, writes } = chunk;
    let bare: Vec<Ask> = asks.iter().map(|(_, ask)| ask.clone()).collect();
    let waits = super::nominated::waits(&store);
    let asked_at = AskedAt::before_sending(clock::now());
    let span = debug_span!(parent: None, "round", elections = bare.len());
    let result = tokio::time::timeout(limit, store.round(&bare, writes)).instrument(span).await;
    // A round that was given up may still take effect: nothing is known of it.
    let (answers, error) = result.unwrap_or_else(|_| {
        (vec![Some(Outcome::Unknown); bare.len()], Some(Error::Timeout(limit)))
    });
    let round = Round { kind, asked_at, asks, answers, error, waits };
    Finished { store, round: Some(round), rolled: None }
}

pub(super) async fn run_errand(mut store: Store, errand: Errand, limit: Duration) -> Finished {
    match errand {
        Errand::Look { election, done } => {
            let _ = done.send(within(limit, store.look(election.as_ref())).await);
        }
        Errand::Terms { election, most, done } => {
            let _ = done.send(within(limit, store.terms(&election, most)).await);
        }
        Errand::Roster { election, done } => {
            let _ = done.send(within(limit, store.roster(&election)).await);
        }
        Errand::Roll { election, done } => {
            let called = within(limit, store.roll(&[], &[&election])).await;
            let _ = done.send(called.map(|mut rolls| rolls.remove(&election).unwrap_or_default()));
        }
        Errand::Orders { election, most, done } => {
            let _ = done.send(within(limit, store.orders(&election, most)).await);
        }
        Errand::LockHolders { done } => {
            let _ = done.send(within(limit, store.lock_holders()).await);
        }
        Errand::Order { warrant, done } => {
            let _ = done.send(within(limit, store.carry_out(&warrant)).await);
        }
        Errand::Forget { removing, done } => {
            let _ = done.send(within(limit, store.forget(&removing)).await);
        }
        #[cfg(feature = "peers")]
        Errand::Voters { ballot, done } => {
            match store.voters(ballot) {
                // It may take long, and leases must not wait for it.
                Ok(work) => drop(tokio::spawn(async move {
                    let _ = done.send(work.await);
                })),
                Err(error) => drop(done.send(Err(error))),
            }
        }
        Errand::Statements { done } => {
            let _ = done.send(Ok(store.statements()));
        }
    }
    Finished { store, round: None, rolled: None }
}

/// Calls the roll, and reads what operators have in force.
pub(super) async fn run_roll(mut store: Store, call: Call, limit: Duration) -> Finished {
    let called = async {
        let lines: Vec<_> = call.rows.iter().collect();
        let names: Vec<_> = call.elections.iter().collect();
        let rolls = store.roll(&lines, &names).await?;
        if names.is_empty() {
            return Ok(Heard { rolls, snapshots: None, clock: None });
        }
        let asked_at = AskedAt::before_sending(clock::now());
        let snapshots = store.read(&names).await?;
        let heard_at = HeardAt::after_answer(clock::now());
        let clock = Some(Reading { asked_at, store: snapshots.blank.now, heard_at });
        Ok(Heard { rolls, snapshots: Some(snapshots), clock })
    };
    let called = within(limit, called).await;
    Finished { store, round: None, rolled: Some((call, called)) }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(Error::Timeout(limit)))
}

pub(super) async fn finish(running: &mut Option<Running>) -> Finished {
    match running {
        Some(running) => running.await,
        None => std::future::pending().await,
    }
}
