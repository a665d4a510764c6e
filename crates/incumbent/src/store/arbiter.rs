//! The seam between what is asked of a database and how each database does it.
//!
//! Assumes: one call at a time, on one connection.
//! Promises: decisions are not made behind this seam. A backend reads, hands what it read to a pure
//! decision, and carries out what that says, all in one transaction under its locks.

use std::collections::BTreeMap;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::request::{Claim, Holding};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::time::StoreTime;

use super::office::{TermRecord, Warrant};
use crate::error::Error;

/// A database that arbitrates.
pub(crate) trait Arbiter {
    /// Whatever must be in place before this process bids for the first time.
    fn before_bidding(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Prolongs every held term in one statement, and names the elections whose term still stood.
    async fn renew(&mut self, held: &[(&ElectionName, &Holding)]) -> Result<Vec<String>, Error>;

    /// Reads the named elections, or all of them, in one statement and without a lock.
    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error>;

    /// Reads the named elections under locks that exclude every other write to them, and carries
    /// out what `decide` says. An empty list of plans leaves everything as it was. What `decide`
    /// returns counts only if this returns it: then it is committed.
    async fn write<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send;

    /// The newest terms of an election, newest first.
    async fn terms(&mut self, election: &ElectionName, most: u32)
    -> Result<Vec<TermRecord>, Error>;

    /// Wakes whoever listens, after a write.
    fn ring(&mut self) {}
}

/// Elections as one read found them.
#[derive(Debug)]
pub(crate) struct Snapshots {
    pub(crate) found: BTreeMap<ElectionName, Snapshot>,
    /// What an election without a row looks like.
    pub(crate) blank: Snapshot,
}

impl Snapshots {
    pub(crate) fn take(&mut self, election: &ElectionName) -> Snapshot {
        self.found.remove(election).unwrap_or_else(|| self.blank.clone())
    }
}

/// What a decision asks to be written.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Begin a term.
    Claim { election: ElectionName, claim: Box<Claim> },
    /// End a term at its holder's wish.
    Release { election: ElectionName, now: StoreTime },
    /// End a term at an operator's wish.
    Order { warrant: Box<Warrant>, decree: Box<Decree>, now: StoreTime },
}

/// The two rows of an election do not fit together. Cannot happen under their locks, unless
/// somebody edited them.
pub(crate) fn misfit(election: &ElectionName) -> Error {
    let problem = format!("the rows of election {election} do not fit together; were they edited?");
    Error::Corrupt { place: String::new(), problem }
}
