//! The database is deleted, replaced or destroyed under running candidates.

use std::fs;
use std::time::{Duration, Instant};

use incumbent::{Change, Effect, Error, Reason};

use crate::support::{BILLING, LONG, Place, change, contend, for_a_while, lead, soon, won};

fn trouble(change: &Change) -> Option<String> {
    match change {
        Change::Trouble { problem, .. } => Some(problem.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn a_leader_whose_database_is_deleted_loses_at_once_and_says_why() {
    let place = Place::new();
    let lease = Duration::from_secs(4);
    let one = place.candidate("one", lease).await;
    let two = place.candidate("two", lease).await;
    let mut changes = one.observe().expect("observes");
    let leadership = lead(&one).await;
    let waiting = contend(&two);
    for_a_while().await;
    fs::remove_file(place.path()).expect("deleted");
    assert_eq!(soon("the loss", leadership.lost()).await, Reason::Deposed);
    assert!(!leadership.is_valid());
    let problem = change("the trouble", &mut changes, trouble).await;
    assert!(problem.contains("deleted or replaced"), "{problem}");
    assert!(problem.contains(&place.path().display().to_string()));

    let error = soon("an answer", waiting).await.expect("no panic").map(drop);
    assert!(matches!(error, Err(Error::StoreGone { .. })), "{error:?}");
    drop(leadership);
    let error = soon("an answer", one.campaign()).await.map(drop);
    let error = error.expect_err("there is no store");
    assert!(matches!(error, Error::StoreGone { .. }), "{error}");
    assert_eq!(error.standing(), Effect::Lost);
    let error = one.leader().await.expect_err("there is no store");
    assert!(matches!(error, Error::StoreGone { .. }), "{error}");
}

#[tokio::test]
async fn a_fresh_database_beside_a_live_candidate_is_not_led_on_for_a_full_lease() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let one = place.candidate("one", lease).await;
    let leadership = lead(&one).await;
    for file in place.files() {
        let _ = fs::remove_file(file);
    }
    let began = Instant::now();
    let two = place.candidate("two", lease).await;
    let mut changes = two.observe().expect("observes");
    let waiting = contend(&two);
    change("the store went back", &mut changes, |change| match change {
        Change::WentBack { .. } => Some(()),
        _ => None,
    })
    .await;
    let second = won(waiting).await;
    assert!(!leadership.is_valid(), "two leaders on two files");
    assert!(began.elapsed() >= lease, "led after {:?}", began.elapsed());
    assert!(second.token() > leadership.token());
}

#[tokio::test]
async fn an_older_copy_put_in_place_under_a_leader_is_not_led_on_for_a_full_lease() {
    let place = Place::new();
    let lease = Duration::from_secs(2);
    let one = place.candidate("one", lease).await;
    lead(&one).await.resign().await.expect("resigns");
    place.sql("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let copy = place.folder().join("copy");
    fs::copy(place.path(), &copy).expect("copied");
    let leadership = lead(&one).await;
    for file in place.files().into_iter().skip(1) {
        let _ = fs::remove_file(file);
    }
    fs::rename(copy, place.path()).expect("replaced");
    let began = Instant::now();
    let two = place.candidate("two", lease).await;
    let second = won(contend(&two)).await;
    assert!(!leadership.is_valid(), "two leaders on two files");
    assert!(began.elapsed() >= lease, "led after {:?}", began.elapsed());
    assert!(second.token() > leadership.token());
    // Once somebody has led on it, it is a store like any other.
    let three = place.candidate("three", lease).await;
    let waiting = contend(&three);
    for_a_while().await;
    second.resign().await.expect("resigns");
    won(waiting).await.resign().await.expect("resigns");
    let terms = two.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(terms[0].opening, "released");
}

/// The copy is from before all candidates were given a longer lease, and the leader is stopped, so that it notices
/// nothing.
#[test]
fn an_older_copy_with_a_shorter_lease_is_not_led_on_beside_a_stopped_leader() {
    let (place, lease) = (Place::new(), Duration::from_secs(5));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Whoever lives in a runtime like these stands still while nobody waits there.
    let (stopped, running) = (runtime().expect("a runtime"), runtime().expect("a runtime"));
    let copy = place.folder().join("copy");
    let (_one, before) = stopped.block_on(async {
        let old = place.candidate("old", Duration::from_secs(1)).await;
        lead(&old).await.resign().await.expect("resigns");
        old.backend().clone().close().await;
        place.sql("PRAGMA wal_checkpoint(TRUNCATE)").await;
        fs::copy(place.path(), &copy).expect("copied");
        let one = place.candidate("one", lease).await;
        let leadership = lead(&one).await;
        (one, leadership)
    });
    for file in place.files().into_iter().skip(1) {
        let _ = fs::remove_file(file);
    }
    fs::rename(copy, place.path()).expect("replaced");
    let (_two, after) = running.block_on(async {
        let two = place.candidate("two", lease).await;
        let leadership = lead(&two).await;
        (two, leadership)
    });
    assert!(!before.is_valid(), "two leaders on two files");
    assert!(after.token() > before.token(), "a token came back");
}

#[tokio::test]
async fn a_fresh_database_is_led_on_at_once_when_nobody_lives_beside_it() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let token = lead(&one).await.token();
    one.backend().clone().close().await;
    for file in place.files() {
        let _ = fs::remove_file(file);
    }
    let two = place.candidate("two", LONG).await;
    assert!(lead(&two).await.token() > token);
}

#[tokio::test]
async fn a_database_that_is_replaced_by_another_one_is_noticed() {
    let (place, other) = (Place::new(), Place::new());
    let elsewhere = other.candidate("elsewhere", LONG).await;
    lead(&elsewhere).await.resign().await.expect("resigns");
    elsewhere.backend().clone().close().await;

    let lease = Duration::from_secs(4);
    let one = place.candidate("one", lease).await;
    let leadership = lead(&one).await;
    fs::copy(other.path(), place.folder().join("copy")).expect("copied");
    fs::rename(place.folder().join("copy"), place.path()).expect("replaced");
    assert_eq!(soon("the loss", leadership.lost()).await, Reason::Deposed);
    drop(leadership);
    let error = soon("an answer", one.campaign()).await.map(drop);
    assert!(matches!(error, Err(Error::StoreGone { .. })), "{error:?}");
}

#[tokio::test]
async fn a_database_that_is_overwritten_is_reported_with_its_name() {
    let place = Place::new();
    let lease = Duration::from_secs(4);
    let one = place.candidate("one", lease).await;
    let leadership = lead(&one).await;
    let garbage = "somebody else's bytes ".repeat(4_000);
    // A write that is under way meanwhile puts some of it right again: not for long.
    let overwritten = async {
        loop {
            for file in place.files().iter().filter(|file| file.exists()) {
                fs::write(file, &garbage).expect("overwritten");
            }
            if let Ok(reason) = tokio::time::timeout(lease / 10, leadership.lost()).await {
                return reason;
            }
        }
    };
    let reason = soon("the loss", overwritten).await;
    assert_ne!(reason, Reason::Resigned);
    drop(leadership);
    let error = soon("an answer", one.campaign()).await.map(drop);
    let error = error.expect_err("there is no store");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    let name = place.path().display().to_string();
    assert!(error.to_string().contains(&name), "{error}");
}

#[tokio::test]
async fn a_table_that_is_dropped_under_a_leader_ends_its_leadership_and_is_reported() {
    let place = Place::new();
    let lease = Duration::from_secs(2);
    let one = place.candidate("one", lease).await;
    let mut changes = one.observe().expect("observes");
    let leadership = lead(&one).await;
    place.sql("DROP TABLE incumbent_beat").await;
    let reason = soon("the loss", leadership.lost()).await;
    assert_ne!(reason, Reason::Resigned);
    let problem = change("the trouble", &mut changes, trouble).await;
    assert!(problem.contains("incumbent_beat"), "{problem}");
    drop(leadership);
    let error = soon("an answer", one.campaign()).await.map(drop);
    let error = error.expect_err("there is no table");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    // Whoever comes later is told so too, rather than waiting for ever.
    let error = incumbent::Backend::open(&place.url()).await.map(drop);
    let error = error.expect_err("there is no table");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn without_the_folder_of_locks_elections_go_on_and_it_is_made_anew() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let one = place.candidate("one", lease).await;
    let two = place.candidate("two", lease).await;
    let first = lead(&one).await;
    fs::remove_dir_all(place.folder().join("elections.db-candidates")).expect("deleted");
    let waiting = contend(&two);
    let before = first.valid_until_nanos();
    crate::support::until("a renewal", async || first.valid_until_nanos() > before).await;
    waiting.abort();
    first.resign().await.expect("resigns");
    assert!(lead(&two).await.is_valid());
    assert!(place.folder().join("elections.db-candidates").is_dir());
}
