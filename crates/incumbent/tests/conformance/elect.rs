//! Who leads, and who follows whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use incumbent::{Leadership, lease_clock_nanos};

use crate::ground::Ground;
use crate::support::{
    LONG, SHORT, close_all, contend, for_a_while, lead, resign, soon, vanish, won,
};

pub(crate) async fn one_of_three_leads_at_a_time(ground: &Ground) {
    let inside = Arc::new(AtomicUsize::new(0));
    let mut jobs = tokio::task::JoinSet::new();
    for name in ["one", "two", "three"] {
        let election = ground.candidate(name, LONG).await;
        let inside = Arc::clone(&inside);
        jobs.spawn(async move {
            let mut tokens = Vec::new();
            for _ in 0..2 {
                let inside = Arc::clone(&inside);
                let work = async move |leadership: &Leadership| {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two lead at once");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    assert!(leadership.is_valid());
                    inside.fetch_sub(1, Ordering::SeqCst);
                    leadership.token().get()
                };
                tokens.push(election.run(work).await.expect("works"));
            }
            election.backend().clone().close().await;
            tokens
        });
    }
    let all = soon("six pieces of work", jobs.join_all()).await;
    let mut tokens = all.concat();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 6, "a token was used twice");
    assert!(all.iter().all(|own| own.is_sorted()), "{all:?}");
}

pub(crate) async fn a_resigned_leader_is_followed_under_a_higher_token(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let waiting = contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished(), "two leads beside one");
    assert!(first.is_valid());
    let mut newest = first.token();
    resign(first).await;
    let second = won(waiting).await;
    assert!(second.token() > newest);
    newest = second.token();
    resign(second).await;
    assert!(lead(&one).await.token() > newest);
    close_all([one, two]).await;
}

pub(crate) async fn a_dropped_leadership_is_followed(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let token = first.token();
    let waiting = contend(&two);
    drop(first);
    assert!(won(waiting).await.token() > token);
    close_all([one, two]).await;
}

/// Leads as a process that is then killed. What is kept of it counts as the rest of its work.
fn lead_and_vanish(ground: &Ground) -> Leadership {
    let config = ground.config("vanishing", SHORT);
    vanish(async || lead(&ground.enter(&config).await).await)
}

pub(crate) async fn a_leader_that_vanishes_is_followed_after_its_lease(ground: &Ground) {
    let two = ground.candidate("two", SHORT).await;
    let first = lead_and_vanish(ground);
    let second = lead(&two).await;
    let now = lease_clock_nanos();
    assert!(now > first.valid_until_nanos(), "two was early");
    assert!(!first.is_valid(), "two lead at once");
    assert!(second.token() > first.token());
    close_all([two]).await;
}

pub(crate) async fn closing_lets_go(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let (token, waiting) = (first.token(), contend(&two));
    let work = tokio::spawn(async move { first.lost().await });
    soon("closing", one.backend().clone().close()).await;
    assert!(won(waiting).await.token() > token);
    soon("the work ends", work).await.expect("no panic");
    assert!(one.campaign().await.is_err(), "a closed candidate contends");
    close_all([two]).await;
}

pub(crate) async fn two_of_the_same_name_are_two(ground: &Ground) {
    let (one, other) = (ground.candidate("one", LONG).await, ground.candidate("one", LONG).await);
    assert_ne!(one.backend().candidate(), other.backend().candidate());
    let first = lead(&one).await;
    let waiting = contend(&other);
    for_a_while().await;
    assert!(!waiting.is_finished(), "a namesake leads beside the leader");
    let token = first.token();
    resign(first).await;
    assert!(won(waiting).await.token() > token);
    close_all([one, other]).await;
}
