//! A ledger that no deposed leader can write to.
//!
//! Run it twice, in two terminals: `cargo run -p incumbent --example fenced_writer`. One of the two
//! writes; stop that one with Ctrl-Z and watch the other take over after the lease. Continue it with
//! `fg`: the ledger refuses its old token.

use std::time::Duration;

use incumbent::{Backend, Config, Leadership};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

/// The resource: it remembers the highest token it has seen, and refuses every lower one.
struct Ledger(SqlitePool);

impl Ledger {
    async fn open(path: &std::path::Path) -> Result<Ledger, sqlx::Error> {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let pool = SqlitePool::connect_with(options).await?;
        let tables = "
            CREATE TABLE IF NOT EXISTS fence (one INTEGER PRIMARY KEY CHECK (one = 1), token INTEGER);
            CREATE TABLE IF NOT EXISTS entry (token INTEGER, text TEXT);
            INSERT OR IGNORE INTO fence VALUES (1, 0);";
        sqlx::raw_sql(tables).execute(&pool).await?;
        Ok(Ledger(pool))
    }

    /// Writes only if no newer leader has written before.
    async fn write(&self, token: u64, text: &str) -> Result<bool, sqlx::Error> {
        let token = i64::try_from(token).unwrap_or(i64::MAX);
        let mut write = self.0.begin_with("BEGIN IMMEDIATE").await?;
        let fence = "UPDATE fence SET token = ?1 WHERE token <= ?1";
        let raised = sqlx::query(fence).bind(token).execute(&mut *write).await?.rows_affected();
        if raised == 0 {
            return Ok(false);
        }
        let entry = sqlx::query("INSERT INTO entry VALUES (?1, ?2)").bind(token).bind(text);
        entry.execute(&mut *write).await?;
        write.commit().await?;
        Ok(true)
    }
}

async fn work(leadership: &Leadership, ledger: &Ledger) {
    let token = leadership.token().get();
    loop {
        let word = match ledger.write(token, "an entry").await {
            Ok(true) => "written",
            Ok(false) => "refused: somebody newer has written",
            Err(_) => "the ledger does not answer",
        };
        tracing::info!(token, valid = leadership.is_valid(), "{word}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let folder = std::env::temp_dir().join("incumbent-fenced-writer");
    std::fs::create_dir_all(&folder)?;
    let ledger = Ledger::open(&folder.join("ledger.db")).await?;
    let url = format!("sqlite://{}", folder.join("elections.db").display());
    let name = format!("writer-{}", std::process::id());
    let backend = Backend::open_with(&url, &Config::new().name(name)).await?;
    let election = backend.election("ledger").await?;
    tokio::select! {
        ended = election.run(async |leadership| work(leadership, &ledger).await) => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    drop(election);
    backend.close().await;
    Ok(())
}
