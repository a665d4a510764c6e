//! A runtime that is gone while a leadership lives.

use std::time::Duration;

use incumbent::{Change, Leadership, Reason};
use tokio::runtime::Runtime;

use crate::support::{
    BILLING, LONG, Place, boot_nanos, change, contend, for_a_while, lead, soon, until, won,
};

/// A leadership whose runtime is gone.
fn orphan(place: &Place, lease: Duration) -> Leadership {
    let runtime = Runtime::new().expect("a runtime");
    let leadership = runtime.block_on(async { lead(&place.candidate("one", lease).await).await });
    drop(runtime);
    leadership
}

#[test]
fn a_leadership_without_a_runtime_is_valid_until_its_lease_ends_and_counts_as_alive() {
    let place = Place::new();
    let lease = Duration::from_secs(2);
    let orphan = orphan(&place, lease);
    let valid_until = orphan.valid_until_nanos();
    assert_eq!(orphan.reason(), Some(Reason::Ending));
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let two = place.candidate("two", lease).await;
        let second = won(contend(&two)).await;
        assert!(boot_nanos() >= valid_until, "led before the lease ended");
        assert!(!orphan.is_valid(), "nobody renews it");
        let terms = two.backend().terms(BILLING, 1).await.expect("terms");
        assert_eq!(terms[0].opening, "expired", "nobody may call it dead");
        assert!(second.token() > orphan.token());
    });
    assert_eq!(orphan.valid_until_nanos(), valid_until, "never renewed");
}

#[test]
fn once_it_is_dropped_too_it_is_proved_dead() {
    let place = Place::new();
    let orphan = orphan(&place, LONG);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let two = place.candidate("two", LONG).await;
        let waiting = contend(&two);
        for_a_while().await;
        assert!(!waiting.is_finished() && orphan.is_valid());
        drop(orphan);
        assert!(won(waiting).await.is_valid());
    });
}

#[test]
fn observers_elsewhere_are_told_of_the_loss() {
    let place = Place::new();
    let gone = Runtime::new().expect("a runtime");
    let (leadership, mut changes) = gone.block_on(async {
        let election = place.candidate("one", LONG).await;
        let changes = election.observe().expect("observes");
        (lead(&election).await, changes)
    });
    drop(gone);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let reason = change("the loss", &mut changes, |change| match change {
            Change::Lost { term, reason } if *term == leadership.term() => Some(*reason),
            _ => None,
        });
        assert_eq!(reason.await, Reason::Ending);
        assert_eq!(soon("the end", changes.next()).await, None);
        assert_eq!(leadership.lost().await, Reason::Ending);
    });
}

#[test]
fn a_blocked_runtime_does_not_keep_a_lease_alive() {
    let place = Place::new();
    let lease = Duration::from_millis(300);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let election = place.candidate("one", lease).await;
        let leadership = lead(&election).await;
        // Work that blocks the only thread: nothing is renewed, and nothing can be told.
        while leadership.is_valid() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(leadership.reason(), None, "the driver had no chance to speak");
        until("the loss is told", async || leadership.reason().is_some()).await;
        assert!(!leadership.is_valid(), "a term that was lost came back");
        assert_eq!(soon("the loss", leadership.lost()).await, Reason::Expired);
    });
}
