//! Servers to try things with by hand: PostgreSQL, MariaDB and PgBouncer, until Ctrl-C.
//!
//! Assumes that the programs are installed (`cargo xtask services`). With `--durable`, commits wait for
//! the disk, as in production. Promises to print a line `NAME URL FOLDER` for each server and then
//! `ready`, and that nothing is left when it ends, however it ends.

use std::io::Write as _;

use anyhow::Context as _;
use incumbent_testbed::{MariaDb, MariaDbOptions, PgBouncer, PoolMode, Postgres, PostgresOptions};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let durable = std::env::args().skip(1).any(|word| word == "--durable");
    let options = PostgresOptions { durable, ..PostgresOptions::default() };
    let postgres = Postgres::start_with(options).await?;
    let pgbouncer = PgBouncer::start(&postgres, PoolMode::Transaction).await?;
    let options = MariaDbOptions { durable, ..MariaDbOptions::default() };
    let mariadb = MariaDb::start_with(options).await?;
    let mut output = std::io::stdout();
    writeln!(output, "postgres   {}  {}", postgres.url(), postgres.folder().display())?;
    writeln!(output, "pgbouncer  {}  {}", pgbouncer.url(), pgbouncer.folder().display())?;
    writeln!(output, "mariadb    {}  {}", mariadb.url(), mariadb.folder().display())?;
    writeln!(output, "ready; Ctrl-C stops them all")?;
    tokio::signal::ctrl_c().await.context("waiting for Ctrl-C")
}
