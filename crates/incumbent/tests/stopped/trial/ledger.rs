//! The ledger that leaders write to, and that notices who wrote too late.
//!
//! Assumes: every write is one transaction that goes through [`entry`].
//! Promises: all writes wait for one row, so that their numbers are the order in which they were
//! committed. A write counts as stale if a later term had written before it, and also if a later
//! term had been claimed before it was committed: a new leader's first act, its claim being
//! committed, is to note how many writes it found, so that each later write of an older term is too
//! late. What is counted is surely stale; only what falls between a claim and that note is missed.

use anyhow::Context as _;
use sqlx::Pool;

use super::kind::Kind;

const TABLES: &str = "
    CREATE TABLE ledger (writes BIGINT NOT NULL, last_term BIGINT NOT NULL, stale BIGINT NOT NULL);
    INSERT INTO ledger VALUES (0, 0, 0);
    CREATE TABLE entry (number BIGINT NOT NULL PRIMARY KEY, term BIGINT NOT NULL, worker BIGINT NOT NULL);
    CREATE TABLE opening (term BIGINT NOT NULL PRIMARY KEY, writes BIGINT NOT NULL);
    CREATE TABLE refusal (term BIGINT NOT NULL, at_commit BIGINT NOT NULL)";

/// Makes an empty ledger.
pub(crate) async fn make<K: Kind>(pool: &Pool<K>) -> anyhow::Result<()> {
    let mut connection = pool.acquire().await?;
    K::run(&mut connection, TABLES.to_owned()).await.context("making the ledger")
}

/// Writes in the open transaction of `connection`.
pub(crate) async fn entry<K: Kind>(
    connection: &mut K::Connection,
    term: u64,
    worker: usize,
) -> sqlx::Result<()> {
    // MySQL goes from left to right, so `stale` must come before what it looks at.
    let count = format!(
        "UPDATE ledger SET stale = stale + CASE WHEN last_term > {term} THEN 1 ELSE 0 END, writes = writes + 1,
            last_term = CASE WHEN last_term > {term} THEN last_term ELSE {term} END"
    );
    K::run(connection, count).await?;
    let entry = format!("INSERT INTO entry SELECT writes, {term}, {worker} FROM ledger");
    K::run(connection, entry).await
}

/// Notes how many writes a new leader finds. Read without a lock, or it would wait for an older
/// leader that was stopped in the middle of a write.
pub(crate) async fn open<K: Kind>(pool: &Pool<K>, term: u64) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    let found = writes::<K>(&mut connection).await?;
    K::run(&mut connection, format!("INSERT INTO opening VALUES ({term}, {found})")).await
}

/// How many writes were committed.
pub(crate) async fn writes<K: Kind>(connection: &mut K::Connection) -> sqlx::Result<i64> {
    let rows = K::rows(connection, "SELECT writes FROM ledger".to_owned()).await?;
    rows.first().and_then(|row| row.first()).copied().ok_or(sqlx::Error::RowNotFound)
}

/// Notes that a deposed leader was turned away, at the beginning of its transaction or at the end.
pub(crate) async fn refuse<K: Kind>(
    pool: &Pool<K>,
    term: u64,
    at_commit: bool,
) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    let at_commit = i64::from(at_commit);
    K::run(&mut connection, format!("INSERT INTO refusal VALUES ({term}, {at_commit})")).await
}

/// What the ledger tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Writes that were committed.
    pub(crate) writes: i64,
    /// The highest term that wrote.
    pub(crate) last_term: i64,
    /// Writes that were committed after a write of a later term.
    pub(crate) after_a_write: i64,
    /// Writes that were committed after a later term was claimed; the others are among them.
    pub(crate) after_a_claim: i64,
    /// Transactions that were refused when they began.
    pub(crate) refused_at_begin: i64,
    /// Transactions that were refused when they were about to commit.
    pub(crate) refused_at_commit: i64,
}

/// Reads the small figures only.
pub(crate) async fn glance<K: Kind>(pool: &Pool<K>) -> anyhow::Result<Tally> {
    let mut connection = pool.acquire().await?;
    let rows = "SELECT writes, last_term, stale FROM ledger".to_owned();
    let rows = K::rows(&mut connection, rows).await?;
    let &[writes, last_term, after_a_write] =
        rows.first().map(Vec::as_slice).context("the ledger is gone")?
    else {
        anyhow::bail!("the ledger has other columns");
    };
    Ok(Tally { writes, last_term, after_a_write, ..Tally::default() })
}

/// Counts everything.
pub(crate) async fn tally<K: Kind>(pool: &Pool<K>) -> anyhow::Result<Tally> {
    let tally = glance(pool).await?;
    let mut connection = pool.acquire().await?;
    // In one statement: the last commit of a worker that was killed may still be under way.
    let both = "SELECT writes, (SELECT COUNT(*) FROM entry) FROM ledger".to_owned();
    let both = K::rows(&mut connection, both).await?;
    let &[writes, entries] = both.first().map(Vec::as_slice).context("the ledger is gone")? else {
        anyhow::bail!("the ledger has other columns");
    };
    anyhow::ensure!(entries == writes, "{entries} entries of {writes} writes");
    let mut count = async |sql: &str| {
        let rows = K::rows(&mut connection, format!("SELECT COUNT(*) {sql}")).await?;
        rows.first().and_then(|row| row.first()).copied().context("no count")
    };
    Ok(Tally {
        after_a_claim: count(
            "FROM entry WHERE EXISTS (SELECT 1 FROM opening
                WHERE opening.term > entry.term AND opening.writes < entry.number)",
        )
        .await?,
        refused_at_begin: count("FROM refusal WHERE at_commit = 0").await?,
        refused_at_commit: count("FROM refusal WHERE at_commit = 1").await?,
        ..tally
    })
}
