//! Who leads, who waits, and how leadership is handed over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use incumbent::{Error, Reason, Sight};

use crate::support::{LONG, Place, SHORT, contend, for_a_while, lead, soon, until, won};

#[tokio::test]
async fn a_first_candidate_leads_at_once() {
    let place = Place::new();
    let election = place.candidate("host-1", LONG).await;
    let leadership = lead(&election).await;
    assert!(leadership.is_valid());
    assert_eq!(leadership.token().get(), leadership.term().get());
    assert_eq!(leadership.election().as_str(), "billing");
    assert!(leadership.remaining() > Duration::ZERO && leadership.remaining() < LONG);
    assert_eq!(leadership.reason(), None);
    let leader = election.leader().await.expect("a look").expect("a leader");
    assert_eq!(leader.id, *election.backend().candidate());
    assert_eq!(leader.term, leadership.term());
}

#[tokio::test]
async fn a_second_candidate_waits_until_the_first_resigns() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let first = lead(&one).await;
    let waiting = contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished(), "two led beside one");
    let token = first.token();
    first.resign().await.expect("resigns");
    let second = won(waiting).await;
    assert!(second.token() > token);
    assert!(second.is_valid());
}

#[tokio::test]
async fn dropping_a_leadership_hands_over() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let first = lead(&one).await;
    let waiting = contend(&two);
    drop(first);
    assert!(won(waiting).await.is_valid());
}

#[tokio::test]
async fn a_dropped_campaign_contends_no_more() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let first = lead(&one).await;
    let waiting = contend(&two);
    for_a_while().await;
    waiting.abort();
    assert!(waiting.await.is_err_and(|error| error.is_cancelled()));
    first.resign().await.expect("resigns");
    for_a_while().await;
    let status = one.status().await.expect("a look");
    assert_eq!(status.sight, Sight::Vacant, "nobody wants to lead");
}

#[tokio::test]
async fn two_campaigns_of_one_process_lead_one_after_the_other() {
    let place = Place::new();
    let election = place.candidate("host", LONG).await;
    let first = lead(&election).await;
    let waiting = contend(&election);
    for_a_while().await;
    assert!(!waiting.is_finished(), "one process led twice");
    let token = first.token();
    drop(first);
    assert!(won(waiting).await.token() > token);
}

#[tokio::test]
async fn closing_a_backend_ends_all_that_it_led_and_who_lets_go_is_succeeded() {
    let place = Place::new();
    let one = place.candidate("one", SHORT).await;
    let two = place.candidate("two", SHORT).await;
    let reports = one.backend().election("reports").await.expect("opens");
    let (billing, reporting) = (lead(&one).await, lead(&reports).await);
    soon("closing", one.backend().clone().close()).await;
    for leadership in [&billing, &reporting] {
        assert!(!leadership.is_valid());
        assert_eq!(leadership.reason(), Some(Reason::Resigned));
        assert_eq!(leadership.remaining(), Duration::ZERO);
    }
    let tokens = (billing.token(), reporting.token());
    drop((billing, reporting));
    assert!(lead(&two).await.token() > tokens.0);
    let reports = two.backend().election("reports").await.expect("opens");
    assert!(lead(&reports).await.token() > tokens.1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_a_backend_stops_the_work_first_and_lets_go_then() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let two = place.candidate("two", LONG).await;
    let (began, begun) = tokio::sync::oneshot::channel();
    let mut began = Some(began);
    let working = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&working);
    let backend = one.backend().clone();
    let work = tokio::spawn(async move {
        one.run(async move |_| {
            let _guard = Working::begin(&flag);
            if let Some(began) = began.take() {
                let _ = began.send(());
            }
            std::future::pending::<()>().await;
        })
        .await
    });
    begun.await.expect("the work begins");
    let closing = tokio::spawn(backend.close());
    let second = lead(&two).await;
    assert!(!working.load(Ordering::Acquire), "the work of one ran beside two");
    assert!(second.is_valid());
    soon("closing", closing).await.expect("no panic");
    let ended = soon("the end of run", work).await.expect("no panic");
    assert!(matches!(ended, Err(Error::Closed)), "{ended:?}");
}

/// Says, as long as it lives, that somebody works.
struct Working(Arc<AtomicBool>);

impl Working {
    fn begin(flag: &Arc<AtomicBool>) -> Self {
        flag.store(true, Ordering::Release);
        Working(Arc::clone(flag))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[tokio::test]
async fn a_closed_backend_says_so() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let waiting = {
        let leadership = lead(&election).await;
        let waiting = contend(&election);
        for_a_while().await;
        election.backend().clone().close().await;
        drop(leadership);
        waiting
    };
    let closed = waiting.await.expect("no panic").map(drop);
    assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    let closed = election.campaign().await.map(drop);
    assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    assert!(matches!(election.observe().map(drop), Err(Error::Closed)));
    assert!(matches!(election.leader().await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_campaign_that_comes_while_the_backend_closes_is_not_won() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let closing = election.backend().clone().close();
    // The word to close is sent first, that to contend right behind it.
    let ((), campaign) = tokio::join!(closing, election.campaign());
    let campaign = campaign.map(drop);
    assert!(matches!(campaign, Err(Error::Closed)), "{campaign:?}");
}

#[tokio::test]
async fn a_process_that_lets_go_of_every_handle_lets_go_of_everything() {
    let place = Place::new();
    let two = place.candidate("two", LONG).await;
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    drop(one);
    for_a_while().await;
    assert!(leadership.is_valid(), "a leadership outlives the other handles");
    drop(leadership);
    assert!(lead(&two).await.is_valid());
}

#[tokio::test]
async fn candidates_that_leave_in_good_order_leave_no_file_behind() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let locks = place.folder().join("elections.db-candidates");
    let names = || {
        let entries = std::fs::read_dir(&locks).expect("the folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name != "bell").count()
    };
    assert_eq!(names(), 1);
    leadership.resign().await.expect("resigns");
    one.backend().clone().close().await;
    until("the lock is gone", async || names() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_candidates_one_works_at_a_time_and_tokens_grow() {
    let place = Place::new();
    let (working, newest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
    let mut jobs = tokio::task::JoinSet::new();
    for number in 0..8 {
        let election = place.candidate(&format!("host-{number}"), LONG).await;
        let (working, newest) = (Arc::clone(&working), Arc::clone(&newest));
        jobs.spawn(async move {
            for _ in 0..2 {
                let leadership = lead(&election).await;
                assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0, "two work");
                let token = leadership.token().get();
                assert!(newest.swap(token, Ordering::SeqCst) < token, "tokens grow");
                tokio::time::sleep(Duration::from_millis(2)).await;
                working.fetch_sub(1, Ordering::SeqCst);
                leadership.resign().await.expect("resigns");
            }
        });
    }
    soon("sixteen leaderships", jobs.join_all()).await;
}
