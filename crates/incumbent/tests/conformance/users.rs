//! What the user of the library has anyway: a pool of connections to the database, and a table.
//!
//! Assumes: nothing in the statements needs to be prepared, so that a pooler may be in between.
//! Promises: the same few words for every kind of database.

use std::str::FromStr;

use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, Row};

use crate::support::PATIENCE;

/// The user's own pool.
#[derive(Clone, Debug)]
pub(crate) enum Users {
    Sqlite(SqlitePool),
    Postgres(PgPool),
    MySql(MySqlPool),
}

/// Does the same with whichever pool it is.
macro_rules! with_pool {
    ($users:expr, $pool:ident => $do:expr) => {
        match $users {
            $crate::users::Users::Sqlite($pool) => $do,
            $crate::users::Users::Postgres($pool) => $do,
            $crate::users::Users::MySql($pool) => $do,
        }
    };
}
pub(crate) use with_pool;

/// Sends text as it stands.
macro_rules! send {
    ($sql:expr, $to:expr) => {
        sqlx::raw_sql(sqlx::AssertSqlSafe($sql.to_owned())).execute($to).await
    };
}
pub(crate) use send;

impl Users {
    /// A pool that connects when it is first used.
    pub(crate) fn new(url: &str, most: u32) -> Users {
        if let Some(path) = url.strip_prefix("sqlite://") {
            let options = SqliteConnectOptions::new()
                .filename(path)
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .busy_timeout(PATIENCE);
            let pool = SqlitePoolOptions::new().max_connections(most);
            Users::Sqlite(pool.connect_lazy_with(options))
        } else if url.starts_with("postgres") {
            let options = PgConnectOptions::from_str(url).expect("a URL");
            // A pooler may give every transaction another session, without what was prepared.
            let options = options.statement_cache_capacity(0);
            let pool = PgPoolOptions::new().max_connections(most);
            Users::Postgres(pool.connect_lazy_with(options))
        } else {
            // The word for us is none for the driver.
            let url = url.replace("?galera=single-writer", "");
            let options = MySqlConnectOptions::from_str(&url).expect("a URL");
            let pool = MySqlPoolOptions::new().max_connections(most);
            Users::MySql(pool.connect_lazy_with(options))
        }
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.try_run(sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    pub(crate) async fn try_run(&self, sql: &str) -> sqlx::Result<()> {
        with_pool!(self, pool => send!(sql, pool).map(drop))
    }

    /// The one number that a question is answered with.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let query = || sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let found =
            with_pool!(self, pool => query().fetch_one(pool).await.and_then(|row| row.try_get(0)));
        found.unwrap_or_else(|error| panic!("{error}: {sql}"))
    }

    /// How many entries the user's table has.
    pub(crate) async fn entries(&self) -> i64 {
        self.number("SELECT count(*) FROM ledger").await
    }
}
