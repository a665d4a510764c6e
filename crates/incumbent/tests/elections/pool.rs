//! A pool of the user's own.

use std::time::Duration;

use incumbent::{Backend, Reason};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};

use crate::support::{BILLING, LONG, Place, config, contend, for_a_while, lead, soon, won};

async fn pool_of_one(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await
        .expect("a pool")
}

fn file(place: &Place) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(place.path()).create_if_missing(true)
}

async fn open(pool: &SqlitePool, name: &str, lease: Duration) -> Backend {
    Backend::with_sqlite_pool(pool.clone(), &config(name, lease)).await.expect("opens")
}

/// Leads with one candidate, waits with the other, hands over; the user's own table stays usable in
/// between.
async fn hand_over(pool: &SqlitePool) {
    sqlx::raw_sql("CREATE TABLE mine (value INTEGER)").execute(pool).await.expect("creates");
    let (one, two) = (open(pool, "one", LONG).await, open(pool, "two", LONG).await);
    let first = lead(&one.election(BILLING).await.expect("opens")).await;
    let waiting = contend(&two.election(BILLING).await.expect("opens"));
    for value in 0..20 {
        sqlx::query("INSERT INTO mine VALUES (?1)")
            .bind(value)
            .execute(pool)
            .await
            .expect("inserts");
    }
    for_a_while().await;
    assert!(!waiting.is_finished(), "two led beside one");
    let token = first.token();
    first.resign().await.expect("resigns");
    // Without a file there is no doorbell: the other one looks at its next beat.
    let second = won(waiting).await;
    assert!(second.token() > token);
    let row = sqlx::query("SELECT count(*) FROM mine").fetch_one(pool).await.expect("a row");
    assert_eq!(row.get::<i64, _>(0), 20);
}

#[tokio::test]
async fn two_backends_share_a_pool_of_one_connection_to_a_file() {
    let place = Place::new();
    hand_over(&pool_of_one(file(&place)).await).await;
}

#[tokio::test]
async fn two_backends_share_a_database_in_memory() {
    hand_over(&pool_of_one(SqliteConnectOptions::new().in_memory(true)).await).await;
}

#[tokio::test]
async fn a_pool_and_a_url_on_one_file_meet_in_one_election() {
    let place = Place::new();
    let pool = pool_of_one(file(&place)).await;
    let one = open(&pool, "one", LONG).await;
    let first = lead(&one.election(BILLING).await.expect("opens")).await;
    let two = place.candidate("two", LONG).await;
    let waiting = contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished(), "two led beside one");
    drop(first);
    assert!(won(waiting).await.is_valid());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_keeps_the_only_connection_costs_the_leadership_but_not_for_good() {
    let place = Place::new();
    let pool = pool_of_one(file(&place)).await;
    let one = open(&pool, "one", Duration::from_secs(1)).await;
    let election = one.election(BILLING).await.expect("opens");
    let first = lead(&election).await;
    let kept = pool.acquire().await.expect("a connection");
    let reason = soon("the loss", first.lost()).await;
    assert!(matches!(reason, Reason::Ending | Reason::Expired), "{reason}");
    let token = first.token();
    drop((first, kept));
    assert!(lead(&election).await.token() > token);
}
