//! Demands 4 and 5: how a leadership ends, by a crash or in good order.

use std::time::Duration;

use incumbent::{Doctor, Leadership, Reason, lease_clock_nanos};

use crate::support::{
    BILLING, LONG, Place, SHORT, config, contend, enter, for_a_while, lead, resign, soon, won,
};

/// Leads in a runtime of its own, which is then dropped with everything in it: nothing is told to
/// anybody, as when a process is killed.
async fn lead_and_vanish(url: String, lease: Duration) -> Leadership {
    let vanish = move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let leadership =
            runtime.block_on(async { lead(&enter(&url, &config("one", lease)).await).await });
        runtime.shutdown_timeout(Duration::from_secs(5));
        leadership
    };
    tokio::task::spawn_blocking(vanish).await.expect("no panic")
}

// After a crash nobody led for a minute or more, and nobody could say how long it would take. Here a
// bound is stated; a successor comes, and not before the lease of the dead has ended. That the bound is kept
// depends on the machine: `cargo xtask soak --only failover-bound` measures it.
#[tokio::test]
async fn p04_a_crashed_leader_is_succeeded_after_its_lease_and_the_bound_is_stated() {
    let place = Place::postgres().await;
    let two = place.candidate("two", SHORT).await;
    let checkup = Doctor::examine(&place.url, &config("two", SHORT)).await.expect("a checkup");
    let bound = checkup.failover;
    assert_eq!(bound.bound, two.timing().failover_bound());
    assert_eq!(bound.bound, bound.lease + bound.beat + bound.timeout * 2);
    assert_eq!(bound.lease, SHORT);
    let dead = lead_and_vanish(place.url.clone(), SHORT).await;
    let second = lead(&two).await;
    assert!(lease_clock_nanos() >= dead.valid_until_nanos(), "it led beside a lease that ran");
    assert!(second.token() > dead.token());
    let terms = two.backend().terms(BILLING, 9).await.expect("terms");
    assert_eq!(terms[0].opening, "expired");
    assert!(terms[0].began.since(terms[1].began) >= SHORT, "by the store's clock");
}

// A leader that stopped in good order left its lease behind, which everybody waited for.
#[tokio::test]
async fn p04_a_leader_that_stops_in_good_order_is_succeeded_without_waiting_for_its_lease() {
    for place in [Place::file(), Place::postgres().await, Place::mariadb().await] {
        let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
        let (first, waits) = (lead(&one).await, contend(&two));
        resign(first).await;
        assert!(won(waits).await.is_valid());
    }
}

// A lease was dropped while the work under it still ran, or kept because the shutdown was cancelled.
// Here a leader that is asked to stop leads until its work has ended, whoever asks how often.
#[tokio::test]
async fn p05_work_ends_first_then_the_leadership_and_no_second_signal_changes_that() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    let asks = tokio::spawn({
        let one = one.clone();
        async move { one.hand_over(None).await }
    });
    let asked = soon("to be asked", first.draining()).await;
    // Whoever asked is gone, and another one asks.
    asks.abort();
    let again = tokio::spawn(async move { one.hand_over(Some("nobody")).await });
    for_a_while().await;
    assert_eq!(first.handover(), Some(asked), "a second signal");
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid() && !waits.is_finished() && !again.is_finished());
    resign(first).await;
    soon("the end of it", again).await.expect("no panic").expect("told");
    assert!(won(waits).await.is_valid());
}

// Draining went on for ever because one task never ended. Here it is bounded.
#[tokio::test]
async fn p05_work_that_does_not_end_is_ended() {
    let place = Place::file();
    let one = place.enter(&config("one", LONG).drain(Duration::from_millis(200))).await;
    let first = lead(&one).await;
    soon("the end of it", one.hand_over(None)).await.expect("told");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid());
}

// The release failed once, or was cancelled with the rest of the shutdown, and was never tried again.
#[tokio::test]
async fn p05_a_release_that_fails_is_tried_again_although_nobody_waits_for_it() {
    let place = Place::postgres().await;
    let timeout = Duration::from_millis(300);
    let (proxy, one) = place.behind_a_proxy(&config("one", LONG).timeout(timeout)).await;
    let two = place.candidate("two", LONG).await;
    let (first, waits) = (lead(&one).await, contend(&two));
    proxy.refuse(true);
    proxy.reset();
    let release = tokio::time::timeout(Duration::from_millis(50), first.resign()).await;
    assert!(!matches!(release, Ok(Ok(()))), "the store cannot have been told");
    for_a_while().await;
    assert!(!waits.is_finished(), "the store was not told yet");
    proxy.refuse(false);
    assert!(won(waits).await.is_valid());
}
