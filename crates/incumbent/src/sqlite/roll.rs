//! The roll in SQLite: who takes part, and what operators ordered.
//!
//! Assumes: a connection of the caller's.
//! Promises: all lines are written in one statement, and read in one; only where some were found that
//! are not worth keeping are they taken off.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::roll::{MISSED, Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;
use serde_json::json;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::write::micros;
use super::{Store, trouble};
use crate::clock;
use crate::error::Error;
use crate::store::arbiter::{REMOVALS, Rolls, SURPLUS_MAX, most_lines, note_odd, odd, sift};
use crate::store::office::OrderRecord;
use crate::store::roster;

const PUT: &str = "
    INSERT INTO incumbent_candidate
        (election, incarnation, holder, address, labels, priority, presence, why, prefers, started_us, beaten_us, every_us)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
        value ->> 8, ?1, ?1, value ->> 9
    FROM json_each(?2) WHERE TRUE
    ON CONFLICT (election, incarnation) DO UPDATE SET
        address = excluded.address, labels = excluded.labels, priority = excluded.priority,
        presence = excluded.presence, why = excluded.why, prefers = excluded.prefers,
        beaten_us = excluded.beaten_us, every_us = excluded.every_us";

const FORGET: &str = "
    DELETE FROM incumbent_candidate WHERE (election, incarnation, beaten_us) IN
        (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))";

/// Those that are there first, then the newest.
const READ: &str = "
    SELECT election, incarnation, holder, address, labels, priority, presence, why, prefers, started_us, beaten_us,
        every_us
    FROM incumbent_candidate WHERE election IN (SELECT value FROM json_each(?1))
    ORDER BY presence = 'left' OR (?2 - beaten_us) / ?3 >= every_us, beaten_us DESC LIMIT ?4";

const ORDERS: &str = "
    SELECT at_us, verb, subject, term, actor, reason FROM incumbent_order
    WHERE election = ?1 OR (election = ?3 AND subject = ?1) ORDER BY at_us DESC LIMIT ?2";

impl Store {
    pub(super) async fn call_roll(
        &mut self,
        connection: &mut SqliteConnection,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        let now = clock::wall();
        let names = json!(elections).to_string();
        if !lines.is_empty() {
            self.statements += 1;
            let put = sqlx::query(PUT).bind(micros(now)).bind(encode(lines));
            put.execute(&mut *connection).await.map_err(trouble)?;
        }
        self.statements += 1;
        let most = i64::try_from(most_lines(elections.len())).unwrap_or(i64::MAX);
        let read = sqlx::query(READ).bind(&names).bind(micros(now)).bind(MISSED).bind(most);
        let mut rolls = Rolls::new();
        for row in read.fetch_all(&mut *connection).await.map_err(trouble)? {
            match decode(&row) {
                Ok((election, peer)) => rolls.entry(election).or_default().push(peer),
                // Of one that cannot be read nothing is known. The others are.
                Err(error) => note_odd("a line of the roll", &error),
            }
        }
        let (rolls, mut surplus) = sift(rolls, now);
        // Whoever only looks changes nothing.
        if !lines.is_empty() && !surplus.is_empty() {
            surplus.truncate(SURPLUS_MAX);
            self.statements += 1;
            let key = |(election, peer): &(ElectionName, Peer)| {
                json!([election, peer.id.incarnation, micros(peer.beaten_at)])
            };
            let keys = json!(surplus.iter().map(key).collect::<Vec<_>>()).to_string();
            let forget = sqlx::query(FORGET).bind(keys);
            forget.execute(connection).await.map_err(trouble)?;
        }
        Ok(rolls)
    }

    pub(super) async fn read_orders(
        &mut self,
        connection: &mut SqliteConnection,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error> {
        let rows = sqlx::query(ORDERS).bind(election.as_str()).bind(most).bind(REMOVALS);
        let rows = rows.fetch_all(connection).await.map_err(trouble)?;
        rows.iter().map(order).collect()
    }
}

fn encode(lines: &[(&ElectionName, &Peer)]) -> String {
    let line = |(election, peer): &(&ElectionName, &Peer)| {
        let Peer { id, profile, priority, presence, why, prefers, every, .. } = peer;
        json!([
            election,
            id.incarnation,
            id.name,
            profile.address,
            roster::write_labels(&profile.labels),
            priority,
            presence,
            why,
            prefers,
            span_micros(*every),
        ])
    };
    json!(lines.iter().map(line).collect::<Vec<_>>()).to_string()
}

fn decode(row: &SqliteRow) -> Result<(ElectionName, Peer), Error> {
    let text = |at: usize| row.try_get::<String, _>(at).map_err(trouble);
    let maybe = |at: usize| row.try_get::<Option<String>, _>(at).map_err(trouble);
    let number = |at: usize| {
        let value = row.try_get::<i64, _>(at).map_err(trouble)?;
        u64::try_from(value).map_err(|_| odd("number"))
    };
    let name = CandidateName::new(text(2)?).map_err(|_| odd("holder"))?;
    let incarnation = text(1)?.parse().map_err(|_| odd("incarnation"))?;
    let labels = roster::read_labels(&text(4)?);
    let peer = Peer {
        id: CandidateId::new(name, incarnation),
        profile: Profile { address: maybe(3)?, labels },
        priority: row.try_get(5).map_err(trouble)?,
        presence: Presence::from_word(&text(6)?).ok_or_else(|| odd("presence"))?,
        why: maybe(7)?,
        prefers: text(8)?,
        started: StoreTime::from_micros(number(9)?),
        beaten_at: StoreTime::from_micros(number(10)?),
        every: Duration::from_micros(number(11)?),
    };
    Ok((ElectionName::new(text(0)?).map_err(|_| odd("name"))?, peer))
}

fn order(row: &SqliteRow) -> Result<OrderRecord, Error> {
    let text = |at: usize| row.try_get::<String, _>(at).map_err(trouble);
    let number = |at: usize| {
        let value = row.try_get::<i64, _>(at).map_err(trouble)?;
        u64::try_from(value).map_err(|_| odd("number"))
    };
    Ok(OrderRecord {
        at: StoreTime::from_micros(number(0)?),
        verb: text(1)?,
        subject: Some(text(2)?).filter(|subject| !subject.is_empty()),
        term: Term::recorded(number(3)?).ok_or_else(|| odd("term"))?,
        actor: text(4)?,
        reason: row.try_get(5).map_err(trouble)?,
    })
}

fn span_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
