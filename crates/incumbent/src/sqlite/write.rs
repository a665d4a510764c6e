//! Writing what a decision says.
//!
//! Assumes: the caller's immediate transaction, in which the decision was made.
//! Promises: each write is guarded by what the decision was based on; every change of leadership
//! leaves its trace in the history of terms.

use incumbent_protocol::identity::{CandidateName, ElectionName};
use incumbent_protocol::lease::forget::Removal;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::time::StoreTime;
use sqlx::sqlite::SqliteConnection;

use super::{register, trouble};
use crate::error::Error;
use crate::store::arbiter::{ORDERS_KEPT, Plan, REMOVALS, controls_text, misfit, words};
use crate::store::office::{Removing, Warrant};

const CLAIM: &str = "
    INSERT INTO incumbent_election
        (name, state, holder, incarnation, term, lease_us, margin_us, expiry, since_us, successor, protocol)
    VALUES (?1, 'held', ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?9)
    ON CONFLICT (name) DO UPDATE SET
        state = 'held', holder = excluded.holder, incarnation = excluded.incarnation, term = excluded.term,
        lease_us = excluded.lease_us, margin_us = excluded.margin_us, expiry = excluded.expiry,
        since_us = excluded.since_us, successor = NULL, protocol = excluded.protocol
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

// For whom an operator reserved the next term stands: whoever was deposed lets go as well.
const RELEASE: &str = "
    UPDATE incumbent_election SET state = 'released', successor = ?2 WHERE name = ?1";

// Not a beat of a leader: the time of the last one stays, which also tells whether the row was led
// since the file took the place of another.
const RELEASE_BEAT: &str =
    "UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL WHERE name = ?1";

const CONTROL: &str = "UPDATE incumbent_election SET controls = ?2 WHERE name = ?1";

const NOTE_ORDER: &str = "
    INSERT OR REPLACE INTO incumbent_order (election, at_us, verb, subject, term, actor, reason)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const FORGET_ORDERS: &str = "
    DELETE FROM incumbent_order WHERE election = ?1 AND at_us <
        (SELECT at_us FROM incumbent_order WHERE election = ?1 ORDER BY at_us DESC LIMIT 1 OFFSET ?2)";

const ORDER: &str = "UPDATE incumbent_election SET state = ?2, successor = ?3 WHERE name = ?1";

// The time of the last beat stays: what is left of the deposed leader's lease counts from it.
const ORDER_BEAT: &str = "
    UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL WHERE name = ?1";

const ORDER_TERM: &str = "
    UPDATE incumbent_term SET ending = ?3, ended_us = ?4, actor = ?5, note = ?6
    WHERE election = ?1 AND term = ?2 AND ended_us IS NULL";

/// What only an election that is removed as it was seen must lose.
const FORGET_BEAT: &str = "
    DELETE FROM incumbent_beat WHERE name = ?1 AND term = ?2 AND beat = ?3";

const FORGET: &str = "DELETE FROM incumbent_election WHERE name = ?1 AND term = ?2";

/// Everything else that is kept of an election.
const FORGET_REST: [&str; 5] = [
    "DELETE FROM incumbent_term WHERE election = ?1",
    "DELETE FROM incumbent_order WHERE election = ?1",
    "DELETE FROM incumbent_candidate WHERE election = ?1",
    "DELETE FROM incumbent_descriptor WHERE election = ?1",
    "DELETE FROM incumbent_vars WHERE name = ?1",
];

/// Writes one plan; tells how many statements that took.
pub(super) async fn put(work: &mut SqliteConnection, plan: &Plan) -> Result<u64, Error> {
    match plan {
        Plan::Claim { election, claim } => put_claim(work, election, claim).await,
        Plan::Release { election, now, successor } => {
            put_release(work, election, *now, successor.as_ref()).await
        }
        Plan::Order { warrant, decree, now } => put_order(work, warrant, decree, *now).await,
        Plan::Forget { removing, removal, now } => put_removal(work, removing, removal, *now).await,
        Plan::Register { election, by, write, .. } => {
            register::put(work, election, by, write).await.map(|()| 1)
        }
    }
}

async fn put_claim(
    work: &mut SqliteConnection,
    election: &ElectionName,
    claim: &Claim,
) -> Result<u64, Error> {
    let name = election.as_str();
    let (holder, incarnation) =
        (claim.candidate.name.as_str(), claim.candidate.incarnation.to_string());
    let (term, since) = (signed(claim.term.get()), micros(claim.since));
    let span = |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    let taken = sqlx::query(CLAIM)
        .bind(name)
        .bind(holder)
        .bind(&incarnation)
        .bind(term)
        .bind(span(claim.rules.lease()))
        .bind(span(claim.rules.margin()))
        .bind(words(claim.rules.expiry()).0)
        .bind(since)
        .bind(words(claim.rules.expiry()).1);
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
        return Err(misfit(election));
    }
    let close = sqlx::query(CLOSE_TERM).bind(name).bind(claim.opening.as_str()).bind(since);
    close.execute(&mut *work).await.map_err(trouble)?;
    let open = sqlx::query(OPEN_TERM).bind(name).bind(term).bind(holder).bind(&incarnation);
    let open = open.bind(claim.opening.as_str()).bind(since);
    open.execute(&mut *work).await.map_err(trouble)?;
    sqlx::query(FORGET_TERMS).bind(name).execute(work).await.map_err(trouble)?;
    Ok(5)
}

async fn put_release(
    work: &mut SqliteConnection,
    election: &ElectionName,
    now: StoreTime,
    successor: Option<&CandidateName>,
) -> Result<u64, Error> {
    let (name, now) = (election.as_str(), micros(now));
    let release = sqlx::query(RELEASE).bind(name).bind(successor.map(CandidateName::as_str));
    release.execute(&mut *work).await.map_err(trouble)?;
    sqlx::query(RELEASE_BEAT).bind(name).execute(&mut *work).await.map_err(trouble)?;
    let close = sqlx::query(CLOSE_TERM).bind(name).bind("resigned").bind(now);
    close.execute(work).await.map_err(trouble)?;
    Ok(3)
}

async fn put_order(
    work: &mut SqliteConnection,
    warrant: &Warrant,
    decree: &Decree,
    now: StoreTime,
) -> Result<u64, Error> {
    let name = warrant.election.as_str();
    let control = sqlx::query(CONTROL).bind(name).bind(controls_text(&decree.controls));
    control.execute(&mut *work).await.map_err(trouble)?;
    let (order, papers) = (&warrant.order, &warrant.papers);
    let subject = order.subject().map_or("", CandidateName::as_str);
    let noted = sqlx::query(NOTE_ORDER).bind(name).bind(micros(now)).bind(order.word());
    let noted = noted.bind(subject).bind(signed(decree.term.get()));
    let noted = noted.bind(&papers.actor).bind(&papers.reason);
    noted.execute(&mut *work).await.map_err(trouble)?;
    let forget = sqlx::query(FORGET_ORDERS).bind(name).bind(ORDERS_KEPT - 1);
    forget.execute(&mut *work).await.map_err(trouble)?;
    if !decree.ends {
        return Ok(3);
    }
    let order = sqlx::query(ORDER).bind(name).bind(decree.state.as_str());
    let order = order.bind(decree.successor.as_ref().map(CandidateName::as_str));
    order.execute(&mut *work).await.map_err(trouble)?;
    sqlx::query(ORDER_BEAT).bind(name).execute(&mut *work).await.map_err(trouble)?;
    let term = signed(decree.term.get());
    let term = sqlx::query(ORDER_TERM).bind(name).bind(term).bind(warrant.ending());
    let term = term.bind(micros(now)).bind(&papers.actor).bind(&papers.reason);
    term.execute(work).await.map_err(trouble)?;
    Ok(6)
}

async fn put_removal(
    work: &mut SqliteConnection,
    removing: &Removing,
    removal: &Removal,
    now: StoreTime,
) -> Result<u64, Error> {
    let (name, term) = (removing.election.as_str(), signed(removal.term.get()));
    let beat = removal.expected.map(|(_, beat)| signed(beat));
    let beats = sqlx::query(FORGET_BEAT).bind(name).bind(term).bind(beat);
    let beats = beats.execute(&mut *work).await.map_err(trouble)?.rows_affected();
    let rows = sqlx::query(FORGET).bind(name).bind(term);
    let rows = rows.execute(&mut *work).await.map_err(trouble)?.rows_affected();
    if (beats, rows) != (1, 1) {
        return Err(misfit(&removing.election));
    }
    for forget in FORGET_REST {
        sqlx::query(forget).bind(name).execute(&mut *work).await.map_err(trouble)?;
    }
    let noted = sqlx::query(NOTE_ORDER).bind(REMOVALS).bind(micros(now)).bind(Removing::VERB);
    let noted = noted.bind(name).bind(term).bind(&removing.actor).bind(&removing.reason);
    noted.execute(&mut *work).await.map_err(trouble)?;
    let forget = sqlx::query(FORGET_ORDERS).bind(REMOVALS).bind(ORDERS_KEPT - 1);
    forget.execute(work).await.map_err(trouble)?;
    Ok(9)
}

pub(super) fn micros(time: StoreTime) -> i64 {
    signed(time.as_micros())
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
