//! Reading rows into [`Snapshot`]s.
//!
//! Assumes: whoever wants to act on what it reads has locked the rows with an earlier statement.
//! Promises: a row that no version of this program wrote is an error, not a guess. The statement
//! also tells which server answered, and since when.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::rules::Rules;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;

use super::dialect::{Dialect, Reply, list};
use crate::error::Error;
use crate::store::arbiter::{Snapshots, controls as controls_of, expiry, odd};
use crate::store::office::TermRecord;

/// The columns before those of an election.
const AHEAD: usize = 3;

/// The statement that reads the named elections, or all.
pub(super) fn select<D: Dialect>(names: Option<&[&ElectionName]>) -> String {
    let which =
        names.map_or_else(|| "TRUE".to_owned(), |names| format!("e.name IN ({})", list(names)));
    select_from::<D>(&which, D::LINEAGE)
}

/// The same for one election, without asking which server this is, which costs more than all the
/// rest. Whoever acts on it asks that first.
pub(super) fn select_quickly<D: Dialect>(election: &ElectionName) -> String {
    select_from::<D>(&format!("e.name = '{election}'"), "''")
}

fn select_from<D: Dialect>(which: &str, lineage: &str) -> String {
    let now = D::NOW;
    format!(
        "SELECT m.now_us, m.lineage, m.known, r.name, r.state, r.holder, r.incarnation, r.term, r.beat,
            r.lease_us, r.margin_us, r.expiry, r.since_us, r.beaten_us, r.successor, r.protocol, r.controls
        FROM (SELECT {now} AS now_us, {lineage} AS lineage,
                (SELECT value FROM incumbent_meta WHERE item = 'lineage') AS known) AS m
        LEFT JOIN (SELECT e.name, e.state, e.holder, e.incarnation, e.term, b.beat, e.lease_us, e.margin_us, e.expiry,
                e.since_us, b.beaten_us, e.successor, e.protocol, e.controls
            FROM incumbent_election AS e JOIN incumbent_beat AS b ON b.name = e.name WHERE {which}) AS r ON TRUE"
    )
}

/// The statement that locks them, always in the same order.
pub(super) fn lock(names: &[&ElectionName]) -> String {
    let list = list(names);
    format!(
        "SELECT e.name FROM incumbent_election AS e JOIN incumbent_beat AS b ON b.name = e.name
        WHERE e.name IN ({list}) ORDER BY e.name FOR UPDATE"
    )
}

/// What a read found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) lineage: String,
    /// What the database remembers of it.
    pub(super) known: String,
    pub(super) snapshots: Snapshots,
}

/// Reads the answer to [`select`].
pub(super) fn found(reply: &Reply) -> Result<Found, Error> {
    let first = reply.rows.first().ok_or_else(|| odd("answer"))?;
    let cell = |at: usize| first.get(at).and_then(Option::as_deref);
    let now = StoreTime::from_micros(number(cell(0))?);
    let known = cell(2).and_then(|known| known.split_once(' '));
    let (known, replaced_at) = known.ok_or_else(|| odd("lineage"))?;
    let replaced = Some(replaced_at).filter(|at| !at.is_empty()).map(|at| number(Some(at)));
    let replaced = replaced.transpose()?.map(StoreTime::from_micros);
    let mut found = BTreeMap::new();
    for row in reply.rows.iter().filter(|row| row.get(AHEAD).is_some_and(Option::is_some)) {
        let (name, record) = record(row)?;
        let controls = controls_of(row.get(AHEAD + 13).and_then(Option::as_deref));
        let snapshot =
            Snapshot { record: Some(record), now, holder_died: false, replaced, controls };
        found.insert(name, snapshot);
    }
    let controls = Controls::default();
    let blank = Snapshot { record: None, now, holder_died: false, replaced, controls };
    Ok(Found {
        lineage: cell(1).ok_or_else(|| odd("lineage"))?.to_owned(),
        known: known.to_owned(),
        snapshots: Snapshots { found, blank },
    })
}

fn record(row: &[Option<String>]) -> Result<(ElectionName, Record), Error> {
    let cell = |at: usize| row.get(AHEAD + at).and_then(Option::as_deref);
    let text = |at: usize, what: &str| cell(at).ok_or_else(|| odd(what));
    let micros = |at: usize| number(cell(at)).map(Duration::from_micros);
    let expiry = expiry(text(8, "expiry")?, text(12, "protocol")?)?;
    let record = Record {
        state: cell(1).and_then(State::from_word).ok_or_else(|| odd("state"))?,
        holder: CandidateId::new(
            CandidateName::new(text(2, "holder")?).map_err(|_| odd("holder"))?,
            text(3, "incarnation")?.parse().map_err(|_| odd("incarnation"))?,
        ),
        term: Term::recorded(number(cell(4))?).ok_or_else(|| odd("term"))?,
        beat: number(cell(5))?,
        rules: Rules::new(micros(6)?, micros(7)?, expiry).map_err(|_| odd("lease"))?,
        since: StoreTime::from_micros(number(cell(9))?),
        beaten_at: StoreTime::from_micros(number(cell(10))?),
        successor: cell(11).map(CandidateName::new).transpose().map_err(|_| odd("successor"))?,
    };
    Ok((ElectionName::new(text(0, "name")?).map_err(|_| odd("name"))?, record))
}

/// The statement that reads past terms.
pub(super) fn select_terms(election: &ElectionName, most: u32) -> String {
    format!(
        "SELECT term, holder, incarnation, began_us, opening, ended_us, ending, actor, note
        FROM incumbent_term WHERE election = '{election}' ORDER BY term DESC LIMIT {most}"
    )
}

/// Reads one row of [`select_terms`].
pub(super) fn term_record(row: &[Option<String>]) -> Result<TermRecord, Error> {
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let text = |at: usize| cell(at).unwrap_or_default().to_owned();
    let time = |at: usize| number(cell(at)).map(StoreTime::from_micros);
    Ok(TermRecord {
        term: Term::recorded(number(cell(0))?).ok_or_else(|| odd("term"))?,
        leader: text(1),
        incarnation: text(2),
        began: time(3)?,
        opening: text(4),
        ended: if cell(5).is_some() { Some(time(5)?) } else { None },
        ending: cell(6).map(ToOwned::to_owned),
        actor: cell(7).map(ToOwned::to_owned),
        note: cell(8).map(ToOwned::to_owned),
    })
}

pub(super) fn number(cell: Option<&str>) -> Result<u64, Error> {
    cell.and_then(|cell| cell.parse().ok()).ok_or_else(|| odd("number"))
}
