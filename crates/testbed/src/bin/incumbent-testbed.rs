//! Servers to try things with by hand: PostgreSQL, MariaDB and PgBouncer, until Ctrl-C.
//!
//! Assumes that the programs are installed (`cargo xtask services`). Promises to print a line
//! `NAME URL FOLDER` for each server and then `ready`, and that nothing is left when it ends, however it
//! ends.

use std::io::Write as _;

use anyhow::Context as _;
use incumbent_testbed::{MariaDb, PgBouncer, PoolMode, Postgres};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let postgres = Postgres::start().await?;
    let pgbouncer = PgBouncer::start(&postgres, PoolMode::Transaction).await?;
    let mariadb = MariaDb::start().await?;
    let mut output = std::io::stdout();
    writeln!(output, "postgres   {}  {}", postgres.url(), postgres.folder().display())?;
    writeln!(output, "pgbouncer  {}  {}", pgbouncer.url(), pgbouncer.folder().display())?;
    writeln!(output, "mariadb    {}  {}", mariadb.url(), mariadb.folder().display())?;
    writeln!(output, "ready; Ctrl-C stops them all")?;
    tokio::signal::ctrl_c().await.context("waiting for Ctrl-C")
}
