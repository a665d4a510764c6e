//! Elections in an SQLite file: the embedded default.
//!
//! Assumes: a local file system and one host. Its wall clock is the store's clock.
//! Promises: write-ahead logging, immediate transactions, a busy timeout below the request timeout;
//! one connection for all elections of a process; a database file that is deleted or replaced under
//! us is noticed before anything is written to it.
//!
//! | file | what |
//! |---|---|
//! | [`mod@file`] | the file, and whether it is still the one that was opened |
//! | [`mod@holders`] | which process writes to it |
//! | [`place`] | the file system that it lies on |
//! | [`probe`] | what an examination looks at |
//! | [`schema`] | the tables |
//! | [`mod@trouble`] | what an error of SQLite means |
//! | [`row`] | reading a row into a `Snapshot` |
//! | [`mod@write`] | writing what a decision says |
//! | [`register`] | reading and writing the registers of a roster |
//! | [`roll`] | who takes part, and what operators ordered |
//! | [`round`] | what is done for a round and for operators |

mod file;
mod holders;
mod place;
pub(crate) mod probe;
mod register;
mod roll;
mod round;
mod row;
pub(crate) mod schema;
mod trouble;
mod write;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::identity::CandidateId;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row, Sqlite};

use self::file::{DatabaseFile, check_place};
pub(crate) use self::row::is_confirmed;
use self::schema::Meta;
use self::trouble::{at, is_locked};
pub(crate) use self::trouble::{is_disk_trouble, trouble};
use crate::bell::Bell;
use crate::clock;
use crate::error::Error;
use crate::lock::{Folder, Lock, SharedLock};

/// How long the making of a new database may wait for others who make it too.
const OPEN_PATIENCE: Duration = Duration::from_secs(5);

/// A write that changes nothing.
const PROBE: &str = "
    INSERT INTO incumbent_meta (key, value) VALUES ('probe', '')
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Every commit is on disk before it returns, which takes a sync under the write lock. For what must
/// survive a loss of power: terms, and what operators ordered.
const DURABLE: &str = "PRAGMA synchronous = FULL";

/// A commit returns without a sync. For beats: a loss of power that takes one back has ended every
/// candidate too. A process that is stopped in the middle of a write keeps the write lock, and
/// nobody can follow it: without the sync that takes microseconds.
const HURRIED: &str = "PRAGMA synchronous = NORMAL";

/// One database and the one connection that all elections of this process share.
#[derive(Debug)]
pub(crate) struct Store {
    source: Source,
    file: Option<DatabaseFile>,
    meta: Meta,
    me: CandidateId,
    lock: SharedLock,
    /// Whether it was opened to contend, and not only to look.
    contends: bool,
    /// Statements run for rounds, for figures.
    statements: u64,
}

#[derive(Debug)]
enum Source {
    Own { options: Box<SqliteConnectOptions>, idle: Option<SqliteConnection> },
    Pool(SqlitePool),
}

impl Store {
    /// Opens a database file, making it if `create` says so.
    pub(crate) async fn open(
        path: &Path,
        me: CandidateId,
        timeout: Duration,
        create: bool,
    ) -> Result<Store, Error> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        check_place(&path, create)?;
        let mut options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(create)
            .disable_statement_logging();
        if create {
            // Whoever only looks leaves the database as it is.
            options = options.journal_mode(SqliteJournalMode::Wal);
            options = options.synchronous(SqliteSynchronous::Full);
        }
        // Many may open a new file at once, and nobody leads yet who could be late.
        let patient = options.clone().busy_timeout(OPEN_PATIENCE);
        let mut connection =
            connect_patiently(&patient).await.map_err(|e| at(&path, trouble(e)))?;
        let file = DatabaseFile::find(&path, create)?;
        let meta = file.meta(&mut connection, &me, create).await;
        let meta = meta.map_err(|e| at(&file.path, e))?;
        // From here on a connection must not wait for longer than a round may take.
        let limit = format!("PRAGMA busy_timeout = {}", (timeout / 2).as_millis());
        sqlx::query(AssertSqlSafe(limit)).execute(&mut connection).await.map_err(trouble)?;
        sqlx::query(HURRIED).execute(&mut connection).await.map_err(trouble)?;
        let options = options.create_if_missing(false).busy_timeout(timeout / 2);
        let options = options.synchronous(SqliteSynchronous::Normal);
        let source = Source::Own { options: Box::new(options), idle: Some(connection) };
        let (file, lock) = (Some(file), SharedLock::default());
        Ok(Store { source, file, meta, me, lock, contends: create, statements: 0 })
    }

    /// Uses the user's own pool.
    pub(crate) async fn with_pool(pool: SqlitePool, me: CandidateId) -> Result<Store, Error> {
        let mut connection = pool.acquire().await.map_err(trouble)?;
        let main = "SELECT file FROM pragma_database_list WHERE name = 'main'";
        let row = sqlx::query(main).fetch_one(&mut *connection).await.map_err(trouble)?;
        let path: Option<String> = row.try_get(0).ok().filter(|path: &String| !path.is_empty());
        let file = path.map(|path| DatabaseFile::find(Path::new(&path), true)).transpose()?;
        let meta = match &file {
            Some(file) => {
                file.meta(&mut connection, &me, true).await.map_err(|e| at(&file.path, e))?
            }
            None => schema::apply(&mut connection, None, || false).await?,
        };
        drop(connection);
        let source = Source::Pool(pool);
        let lock = SharedLock::default();
        Ok(Store { source, file, meta, me, lock, contends: true, statements: 0 })
    }

    /// The folder with locks and bell; none for a database in memory.
    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.file.as_ref().map(|file| &file.folder)
    }

    /// The lock of this process, for whoever must hold it as long as a leadership lives.
    pub(crate) fn shared_lock(&self) -> SharedLock {
        Arc::clone(&self.lock)
    }

    /// Rings come from the folder of locks.
    pub(crate) fn bell(&self, _round_trip: Duration, _beat: Duration) -> Bell {
        let folder = self.folder().map(Folder::path);
        Bell::at_folder(folder.filter(|it| it.is_dir()).map(ToOwned::to_owned))
    }

    /// Statements run so far.
    pub(crate) const fn statements(&self) -> u64 {
        self.statements
    }

    /// How long a short question takes at best, and a short write where one is allowed and possible.
    pub(crate) async fn round_trip(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        let mut held = self.connect().await?;
        let asked = best_of_three("SELECT 1", held.get()).await;
        let written = if self.contends {
            held.sync(DURABLE).await?;
            let written = best_of_three(PROBE, held.get()).await;
            held.sync(HURRIED).await?;
            Some(written)
        } else {
            None
        };
        let result = match (asked, written) {
            (Err(error), _) | (_, Some(Err(error @ Error::Open { .. }))) => Err(error),
            // A database that is locked or full now may be neither later: that is not for the start
            // to judge.
            (Ok(asked), written) => Ok((asked, written.and_then(Result::ok))),
        };
        self.end(held, result)
    }

    /// Takes the lock that proves this process alive, before it bids for the first time.
    fn ensure_lock(&self) -> Result<(), Error> {
        if let Some(file) = &self.file
            && self.lock.get().is_none()
        {
            let lock = Lock::take(&file.folder, &self.me)?;
            // Only this store sets it, so it cannot be set already.
            let _ = self.lock.set(Arc::new(lock));
        }
        Ok(())
    }

    /// A connection, after making sure that the file is still the one that was opened.
    async fn connect(&mut self) -> Result<Held, Error> {
        if let Some(file) = &self.file {
            file.is_in_place()?;
        }
        let held = match &mut self.source {
            Source::Own { options, idle } => match idle.take() {
                Some(connection) => Ok(Held::Own(connection)),
                None => options.connect().await.map(Held::Own),
            },
            Source::Pool(pool) => pool.acquire().await.map(Held::Pool),
        };
        held.map_err(|error| self.named(trouble(error)))
    }

    /// Keeps a connection that is known to be in order, and parts with one that is not.
    fn end<T>(&mut self, held: Held, result: Result<T, Error>) -> Result<T, Error> {
        match (&mut self.source, held, &result) {
            (Source::Own { idle, .. }, Held::Own(connection), Ok(_)) => *idle = Some(connection),
            // SQLite ends some transactions by itself (a full disk), which the connection never
            // notices: it would begin no other. A database in memory would be gone with its
            // connection.
            (_, Held::Pool(mut connection), Err(Error::Store(_) | Error::Corrupt { .. }))
                if self.file.is_some() =>
            {
                connection.close_on_drop();
            }
            _ => {}
        }
        result.map_err(|error| self.named(error))
    }

    /// Puts the file's name into an error that lacks it.
    fn named(&self, error: Error) -> Error {
        match (error, &self.file) {
            (Error::Corrupt { problem, .. }, Some(file)) => {
                Error::Corrupt { place: file.place(), problem }
            }
            (Error::Open { place, problem }, Some(file)) if place.is_empty() => {
                Error::Open { place: file.place(), problem }
            }
            (error, _) => error,
        }
    }

    /// Closes the connection in good order.
    pub(crate) async fn close(self) {
        if let Source::Own { idle: Some(connection), .. } = self.source {
            let _ = connection.close().await;
        }
    }
}

/// Connects, and tries again while the file is locked: SQLite does not wait when it must change the
/// journal's mode while others read.
async fn connect_patiently(options: &SqliteConnectOptions) -> sqlx::Result<SqliteConnection> {
    let begun = clock::now();
    loop {
        match options.connect().await {
            Err(error) if is_locked(&error) && clock::now().since(begun) < OPEN_PATIENCE => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            ended => return ended,
        }
    }
}

async fn best_of_three(
    sql: &'static str,
    connection: &mut SqliteConnection,
) -> Result<Duration, Error> {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = clock::now();
        sqlx::query(sql).execute(&mut *connection).await.map_err(trouble)?;
        best = best.min(clock::now().since(start));
    }
    Ok(best)
}

/// A connection in use.
enum Held {
    Own(SqliteConnection),
    Pool(PoolConnection<Sqlite>),
}

impl Held {
    fn get(&mut self) -> &mut SqliteConnection {
        match self {
            Held::Own(connection) => connection,
            Held::Pool(connection) => connection,
        }
    }

    /// Says whether the commits that follow are synced. A pool keeps its owner's settings.
    async fn sync(&mut self, how: &'static str) -> Result<(), Error> {
        match self {
            Held::Own(connection) => {
                sqlx::query(how).execute(connection).await.map(drop).map_err(trouble)
            }
            Held::Pool(_) => Ok(()),
        }
    }
}
