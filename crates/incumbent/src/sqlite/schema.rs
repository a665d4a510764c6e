//! The tables: made on first use, versioned, never downgraded.
//!
//! Assumes: the caller holds a connection of its own for the time of the call.
//! Promises: a schema of a newer version is refused and left alone. A database that comes into
//! being while other candidates are alive beside it is marked, because it may replace one that they
//! still lead on.

use incumbent_protocol::time::StoreTime;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use crate::error::Error;
use crate::{clock, sqlite};

/// The version that this program writes and reads.
pub(crate) const VERSION: i64 = 3;

/// The statements that make the tables.
pub(crate) const SQL: &str = include_str!("schema.sql");

/// What they are called, but for the one that tells the version, and since which version they are
/// there.
const TABLES: [(&str, i64); 7] = [
    ("incumbent_election", 1),
    ("incumbent_beat", 1),
    ("incumbent_term", 1),
    ("incumbent_vars", 2),
    ("incumbent_descriptor", 2),
    ("incumbent_candidate", 3),
    ("incumbent_order", 3),
];

/// What version 2 added to a table of version 1.
const ADD_PROTOCOL: &str =
    "ALTER TABLE incumbent_election ADD COLUMN protocol TEXT NOT NULL DEFAULT 'lease'
    CHECK (protocol IN ('lease', 'rounds'))";

/// What version 3 added to it.
const ADD_CONTROLS: &str = "ALTER TABLE incumbent_election ADD COLUMN controls TEXT";

/// What a database says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// When it took the place of another under candidates that were already running, if it did.
    pub(crate) replaced_at: Option<StoreTime>,
    /// Which file it was when it was last opened to contend in.
    file: Option<String>,
    /// The version of its tables.
    pub(crate) version: i64,
}

/// Makes the tables if they are missing, and reads what the database says about itself.
///
/// `file` names the file that it is. A database that is new, or that remembers to have been another
/// file, may have taken the place of one on which somebody still leads: that is noted if others live.
pub(crate) async fn apply(
    connection: &mut SqliteConnection,
    file: Option<String>,
    others_live: impl FnOnce() -> bool,
) -> Result<Meta, Error> {
    let current = |meta: &Meta| meta.file == file && meta.version == VERSION;
    if let Some(meta) = read(connection).await?.filter(current) {
        return Ok(meta);
    }
    let mut write = connection.begin_with("BEGIN IMMEDIATE").await.map_err(sqlite::trouble)?;
    // Another process may have been faster while this one waited for the lock.
    let meta = read(&mut write).await?;
    if let Some(meta) = meta.clone().filter(current) {
        return Ok(meta);
    }
    if meta.as_ref().is_some_and(|meta| meta.version < 2) {
        sqlx::raw_sql(ADD_PROTOCOL).execute(&mut *write).await.map_err(sqlite::trouble)?;
    }
    if meta.as_ref().is_some_and(|meta| meta.version < 3) {
        sqlx::raw_sql(ADD_CONTROLS).execute(&mut *write).await.map_err(sqlite::trouble)?;
    }
    sqlx::raw_sql(SQL).execute(&mut *write).await.map_err(sqlite::trouble)?;
    let moved = meta.as_ref().is_none_or(|meta| meta.file != file);
    let before = meta.and_then(|meta| meta.replaced_at);
    let replaced_at =
        if moved && others_live() { Some(replacement(&mut write).await?) } else { before };
    note(&mut write, "schema_version", Some(VERSION.to_string())).await?;
    note(&mut write, "replaced_us", replaced_at.map(|at| at.as_micros().to_string())).await?;
    note(&mut write, "file", file.clone()).await?;
    write.commit().await.map_err(sqlite::trouble)?;
    Ok(Meta { replaced_at, file, version: VERSION })
}

/// The present, but not before any beat that is there: the clock may have been set back since. So two
/// replacements could have the same time: some of its digits are drawn.
async fn replacement(write: &mut SqliteConnection) -> Result<StoreTime, Error> {
    let beats = "SELECT MAX(beaten_us) FROM incumbent_beat";
    let last: Option<i64> =
        sqlx::query_scalar(beats).fetch_one(write).await.map_err(sqlite::trouble)?;
    let last = last.and_then(|micros| u64::try_from(micros).ok()).map(StoreTime::from_micros);
    let time = last.unwrap_or_default().max(clock::wall()).as_micros();
    Ok(StoreTime::from_micros(time.saturating_add(clock::drawn_micros())))
}

async fn note(write: &mut SqliteConnection, key: &str, value: Option<String>) -> Result<(), Error> {
    let Some(value) = value else { return Ok(()) };
    let put = "INSERT INTO incumbent_meta (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    let put = sqlx::query(put).bind(key).bind(value);
    put.execute(write).await.map(drop).map_err(sqlite::trouble)
}

/// Reads what the database says about itself; `None` if it has no schema yet.
pub(crate) async fn read(connection: &mut SqliteConnection) -> Result<Option<Meta>, Error> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let tables = sqlx::query(tables).fetch_all(&mut *connection).await;
    let tables = tables.map_err(sqlite::trouble)?;
    let has = |wanted: &str| {
        tables.iter().any(|row| row.try_get(0).is_ok_and(|name: &str| name == wanted))
    };
    if !has("incumbent_meta") {
        return Ok(None);
    }
    let rows = sqlx::query("SELECT key, value FROM incumbent_meta").fetch_all(connection).await;
    let rows = rows.map_err(sqlite::trouble)?;
    let corrupt = |problem: String| Error::Corrupt { place: String::new(), problem };
    let row =
        |wanted: &str| rows.iter().find(|row| row.try_get(0).is_ok_and(|key: &str| key == wanted));
    let number = |row: &SqliteRow| row.try_get::<&str, _>(1).ok().and_then(|v| v.parse().ok());
    let Some(version) = row("schema_version") else {
        return Ok(None);
    };
    let found = number(version).ok_or_else(|| corrupt("its version is no number".to_owned()))?;
    if found > VERSION {
        return Err(Error::SchemaNewer { found, known: VERSION });
    }
    // A table that was there once and is missing may have held a leader.
    let there = TABLES.into_iter().filter(|(_, since)| *since <= found);
    if let Some((missing, _)) = there.into_iter().find(|(table, _)| !has(table)) {
        return Err(corrupt(format!("the table {missing} is missing")));
    }
    let replaced_at = row("replaced_us").and_then(number).and_then(|at| u64::try_from(at).ok());
    let replaced_at = replaced_at.map(StoreTime::from_micros);
    let file = row("file").and_then(|row| row.try_get(1).ok());
    Ok(Some(Meta { replaced_at, file, version: found }))
}
