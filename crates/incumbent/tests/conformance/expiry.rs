//! Whose clock says that a lease has run out.

use incumbent::{Config, Error, Expiry, Refusal};

use crate::ground::Ground;
use crate::support::{BILLING, LONG, close_all, contend, for_a_while, lead, soon};

/// Leaves a row behind whose holder nobody knows anything about, last heard of an hour ago.
async fn abandon(ground: &Ground, config: &Config) -> u64 {
    let election = ground.enter(config).await;
    let leadership = lead(&election).await;
    let token = leadership.token().get();
    drop(leadership);
    close_all([election]).await;
    let nobody = "0123456789abcdef0123456789abcdef";
    let held = format!("UPDATE incumbent_election SET state = 'held', incarnation = '{nobody}'");
    ground.users.run(&held).await;
    let beat = format!(
        "UPDATE incumbent_beat SET incarnation = '{nobody}', beaten_us = beaten_us - 3600000000"
    );
    ground.users.run(&beat).await;
    token
}

pub(crate) async fn by_the_databases_clock_an_old_row_is_taken_over_at_once(ground: &Ground) {
    let by_database = |name| ground.config(name, LONG).expiry(Expiry::Database);
    // The lease that was left behind is not in anybody's history, so neither is its successor.
    let plain = Config::new().name("one").lease(LONG).expiry(Expiry::Database);
    let token = abandon(ground, &plain).await;
    let two = ground.enter(&by_database("two")).await;
    let leadership = lead(&two).await;
    assert!(leadership.token().get() > token);
    let terms = two.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(terms[0].opening, "expired");
    // A fresh row is left alone by the same rule.
    let three = ground.enter(&by_database("three")).await;
    let waiting = contend(&three);
    for_a_while().await;
    assert!(!waiting.is_finished() && leadership.is_valid());
    waiting.abort();
    drop(leadership);
    close_all([two, three]).await;
}

pub(crate) async fn by_observation_an_old_row_must_be_watched_for_a_lease(ground: &Ground) {
    abandon(ground, &Config::new().name("one").lease(LONG)).await;
    let two = ground.candidate("two", LONG).await;
    let waiting = contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished(), "it trusted the wall clock");
    let status = two.status().await.expect("a look");
    assert_eq!(status.sight.word(), "overdue");
    waiting.abort();
    close_all([two]).await;
}

pub(crate) async fn a_candidate_with_other_rules_is_refused(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let others = [
        ground.config("shorter", LONG / 2),
        ground.config("other-clock", LONG).expiry(Expiry::Database),
        ground.config("more-margin", LONG).margin(LONG / 5),
    ];
    for other in others {
        let other = ground.enter(&other).await;
        let refused = soon("an answer", other.campaign()).await.map(drop);
        let refused = refused.expect_err("other rules");
        assert!(matches!(refused, Error::Refused(Refusal::RulesDiffer { .. })), "{refused}");
        assert!(refused.to_string().contains("use the same"), "{refused}");
        close_all([other]).await;
    }
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one]).await;
}
