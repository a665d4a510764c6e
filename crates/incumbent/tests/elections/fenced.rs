//! Fenced transactions that SQLite, or the program, ends before their time.

use std::fs;

use incumbent::{Error, Fenced, Leadership};
use sqlx::sqlite::{Sqlite, SqlitePool, SqlitePoolOptions};

use crate::support::{LONG, Place, lead};

/// One connection, so that what is left of a transaction meets the next one.
async fn pool(place: &Place) -> SqlitePool {
    let pool = SqlitePoolOptions::new().max_connections(1).connect(&place.url()).await;
    let pool = pool.expect("a pool");
    let tables = "CREATE TABLE ledger (entry INTEGER PRIMARY KEY);
        CREATE TRIGGER gate BEFORE INSERT ON ledger WHEN NEW.entry < 0
        BEGIN SELECT RAISE(ROLLBACK, 'not that'); END";
    sqlx::raw_sql(tables).execute(&pool).await.expect("tables");
    pool
}

async fn entries(pool: &SqlitePool) -> Vec<i64> {
    let entries = sqlx::query_scalar("SELECT entry FROM ledger ORDER BY entry");
    entries.fetch_all(pool).await.expect("entries")
}

async fn tell(work: &mut Fenced<'_, Sqlite>, sql: &'static str) -> sqlx::Result<()> {
    sqlx::raw_sql(sql).execute(&mut **work).await.map(drop)
}

/// A statement ends the transaction; what follows must not commit by itself.
async fn is_ended_by(statement: &'static str) {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let pool = pool(&place).await;
    let mut work = leadership.transaction(&pool).await.expect("begins");
    tell(&mut work, "INSERT INTO ledger VALUES (1)").await.expect("inserted");
    // It may fail, or end the transaction without a word.
    let _ = tell(&mut work, statement).await;
    tell(&mut work, "INSERT INTO ledger VALUES (2)").await.expect_err("it would commit unfenced");
    let error = work.commit().await.expect_err("there is nothing to commit");
    assert!(error.to_string().contains("SQLite ended the transaction"), "{error}");
    assert_eq!(entries(&pool).await, Vec::<i64>::new());
    works_again(&leadership, &pool).await;
}

/// The connection is as good as before, for fenced work and for any other.
async fn works_again(leadership: &Leadership, pool: &SqlitePool) {
    let insert = "INSERT INTO ledger VALUES (7)";
    sqlx::raw_sql(insert).execute(pool).await.expect("commits by itself");
    let mut work = leadership.transaction(pool).await.expect("begins");
    tell(&mut work, "INSERT INTO ledger VALUES (8)").await.expect("inserted");
    work.commit().await.expect("committed");
    let mut plain = pool.begin().await.expect("begins");
    sqlx::raw_sql("INSERT INTO ledger VALUES (9)").execute(&mut *plain).await.expect("inserted");
    plain.commit().await.expect("committed");
    assert_eq!(entries(pool).await, [7, 8, 9]);
}

#[tokio::test]
async fn what_follows_an_insert_or_rollback_that_failed_is_not_written() {
    is_ended_by("INSERT OR ROLLBACK INTO ledger VALUES (1)").await;
}

#[tokio::test]
async fn what_follows_a_trigger_that_rolled_back_is_not_written() {
    is_ended_by("INSERT INTO ledger VALUES (-1)").await;
}

#[tokio::test]
async fn a_commit_of_ones_own_writes_nothing() {
    is_ended_by("COMMIT").await;
}

#[tokio::test]
async fn what_follows_a_rollback_of_ones_own_is_not_written() {
    is_ended_by("ROLLBACK").await;
}

#[tokio::test]
async fn a_transaction_that_ended_early_can_be_rolled_back() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let pool = pool(&place).await;
    let mut work = leadership.transaction(&pool).await.expect("begins");
    tell(&mut work, "INSERT INTO ledger VALUES (-1)").await.expect_err("refused");
    work.rollback().await.expect("rolled back");
    works_again(&leadership, &pool).await;
}

#[tokio::test]
async fn a_connection_whose_fenced_transaction_was_dropped_commits_other_work() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let pool = pool(&place).await;
    let mut work = leadership.transaction(&pool).await.expect("begins");
    tell(&mut work, "INSERT INTO ledger VALUES (1)").await.expect("inserted");
    drop(work);
    works_again(&leadership, &pool).await;
}

#[tokio::test]
async fn in_an_older_copy_of_the_file_nothing_is_committed() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    pool(&place).await.close().await;
    place.sql("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let copy = place.folder().join("copy");
    fs::copy(place.path(), &copy).expect("copied");
    for file in place.files().into_iter().skip(1) {
        let _ = fs::remove_file(file);
    }
    fs::rename(copy, place.path()).expect("replaced");
    // The row of the copy says that this term stands, until somebody claims the next one.
    let pool = SqlitePoolOptions::new().connect(&place.url()).await.expect("a pool");
    let written = async {
        let mut work = leadership.transaction(&pool).await?;
        tell(&mut work, "INSERT INTO ledger VALUES (1)").await.expect("inserted");
        work.commit().await
    };
    let error = written.await.expect_err("the file is another");
    assert!(matches!(error, Error::Unconfirmed { .. } | Error::Fenced { .. }), "{error}");
    assert_eq!(entries(&pool).await, Vec::<i64>::new());
}
