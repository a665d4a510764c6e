//! What operators and onlookers ask: who leads, who led, end this term.
//!
//! Assumes: as for a round: one call at a time on the shared connection.
//! Promises: reading takes no lock and changes nothing; an order is decided by the protocol inside
//! an immediate transaction and leaves its actor and its reason in the history.

use incumbent_protocol::identity::{CandidateName, ElectionName};
use incumbent_protocol::lease::order::{Decree, Order};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;
use serde::Serialize;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use super::round::signed;
use super::{Store, trouble};
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

/// An operator's order with its papers.
#[derive(Clone, Debug)]
pub(crate) struct Warrant {
    pub(crate) election: ElectionName,
    pub(crate) order: Order,
    pub(crate) term: Option<Term>,
    pub(crate) actor: String,
    pub(crate) note: Option<String>,
}

const TERMS: &str = "
    SELECT term, holder, incarnation, began_us, opening, ended_us, ending, actor, note
    FROM incumbent_term WHERE election = ?1 ORDER BY term DESC LIMIT ?2";

const ORDER: &str = "UPDATE incumbent_election SET state = ?2, successor = ?3 WHERE name = ?1";

// The time of the last beat stays: what is left of the deposed leader's lease counts from it.
const ORDER_BEAT: &str = "
    UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL WHERE name = ?1";

const ORDER_TERM: &str = "
    UPDATE incumbent_term SET ending = ?3, ended_us = ?4, actor = ?5, note = ?6
    WHERE election = ?1 AND term = ?2 AND ended_us IS NULL";

impl Store {
    /// Shows the named election, or all of them.
    pub(crate) async fn look(
        &mut self,
        election: Option<&ElectionName>,
    ) -> Result<Vec<(ElectionName, Snapshot)>, Error> {
        let mut held = self.connect().await?;
        let names = election.map(|name| vec![name]);
        let found = self.snapshots(held.get(), names.as_deref()).await;
        let found = self.end(held, found)?;
        let missing = election.filter(|name| !found.contains_key(name)).cloned();
        let missing = missing.map(|name| (name, self.blank()));
        Ok(found.into_iter().chain(missing).collect())
    }

    /// The newest terms of an election, newest first.
    pub(crate) async fn terms(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<TermRecord>, Error> {
        let mut held = self.connect().await?;
        let rows =
            sqlx::query(TERMS).bind(election.as_str()).bind(most).fetch_all(held.get()).await;
        let terms = rows.map_err(trouble).and_then(|rows| rows.iter().map(decode).collect());
        self.end(held, terms)
    }

    /// Carries out an order, if the protocol allows it.
    pub(crate) async fn carry_out(&mut self, warrant: &Warrant) -> Result<Decree, Error> {
        let mut held = self.connect().await?;
        let decree = self.order(held.get(), warrant).await;
        let decree = self.end(held, decree)?;
        self.ring();
        Ok(decree)
    }

    async fn order(
        &mut self,
        connection: &mut SqliteConnection,
        warrant: &Warrant,
    ) -> Result<Decree, Error> {
        let mut work = connection.begin_with("BEGIN IMMEDIATE").await.map_err(trouble)?;
        let mut found = self.snapshots(&mut work, Some(&[&warrant.election])).await?;
        let snapshot = found.remove(&warrant.election).unwrap_or_else(|| self.blank());
        let decree = warrant.order.decide(&snapshot, warrant.term)?;
        enact(&mut work, warrant, &decree, snapshot.now).await?;
        work.commit().await.map_err(trouble)?;
        Ok(decree)
    }
}

async fn enact(
    work: &mut SqliteConnection,
    warrant: &Warrant,
    decree: &Decree,
    now: StoreTime,
) -> Result<(), Error> {
    let name = warrant.election.as_str();
    let order = sqlx::query(ORDER).bind(name).bind(decree.state.as_str());
    let order = order.bind(decree.successor.as_ref().map(CandidateName::as_str));
    order.execute(&mut *work).await.map_err(trouble)?;
    sqlx::query(ORDER_BEAT).bind(name).execute(&mut *work).await.map_err(trouble)?;
    let ending = match warrant.order {
        Order::Demote => "demoted",
        Order::Takeover { .. } => "takeover",
    };
    let term = sqlx::query(ORDER_TERM).bind(name).bind(signed(decree.term.get())).bind(ending);
    let term = term.bind(signed(now.as_micros())).bind(&warrant.actor).bind(&warrant.note);
    term.execute(work).await.map_err(trouble)?;
    Ok(())
}

fn decode(row: &SqliteRow) -> Result<TermRecord, Error> {
    let number = |at: usize| row.try_get::<i64, _>(at).map_err(trouble);
    let text = |at: usize| row.try_get::<Option<String>, _>(at).map_err(trouble);
    let time = |micros: i64| StoreTime::from_micros(u64::try_from(micros).unwrap_or(0));
    let term = u64::try_from(number(0)?).ok().and_then(Term::recorded);
    Ok(TermRecord {
        term: term.ok_or_else(|| Error::Store("the history holds an odd term".to_owned()))?,
        leader: text(1)?.unwrap_or_default(),
        incarnation: text(2)?.unwrap_or_default(),
        began: time(number(3)?),
        opening: text(4)?.unwrap_or_default(),
        ended: row.try_get::<Option<i64>, _>(5).map_err(trouble)?.map(time),
        ending: text(6)?,
        actor: text(7)?,
        note: text(8)?,
    })
}
