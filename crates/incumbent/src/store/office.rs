//! What operators and onlookers ask: who leads, who led, end this term.
//!
//! Assumes: as for a round: one call at a time on the shared connection.
//! Promises: reading takes no lock and changes nothing; an order is decided by the protocol inside
//! a transaction and leaves its actor and its reason in the history.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::forget::{Forget, Removal};
use incumbent_protocol::lease::order::{Decree, Order, Papers};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::StoreTime;
use serde::Serialize;

use super::arbiter::{Arbiter, Plan, Snapshots};
use super::round::TRIES;
use crate::error::Error;

/// A past or present term, as the store's history keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TermRecord {
    /// The number of the leadership; also its token.
    pub term: Term,
    /// Who led.
    pub leader: String,
    /// Which life of that candidate.
    pub incarnation: String,
    /// When it began, in microseconds since 1970 by the store's clock.
    pub began: StoreTime,
    /// Why it could begin: `first`, `released`, `died`, `expired` or `own`.
    pub opening: String,
    /// When it ended, if it has.
    pub ended: Option<StoreTime>,
    /// Why it ended: `resigned`, `died`, `expired`, `own` (given up), `demoted` or `takeover`.
    pub ending: Option<String>,
    /// Which operator ended it.
    pub actor: Option<String>,
    /// The operator's reason.
    pub note: Option<String>,
}

/// What an operator ordered, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OrderRecord {
    /// When, in microseconds since 1970 by the store's clock.
    pub at: StoreTime,
    /// What: `demote`, `takeover`, `transfer`, `pause`, `resume`, `cordon`, `uncordon` or `forget`.
    pub verb: String,
    /// Whom it named; for `forget`, the election.
    pub subject: Option<String>,
    /// The term that the election was in.
    pub term: Term,
    /// Who ordered it.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
}

/// An operator's order with its papers.
#[derive(Clone, Debug)]
pub(crate) struct Warrant {
    pub(crate) election: ElectionName,
    pub(crate) order: Order,
    pub(crate) papers: Papers,
}

impl Warrant {
    /// The word for how a term ends that this order ends.
    pub(crate) const fn ending(&self) -> &'static str {
        match self.order {
            Order::Takeover { .. } => "takeover",
            Order::Transfer { .. } => "transfer",
            // The others end none.
            _ => "demoted",
        }
    }
}

/// A request to remove an election, and who gives it.
#[derive(Clone, Debug)]
pub(crate) struct Removing {
    pub(crate) election: ElectionName,
    pub(crate) forget: Forget,
    pub(crate) actor: String,
    pub(crate) reason: Option<String>,
}

impl Removing {
    /// The word for it in the history of orders.
    pub(crate) const VERB: &str = "forget";
}

/// Shows the named election, or all of them.
pub(crate) async fn look<A: Arbiter>(
    store: &mut A,
    election: Option<&ElectionName>,
) -> Result<Vec<(ElectionName, Snapshot)>, Error> {
    let names = election.map(|name| [name]);
    let mut found = store.read(names.as_ref().map(<[_; 1]>::as_slice)).await?;
    Ok(match election {
        Some(name) => vec![(name.clone(), found.take(name))],
        None => found.found.into_iter().collect(),
    })
}

/// Carries out an order, if the protocol allows it.
pub(crate) async fn carry_out<A: Arbiter>(
    store: &mut A,
    warrant: &Warrant,
) -> Result<Decree, Error> {
    let election = &warrant.election;
    // Only names are looked up in it.
    let roll = match warrant.order.subject() {
        Some(_) => Some(store.roll(&[], &[election]).await?.remove(election).unwrap_or_default()),
        None => None,
    };
    let papers = Papers { roll, ..warrant.papers.clone() };
    let warrant = &Warrant { papers, ..warrant.clone() };
    let decide = |mut found: Snapshots| {
        let snapshot = found.take(&warrant.election);
        let decree = warrant.order.decide(&snapshot, &warrant.papers)?;
        let (warrant, now) = (Box::new(warrant.clone()), snapshot.now);
        let plan = Plan::Order { warrant, decree: Box::new(decree.clone()), now };
        Ok((vec![plan], decree))
    };
    let mut written = store.write(&[&warrant.election], decide).await;
    for _ in 1..TRIES {
        if !matches!(written, Err(Error::Conflict(_))) {
            break;
        }
        written = store.write(&[&warrant.election], decide).await;
    }
    let decree = written?;
    store.ring();
    Ok(decree)
}

/// Removes an election, if the protocol allows it.
pub(crate) async fn forget<A: Arbiter>(
    store: &mut A,
    removing: &Removing,
) -> Result<Removal, Error> {
    let election = &removing.election;
    let roll = store.roll(&[], &[election]).await?.remove(election).unwrap_or_default();
    let forget = Forget { roll, ..removing.forget.clone() };
    let decide = |mut found: Snapshots| {
        let snapshot = found.take(election);
        let removal = forget.decide(&snapshot)?;
        let (removing, now) = (Box::new(removing.clone()), snapshot.now);
        let plan = Plan::Forget { removing, removal: Box::new(removal.clone()), now };
        Ok((vec![plan], removal))
    };
    let mut written = store.write(&[election], decide).await;
    for _ in 1..TRIES {
        if !matches!(written, Err(Error::Conflict(_))) {
            break;
        }
        written = store.write(&[election], decide).await;
    }
    let removal = written?;
    store.ring();
    Ok(removal)
}
