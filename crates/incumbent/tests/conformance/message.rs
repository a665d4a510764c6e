//! What a round is on the wire: one message, and what happens when its answer is lost.

use incumbent::{Backend, Election};
use incumbent_testbed::Proxy;

use crate::ground::Ground;
use crate::support::{BILLING, LONG, close_all, lead, resign, stand, until, won};

/// A COMMIT by itself in its message, unlike at the end of a round or of the list of candidates.
pub(crate) fn lone_commit(ground: &Ground) -> &'static [u8] {
    if ground.kind.is_postgres() { b"Q\0\0\0\x0bCOMMIT\0" } else { b"\x07\0\0\0\x03COMMIT" }
}

/// How often a candidate beat.
async fn beats(ground: &Ground, name: &str) -> i64 {
    let beats = format!("SELECT counter FROM incumbent_descriptor WHERE holder = '{name}'");
    ground.users.number(&beats).await
}

/// Compares what goes over a network with what a candidate behind it does. The doorbell's connection
/// is made beside the rounds, once, and may fall into the first measurement on a slow day.
async fn one_message_each(ground: &Ground, proxy: &Proxy, name: &str) {
    let mut measured = Vec::new();
    for _ in 0..3 {
        let (beats, trips) = measure(ground, proxy, name).await;
        measured.push(format!("{trips} messages in {beats} rounds"));
        if (beats - 2..=beats + 2).contains(&trips) {
            return;
        }
    }
    panic!("{measured:?}");
}

async fn measure(ground: &Ground, proxy: &Proxy, name: &str) -> (i64, i64) {
    let settled = beats(ground, name).await + 2;
    until("beats", async || beats(ground, name).await >= settled).await;
    // Counting is not the same moment as beating.
    let before = (beats(ground, name).await, proxy.round_trips());
    until("six more beats", async || beats(ground, name).await >= before.0 + 6).await;
    let after = (beats(ground, name).await, proxy.round_trips());
    (after.0 - before.0, i64::try_from(after.1 - before.1).expect("few"))
}

/// Others wait before it, so that it need not look after the leader between its rounds.
pub(crate) async fn the_round_of_a_follower_is_one_message(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let (second, _) = stand(&two).await;
    let (proxy, three) = ground.behind_a_proxy("three", LONG).await;
    let (third, _) = stand(&three).await;
    one_message_each(ground, &proxy, "three").await;
    second.abort();
    third.abort();
    drop(first);
    close_all([one, two, three]).await;
}

pub(crate) async fn the_round_of_a_leader_is_one_message(ground: &Ground) {
    let (proxy, one) = ground.behind_a_proxy("one", LONG).await;
    let first = lead(&one).await;
    let two = ground.candidate("two", LONG).await;
    let (second, _) = stand(&two).await;
    one_message_each(ground, &proxy, "one").await;
    second.abort();
    drop(first);
    close_all([one, two]).await;
}

pub(crate) async fn a_join_that_was_committed_unheard_is_one_place(ground: &Ground) {
    let (proxy, one) = ground.behind_a_proxy("one", LONG).await;
    proxy.reset_on_reply(lone_commit(ground));
    let first = lead(&one).await;
    assert!(proxy.fired(), "the commit was answered");
    let roster = one.members().await.expect("members");
    assert_eq!(roster.members.len(), 1, "{roster:?}");
    assert_eq!(ground.users.number("SELECT max_id FROM incumbent_vars").await, 1);
    drop(first);
    close_all([one]).await;
}

async fn terms(backend: &Backend) -> Vec<incumbent::TermRecord> {
    backend.terms(BILLING, 9).await.expect("terms")
}

/// Somebody else leads first, so that the next commit of whoever waits is a claim.
pub(crate) async fn a_claim_that_was_committed_unheard_is_not_led_under(ground: &Ground) {
    let zero: Election = ground.candidate("zero", LONG).await;
    let before = lead(&zero).await;
    let (proxy, one) = ground.behind_a_proxy("one", LONG).await;
    let (waiting, _) = stand(&one).await;
    proxy.reset_on_reply(lone_commit(ground));
    resign(before).await;
    let first = won(waiting).await;
    assert!(proxy.fired(), "the commit was answered");
    let terms = terms(one.backend()).await;
    assert_eq!(terms[0].term, first.term());
    assert!(terms.len() >= 3, "the unheard claim is kept: {terms:?}");
    drop(first);
    close_all([zero, one]).await;
}
