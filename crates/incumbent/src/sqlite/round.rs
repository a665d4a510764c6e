//! What SQLite does for a round and for operators.
//!
//! Assumes: as [`Arbiter`] says.
//! Promises: all renewals are one statement, and no beat waits for a sync; reads take no write lock;
//! whatever is written is decided inside an immediate transaction. A claim, a resignation, an order
//! and a place in line are on disk before they are answered.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rounds::round::{Act, Round};
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;
use serde_json::json;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use super::write::{micros, put};
use super::{DURABLE, HURRIED, Store, holders, trouble};
use crate::clock;
use crate::error::Error;
use crate::lock;
use crate::store::arbiter::{Arbiter, Plan, Rolls, Roster, Snapshots, plans};
use crate::store::holder::LockHolder;
use crate::store::office::{OrderRecord, TermRecord};
use crate::store::round::Answer;

const RENEW: &str = "
    UPDATE incumbent_beat SET beat = beat + 1, beaten_us = ?1
    FROM (SELECT value ->> 0 AS name, value ->> 1 AS term FROM json_each(?2)) AS mine
    WHERE incumbent_beat.name = mine.name AND incumbent_beat.term = mine.term
      AND incumbent_beat.incarnation = ?3";

const HELD: &str = "
    SELECT incumbent_beat.name FROM incumbent_beat
    JOIN (SELECT value ->> 0 AS name, value ->> 1 AS term FROM json_each(?1)) AS mine
      ON incumbent_beat.name = mine.name AND incumbent_beat.term = mine.term
    WHERE incumbent_beat.incarnation = ?2";

const TERMS: &str = "
    SELECT term, holder, incarnation, began_us, opening, ended_us, ending, actor, note
    FROM incumbent_term WHERE election = ?1 ORDER BY term DESC LIMIT ?2";

impl Arbiter for Store {
    /// Takes the lock that proves this process alive.
    fn before_bidding(&mut self) -> Result<(), Error> {
        self.ensure_lock()
    }

    async fn renew(&mut self, held: &[(&ElectionName, &Holding)]) -> Result<Vec<String>, Error> {
        let mine: Vec<_> = held.iter().map(|(name, holding)| (name, holding.term)).collect();
        let (mine, me) = (json!(mine).to_string(), self.me.incarnation.to_string());
        let mut connection = self.connect().await?;
        let renewed = async {
            self.statements += 1;
            // No rows come back: they would have to be fetched while the write lock is held.
            let renew = sqlx::query(RENEW).bind(micros(clock::wall())).bind(&mine).bind(&me);
            let renewed = renew.execute(connection.get()).await.map_err(trouble)?.rows_affected();
            if usize::try_from(renewed) == Ok(held.len()) {
                return Ok(held.iter().map(|(name, _)| name.as_str().to_owned()).collect());
            }
            // What is held now was held a moment ago, and was renewed: only this process could have
            // claimed it since.
            self.statements += 1;
            let rows = sqlx::query(HELD).bind(&mine).bind(&me).fetch_all(connection.get()).await;
            rows.map_err(trouble)?.iter().map(|row| row.try_get(0).map_err(trouble)).collect()
        };
        let renewed = renewed.await;
        self.end(connection, renewed)
    }

    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error> {
        let mut held = self.connect().await?;
        let found = self.snapshots(held.get(), names).await;
        self.end(held, found)
    }

    async fn write<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send,
    {
        let mut held = self.connect().await?;
        let written = async {
            held.sync(DURABLE).await?;
            let begun = held.get().begin_with("BEGIN IMMEDIATE").await;
            let mut work = begun.map_err(trouble)?;
            let (plans, decided) = decide(self.snapshots(&mut work, Some(names)).await?)?;
            if plans.is_empty() {
                work.rollback().await.map_err(trouble)?;
                return Ok(decided);
            }
            self.statements += 2;
            for plan in &plans {
                self.statements += put(&mut work, plan).await?;
            }
            work.commit().await.map_err(trouble)?;
            Ok(decided)
        };
        let written = written.await;
        let hurried = held.sync(HURRIED).await;
        self.end(held, written.and_then(|written| hurried.map(|()| written)))
    }

    async fn terms(
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

    async fn beats(
        &mut self,
        rounds: &[(&ElectionName, &Round)],
        answers: &mut Vec<Answer>,
    ) -> Result<(), Error> {
        for (election, round) in rounds {
            answers.push(self.round(election, round).await?);
        }
        Ok(())
    }

    async fn round(&mut self, election: &ElectionName, round: &Round) -> Result<Answer, Error> {
        let mut held = self.connect().await?;
        let done = async {
            // Beats need no sync; a term that begins or ends and a place that is given away do.
            let durable = !matches!(round.act, Act::Beat { .. } | Act::Lead(_));
            if durable {
                held.sync(DURABLE).await?;
            }
            let answer = self.decide(held.get(), election, round).await?;
            if durable {
                held.sync(HURRIED).await?;
            }
            Ok(answer)
        };
        let done = done.await;
        self.end(held, done)
    }

    async fn roster(&mut self, election: &ElectionName) -> Result<Roster, Error> {
        let mut held = self.connect().await?;
        let found = self.read_roster(held.get(), election).await;
        self.end(held, found)
    }

    async fn roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        let mut held = self.connect().await?;
        let found = self.call_roll(held.get(), lines, elections).await;
        self.end(held, found)
    }

    async fn lock_holders(&mut self) -> Result<Vec<LockHolder>, Error> {
        Ok(self.file.as_ref().map(|file| holders::holders(&file.path)).unwrap_or_default())
    }

    async fn orders(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error> {
        let mut held = self.connect().await?;
        let found = self.read_orders(held.get(), election, most).await;
        self.end(held, found)
    }

    fn ring(&mut self) {
        if let Some(folder) = self.folder() {
            lock::ring(folder);
        }
    }
}

impl Store {
    /// Decides a round inside a transaction, and writes what was decided.
    async fn decide(
        &mut self,
        connection: &mut SqliteConnection,
        election: &ElectionName,
        round: &Round,
    ) -> Result<Answer, Error> {
        let begun = connection.begin_with("BEGIN IMMEDIATE").await;
        let mut work = begun.map_err(trouble)?;
        let scene = self.scene(&mut work, election, round).await?;
        let had = scene.vars.as_ref().map(|vars| vars.epoch);
        let (writes, answer) = round.decide(scene);
        if writes.is_empty() {
            work.rollback().await.map_err(trouble)?;
            return Ok(answer);
        }
        self.statements += 2;
        for plan in &plans(election, round, writes, had) {
            self.statements += put(&mut work, plan).await?;
        }
        work.commit().await.map_err(trouble)?;
        Ok(answer)
    }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};

    use super::*;

    async fn level(store: &mut Store) -> i64 {
        let mut held = store.connect().await.expect("a connection");
        let row = sqlx::query("PRAGMA synchronous").fetch_one(held.get()).await.expect("a row");
        let level = row.try_get(0).map_err(trouble);
        store.end(held, level).expect("a level")
    }

    #[tokio::test]
    async fn beats_are_not_synced_before_and_after_a_write_that_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = CandidateName::new("ann").expect("a name");
        let me = CandidateId::new(name, Incarnation::from_random(1));
        let timeout = Duration::from_secs(1);
        let opened = Store::open(&folder.path().join("e.db"), me, timeout, true).await;
        let mut store = opened.expect("a store");
        assert_eq!(level(&mut store).await, 1, "NORMAL");
        let nothing = |_: Snapshots| Ok((Vec::new(), ()));
        store.write(&[], nothing).await.expect("a write");
        assert_eq!(level(&mut store).await, 1, "NORMAL");
        let mut held = store.connect().await.expect("a connection");
        held.sync(DURABLE).await.expect("a setting");
        store.end(held, Ok(())).expect("kept");
        assert_eq!(level(&mut store).await, 2, "FULL");
    }
}
