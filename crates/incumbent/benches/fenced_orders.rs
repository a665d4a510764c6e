//! Whether orders and takeovers have their turn beside fenced writers that are always at work.
//!
//! Assumes: `cargo xtask bench fenced_orders`, or `cargo bench -p incumbent --all-features --bench
//! fenced_orders -- --writers 8,40 --orders 50 --takeovers 20 --store postgres,mariadb`.
//! Promises: each writer holds the guard's locks for ten milliseconds before it commits, and then
//! begins anew. Orders pause and resume the election. A takeover follows a SIGKILL of the leader, while
//! the writers go on with its token. With `--judge` an order that fails ends the run with an error.

#[expect(dead_code, reason = "no benchmark uses all of it")]
mod candidate;
mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use candidate::{Candidate, Company};
use figures::{Flags, Place, Table, millis, percentile};
use incumbent::sqlx::{self, Connection as _};
use incumbent::{Backend, Config, Order, lease_clock_nanos};
use tokio::task::JoinSet;

/// In which candidates of benchmarks contend.
const ELECTION: &str = "failover";
/// How long a writer keeps the locks.
const HOLD: Duration = Duration::from_millis(10);

fn main() -> anyhow::Result<()> {
    Candidate::play_if_asked()?;
    let flags = Flags::read(&["--writers", "--orders", "--takeovers", "--store"])?;
    let runtime = tokio::runtime::Runtime::new()?;
    let (orders, takeovers) = (flags.number("--orders", 50)?, flags.number("--takeovers", 20)?);
    let mut table = Table::new(&[
        "store",
        "writers",
        "commits a second",
        "orders",
        "failed",
        "order median ms",
        "order worst ms",
        "takeovers",
        "takeover median ms",
        "takeover worst ms",
    ]);
    let mut failed = 0;
    for store in flags.list("--store", "postgres,mariadb") {
        for writers in flags.list("--writers", "8,40") {
            let writers: usize = writers.parse().context("--writers takes numbers")?;
            let place = runtime.block_on(Place::start(store))?;
            let measured = measure(&runtime, &place, writers, orders, takeovers)?;
            failed += measured.failed;
            let Measured { rate, orders, failed, takeovers, .. } = measured;
            table.row([
                place.name().into(),
                writers.to_string(),
                rate.to_string(),
                (orders.len() + failed).to_string(),
                failed.to_string(),
                millis(percentile(&orders, 50)),
                millis(percentile(&orders, 100)),
                takeovers.len().to_string(),
                millis(percentile(&takeovers, 50)),
                millis(percentile(&takeovers, 100)),
            ]);
        }
    }
    table.print(flags.json)?;
    ensure!(!flags.judge || failed == 0, "{failed} orders failed");
    Ok(())
}

struct Measured {
    /// Commits of all writers a second.
    rate: u64,
    /// How long orders took that were carried out, shortest first.
    orders: Vec<Duration>,
    failed: usize,
    /// How long the election was without a leader, shortest first.
    takeovers: Vec<Duration>,
}

fn measure(
    runtime: &tokio::runtime::Runtime,
    place: &Place,
    writers: usize,
    orders: u64,
    takeovers: u64,
) -> anyhow::Result<Measured> {
    let mut company = Company::new(&place.url())?;
    company.join()?;
    let mut leader = company.winner()?;
    company.join()?;
    let backend =
        runtime.block_on(Backend::open_with(&place.url(), &Config::new().name("desk")))?;
    let token = Arc::new(AtomicU64::new(runtime.block_on(current(&backend))?));
    let written = Arc::new(AtomicU64::new(0));
    let mut work = JoinSet::new();
    for _ in 0..writers {
        let (url, token, written) = (place.url(), Arc::clone(&token), Arc::clone(&written));
        work.spawn_on(async move { write(&url, &token, &written).await }, runtime.handle());
    }
    while written.load(Ordering::SeqCst) < 2 * u64::try_from(writers)? {
        std::thread::sleep(HOLD);
        ensure!(!work.is_empty(), "the writers have ended");
    }
    let (began, before) = (Instant::now(), written.load(Ordering::SeqCst));
    let (mut times, mut failed) = (Vec::new(), 0);
    for number in 0..orders {
        let order = if number % 2 == 0 { Order::Pause } else { Order::Resume };
        let asked = Instant::now();
        match runtime.block_on(backend.order(ELECTION, order, None, "bench", None)) {
            Ok(_) => times.push(asked.elapsed()),
            Err(_) => failed += 1,
        }
        std::thread::sleep(HOLD * 5);
    }
    // Whatever became of the last one: nobody takes over while the election is paused.
    while runtime.block_on(backend.status(ELECTION))?.controls.paused.is_some() {
        let resumed = backend.order(ELECTION, Order::Resume, None, "bench", None);
        let _ = runtime.block_on(resumed);
    }
    let commits = written.load(Ordering::SeqCst) - before;
    let millis = u64::try_from(began.elapsed().as_millis())?.max(1);
    let mut gaps = Vec::new();
    for _ in 0..takeovers {
        // Its successor has watched for a while.
        std::thread::sleep(Duration::from_secs(1));
        let killed_at = lease_clock_nanos();
        company.kill(leader.number)?;
        leader = company.winner()?;
        gaps.push(Duration::from_nanos(leader.at.saturating_sub(killed_at)));
        token.store(runtime.block_on(current(&backend))?, Ordering::SeqCst);
        company.join()?;
    }
    runtime.block_on(async {
        work.shutdown().await;
        backend.close().await;
    });
    times.sort_unstable();
    gaps.sort_unstable();
    Ok(Measured { rate: commits * 1_000 / millis, orders: times, failed, takeovers: gaps })
}

/// The term that is led at this moment.
async fn current(backend: &Backend) -> anyhow::Result<u64> {
    let status = backend.status(ELECTION).await?;
    Ok(status.leader().context("nobody leads")?.term.get())
}

/// Takes the guard's locks, keeps them for a while and commits, again and again.
async fn write(url: &str, token: &AtomicU64, written: &AtomicU64) -> anyhow::Result<()> {
    if url.starts_with("postgres") {
        let mut session = sqlx::PgConnection::connect(url).await?;
        loop {
            let guard = guard("BEGIN; SELECT", token);
            let guarded = sqlx::raw_sql(sqlx::AssertSqlSafe(guard)).execute(&mut session).await;
            tokio::time::sleep(HOLD).await;
            let end = if guarded.is_ok() { "COMMIT" } else { "ROLLBACK" };
            sqlx::raw_sql(end).execute(&mut session).await?;
            written.fetch_add(guarded.is_ok().into(), Ordering::SeqCst);
        }
    }
    let mut session = sqlx::MySqlConnection::connect(url).await?;
    loop {
        let guard = guard("START TRANSACTION; CALL", token);
        let guarded = sqlx::raw_sql(sqlx::AssertSqlSafe(guard)).execute(&mut session).await;
        tokio::time::sleep(HOLD).await;
        let end = if guarded.is_ok() { "COMMIT" } else { "ROLLBACK" };
        sqlx::raw_sql(end).execute(&mut session).await?;
        written.fetch_add(guarded.is_ok().into(), Ordering::SeqCst);
    }
}

fn guard(call: &str, token: &AtomicU64) -> String {
    format!("{call} incumbent_guard('{ELECTION}', {})", token.load(Ordering::SeqCst))
}
