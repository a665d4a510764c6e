//! What all candidates of an election must agree on: the protocol, and how fast rounds are.

use std::time::Duration;

use incumbent::{Config, Election, Error, Protocol, Refusal};

use crate::ground::Ground;
use crate::support::{LONG, SHORT, close_all, for_a_while, lead, soon, stand, vanish};

/// Settings of a candidate that knows nothing of rounds.
fn by_lease(ground: &Ground, name: &str) -> Config {
    ground.noted(name).protocol(Protocol::Lease).lease(LONG)
}

/// What a campaign is refused with.
async fn refused(election: &Election) -> Error {
    let answer = soon("an answer", election.campaign()).await.map(drop);
    answer.expect_err("it does not fit to the others")
}

pub(crate) async fn a_candidate_by_lease_is_refused_where_rounds_are_held(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let other = ground.enter(&by_lease(ground, "other")).await;
    let first = lead(&one).await;
    let error = refused(&other).await;
    assert!(matches!(error, Error::Refused(Refusal::RulesDiffer { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("protocol rounds") && text.contains("use the same"), "{text}");
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid());
    drop(first);
    close_all([one]).await;
    // All others were stopped.
    let first = lead(&other).await;
    assert!(first.is_valid());
    drop(first);
    close_all([other]).await;
}

pub(crate) async fn a_candidate_in_rounds_is_refused_where_leases_are_held(ground: &Ground) {
    let one = ground.enter(&by_lease(ground, "one")).await;
    let other = ground.candidate("other", LONG).await;
    let first = lead(&one).await;
    let error = refused(&other).await;
    assert!(matches!(error, Error::Refused(Refusal::RulesDiffer { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("protocol rounds") && text.contains("use the same"), "{text}");
    assert!(first.is_valid());
    drop(first);
    close_all([one]).await;
    let first = lead(&other).await;
    assert!(first.is_valid());
    drop(first);
    close_all([other]).await;
}

pub(crate) async fn another_pacing_is_refused(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let leadership = lead(&one).await;
    let others = [
        ground.config("fewer-rounds", LONG).round_limit(50),
        ground.config("more-margin", LONG).margin(Duration::from_secs(3)),
        ground.config("longer-rounds", LONG).round_time(Duration::from_millis(130)),
        ground.config("other-delta", LONG).round_delta(Duration::from_millis(9)),
        ground.config("other-cap", LONG).round_cap(Duration::from_millis(900)),
    ];
    for other in others {
        let other = ground.enter(&other).await;
        let error = refused(&other).await;
        assert!(matches!(error, Error::Refused(Refusal::PacingDiffers { .. })), "{error}");
        assert!(error.to_string().contains("use the same"), "{error}");
        close_all([other]).await;
    }
    let roster = one.members().await.expect("members");
    assert_eq!(roster.members.len(), 1, "somebody with other settings is in line: {roster:?}");
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one]).await;
}

pub(crate) async fn another_pacing_is_accepted_once_all_old_candidates_are_gone(ground: &Ground) {
    let one = ground.candidate("one", SHORT).await;
    let first = lead(&one).await;
    let before = first.token();
    drop(first);
    close_all([one]).await;
    // They were stopped in good order: the roster is empty.
    let config = ground.config("two", SHORT).round_limit(5).round_delta(Duration::from_millis(9));
    let (pacing, two) = (config.pacing().expect("a pacing"), ground.enter(&config).await);
    let second = lead(&two).await;
    assert_eq!(two.members().await.expect("members").pacing, Some(pacing));
    assert!(second.token() > before);
    drop(second);
    close_all([two]).await;
    // They were killed: their rows are still there, and have to stand still for a while.
    let dead = vanish(async || {
        let (first, second) = (ground.enter(&config).await, ground.candidate("four", SHORT).await);
        let leadership = lead(&first).await;
        let _refused = refused(&second).await;
        (stand(&first).await.1, leadership.token())
    });
    let three = ground.candidate("three", SHORT).await;
    let third = lead(&three).await;
    for_a_while().await;
    assert!(third.is_valid() && third.token() > dead.1);
    let roster = three.members().await.expect("members");
    assert_eq!(roster.members.len(), 1, "somebody with other settings is in line: {roster:?}");
    assert!(roster.members[0].id > dead.0, "an id was given twice: {roster:?}");
    drop(third);
    close_all([three]).await;
}
