//! One round: what all elections of this process ask, done together.
//!
//! Assumes: one round at a time. The caller stamps before and after, and gives up on a round that
//! takes too long.
//! Promises: all renewals are one statement; reads take no write lock; whatever is written is
//! decided inside an immediate transaction; an answer is `Unknown` unless the store said yes or no.

use std::path::PathBuf;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::{Bid, Claim, Denied, Done, Holding, Refusal, Request};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::time::StoreTime;
use sqlx::Connection;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use super::{Store, trouble};
use crate::clock;
use crate::error::Error;

/// What became of one request.
pub(crate) type Answer = Outcome<Done, Denied>;

/// One request of one election.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) election: ElectionName,
    pub(crate) request: Request,
}

const RENEW: &str = "
    UPDATE incumbent_beat SET beat = beat + 1, beaten_us = ?1
    FROM (SELECT value ->> 0 AS name, value ->> 1 AS term FROM json_each(?2)) AS mine
    WHERE incumbent_beat.name = mine.name AND incumbent_beat.term = mine.term
      AND incumbent_beat.incarnation = ?3
    RETURNING incumbent_beat.name";

const CLAIM: &str = "
    INSERT INTO incumbent_election
        (name, state, holder, incarnation, term, lease_us, margin_us, expiry, since_us, successor)
    VALUES (?1, 'held', ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)
    ON CONFLICT (name) DO UPDATE SET
        state = 'held', holder = excluded.holder, incarnation = excluded.incarnation, term = excluded.term,
        lease_us = excluded.lease_us, margin_us = excluded.margin_us, expiry = excluded.expiry,
        since_us = excluded.since_us, successor = NULL
    WHERE incumbent_election.term < excluded.term";

const CLAIM_BEAT: &str = "
    INSERT INTO incumbent_beat (name, term, incarnation, beat, beaten_us) VALUES (?1, ?2, ?3, 0, ?4)
    ON CONFLICT (name) DO UPDATE SET
        term = excluded.term, incarnation = excluded.incarnation, beat = 0, beaten_us = excluded.beaten_us
    WHERE incumbent_beat.term = ?5 AND incumbent_beat.beat = ?6";

const CLOSE_TERM: &str = "
    UPDATE incumbent_term SET ending = ?2, ended_us = ?3 WHERE election = ?1 AND ended_us IS NULL";

const OPEN_TERM: &str = "
    INSERT INTO incumbent_term (election, term, holder, incarnation, opening, began_us)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const FORGET_TERMS: &str = "
    DELETE FROM incumbent_term WHERE election = ?1 AND term <
        (SELECT term FROM incumbent_term WHERE election = ?1 ORDER BY term DESC LIMIT 1 OFFSET 999)";

const RELEASE: &str = "UPDATE incumbent_election SET state = 'released' WHERE name = ?1";

const RELEASE_BEAT: &str =
    "UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL, beaten_us = ?2 WHERE name = ?1";

impl Store {
    /// Does what all elections ask. The answers come in the order of the asks; an error, if any,
    /// says why some are unknown.
    pub(crate) async fn round(&mut self, asks: &[Ask]) -> (Vec<Answer>, Option<Error>) {
        let mut answers = vec![Outcome::Unknown; asks.len()];
        let result = self.try_round(asks, &mut answers).await;
        if let Err(Error::StoreGone { .. } | Error::Corrupt { .. }) = &result {
            // There is no store that could still say yes to what is held on it.
            for (ask, answer) in asks.iter().zip(&mut answers) {
                if matches!(ask.request, Request::Renew(_) | Request::Resign(_)) {
                    *answer = Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None });
                }
            }
        }
        (answers, result.err())
    }

    async fn try_round(&mut self, asks: &[Ask], answers: &mut [Answer]) -> Result<(), Error> {
        if asks.iter().any(|ask| matches!(ask.request, Request::Bid(_))) {
            self.ensure_lock()?;
        }
        let mut held = self.connect().await?;
        let result = self.steps(held.get(), asks, answers).await;
        self.end(held, result)
    }

    async fn steps(
        &mut self,
        connection: &mut SqliteConnection,
        asks: &[Ask],
        answers: &mut [Answer],
    ) -> Result<(), Error> {
        self.renew(connection, asks, answers).await?;
        let writes = self.read(connection, asks, answers).await?;
        if !writes.is_empty() {
            self.write(connection, asks, &writes, answers).await?;
            self.ring();
        }
        Ok(())
    }

    /// Prolongs every held term in one statement.
    async fn renew(
        &mut self,
        connection: &mut SqliteConnection,
        asks: &[Ask],
        answers: &mut [Answer],
    ) -> Result<(), Error> {
        let held: Vec<_> = asks
            .iter()
            .filter_map(|ask| match &ask.request {
                Request::Renew(holding) => Some((&ask.election, holding.term)),
                _ => None,
            })
            .collect();
        if held.is_empty() {
            return Ok(());
        }
        self.statements += 1;
        let rows = sqlx::query(RENEW)
            .bind(micros(clock::wall()))
            .bind(serde_json::json!(held).to_string())
            .bind(self.me.incarnation.to_string())
            .fetch_all(connection)
            .await
            .map_err(trouble)?;
        let names = rows.iter().map(|row| row.try_get(0).map_err(trouble));
        let mut renewed: Vec<String> = names.collect::<Result<_, _>>()?;
        renewed.sort_unstable();
        for (ask, answer) in asks.iter().zip(answers) {
            if matches!(ask.request, Request::Renew(_)) {
                let stands =
                    renewed.binary_search_by(|name| name.as_str().cmp(ask.election.as_str()));
                *answer = if stands.is_ok() {
                    Outcome::Committed(Done::Renewed)
                } else {
                    Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None })
                };
            }
        }
        Ok(())
    }

    /// Answers looks and hopeless bids from a plain read; tells which asks need a write.
    async fn read(
        &mut self,
        connection: &mut SqliteConnection,
        asks: &[Ask],
        answers: &mut [Answer],
    ) -> Result<Vec<usize>, Error> {
        let mut writes = Vec::new();
        let mut names = Vec::new();
        for (at, ask) in asks.iter().enumerate() {
            match &ask.request {
                Request::Look | Request::Bid(_) => names.push(&ask.election),
                Request::Resign(_) => writes.push(at),
                Request::Renew(_) => {}
            }
        }
        if names.is_empty() {
            return Ok(writes);
        }
        let mut snapshots = self.snapshots(connection, Some(&names)).await?;
        for (at, (ask, answer)) in asks.iter().zip(answers).enumerate() {
            if !matches!(ask.request, Request::Look | Request::Bid(_)) {
                continue;
            }
            let snapshot = snapshots.remove(&ask.election).unwrap_or_else(|| self.blank());
            match &ask.request {
                Request::Bid(bid) => match bid.decide(&snapshot) {
                    Ok(_) => writes.push(at),
                    Err(refusal) => *answer = denied(refusal, snapshot),
                },
                _ => *answer = Outcome::Committed(Done::Looked(snapshot)),
            }
        }
        Ok(writes)
    }

    /// Decides again under the write lock, and writes. Answers count only once the commit has
    /// returned.
    async fn write(
        &mut self,
        connection: &mut SqliteConnection,
        asks: &[Ask],
        writes: &[usize],
        answers: &mut [Answer],
    ) -> Result<(), Error> {
        let mut work = connection.begin_with("BEGIN IMMEDIATE").await.map_err(trouble)?;
        let names: Vec<_> = writes.iter().map(|&at| &asks[at].election).collect();
        let mut snapshots = self.snapshots(&mut work, Some(&names)).await?;
        let mut decided = Vec::with_capacity(writes.len());
        for &at in writes {
            let ask = &asks[at];
            let snapshot = snapshots.remove(&ask.election).unwrap_or_else(|| self.blank());
            let answer = match &ask.request {
                Request::Bid(bid) => self.bid(&mut work, &ask.election, bid, snapshot).await?,
                Request::Resign(holding) => {
                    self.resign(&mut work, &ask.election, holding, &snapshot).await?
                }
                Request::Look | Request::Renew(_) => continue,
            };
            decided.push((at, answer));
        }
        self.statements += 2;
        work.commit().await.map_err(trouble)?;
        for (at, answer) in decided {
            answers[at] = answer;
        }
        Ok(())
    }

    async fn bid(
        &mut self,
        work: &mut SqliteConnection,
        election: &ElectionName,
        bid: &Bid,
        snapshot: Snapshot,
    ) -> Result<Answer, Error> {
        match bid.decide(&snapshot) {
            Err(refusal) => Ok(denied(refusal, snapshot)),
            Ok(claim) => {
                self.claim(work, election, &claim).await?;
                Ok(Outcome::Committed(Done::Claimed(claim)))
            }
        }
    }

    async fn claim(
        &mut self,
        work: &mut SqliteConnection,
        election: &ElectionName,
        claim: &Claim,
    ) -> Result<(), Error> {
        let name = election.as_str();
        let (holder, incarnation) =
            (claim.candidate.name.as_str(), claim.candidate.incarnation.to_string());
        let (term, since) = (signed(claim.term.get()), micros(claim.since));
        let span = |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        self.statements += 5;
        let taken = sqlx::query(CLAIM)
            .bind(name)
            .bind(holder)
            .bind(&incarnation)
            .bind(term)
            .bind(span(claim.rules.lease()))
            .bind(span(claim.rules.margin()))
            .bind(claim.rules.expiry().as_str())
            .bind(since);
        let taken = taken.execute(&mut *work).await.map_err(trouble)?.rows_affected();
        let beaten = sqlx::query(CLAIM_BEAT)
            .bind(name)
            .bind(term)
            .bind(&incarnation)
            .bind(since)
            .bind(claim.expected.map(|(term, _)| signed(term.get())))
            .bind(claim.expected.map(|(_, beat)| signed(beat)));
        let beaten = beaten.execute(&mut *work).await.map_err(trouble)?.rows_affected();
        if (taken, beaten) != (1, 1) {
            // Cannot happen under the write lock, unless one of the two rows is missing.
            let problem =
                format!("the rows of election {name} do not fit together; were they edited?");
            return Err(Error::Corrupt { path: PathBuf::new(), problem });
        }
        let close = sqlx::query(CLOSE_TERM).bind(name).bind(claim.opening.as_str()).bind(since);
        close.execute(&mut *work).await.map_err(trouble)?;
        let open = sqlx::query(OPEN_TERM).bind(name).bind(term).bind(holder).bind(&incarnation);
        let open = open.bind(claim.opening.as_str()).bind(since);
        open.execute(&mut *work).await.map_err(trouble)?;
        sqlx::query(FORGET_TERMS).bind(name).execute(work).await.map_err(trouble)?;
        Ok(())
    }

    async fn resign(
        &mut self,
        work: &mut SqliteConnection,
        election: &ElectionName,
        holding: &Holding,
        snapshot: &Snapshot,
    ) -> Result<Answer, Error> {
        if !holding.may_resign(snapshot) {
            return Ok(Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: None }));
        }
        let (name, now) = (election.as_str(), micros(snapshot.now));
        self.statements += 3;
        sqlx::query(RELEASE).bind(name).execute(&mut *work).await.map_err(trouble)?;
        sqlx::query(RELEASE_BEAT)
            .bind(name)
            .bind(now)
            .execute(&mut *work)
            .await
            .map_err(trouble)?;
        let close = sqlx::query(CLOSE_TERM).bind(name).bind("resigned").bind(now);
        close.execute(work).await.map_err(trouble)?;
        Ok(Outcome::Committed(Done::Resigned))
    }
}

fn denied(refusal: Refusal, snapshot: Snapshot) -> Answer {
    Outcome::Refused(Denied { refusal, snapshot: Some(snapshot) })
}

pub(super) fn micros(time: StoreTime) -> i64 {
    signed(time.as_micros())
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
