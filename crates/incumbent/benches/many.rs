//! What a thousand elections of one process cost.
//!
//! Assumes: `cargo bench -p incumbent --bench many`, about forty seconds on a machine that is
//! otherwise idle.
//! Promises: the figures of the library come from real elections; those beside it renew the same
//! rows on the same file with the same settings of SQLite, once in a transaction of a thousand
//! statements, once in a thousand transactions.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use incumbent::{Backend, Config, Leadership, Timing};
use rustix::time::{ClockId, clock_gettime};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Row};
use tokio::task::JoinSet;

const ELECTIONS: usize = 1_000;
const LEASE: Duration = Duration::from_secs(3);
const RUN: Duration = Duration::from_secs(20);
const ROUNDS: u32 = 20;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("elections.db");
    println!(
        "{ELECTIONS} elections in one process, lease {LEASE:?}, SQLite in WAL mode, synchronous full\n"
    );

    let config = Config::new().name("bench").lease(LEASE);
    let (backend, led) = lead_all(&path, &config).await;
    run(&backend, &led).await;
    drop(led);
    backend.close().await;

    let history = folder.path().join("history");
    let (backend, led) = lead_all(&path, &config.clone().history(&history)).await;
    tokio::time::sleep(LEASE * 2).await;
    rounds(&history, &config.timing().expect("a timing"));

    let mut rows = connect(&path).await;
    let terms = terms(&mut rows).await;
    println!("\n| renewing {ELECTIONS} rows | wall | CPU | ratio |");
    println!("|---|---|---|---|");
    let one = measure(async || renew_in_one_statement(&mut rows, &terms).await).await;
    row("one statement (as the library does)", one, one);
    let many = measure(async || renew_in_one_transaction(&mut rows, &terms).await).await;
    row("one transaction of 1,000 statements", many, one);
    let alone = measure(async || renew_one_by_one(&mut rows, &terms).await).await;
    row("1,000 autocommit statements", alone, one);
    drop(led);
    backend.close().await;
}

async fn lead_all(path: &Path, config: &Config) -> (Backend, Vec<Leadership>) {
    let url = path.display().to_string();
    let backend = Backend::open_with(&url, config).await.expect("opens");
    let start = Instant::now();
    let mut campaigns = JoinSet::new();
    for number in 0..ELECTIONS {
        let election = backend.election(&format!("shard-{number}")).await;
        let election = election.expect("opens");
        campaigns.spawn(async move { election.campaign().await.expect("leads") });
    }
    let led = campaigns.join_all().await;
    println!("all led after {:.0?}", start.elapsed());
    (backend, led)
}

/// Leads for a while and counts.
async fn run(backend: &Backend, led: &[Leadership]) {
    tokio::time::sleep(LEASE).await;
    let beat = async || {
        let status = backend.status("shard-0").await.expect("a look");
        status.record.expect("a row").beat
    };
    let (beats, statements) = (beat().await, backend.statements().await);
    let (wall, cpu) = (Instant::now(), cpu_time());
    tokio::time::sleep(RUN).await;
    let (cpu, wall) = (cpu_time().saturating_sub(cpu), wall.elapsed());
    let statements = backend.statements().await.expect("counts") - statements.expect("counts");
    let beats = beat().await - beats;
    assert!(led.iter().all(Leadership::is_valid), "a leadership was lost");
    let seconds = wall.as_secs_f64();
    println!("led for {seconds:.1} s: {beats} beats, {statements} statements");
    println!("| statements a beat | {:.2} |", ratio(statements, beats));
    println!("| statements a second | {:.2} |", ratio(statements, 1) / seconds);
    println!(
        "| CPU | {:.2} % of one core ({:.1} ms a beat) |",
        100.0 * cpu.as_secs_f64() / seconds,
        cpu.as_secs_f64() * 1_000.0 / ratio(beats, 1)
    );
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(of: u64, to: u64) -> f64 {
    of as f64 / to.max(1) as f64
}

/// From before a renewal was asked for until it was heard of, as the history tells.
fn rounds(history: &Path, timing: &Timing) {
    let text = fs::read_to_string(history).expect("reads");
    let mut spans: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            let number = |key: &str| line[key].as_u64();
            let asked_at = number("valid_until")?.checked_sub(nanos(timing.rules().span()))?;
            (line["event"] == "renewed").then_some(number("at")? - asked_at)
        })
        .collect();
    spans.sort_unstable();
    let at = |share: usize| Duration::from_nanos(spans[(spans.len() - 1) * share / 100]);
    println!(
        "| renewal round, asked to heard | median {:.1?}, p99 {:.1?}, max {:.1?} |",
        at(50),
        at(99),
        at(100)
    );
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("short")
}

fn cpu_time() -> Duration {
    let reading = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(reading.tv_sec).expect("after start"),
        u32::try_from(reading.tv_nsec).expect("below a second"),
    )
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(LEASE)
        .disable_statement_logging()
        .connect()
        .await
        .expect("connects")
}

async fn terms(rows: &mut SqliteConnection) -> Vec<(String, i64)> {
    sqlx::raw_sql(
        "CREATE TABLE bench AS SELECT * FROM incumbent_beat; CREATE UNIQUE INDEX b ON bench (name)",
    )
    .execute(&mut *rows)
    .await
    .expect("copies");
    let found = sqlx::query("SELECT name, term FROM bench").fetch_all(rows);
    let found = found.await.expect("reads");
    found.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn measure(mut round: impl AsyncFnMut()) -> (Duration, Duration) {
    let (mut wall, cpu) = (Vec::new(), cpu_time());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round().await;
        wall.push(start.elapsed());
    }
    wall.sort_unstable();
    let cpu = cpu_time().saturating_sub(cpu) / ROUNDS;
    (wall[wall.len() / 2], cpu)
}

fn row(name: &str, (wall, cpu): (Duration, Duration), one: (Duration, Duration)) {
    let times = wall.as_secs_f64() / one.0.as_secs_f64();
    println!("| {name} | {wall:.1?} | {cpu:.1?} | {times:.1} |");
}

async fn renew_in_one_statement(rows: &mut SqliteConnection, terms: &[(String, i64)]) {
    let list = serde_json::to_string(terms).expect("writes");
    let renewed = sqlx::query(
        "UPDATE bench SET beat = beat + 1, beaten_us = ?1
         FROM (SELECT value ->> 0 AS name, value ->> 1 AS term FROM json_each(?2)) AS mine
         WHERE bench.name = mine.name AND bench.term = mine.term RETURNING bench.name",
    )
    .bind(1)
    .bind(list)
    .fetch_all(rows)
    .await
    .expect("renews");
    assert_eq!(renewed.len(), terms.len());
}

const ONE: &str = "UPDATE bench SET beat = beat + 1, beaten_us = ?1 WHERE name = ?2 AND term = ?3";

async fn renew_in_one_transaction(rows: &mut SqliteConnection, terms: &[(String, i64)]) {
    let mut work = rows.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    for (name, term) in terms {
        let one = sqlx::query(ONE).bind(1).bind(name).bind(term);
        one.execute(&mut *work).await.expect("renews");
    }
    work.commit().await.expect("commits");
}

async fn renew_one_by_one(rows: &mut SqliteConnection, terms: &[(String, i64)]) {
    for (name, term) in terms {
        let one = sqlx::query(ONE).bind(1).bind(name).bind(term);
        one.execute(&mut *rows).await.expect("renews");
    }
}
