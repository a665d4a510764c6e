//! Reading rows into [`Snapshot`]s.
//!
//! Assumes: the caller runs this inside its transaction, if it wants to act on what it reads.
//! Promises: a row that no version of this program wrote is an error, not a guess.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::rules::Rules;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::{Store, trouble};
use crate::clock;
use crate::error::Error;
use crate::store::arbiter::{Snapshots, controls as controls_of, expiry, odd};

const SELECT: &str = "
    SELECT e.name, e.state, e.holder, e.incarnation, e.term, b.beat, e.lease_us, e.margin_us, e.expiry,
           e.since_us, b.beaten_us, e.successor, e.protocol, e.controls
    FROM incumbent_election AS e JOIN incumbent_beat AS b ON b.name = e.name
    WHERE ?1 IS NULL OR e.name IN (SELECT value FROM json_each(?1))
    ORDER BY e.name";

const LINEAGE: &str = "
    SELECT (SELECT file FROM pragma_database_list WHERE name = 'main'),
           (SELECT value FROM incumbent_meta WHERE key = 'file'),
           (SELECT CAST(value AS INTEGER) FROM incumbent_meta WHERE key = 'replaced_us'),
           (SELECT beaten_us FROM incumbent_beat WHERE name = ?1)";

/// Whether what the row says counts: the file is the one that was last contended in, and if it took the
/// place of another under running candidates, a leader has renewed since.
pub(crate) async fn is_confirmed(
    connection: &mut SqliteConnection,
    election: &ElectionName,
) -> sqlx::Result<bool> {
    let row = sqlx::query(LINEAGE).bind(election.as_str()).fetch_one(connection).await?;
    let path: Option<String> = row.try_get(0)?;
    // A database in memory has no file, and cannot be replaced.
    if let Some(path) = path.filter(|path| !path.is_empty())
        && row.try_get::<Option<String>, _>(1)? != super::file::identity(Path::new(&path))
    {
        return Ok(false);
    }
    let (replaced, beaten): (Option<i64>, Option<i64>) = (row.try_get(2)?, row.try_get(3)?);
    Ok(replaced.is_none_or(|replaced| beaten.is_some_and(|beaten| beaten > replaced)))
}

impl Store {
    /// Reads the named elections, or all of them, in one statement.
    pub(super) async fn snapshots(
        &mut self,
        connection: &mut SqliteConnection,
        names: Option<&[&ElectionName]>,
    ) -> Result<Snapshots, Error> {
        let list = names.map(|names| serde_json::json!(names).to_string());
        self.statements += 1;
        let rows = sqlx::query(SELECT).bind(list).fetch_all(connection).await.map_err(trouble)?;
        let now = clock::wall();
        let mut deaths = BTreeMap::new();
        let mut found = BTreeMap::new();
        for row in &rows {
            let (name, record) = decode(row)?;
            let controls = row.try_get::<Option<String>, _>(13).map_err(trouble)?;
            let controls = controls_of(controls.as_deref());
            let holder_died = record.state != State::Released
                && *deaths
                    .entry(record.holder.incarnation)
                    .or_insert_with_key(|&incarnation| self.died(incarnation));
            let replaced = self.meta.replaced_at;
            let snapshot = Snapshot { record: Some(record), now, holder_died, replaced, controls };
            found.insert(name, snapshot);
        }
        Ok(Snapshots { found, blank: self.blank() })
    }

    /// What a missing row looks like.
    fn blank(&self) -> Snapshot {
        Snapshot {
            record: None,
            now: clock::wall(),
            holder_died: false,
            replaced: self.meta.replaced_at,
            controls: Controls::default(),
        }
    }

    pub(super) fn died(&self, incarnation: Incarnation) -> bool {
        incarnation != self.me.incarnation
            && self.file.as_ref().is_some_and(|file| file.proves_dead(incarnation))
    }
}

fn decode(row: &SqliteRow) -> Result<(ElectionName, Record), Error> {
    let text = |at: usize| row.try_get::<String, _>(at).map_err(trouble);
    let number = |at: usize| {
        let value = row.try_get::<i64, _>(at).map_err(trouble)?;
        u64::try_from(value).map_err(|_| odd("number"))
    };
    let micros = |at: usize| number(at).map(Duration::from_micros);
    let expiry = expiry(&text(8)?, &text(12)?)?;
    let successor = row.try_get::<Option<String>, _>(11).map_err(trouble)?;
    let record = Record {
        state: State::from_word(&text(1)?).ok_or_else(|| odd("state"))?,
        holder: CandidateId::new(
            CandidateName::new(text(2)?).map_err(|_| odd("holder"))?,
            text(3)?.parse().map_err(|_| odd("incarnation"))?,
        ),
        term: Term::recorded(number(4)?).ok_or_else(|| odd("term"))?,
        beat: number(5)?,
        rules: Rules::new(micros(6)?, micros(7)?, expiry).map_err(|_| odd("lease"))?,
        since: StoreTime::from_micros(number(9)?),
        beaten_at: StoreTime::from_micros(number(10)?),
        successor: successor.map(CandidateName::new).transpose().map_err(|_| odd("successor"))?,
    };
    Ok((ElectionName::new(text(0)?).map_err(|_| odd("name"))?, record))
}
