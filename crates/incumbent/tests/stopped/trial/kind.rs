//! What differs between databases, as far as a trial cares.
//!
//! Assumes: statements whose names and numbers are our own.
//! Promises: text goes out as it stands, in a session of the database's own kind, with the settings
//! that an ordinary user would have.

use std::str::FromStr;
use std::time::Duration;

use incumbent::Fencing;
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Executor, MySql, Pool, Postgres, Row, Sqlite};

/// A database in which a ledger can be kept.
pub(crate) trait Kind: Fencing {
    /// What people call it.
    const CALLED: &'static str;

    /// Succeeds at once, or fails because somebody is in the middle of a write.
    const PROBE: &'static str;

    /// Whether a process may be stopped in the middle of a write. In SQLite it would keep the lock
    /// of the whole file, and nobody could succeed it.
    const STOPS_INSIDE: bool;

    /// How many transactions a leader has in hand at once.
    const LANES: u32;

    /// Connects; whoever waits for a lock waits for so long where that can be said.
    async fn pool(url: &str, patience: Duration) -> sqlx::Result<Pool<Self>>;

    /// Runs statements.
    async fn run(connection: &mut Self::Connection, sql: String) -> sqlx::Result<()>;

    /// Asks for rows of numbers.
    async fn rows(connection: &mut Self::Connection, sql: String) -> sqlx::Result<Vec<Vec<i64>>>;
}

/// The same words for every driver, whose types have no common bound that would be shorter.
macro_rules! statements {
    () => {
        async fn run(connection: &mut Self::Connection, sql: String) -> sqlx::Result<()> {
            connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(drop)
        }

        async fn rows(
            connection: &mut Self::Connection,
            sql: String,
        ) -> sqlx::Result<Vec<Vec<i64>>> {
            let found = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
            found.iter().map(|row| (0..row.len()).map(|at| row.try_get(at)).collect()).collect()
        }
    };
}

/// One connection more than lanes; none is tried before it is used, which would double the messages.
fn pool<K: Kind>() -> PoolOptions<K> {
    PoolOptions::new().max_connections(K::LANES + 1).test_before_acquire(false)
}

impl Kind for Postgres {
    const CALLED: &'static str = "PostgreSQL";
    const PROBE: &'static str = "SELECT writes FROM ledger FOR UPDATE NOWAIT";
    const STOPS_INSIDE: bool = true;
    const LANES: u32 = 3;

    async fn pool(url: &str, _patience: Duration) -> sqlx::Result<Pool<Postgres>> {
        pool::<Self>().connect(url).await
    }

    statements!();
}

impl Kind for MySql {
    const CALLED: &'static str = "MariaDB";
    const PROBE: &'static str = "SELECT writes FROM ledger FOR UPDATE NOWAIT";
    const STOPS_INSIDE: bool = true;
    const LANES: u32 = 3;

    async fn pool(url: &str, _patience: Duration) -> sqlx::Result<Pool<MySql>> {
        pool::<Self>().connect(url).await
    }

    statements!();
}

impl Kind for Sqlite {
    const CALLED: &'static str = "SQLite";
    const PROBE: &'static str = "BEGIN IMMEDIATE; ROLLBACK";
    const STOPS_INSIDE: bool = false;
    const LANES: u32 = 1;

    async fn pool(url: &str, patience: Duration) -> sqlx::Result<Pool<Sqlite>> {
        let options = SqliteConnectOptions::from_str(url)?
            .journal_mode(SqliteJournalMode::Wal)
            // No trial cuts the power.
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(patience);
        pool::<Self>().connect_with(options).await
    }

    statements!();
}
