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
use incumbent_protocol::time::AskedAt;

use super::command::Errand;
use crate::clock;
use crate::error::Error;
use crate::store::Store;
use crate::store::round::{Answer, Ask};

/// What came back from the store, together with the store.
pub(super) struct Finished {
    pub(super) store: Store,
    pub(super) round: Option<Round>,
}

pub(super) struct Round {
    pub(super) asked_at: AskedAt,
    pub(super) asks: Vec<(Ticket, Ask)>,
    pub(super) answers: Vec<Answer>,
    pub(super) error: Option<Error>,
}

pub(super) type Running = Pin<Box<dyn Future<Output = Finished> + Send>>;

pub(super) async fn run_round(
    mut store: Store,
    asks: Vec<(Ticket, Ask)>,
    limit: Duration,
) -> Finished {
    let bare: Vec<Ask> = asks.iter().map(|(_, ask)| ask.clone()).collect();
    let asked_at = AskedAt::before_sending(clock::now());
    let result = tokio::time::timeout(limit, store.round(&bare)).await;
    // A round that was given up may still take effect: nothing is known of it.
    let (answers, error) = result
        .unwrap_or_else(|_| (vec![Outcome::Unknown; bare.len()], Some(Error::Timeout(limit))));
    Finished { store, round: Some(Round { asked_at, asks, answers, error }) }
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
        Errand::Order { warrant, done } => {
            let _ = done.send(within(limit, store.carry_out(&warrant)).await);
        }
        Errand::Statements { done } => {
            let _ = done.send(Ok(store.statements()));
        }
    }
    Finished { store, round: None }
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
