//! Tokens strictly grow, whatever happens to candidates and files.

use std::fs;

use crate::support::{BILLING, LONG, Place, SHORT, lead, soon};

/// Leads once as a process that comes and goes.
async fn once(place: &Place, name: &str) -> u64 {
    let election = place.candidate(name, LONG).await;
    let leadership = lead(&election).await;
    let token = leadership.token().get();
    leadership.resign().await.expect("resigns");
    election.backend().clone().close().await;
    token
}

#[tokio::test]
async fn tokens_grow_over_resignations_and_restarts_of_everything() {
    let place = Place::new();
    let mut newest = 0;
    for name in ["one", "two", "one", "one", "two"] {
        let token = once(&place, name).await;
        assert!(token > newest);
        newest = token;
    }
}

#[tokio::test]
async fn tokens_grow_over_a_demotion() {
    let place = Place::new();
    let one = place.candidate("one", SHORT).await;
    let mut newest = 0;
    for _ in 0..2 {
        let leadership = lead(&one).await;
        assert!(leadership.token().get() > newest);
        newest = leadership.token().get();
        let order = one.backend().demote(BILLING, None, "test", None);
        order.await.expect("demoted");
        soon("the loss", leadership.lost()).await;
    }
    assert!(lead(&one).await.token().get() > newest);
}

#[tokio::test]
async fn tokens_grow_over_the_deletion_of_the_database() {
    let place = Place::new();
    let before = once(&place, "one").await;
    fs::remove_file(place.path()).expect("deleted");
    let after = once(&place, "one").await;
    assert!(after > before, "{after} after {before}");
    let terms = place.candidate("two", LONG).await;
    let terms = terms.backend().terms(BILLING, 9).await.expect("terms");
    assert_eq!(terms.len(), 1, "it is a new database");
}

#[tokio::test]
async fn tokens_grow_over_the_restoring_of_an_older_copy() {
    let place = Place::new();
    once(&place, "one").await;
    let copy = place.folder().join("copy");
    fs::copy(place.path(), &copy).expect("copied");
    let newest = once(&place, "two").await;
    for file in place.files() {
        let _ = fs::remove_file(file);
    }
    fs::rename(&copy, place.path()).expect("restored");
    let after = once(&place, "two").await;
    assert!(after > newest, "{after} after {newest}");
}

#[tokio::test]
async fn tokens_grow_even_if_the_wall_clock_fell_behind_the_newest_term() {
    let place = Place::new();
    once(&place, "one").await;
    // As if the clock had been an hour ahead when the last term was issued.
    place
        .sql(
            "UPDATE incumbent_election SET term = term + 3600000000;
             UPDATE incumbent_beat SET term = term + 3600000000",
        )
        .await;
    let ahead = {
        let election = place.candidate("two", LONG).await;
        let status = election.status().await.expect("a look");
        status.record.expect("a row").term.get()
    };
    let first = once(&place, "two").await;
    assert_eq!(first, ahead + 1);
    assert_eq!(once(&place, "one").await, ahead + 2);
}
