//! Registers in SQLite: reading VARS and the roster, and writing what a round decided.
//!
//! Assumes: the caller's immediate transaction, which is a lock on everything.
//! Promises: as for every row: what no version of this program wrote is an error, not a guess.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{
    Descriptor, MemberId, Profile, Pulse, Scene, Shown, Vars,
};
use incumbent_protocol::rounds::round::{Round, Write};
use incumbent_protocol::time::StoreTime;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::write::{micros, signed};
use super::{Store, trouble};
use crate::clock;
use crate::error::Error;
use crate::store::arbiter::{Roster, misfit, odd};
use crate::store::roster;

const VARS: &str = "
    SELECT epoch_us, max_id, round_time_us, round_limit, margin_us, delta_us, cap_us, round_us, next_us, pace, evicted
    FROM incumbent_vars WHERE name = ?1";

const MINE: &str = "
    SELECT id, holder, incarnation, counter FROM incumbent_descriptor WHERE election = ?1 AND incarnation = ?2";

const WINDOW: &str = "
    SELECT id, holder, incarnation, counter FROM incumbent_descriptor
    WHERE election = ?1 AND id > ?2 ORDER BY id LIMIT ?3";

const ONE: &str = "
    SELECT id, holder, incarnation, counter FROM incumbent_descriptor WHERE election = ?1 AND id = ?2";

const TOP: &str = "SELECT MAX(id) FROM incumbent_descriptor WHERE election = ?1";

const ROSTER: &str = "
    SELECT id, holder, incarnation, counter, address, labels, joined_us, beaten_us
    FROM incumbent_descriptor WHERE election = ?1 ORDER BY id";

const PUT_VARS: &str = "
    INSERT INTO incumbent_vars (name, epoch_us, max_id, round_time_us, round_limit, margin_us, delta_us, cap_us,
        round_us, next_us, pace, evicted)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT (name) DO UPDATE SET
        epoch_us = excluded.epoch_us, max_id = excluded.max_id, round_time_us = excluded.round_time_us,
        round_limit = excluded.round_limit, margin_us = excluded.margin_us, delta_us = excluded.delta_us,
        cap_us = excluded.cap_us, round_us = excluded.round_us, next_us = excluded.next_us, pace = excluded.pace,
        evicted = excluded.evicted";

const ENTER: &str = "
    INSERT INTO incumbent_descriptor
        (election, id, holder, incarnation, counter, address, labels, joined_us, beaten_us)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const PULSE: &str = "
    UPDATE incumbent_descriptor SET counter = counter + 1, beaten_us = ?4
    WHERE election = ?1 AND id = ?2 AND incarnation = ?3";

const REMOVE: &str = "
    DELETE FROM incumbent_descriptor WHERE election = ?1 AND id = ?2 AND incarnation = ?3 AND counter = ?4";

const CLEAR: &str = "DELETE FROM incumbent_descriptor WHERE election = ?1";

const DEPART: &str = "DELETE FROM incumbent_descriptor WHERE election = ?1 AND incarnation = ?2";

const BEAT: &str = "
    UPDATE incumbent_beat SET beat = beat + 1, beaten_us = ?3 WHERE name = ?1 AND incarnation = ?2";

const PATIENCE: &str = "
    UPDATE incumbent_election SET lease_us = ?3, margin_us = ?4 WHERE name = ?1 AND incarnation = ?2";

impl Store {
    /// Everything that a round may need.
    pub(super) async fn scene(
        &mut self,
        work: &mut SqliteConnection,
        election: &ElectionName,
        round: &Round,
    ) -> Result<Scene, Error> {
        let name = election.as_str();
        let snapshot = self.snapshots(work, Some(&[election])).await?.take(election);
        let vars = self.vars(work, election).await?;
        let incarnation = round.candidate.incarnation.to_string();
        let mine = sqlx::query(MINE).bind(name).bind(incarnation).fetch_optional(&mut *work);
        let mine = mine.await.map_err(trouble)?.as_ref().map(pulse).transpose()?;
        let window = sqlx::query(WINDOW).bind(name).bind(signed(round.window.after.get()));
        let rows = window.bind(round.window.most).fetch_all(&mut *work).await.map_err(trouble)?;
        let shown = rows.iter().map(|row| {
            let pulse = pulse(row)?;
            let died = self.died(pulse.candidate.incarnation);
            Ok(Shown { pulse, died })
        });
        let shown = shown.collect::<Result<_, Error>>()?;
        let mut suspects = Vec::new();
        for id in round.act.suspects() {
            let one = sqlx::query(ONE).bind(name).bind(signed(id.get())).fetch_optional(&mut *work);
            suspects.extend(one.await.map_err(trouble)?.as_ref().map(pulse).transpose()?);
        }
        let top = sqlx::query(TOP).bind(name).fetch_one(&mut *work).await.map_err(trouble)?;
        let top = top.try_get::<Option<i64>, _>(0).map_err(trouble)?.map(member).transpose()?;
        self.statements += 4;
        Ok(Scene { election: snapshot, vars, mine, shown, suspects, top })
    }

    async fn vars(
        &mut self,
        work: &mut SqliteConnection,
        election: &ElectionName,
    ) -> Result<Option<Vars>, Error> {
        let row = sqlx::query(VARS).bind(election.as_str()).fetch_optional(work).await;
        row.map_err(trouble)?.as_ref().map(decode_vars).transpose()
    }

    /// Everybody in line.
    pub(super) async fn read_roster(
        &mut self,
        connection: &mut SqliteConnection,
        election: &ElectionName,
    ) -> Result<Roster, Error> {
        let snapshot = self.snapshots(connection, Some(&[election])).await?.take(election);
        let vars = self.vars(connection, election).await?;
        let rows = sqlx::query(ROSTER).bind(election.as_str()).fetch_all(connection).await;
        let rows = rows.map_err(trouble)?;
        let rows = rows.iter().map(|row| self.descriptor(row)).collect::<Result<_, _>>()?;
        Ok(Roster { snapshot, vars, rows })
    }

    fn descriptor(&self, row: &SqliteRow) -> Result<Descriptor, Error> {
        let text = |at: usize| row.try_get::<Option<String>, _>(at).map_err(trouble);
        let time = |at: usize| number(row, at).map(StoreTime::from_micros);
        let pulse = pulse(row)?;
        let labels = roster::read_labels(&text(5)?.unwrap_or_default());
        let died = self.died(pulse.candidate.incarnation);
        let profile = Profile { address: text(4)?, labels };
        Ok(Descriptor { pulse, profile, joined: time(6)?, beaten_at: time(7)?, died })
    }
}

fn number(row: &SqliteRow, at: usize) -> Result<u64, Error> {
    let value = row.try_get::<i64, _>(at).map_err(trouble)?;
    u64::try_from(value).map_err(|_| odd("number"))
}

fn member(id: i64) -> Result<MemberId, Error> {
    u64::try_from(id).map(MemberId::new).map_err(|_| odd("id"))
}

fn pulse(row: &SqliteRow) -> Result<Pulse, Error> {
    let text = |at: usize| row.try_get::<String, _>(at).map_err(trouble);
    let name = CandidateName::new(text(1)?).map_err(|_| odd("holder"))?;
    let incarnation = text(2)?.parse().map_err(|_| odd("incarnation"))?;
    let candidate = CandidateId::new(name, incarnation);
    Ok(Pulse { id: MemberId::new(number(row, 0)?), candidate, counter: number(row, 3)? })
}

fn decode_vars(row: &SqliteRow) -> Result<Vars, Error> {
    let span = |at: usize| number(row, at).map(Duration::from_micros);
    let limit = u32::try_from(number(row, 3)?).map_err(|_| odd("round limit"))?;
    let pacing = Pacing::new(span(2)?, limit, span(4)?, span(5)?, span(6)?);
    let next = row.try_get::<Option<i64>, _>(8).map_err(trouble)?;
    let next = next.map(|_| span(8)).transpose()?;
    let pacing = pacing.map_err(|_| odd("pacing"))?;
    Ok(Vars {
        epoch: StoreTime::from_micros(number(row, 0)?),
        max_id: MemberId::new(number(row, 1)?),
        pacing,
        pace: Pace::recorded(&pacing, span(7)?, next, number(row, 9)?),
        evicted: number(row, 10)? != 0,
    })
}

/// Writes one thing to a register.
pub(super) async fn put(
    work: &mut SqliteConnection,
    election: &ElectionName,
    by: &CandidateId,
    write: &Write,
) -> Result<(), Error> {
    let (name, incarnation) = (election.as_str(), by.incarnation.to_string());
    let now = micros(clock::wall());
    let span = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    let (one, query) = match write {
        Write::Vars(vars) => return put_vars(work, name, vars).await,
        Write::Enter(row) => return enter(work, name, row).await,
        Write::Pulse(id) => {
            (true, sqlx::query(PULSE).bind(name).bind(signed(id.get())).bind(incarnation).bind(now))
        }
        Write::Remove(pulse) => {
            let gone = sqlx::query(REMOVE).bind(name).bind(signed(pulse.id.get()));
            let gone = gone.bind(pulse.candidate.incarnation.to_string());
            (false, gone.bind(signed(pulse.counter)))
        }
        Write::Clear => (false, sqlx::query(CLEAR).bind(name)),
        Write::Depart => (false, sqlx::query(DEPART).bind(name).bind(incarnation)),
        Write::Beat => (true, sqlx::query(BEAT).bind(name).bind(incarnation).bind(now)),
        Write::Patience(rules) => {
            let rule = sqlx::query(PATIENCE).bind(name).bind(incarnation);
            (true, rule.bind(span(rules.lease())).bind(span(rules.margin())))
        }
        // These are plans of their own.
        Write::Claim(_) | Write::Release { .. } => return Ok(()),
    };
    let done = query.execute(work).await.map_err(trouble)?;
    if one && done.rows_affected() != 1 {
        return Err(misfit(election));
    }
    Ok(())
}

async fn put_vars(work: &mut SqliteConnection, name: &str, vars: &Vars) -> Result<(), Error> {
    let span = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    let Vars { epoch, max_id, pacing, pace, evicted } = vars;
    sqlx::query(PUT_VARS)
        .bind(name)
        .bind(micros(*epoch))
        .bind(signed(max_id.get()))
        .bind(span(pacing.round_time()))
        .bind(pacing.round_limit())
        .bind(span(pacing.margin()))
        .bind(span(pacing.delta()))
        .bind(span(pacing.cap()))
        .bind(span(pace.round))
        .bind(pace.next.map(span))
        .bind(signed(pace.number))
        .bind(i64::from(*evicted))
        .execute(work)
        .await
        .map(drop)
        .map_err(trouble)
}

async fn enter(work: &mut SqliteConnection, name: &str, row: &Descriptor) -> Result<(), Error> {
    let Pulse { id, candidate, counter } = &row.pulse;
    sqlx::query(ENTER)
        .bind(name)
        .bind(signed(id.get()))
        .bind(candidate.name.as_str())
        .bind(candidate.incarnation.to_string())
        .bind(signed(*counter))
        .bind(row.profile.address.as_deref())
        .bind(roster::write_labels(&row.profile.labels))
        .bind(micros(row.joined))
        .bind(micros(row.beaten_at))
        .execute(work)
        .await
        .map(drop)
        .map_err(trouble)
}
