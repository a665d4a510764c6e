//! Work that hangs below a leadership.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use incumbent::{Leadership, Token};
use tokio::sync::mpsc;

use crate::support::{LONG, Place, config, lead, soon, until};

#[tokio::test]
async fn run_returns_what_the_work_returns_and_lets_go() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let token = one.run(async |leadership| leadership.token()).await;
    let token = token.expect("the work ends");
    assert!(lead(&two).await.token() > token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_works_inside_a_spawned_task() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let ledger = Arc::new(AtomicU32::new(40));
    let job = tokio::spawn({
        let ledger = Arc::clone(&ledger);
        async move {
            election
                .run(async move |leadership: &Leadership| {
                    tokio::task::yield_now().await;
                    assert!(leadership.is_valid());
                    ledger.fetch_add(2, Ordering::SeqCst) + 2
                })
                .await
        }
    });
    let total = soon("the work", job).await.expect("no panic");
    assert_eq!(total.expect("the work ends"), 42);
}

#[tokio::test]
async fn run_contends_again_after_a_demotion() {
    let place = Place::new();
    let lease = Duration::from_secs(2);
    let election = place.candidate("one", lease).await;
    let (told, mut tokens) = mpsc::unbounded_channel::<Token>();
    let job = tokio::spawn({
        let election = election.clone();
        let mut attempts = 0;
        async move {
            let work = async move |leadership: &Leadership| {
                attempts += 1;
                told.send(leadership.token()).expect("the test listens");
                if attempts == 1 {
                    std::future::pending::<()>().await;
                }
                attempts
            };
            election.run(work).await
        }
    });
    let first = soon("the first term", tokens.recv()).await.expect("a token");
    let decree = election.backend().demote("billing", None, "test", None);
    assert_eq!(
        decree.await.expect("demotes").term.get(),
        first.get(),
        "the term that was told is the term that was ended"
    );
    let second = soon("the second term", tokens.recv()).await.expect("a token");
    assert!(second > first);
    let attempts = soon("the work", job).await.expect("no panic");
    assert_eq!(attempts.expect("the work ends"), 2);
}

/// Tells whether the leadership was still valid when the work was dropped.
struct Goodbye<'a>(&'a Leadership, Arc<AtomicBool>, Arc<AtomicBool>);

impl Drop for Goodbye<'_> {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
        self.2.store(self.0.is_valid(), Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_given_up_before_the_lease_ends_when_the_store_is_lost() {
    let place = Place::new();
    // A grace of half the lease, so that a slow machine still stops the work in time.
    let lease = Duration::from_secs(2);
    let config = config("one", lease).beat(lease / 10).timeout(lease / 10).grace(lease / 2);
    let election = place.enter(&config).await;
    let (gone, valid) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (told, mut tokens) = mpsc::unbounded_channel::<Token>();
    let job = tokio::spawn({
        let (gone, valid) = (Arc::clone(&gone), Arc::clone(&valid));
        async move {
            let work = async move |leadership: &Leadership| {
                told.send(leadership.token()).expect("the test listens");
                if !gone.load(Ordering::SeqCst) {
                    let _goodbye = Goodbye(leadership, Arc::clone(&gone), Arc::clone(&valid));
                    std::future::pending::<()>().await;
                }
            };
            election.run(work).await
        }
    });
    let first = soon("the first term", tokens.recv()).await.expect("a token");

    // Somebody writes for longer than the lease: nothing can be renewed meanwhile.
    let mut writer = place.connect().await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut writer).await.expect("begins");
    until("the work is given up", async || gone.load(Ordering::SeqCst)).await;
    assert!(valid.load(Ordering::SeqCst), "the work outlived its lease");
    tokio::time::sleep(lease).await;
    sqlx::raw_sql("ROLLBACK").execute(&mut writer).await.expect("ends");

    let second = soon("the second term", tokens.recv()).await.expect("a token");
    assert!(second > first);
    soon("the work", job).await.expect("no panic").expect("the work ends");
}

#[tokio::test]
async fn dropping_run_hands_over() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (told, mut began) = mpsc::unbounded_channel();
    let job = tokio::spawn(async move {
        let work = async move |_: &Leadership| {
            told.send(()).expect("the test listens");
            std::future::pending::<()>().await;
        };
        one.run(work).await
    });
    soon("the work begins", began.recv()).await;
    job.abort();
    assert!(lead(&two).await.is_valid());
}
