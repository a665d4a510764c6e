//! `expiry = database`: the store's clock says that a lease has run out, so that a newcomer need
//! not watch for one.

use std::time::Duration;

use incumbent::{Config, Expiry};

use crate::support::{BILLING, LONG, Place, config, for_a_while, lead};

fn by_database(name: &str, lease: Duration) -> Config {
    config(name, lease).expiry(Expiry::Database)
}

/// Leaves a row behind whose holder nobody knows anything about, last heard of an hour ago.
async fn abandon(place: &Place, config: &Config) -> u64 {
    let election = place.enter(config).await;
    let leadership = lead(&election).await;
    let token = leadership.token().get();
    election.backend().clone().close().await;
    place
        .sql(
            "UPDATE incumbent_election SET state = 'held', incarnation = '0123456789abcdef0123456789abcdef';
             UPDATE incumbent_beat SET incarnation = '0123456789abcdef0123456789abcdef',
                 beaten_us = beaten_us - 3600000000",
        )
        .await;
    token
}

#[tokio::test]
async fn a_newcomer_takes_over_an_expired_row_without_watching_it_for_a_lease() {
    let place = Place::new();
    let token = abandon(&place, &by_database("one", LONG)).await;
    let two = place.enter(&by_database("two", LONG)).await;
    let leadership = lead(&two).await;
    assert!(leadership.token().get() > token);
    let terms = two.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(terms[0].opening, "expired");
}

#[tokio::test]
async fn by_the_default_rule_a_newcomer_must_watch_the_same_row_for_a_lease() {
    let place = Place::new();
    abandon(&place, &config("one", LONG)).await;
    let two = place.candidate("two", LONG).await;
    let campaign = tokio::time::timeout(Duration::from_millis(400), two.campaign());
    assert!(campaign.await.is_err(), "it trusted the wall clock");
    let status = two.status().await.expect("a look");
    assert_eq!(status.sight.word(), "overdue");
}

#[tokio::test]
async fn a_row_that_has_not_expired_by_the_database_is_left_alone() {
    let place = Place::new();
    let one = place.enter(&by_database("one", LONG)).await;
    let first = lead(&one).await;
    let two = place.enter(&by_database("two", LONG)).await;
    let waiting = crate::support::contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished() && first.is_valid());
    waiting.abort();
}

#[test]
fn what_the_rule_trusts_is_said_in_words() {
    assert!(Expiry::Database.trusts().contains("wall clock never steps forward"));
    assert!(Expiry::Observed.trusts().contains("no offset matters"));
    assert_eq!("database".parse(), Ok(Expiry::Database));
}
