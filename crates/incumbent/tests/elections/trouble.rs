//! The store is locked or full for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use incumbent::{Backend, Change, Reason};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions};

use crate::support::{
    Place, boot_nanos, change, config, contend, for_a_while, lead, soon, until, won,
};

fn began(change: &Change) -> Option<String> {
    match change {
        Change::Trouble { problem, .. } => Some(problem.clone()),
        _ => None,
    }
}

fn ended(change: &Change) -> Option<()> {
    matches!(change, Change::Well).then_some(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_writer_costs_the_leadership_in_time_and_not_for_good() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let one = place.candidate("one", lease).await;
    let two = place.candidate("two", lease).await;
    let mut changes = one.observe().expect("observes");
    let first = lead(&one).await;
    let mut writer = place.connect().await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut writer).await.expect("begins");
    let reason = soon("the loss", first.lost()).await;
    assert!(matches!(reason, Reason::Ending | Reason::Expired), "{reason}");
    let (token, valid_until) = (first.token(), first.valid_until_nanos());
    change("the trouble", &mut changes, began).await;
    until("the end of the lease", async || !first.is_valid()).await;
    assert!(boot_nanos() >= valid_until);
    drop(first);
    let (again, other) = (contend(&one), contend(&two));
    tokio::time::sleep(lease).await;
    assert!(!again.is_finished() && !other.is_finished(), "led without a store");
    sqlx::raw_sql("ROLLBACK").execute(&mut writer).await.expect("ends");
    // One of them leads by itself, whichever; then the other.
    let second = tokio::select! {
        second = won(again) => second,
        second = won(other) => second,
    };
    assert!(second.token() > token);
    change("the end of the trouble", &mut changes, ended).await;
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_campaign_goes_on_when_there_is_room() {
    let place = Place::new();
    let room = Arc::new(AtomicU32::new(100_000));
    let (at_first, later) = (Arc::clone(&room), Arc::clone(&room));
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| Box::pin(limit(connection, Arc::clone(&at_first))))
        .before_acquire(move |connection, _| {
            let room = Arc::clone(&later);
            Box::pin(async move { limit(connection, room).await.map(|()| true) })
        })
        .connect_with(SqliteConnectOptions::new().filename(place.path()).create_if_missing(true));
    let pool = pool.await.expect("a pool");
    let config = config("one", Duration::from_secs(3));
    let backend = Backend::with_sqlite_pool(pool.clone(), &config).await;
    let backend = backend.expect("opens");
    // Not a page more than there is; SQLite takes no less.
    room.store(1, Ordering::SeqCst);
    let fitted = fill(&backend).await;
    assert!(fitted > 0, "there was room in the pages that there are");
    let election = backend.election(&"y".repeat(128)).await.expect("opens");
    let mut changes = election.observe().expect("observes");
    let waiting = contend(&election);
    for_a_while().await;
    assert!(!waiting.is_finished(), "led without room for it");
    room.store(100_000, Ordering::SeqCst);
    assert!(won(waiting).await.is_valid());
    change("the end of the trouble", &mut changes, ended).await;
}

/// Takes the room that a connection has.
async fn limit(connection: &mut SqliteConnection, room: Arc<AtomicU32>) -> sqlx::Result<()> {
    let pages = format!("PRAGMA max_page_count = {}", room.load(Ordering::SeqCst));
    sqlx::raw_sql(AssertSqlSafe(pages)).execute(connection).await.map(drop)
}

/// Claims elections with long names until there is no room; tells how many there were.
async fn fill(backend: &Backend) -> usize {
    for number in 0..1_000 {
        let name = format!("{number}-{}", "x".repeat(100));
        let election = backend.election(&name).await.expect("opens");
        let mut changes = election.observe().expect("observes");
        let waiting = contend(&election);
        let gained = change("a gain or trouble", &mut changes, |change| match change {
            Change::Gained { .. } => Some(true),
            Change::Trouble { problem, .. } => {
                assert!(problem.contains("full"), "{problem}");
                Some(false)
            }
            _ => None,
        });
        if !gained.await {
            waiting.abort();
            return number;
        }
        won(waiting).await.resign().await.expect("resigns");
    }
    panic!("the disk never filled up");
}
