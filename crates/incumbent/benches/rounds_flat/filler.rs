//! The middle of a roster: rows that beat without anybody behind them.
//!
//! Assumes: somebody leads the election already, and nobody joins while the rows are made.
//! Promises: to everybody else the rows are candidates in good health, until it is stopped.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Row as _};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// How rows of the roster call their holder here.
const HOLDER: &str = "row";

/// Rows of one election, and the task that beats them.
pub(crate) struct Filler {
    election: String,
    line: Arc<Mutex<Line>>,
    beating: JoinHandle<()>,
}

/// A connection, which reports nothing.
enum Line {
    Postgres(sqlx::PgConnection),
    Mysql(sqlx::MySqlConnection),
    Sqlite(sqlx::SqliteConnection),
}

impl Filler {
    /// Puts so many rows after those that are there, and beats them so often.
    pub(crate) async fn start(
        url: &str,
        election: &str,
        rows: u64,
        every: Duration,
    ) -> anyhow::Result<Filler> {
        let mut line = Line::connect(url).await?;
        let top = format!("SELECT max_id FROM incumbent_vars WHERE name = '{election}'");
        let top = line.number(&top).await?;
        let values = (top + 1..=top + rows)
            .map(|id| format!("('{election}', {id}, '{HOLDER}', '{id:032x}', 1, '', 1, 1)"));
        let values = values.collect::<Vec<_>>().join(", ");
        line.run(format!(
            "INSERT INTO incumbent_descriptor
                (election, id, holder, incarnation, counter, labels, joined_us, beaten_us)
            VALUES {values}"
        ))
        .await?;
        let top = top + rows;
        line.run(format!("UPDATE incumbent_vars SET max_id = {top} WHERE name = '{election}'"))
            .await?;
        let line = Arc::new(Mutex::new(line));
        let beats = Arc::clone(&line);
        let beat = format!(
            "UPDATE incumbent_descriptor SET counter = counter + 1
            WHERE election = '{election}' AND holder = '{HOLDER}'"
        );
        let beating = tokio::spawn(async move {
            loop {
                // One that fails is made up for by the next; the roster is counted at the end.
                let _ = beats.lock().await.run(beat.clone()).await;
                tokio::time::sleep(every).await;
            }
        });
        Ok(Filler { election: election.to_owned(), line, beating })
    }

    /// How often that candidate beat.
    pub(crate) async fn beat_of(&self, holder: &str) -> anyhow::Result<u64> {
        let election = &self.election;
        let beat = format!(
            "SELECT counter FROM incumbent_descriptor WHERE election = '{election}' AND holder = '{holder}'"
        );
        self.line.lock().await.number(&beat).await
    }

    pub(crate) async fn stop(self) {
        self.beating.abort();
        let _ = self.beating.await;
    }
}

impl Line {
    async fn connect(url: &str) -> anyhow::Result<Line> {
        Ok(if url.starts_with("postgres") {
            let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
            Line::Postgres(options.connect().await?)
        } else if url.starts_with("mysql") {
            let options = MySqlConnectOptions::from_str(url)?.disable_statement_logging();
            Line::Mysql(options.connect().await?)
        } else {
            let file = url.strip_prefix("sqlite://").context("a file")?;
            let options = SqliteConnectOptions::new().filename(file);
            Line::Sqlite(options.disable_statement_logging().connect().await?)
        })
    }

    async fn run(&mut self, sql: String) -> anyhow::Result<()> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql));
        match self {
            Line::Postgres(line) => line.execute(sql).await.map(|_| ())?,
            Line::Mysql(line) => line.execute(sql).await.map(|_| ())?,
            Line::Sqlite(line) => line.execute(sql).await.map(|_| ())?,
        }
        Ok(())
    }

    async fn number(&mut self, sql: &str) -> anyhow::Result<u64> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let number: i64 = match self {
            Line::Postgres(line) => line.fetch_one(sql).await?.try_get(0)?,
            Line::Mysql(line) => line.fetch_one(sql).await?.try_get(0)?,
            Line::Sqlite(line) => line.fetch_one(sql).await?.try_get(0)?,
        };
        Ok(number.try_into()?)
    }
}
