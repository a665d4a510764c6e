//! Why a candidate leads or does not.

use incumbent::{Cause, Order};

use crate::support::{BILLING, LONG, Place, lead};

#[tokio::test]
async fn a_leader_a_stranger_and_an_election_that_never_was_are_told_apart() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let backend = one.backend();
    let causes = backend.explain(BILLING, "one").await.expect("explained");
    let term = leadership.term();
    assert!(matches!(&causes[0], Cause::Leads { term: t, ending: false, .. } if *t == term));
    let causes = backend.explain(BILLING, "two").await.expect("explained");
    assert_eq!(causes[0], Cause::NeverSeen);
    assert_eq!(causes[1].word(), "led");
    let causes = backend.explain("other", "one").await.expect("explained");
    assert_eq!(causes, [Cause::NeverHeld]);
}

#[tokio::test]
async fn what_operators_ordered_is_told() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let _leadership = lead(&one).await;
    let backend = one.backend();
    let paused = backend.order(BILLING, Order::Pause, None, "ann", Some("repair"));
    paused.await.expect("paused");
    let causes = backend.explain(BILLING, "two").await.expect("explained");
    let words =
        "the election is paused by order of ann (repair): no term begins until it is resumed";
    assert!(causes.iter().any(|cause| cause.to_string() == words), "{causes:?}");
    let everybody = backend.explanations(BILLING).await.expect("explained");
    assert_eq!(everybody.len(), 1, "{everybody:?}");
}
