//! Registers on a server: reading VARS and the roster, and writing what a round decided.
//!
//! Assumes: as [`row`](super::row) and [`write`](mod@super::write).
//! Promises: a follower's round reads one row of VARS and as many rows of the roster as it asked for;
//! every write names the incarnation whose row it is.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{
    Descriptor, MemberId, Profile, Pulse, Shown, Vars, Window,
};
use incumbent_protocol::rounds::round::Write;
use incumbent_protocol::time::StoreTime;

use super::dialect::{Dialect, Reply};
use super::row::number;
use super::write::text_or_null;
use crate::error::Error;
use crate::store::arbiter::{odd, words};
use crate::store::roster;

const VARS: &str =
    "epoch_us, max_id, round_time_us, round_limit, margin_us, delta_us, cap_us, round_us, next_us,
        pace, evicted";

/// The statement that reads VARS, ending with how it is locked.
pub(super) fn select_vars(election: &ElectionName, lock: &str) -> String {
    format!("SELECT {VARS} FROM incumbent_vars WHERE name = '{election}' {lock}")
}

/// The statement that reads a part of the roster.
pub(super) fn select_window(election: &ElectionName, window: Window) -> String {
    let Window { after, most } = window;
    format!(
        "SELECT id, holder, incarnation, counter FROM incumbent_descriptor
        WHERE election = '{election}' AND id > {after} ORDER BY id LIMIT {most}"
    )
}

/// The statement that reads the row of one incarnation.
pub(super) fn select_mine(election: &ElectionName, candidate: &CandidateId) -> String {
    let incarnation = candidate.incarnation;
    format!(
        "SELECT id, holder, incarnation, counter FROM incumbent_descriptor
        WHERE election = '{election}' AND incarnation = '{incarnation}'"
    )
}

/// The statement that reads whole rows.
pub(super) fn select_roster(election: &ElectionName) -> String {
    format!(
        "SELECT id, holder, incarnation, counter, address, labels, joined_us, beaten_us FROM incumbent_descriptor
        WHERE election = '{election}' ORDER BY id"
    )
}

/// Reads the answer to [`select_vars`].
pub(super) fn vars(reply: &Reply) -> Result<Option<Vars>, Error> {
    let Some(row) = reply.rows.first() else {
        return Ok(None);
    };
    let cell = |at: usize| number(row.get(at).and_then(Option::as_deref));
    let span = |at: usize| cell(at).map(Duration::from_micros);
    let next = row.get(8).and_then(Option::as_ref).map(|_| span(8)).transpose()?;
    let limit = u32::try_from(cell(3)?).map_err(|_| odd("round limit"))?;
    let pacing = Pacing::new(span(2)?, limit, span(4)?, span(5)?, span(6)?);
    let pacing = pacing.map_err(|_| odd("pacing"))?;
    Ok(Some(Vars {
        epoch: StoreTime::from_micros(cell(0)?),
        max_id: MemberId::new(cell(1)?),
        pacing,
        pace: Pace::recorded(&pacing, span(7)?, next, cell(9)?),
        evicted: cell(10)? != 0,
    }))
}

/// Reads rows of the roster.
pub(super) fn pulses(reply: &Reply) -> Result<Vec<Pulse>, Error> {
    reply.rows.iter().map(|row| pulse(row)).collect()
}

/// Reads rows of the roster. No server has proof of a death.
pub(super) fn shown(reply: &Reply) -> Result<Vec<Shown>, Error> {
    Ok(pulses(reply)?.into_iter().map(|pulse| Shown { pulse, died: false }).collect())
}

fn pulse(row: &[Option<String>]) -> Result<Pulse, Error> {
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let name = CandidateName::new(cell(1).unwrap_or_default()).map_err(|_| odd("holder"))?;
    let incarnation = cell(2).and_then(|text| text.parse().ok());
    let incarnation = incarnation.ok_or_else(|| odd("incarnation"))?;
    Ok(Pulse {
        id: MemberId::new(number(cell(0))?),
        candidate: CandidateId::new(name, incarnation),
        counter: number(cell(3))?,
    })
}

/// Reads the answer to [`select_roster`].
pub(super) fn descriptors(reply: &Reply) -> Result<Vec<Descriptor>, Error> {
    let read = |row: &Vec<Option<String>>| {
        let cell = |at: usize| row.get(at).and_then(Option::as_deref);
        let time = |at: usize| number(cell(at)).map(StoreTime::from_micros);
        let labels = roster::read_labels(cell(5).unwrap_or_default());
        Ok(Descriptor {
            pulse: pulse(row)?,
            profile: Profile { address: cell(4).map(ToOwned::to_owned), labels },
            joined: time(6)?,
            beaten_at: time(7)?,
            died: false,
        })
    };
    reply.rows.iter().map(read).collect()
}

/// The statement that writes to a register, and whether it must change exactly one row.
pub(super) fn write<D: Dialect>(
    election: &ElectionName,
    by: &CandidateId,
    write: &Write,
    had: Option<StoreTime>,
) -> (bool, String) {
    let (now, incarnation) = (D::NOW, by.incarnation);
    let mine = format!("election = '{election}' AND incarnation = '{incarnation}'");
    match write {
        Write::Vars(vars) => (true, put_vars(election, vars, had)),
        Write::Enter(row) => (true, enter::<D>(election, row)),
        Write::Pulse(id) => (
            true,
            format!(
                "UPDATE incumbent_descriptor SET counter = counter + 1, beaten_us = {now} WHERE {mine} AND id = {id}"
            ),
        ),
        Write::Remove(pulse) => (false, remove(election, &[pulse])),
        Write::Clear => {
            (false, format!("DELETE FROM incumbent_descriptor WHERE election = '{election}'"))
        }
        Write::Depart => (false, format!("DELETE FROM incumbent_descriptor WHERE {mine}")),
        Write::Beat => (
            true,
            format!(
                "UPDATE incumbent_beat SET beat = beat + 1, beaten_us = {now}
                WHERE name = '{election}' AND incarnation = '{incarnation}'"
            ),
        ),
        Write::Patience(rules) => {
            let (lease, margin) = (rules.lease().as_micros(), rules.margin().as_micros());
            let (expiry, protocol) = words(rules.expiry());
            let sql = format!(
                "UPDATE incumbent_election SET lease_us = {lease}, margin_us = {margin}, expiry = '{expiry}',
                    protocol = '{protocol}'
                WHERE name = '{election}' AND incarnation = '{incarnation}'"
            );
            (false, sql)
        }
        // These are plans of their own.
        Write::Claim(_) | Write::Release { .. } => (false, "SELECT 1".to_owned()),
    }
}

/// The statement that takes rows off the roster if they still are so.
pub(super) fn remove(election: &ElectionName, pulses: &[&Pulse]) -> String {
    let rows = pulses.iter().map(|Pulse { id, candidate, counter }| {
        let incarnation = candidate.incarnation;
        format!("(id = {id} AND incarnation = '{incarnation}' AND counter = {counter})")
    });
    let rows = rows.collect::<Vec<_>>().join(" OR ");
    format!("DELETE FROM incumbent_descriptor WHERE election = '{election}' AND ({rows})")
}

fn put_vars(election: &ElectionName, vars: &Vars, had: Option<StoreTime>) -> String {
    let Vars { epoch, max_id, pacing, pace, evicted } = vars;
    let (epoch, evicted) = (epoch.as_micros(), u8::from(*evicted));
    let micros = |span: Duration| span.as_micros();
    let (time, limit) = (micros(pacing.round_time()), pacing.round_limit());
    let (margin, delta) = (micros(pacing.margin()), micros(pacing.delta()));
    let (cap, round, number) = (micros(pacing.cap()), micros(pace.round), pace.number);
    let next = pace.next.map_or_else(|| "NULL".to_owned(), |next| micros(next).to_string());
    if let Some(had) = had {
        let had = had.as_micros();
        return format!(
            "UPDATE incumbent_vars SET epoch_us = {epoch}, max_id = {max_id}, round_time_us = {time},
                round_limit = {limit}, margin_us = {margin}, delta_us = {delta}, cap_us = {cap}, round_us = {round},
                next_us = {next}, pace = {number}, evicted = {evicted}, writes = writes + 1
            WHERE name = '{election}' AND epoch_us = {had}"
        );
    }
    format!(
        "INSERT INTO incumbent_vars (name, {VARS}, writes)
        VALUES ('{election}', {epoch}, {max_id}, {time}, {limit}, {margin}, {delta}, {cap}, {round}, {next},
            {number}, {evicted}, 0)"
    )
}

fn enter<D: Dialect>(election: &ElectionName, row: &Descriptor) -> String {
    let Descriptor { pulse: Pulse { id, candidate, counter }, profile, joined, beaten_at, .. } =
        row;
    let (holder, incarnation) = (&candidate.name, candidate.incarnation);
    let address = text_or_null::<D>(profile.address.as_deref());
    let labels = D::text(&roster::write_labels(&profile.labels));
    let (joined, beaten) = (joined.as_micros(), beaten_at.as_micros());
    format!(
        "INSERT INTO incumbent_descriptor
            (election, id, holder, incarnation, counter, address, labels, joined_us, beaten_us)
        VALUES ('{election}', {id}, '{holder}', '{incarnation}', {counter}, {address}, {labels}, {joined}, {beaten})"
    )
}
