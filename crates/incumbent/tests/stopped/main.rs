//! Leaders that are stopped past their lease and then go on, on real databases: with fencing not one
//! of their writes gets through, without it some do.
//!
//! Assumes: the test program can start itself again with the name of one test, which then plays a
//! worker. A server that cannot be started is a failure.
//! Promises: no test asks that something be fast.

mod python;
mod trial;

use std::time::Duration;

use incumbent::Protocol;
use incumbent_testbed::{shared_mariadb, shared_postgres};
use sqlx::{MySql, Postgres, Sqlite};
use trial::kind::Kind;
use trial::worker::{self, Role};
use trial::{Plan, Verdict};

/// What makes this program a worker.
const WORDS: &[&str] =
    &["--exact", "--nocapture", "--test-threads=1", "a_worker_hears_what_it_is_told"];

const FENCED: Plan = Plan {
    fenced: true,
    protocol: Protocol::Lease,
    lease: Duration::from_millis(500),
    gap: Duration::from_millis(1_500),
    stops: 20,
    writes: 20_000,
};

/// Fewer writes will do: what counts is how many were stopped.
const PLAIN: Plan =
    Plan { fenced: false, gap: Duration::from_millis(300), stops: 12, writes: 0, ..FENCED };

/// In rounds, followers are stopped in between.
const ROUNDS: Plan = Plan {
    protocol: Protocol::Rounds,
    gap: Duration::from_millis(500),
    stops: 8,
    writes: 4_000,
    ..FENCED
};

#[test]
fn a_worker_hears_what_it_is_told() -> anyhow::Result<()> {
    worker::work_if_asked()?;
    let role = Role {
        number: 2,
        url: "postgres://me:se cret@host/db?a=b".to_owned(),
        lease: FENCED.lease,
        fenced: true,
        protocol: Protocol::Rounds,
        history: "/tmp/a folder/history".into(),
    };
    assert_eq!(Role::read(&role.variable().1), Some(role));
    Ok(())
}

async fn fenced<K: Kind>(url: &str, plan: &Plan) -> anyhow::Result<()> {
    let verdict = judged(trial::run::<K>(url, WORDS, plan).await?);
    assert!(verdict.tally.writes >= plan.writes, "{verdict}");
    assert_eq!(verdict.tally.after_a_write, 0, "{verdict}");
    assert_eq!(verdict.tally.after_a_claim, 0, "{verdict}");
    // Nothing stale got through because it was refused, not because nobody tried.
    let (at_begin, at_commit) = (verdict.tally.refused_at_begin, verdict.tally.refused_at_commit);
    assert!(at_begin + at_commit > 0, "{verdict}");
    if K::STOPS_INSIDE {
        assert!(verdict.inside > 0 && at_commit > 0, "{verdict}");
    }
    Ok(())
}

/// Shows that the trial would notice.
async fn plain<K: Kind>(url: &str) -> anyhow::Result<()> {
    let verdict = judged(trial::run::<K>(url, WORDS, &PLAIN).await?);
    assert!(verdict.tally.after_a_claim > 0, "{verdict}");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the counts are what people want to see")]
fn judged(verdict: Verdict) -> Verdict {
    println!("{verdict}");
    assert!(verdict.report.is_clean(), "{verdict}\n{}", verdict.report);
    verdict
}

fn file(folder: &tempfile::TempDir) -> String {
    format!("sqlite://{}", folder.path().join("app.db").display())
}

#[tokio::test]
async fn no_deposed_leader_writes_to_postgres_in_a_fenced_transaction() -> anyhow::Result<()> {
    fenced::<Postgres>(&shared_postgres().await?.fresh_database().await?.url, &FENCED).await
}

#[tokio::test]
async fn no_deposed_leader_writes_to_mariadb_in_a_fenced_transaction() -> anyhow::Result<()> {
    fenced::<MySql>(&shared_mariadb().await?.fresh_database().await?.url, &FENCED).await
}

#[tokio::test]
async fn no_deposed_leader_writes_to_sqlite_in_a_fenced_transaction() -> anyhow::Result<()> {
    fenced::<Sqlite>(&file(&tempfile::tempdir()?), &FENCED).await
}

#[tokio::test]
async fn whoever_is_stopped_in_rounds_on_postgres_writes_nothing_stale_and_holds_up_nobody()
-> anyhow::Result<()> {
    fenced::<Postgres>(&shared_postgres().await?.fresh_database().await?.url, &ROUNDS).await
}

#[tokio::test]
async fn whoever_is_stopped_in_rounds_on_mariadb_writes_nothing_stale_and_holds_up_nobody()
-> anyhow::Result<()> {
    fenced::<MySql>(&shared_mariadb().await?.fresh_database().await?.url, &ROUNDS).await
}

#[tokio::test]
async fn whoever_is_stopped_in_rounds_on_sqlite_writes_nothing_stale_and_holds_up_nobody()
-> anyhow::Result<()> {
    fenced::<Sqlite>(&file(&tempfile::tempdir()?), &ROUNDS).await
}

#[tokio::test]
async fn deposed_leaders_write_to_postgres_without_fencing() -> anyhow::Result<()> {
    plain::<Postgres>(&shared_postgres().await?.fresh_database().await?.url).await
}

#[tokio::test]
async fn deposed_leaders_write_to_mariadb_without_fencing() -> anyhow::Result<()> {
    plain::<MySql>(&shared_mariadb().await?.fresh_database().await?.url).await
}

#[tokio::test]
async fn deposed_leaders_write_to_sqlite_without_fencing() -> anyhow::Result<()> {
    plain::<Sqlite>(&file(&tempfile::tempdir()?)).await
}
