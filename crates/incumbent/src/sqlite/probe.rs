//! What there is to see of an SQLite file before one trusts it with an election.
//!
//! Assumes: what holds for a scratch folder beside the file holds for the file.
//! Promises: a file that is not there is not made; one that is there is opened without changing it,
//! but for the row that every start writes to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use incumbent_protocol::rules::Timing;
use rustix::fs::{Access, FlockOperation, flock};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use super::file::{DatabaseFile, check_place};
use super::place::{self, Trust};
use super::{PROBE, holders, is_locked, schema, trouble};
use crate::bell::Bell;
use crate::clock;
use crate::doctor::checkup::{Checkup, Identity};
use crate::doctor::clocks;
use crate::doctor::finding::Findings;
use crate::doctor::promise::Conditions;
use crate::doctor::trips::{self, Trips};
use crate::error::Error;
use crate::store::holder;

/// How long a ring may take.
const ECHO: Duration = Duration::from_secs(5);

/// Examines a file.
pub(crate) async fn examine(path: &Path, timing: &Timing) -> Result<Checkup, Error> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut exam = Exam {
        place: path.display().to_string(),
        findings: Findings::default(),
        trips: (None, None),
        busy: timing.timeout() / 2,
        version: String::new(),
        proves: place::trust(path.parent().unwrap_or(&path)) == Trust::Local,
    };
    if exam.is_placed(&path) {
        let has_tables = exam.look_at(&path).await;
        match Bench::make(&path) {
            Ok(bench) => exam.try_out(&bench, &path, has_tables).await,
            Err(error) => exam.findings.untried("locks", &format!("no scratch folder ({error})")),
        }
    }
    let read = clocks::read(async || Ok::<_, Error>(clock::wall())).await?;
    clocks::judge(&mut exam.findings, &read.0, read.1, timing);
    trips::judge(&mut exam.findings, exam.trips.0, exam.trips.1, timing);
    let Exam { place, findings, trips, version, proves, .. } = exam;
    let identity = Identity { product: "SQLite".to_owned(), version, place };
    let mut conditions = Conditions::default();
    conditions.lease.push("all candidates are on this host".to_owned());
    Ok(Checkup::new(identity, findings, trips, timing, &conditions, proves))
}

struct Exam {
    place: String,
    findings: Findings,
    trips: (Option<Trips>, Option<Trips>),
    busy: Duration,
    version: String,
    /// Whether a free lock proves its process dead.
    proves: bool,
}

impl Exam {
    /// Whether a database can be there.
    fn is_placed(&mut self, path: &Path) -> bool {
        let folder = path.parent().unwrap_or(path);
        match place::trust(folder) {
            Trust::Local => self.findings.good("file system", "a local one"),
            Trust::Unclear(kind) => self.findings.warn(
                "file system",
                format!(
                    "{kind}: whether other hosts share it cannot be seen from here, so that locks prove no process dead \
                     and a crash is followed after a full lease"
                ),
                "use a local disk if in doubt, and never share it with another host",
            ),
            Trust::Shared(_) => {
                let said = place::refusal(folder).unwrap_or_default();
                self.findings.refuse("file system", said, "move it, or use a database server");
                return false;
            }
        }
        if let Err(error) = check_place(path, true) {
            self.findings.refuse("file", error.to_string(), "change that, or name another file");
            return false;
        }
        true
    }

    /// Looks at the file, if it is there. Tells whether it has our tables.
    async fn look_at(&mut self, path: &Path) -> bool {
        if !path.exists() {
            self.findings.good("file", "not there yet: the first candidate makes it");
            return false;
        }
        match DatabaseFile::find(path, false) {
            Ok(file) => {
                if let Err(error) = file.folder.check() {
                    let advice = "no candidate starts until that is done";
                    self.findings.refuse("lock folder", error.to_string(), advice);
                }
            }
            Err(error) => {
                self.findings.refuse("file", error.to_string(), "use it under one name");
                return false;
            }
        }
        if rustix::fs::access(path, Access::WRITE_OK).is_err() {
            let said = "it is read-only: nobody can be elected in it";
            self.findings.refuse("file", said, "let this user write to it and to its folder");
            return false;
        }
        self.findings.good("file", "it is there, under one name, and can be written to");
        let held = holder::lasting(async || Ok(holders::holders(path))).await;
        self.findings.holders(held);
        match self.read(path).await {
            Ok(has_tables) => has_tables,
            Err(error) => {
                self.findings.refuse(
                    "schema",
                    error.to_string(),
                    "restore it, or name another file",
                );
                false
            }
        }
    }

    async fn read(&mut self, path: &Path) -> Result<bool, Error> {
        let mut database = plain(path, self.busy).connect().await.map_err(trouble)?;
        let mode =
            sqlx::query_scalar::<_, String>("PRAGMA journal_mode").fetch_one(&mut database).await;
        match mode.map_err(trouble)?.as_str() {
            "wal" => self.findings.good("journal", "a write-ahead log"),
            other => self.findings.good(
                "journal",
                format!("mode {other}: the first candidate switches it to a write-ahead log"),
            ),
        }
        let meta = schema::read(&mut database).await?;
        let _ = database.close().await;
        match &meta {
            Some(_) => self.findings.good("schema", format!("version {}", schema::VERSION)),
            None => self.findings.good("schema", "no tables yet: the first candidate makes them"),
        }
        Ok(meta.is_some())
    }

    /// Tries things out beside the file, and measures on the file itself if it has our tables.
    async fn try_out(&mut self, bench: &Bench, path: &Path, has_tables: bool) {
        if let Err(error) = self.locks(bench).await {
            self.findings.untried("locks", &error.to_string());
        }
        if self.proves {
            self.proof_of_death(bench);
        }
        self.doorbell(bench).await;
        let busy = format!("a writer is waited for {:.1?} at most, half of the timeout", self.busy);
        self.findings.good("limits", busy);
        let measured = if has_tables { path } else { &bench.database };
        if let Err(error) = self.measure(measured).await {
            self.findings.warn(
                "write",
                error.to_string(),
                "somebody writes to this file for long: a leader cannot renew meanwhile",
            );
        }
    }

    async fn locks(&mut self, bench: &Bench) -> Result<(), Error> {
        let options = plain(&bench.database, Duration::ZERO)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut first = options.connect().await.map_err(trouble)?;
        tell(&mut first, schema::SQL).await.map_err(trouble)?;
        tell(&mut first, PROBE).await.map_err(trouble)?;
        let version = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut first).await;
        self.version = version.map_err(trouble)?;
        let mut second = options.connect().await.map_err(trouble)?;
        let write = "UPDATE incumbent_meta SET value = 'two' WHERE key = 'probe'";
        tell(&mut first, "BEGIN IMMEDIATE").await.map_err(trouble)?;
        tell(&mut first, write).await.map_err(trouble)?;
        let refused = tell(&mut second, "BEGIN IMMEDIATE").await.is_err_and(|e| is_locked(&e));
        let meanwhile = word(&mut second).await?;
        tell(&mut first, "COMMIT").await.map_err(trouble)?;
        let after = word(&mut second).await?;
        let _ = (first.close().await, second.close().await);
        let advice = "elections rest on this: use a local disk, or a database server";
        if !refused {
            self.findings.refuse("locks", "two write at once", advice);
        } else if (meanwhile.as_str(), after.as_str()) != ("", "two") {
            let said = "what is committed, and only that, should be seen by others";
            self.findings.refuse("isolation", said, advice);
        } else {
            self.findings.good("isolation", "what is committed, and only that, is seen by others");
            self.findings.good("locks", "one writes at a time, the others are told to wait");
        }
        Ok(())
    }

    /// Whether a file lock excludes, which proves a process alive.
    fn proof_of_death(&mut self, bench: &Bench) {
        let path = bench.folder.join("lock");
        let take = || {
            let (held, other) = (File::create(&path)?, File::create(&path)?);
            flock(&held, FlockOperation::NonBlockingLockExclusive)?;
            let excluded = flock(&other, FlockOperation::NonBlockingLockExclusive).is_err();
            drop(held);
            let freed = flock(&other, FlockOperation::NonBlockingLockExclusive).is_ok();
            Ok::<_, std::io::Error>(excluded && freed)
        };
        match take() {
            Ok(true) => {
                let said =
                    "file locks exclude, and go with their holder: a crash is noticed at once";
                self.findings.good("proof of death", said);
            }
            Ok(false) => self.findings.refuse(
                "proof of death",
                "file locks do not exclude here: a living leader could be taken for dead",
                "use a local disk",
            ),
            Err(error) => self.findings.refuse(
                "proof of death",
                format!("files cannot be locked here ({error})"),
                "use a local disk",
            ),
        }
    }

    async fn doorbell(&mut self, bench: &Bench) {
        let mut bell = Bell::at_folder(Some(bench.folder.clone()));
        let rung = fs::write(bench.folder.join("ring"), "").is_ok();
        if rung && timeout(ECHO, bell.rung()).await.is_ok() {
            self.findings.good(
                "doorbell",
                "changes of a folder are heard of: a hand-over takes milliseconds",
            );
        } else {
            self.findings.warn(
                "doorbell",
                "changes of a folder are not heard of: candidates that wait look at every beat",
                "nothing but the speed of a hand-over hangs on it",
            );
        }
    }

    async fn measure(&mut self, path: &Path) -> Result<(), Error> {
        let options = plain(path, self.busy).synchronous(SqliteSynchronous::Full);
        let mut database = options.connect().await.map_err(trouble)?;
        let asked = trips::measure(async || tell(&mut database, "SELECT 1").await);
        self.trips.0 = asked.await.map_err(trouble)?;
        let written = trips::measure(async || tell(&mut database, PROBE).await);
        self.trips.1 = written.await.map_err(trouble)?;
        let _ = database.close().await;
        Ok(())
    }
}

/// A folder beside the database in which things are tried out; removed when dropped.
struct Bench {
    folder: PathBuf,
    database: PathBuf,
}

impl Bench {
    fn make(beside: &Path) -> std::io::Result<Bench> {
        let name = format!(".incumbent-probe-{:016x}", getrandom::u64().unwrap_or_default());
        let folder = beside.with_file_name(name);
        fs::create_dir(&folder)?;
        let database = folder.join("probe.db");
        Ok(Bench { folder, database })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Opens without changing anything.
fn plain(path: &Path, busy: Duration) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(busy);
    options.disable_statement_logging()
}

async fn tell(database: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::raw_sql(sql).execute(database).await.map(drop)
}

async fn word(database: &mut SqliteConnection) -> Result<String, Error> {
    let word = "SELECT value FROM incumbent_meta WHERE key = 'probe'";
    sqlx::query_scalar(word).fetch_one(database).await.map_err(trouble)
}
