//! Past terms, as the store's history keeps them for people.

use std::time::Duration;

use incumbent::TermRecord;

use crate::death::Holder;
use crate::support::{BILLING, LONG, Place, contend, lead, soon, until, won};

fn words(terms: &[TermRecord]) -> Vec<(&str, &str, Option<&str>)> {
    terms.iter().map(|t| (t.leader.as_str(), t.opening.as_str(), t.ending.as_deref())).collect()
}

#[tokio::test]
async fn every_term_keeps_why_it_began_and_why_it_ended() {
    let place = Place::new();
    // Short enough to wait for, long enough to be kept on a slow day.
    let lease = Duration::from_secs(1);
    let one = place.candidate("one", lease).await;
    let two = place.candidate("two", lease).await;
    let backend = two.backend();

    lead(&one).await.resign().await.expect("resigns");
    let demoted = lead(&two).await;
    let order = backend.demote(BILLING, None, "ann", Some("too slow"));
    order.await.expect("demoted");
    soon("the loss", demoted.lost()).await;
    drop(demoted);

    let deposed = lead(&one).await;
    let waiting = contend(&two);
    // An order may name nobody that was never heard of.
    until("two is known", async || {
        let known = backend.candidates(BILLING).await.expect("a look");
        known.iter().any(|peer| peer.id.name.as_str() == "two")
    })
    .await;
    let order = backend.takeover(BILLING, "two", None, "bob", None);
    order.await.expect("taken over");
    soon("the loss", deposed.lost()).await;
    drop(deposed);
    won(waiting).await.resign().await.expect("resigns");

    let terms = backend.terms(BILLING, 10).await.expect("terms");
    assert_eq!(
        words(&terms),
        [
            ("two", "released", Some("resigned")),
            ("one", "released", Some("takeover")),
            ("two", "released", Some("demoted")),
            ("one", "first", Some("resigned")),
        ]
    );
    assert_eq!(terms[2].actor.as_deref(), Some("ann"));
    assert_eq!(terms[2].note.as_deref(), Some("too slow"));
    assert_eq!(terms[1].actor.as_deref(), Some("bob"));
    assert_eq!((&terms[1].note, &terms[0].actor), (&None, &None));
    assert!(terms.windows(2).all(|pair| pair[0].term > pair[1].term));
    for pair in terms.windows(2) {
        let (after, before) = (&pair[0], &pair[1]);
        assert!(before.began <= before.ended.expect("ended"));
        assert!(before.ended.expect("ended") <= after.began);
    }
}

#[tokio::test]
async fn deaths_and_expiries_are_kept_too() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let two = place.candidate("two", lease).await;
    let mut stopped = Holder::start(&place, "stopped", lease);
    stopped.token();
    stopped.pause(&place).await;
    lead(&two).await.resign().await.expect("resigns");
    let mut killed = Holder::start(&place, "killed", lease);
    killed.token();
    killed.kill();
    let last = lead(&two).await;
    let terms = two.backend().terms(BILLING, 10).await.expect("terms");
    assert_eq!(terms[0].term, last.term());
    // A stop of the whole machine could let the killed one's lease run out before its death is
    // seen: not within this lease.
    assert_eq!(
        words(&terms),
        [
            ("two", "died", None),
            ("killed", "released", Some("died")),
            ("two", "expired", Some("resigned")),
            ("stopped", "first", Some("expired")),
        ]
    );
}

#[tokio::test]
async fn only_the_newest_terms_are_shown_if_so_asked() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let none = one.backend().terms(BILLING, 10).await.expect("terms");
    assert_eq!(none, []);
    lead(&one).await.resign().await.expect("resigns");
    let second = lead(&one).await;
    let newest = one.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(newest.len(), 1);
    assert_eq!((newest[0].term, newest[0].ended), (second.term(), None));
}
