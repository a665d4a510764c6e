//! Demand 16: what people do under a leadership, and what happens when that goes wrong.

use incumbent::{Change, Leadership};

use crate::support::{LONG, Place, contend, for_a_while, lead, resign, soon, until, won};

// Work that panicked in a callback left an elector behind that renewed for ever. Here a leadership is
// a value: whatever unwinds past it lets go of it.
#[tokio::test]
async fn p16_work_that_panics_lets_go_and_another_leads() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let job = tokio::spawn(async move {
        one.run(async |leadership: &Leadership| {
            assert!(!leadership.is_valid(), "a panic on purpose");
        })
        .await
    });
    let ended = soon("the panic", job).await;
    assert!(ended.expect_err("it panicked").is_panic());
    assert!(lead(&two).await.is_valid());
}

// A callback for the end of a leadership was called for one that never was. Here nobody has to give
// any, and a loss is told of what was gained only.
#[tokio::test]
async fn p16_nobody_is_told_of_a_loss_who_never_led() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let first = lead(&one).await;
    let mut changes = two.observe().expect("observes");
    let waits = contend(&two);
    for_a_while().await;
    waits.abort();
    soon("closing", two.backend().clone().close()).await;
    let mut told = Vec::new();
    while let Some(change) = soon("the end of the stream", changes.next()).await {
        told.push(change);
    }
    let own = |change: &&Change| matches!(change, Change::Gained { .. } | Change::Lost { .. });
    assert_eq!(told.iter().find(own), None);
    assert!(told.iter().any(|change| matches!(change, Change::Leader(Some(_)))), "{told:?}");
    resign(first).await;
}

// Work went on after it was given up, because it was one task of many. Here what runs below a
// leadership is dropped with it, from the inside out.
#[tokio::test]
async fn p16_work_that_is_given_up_is_dropped_and_does_not_go_on() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let alive = std::sync::Arc::new(());
    let job = tokio::spawn({
        let (one, alive) = (one.clone(), std::sync::Arc::clone(&alive));
        async move {
            one.run(async move |_: &Leadership| {
                let _alive = std::sync::Arc::clone(&alive);
                std::future::pending::<()>().await;
            })
            .await
        }
    });
    until("the work", async || std::sync::Arc::strong_count(&alive) == 3).await;
    let waits = contend(&two);
    soon("the end of it", one.hand_over(Some("two"))).await.expect("told");
    assert_eq!(std::sync::Arc::strong_count(&alive), 2, "the work outlived its leadership");
    assert!(won(waits).await.is_valid());
    job.abort();
}
