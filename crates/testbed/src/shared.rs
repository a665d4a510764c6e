//! One server for all tests of a process.
//!
//! Assumes that tests which share a server take a `fresh_database()` each and break nothing.
//! Promises that the server goes when the process does, although a `static` is never dropped: its
//! guardian sees to that.

use tokio::sync::OnceCell;

use crate::{MariaDb, Postgres};

/// The PostgreSQL server of this process, started by whoever asks first.
pub async fn shared_postgres() -> anyhow::Result<&'static Postgres> {
    static SERVER: OnceCell<Postgres> = OnceCell::const_new();
    SERVER.get_or_try_init(Postgres::start).await
}

/// The MariaDB server of this process, started by whoever asks first.
pub async fn shared_mariadb() -> anyhow::Result<&'static MariaDb> {
    static SERVER: OnceCell<MariaDb> = OnceCell::const_new();
    SERVER.get_or_try_init(MariaDb::start).await
}
