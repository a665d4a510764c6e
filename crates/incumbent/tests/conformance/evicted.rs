//! Rows that are taken off the roster by somebody's hand.

use std::time::Duration;

use incumbent::{Change, Election, Reason};

use crate::ground::Ground;
use crate::support::{LONG, change, close_all, lead, soon, stand, until, won};

async fn evict(ground: &Ground, name: &str) {
    let delete = format!("DELETE FROM incumbent_descriptor WHERE holder = '{name}'");
    ground.users.run(&delete).await;
}

fn paced(change: &Change) -> Option<Duration> {
    match change {
        Change::Paced { round } => Some(*round),
        _ => None,
    }
}

pub(crate) async fn whoever_is_evicted_by_hand_comes_back_at_the_end_and_rounds_grow(
    ground: &Ground,
) {
    // The smallest margin there is: it must stay allowed however long rounds become.
    let config = |name| {
        let config =
            ground.config(name, LONG).round_limit(51).margin(Duration::from_micros(122_400));
        config.round_delta(Duration::from_micros(7_001))
    };
    let config_of_one = config("one");
    let pacing = config_of_one.pacing().expect("a pacing");
    let (one, two) = (ground.enter(&config_of_one).await, ground.enter(&config("two")).await);
    let three = ground.enter(&config("three")).await;
    let mut of_one = one.observe().expect("observes");
    let mut of_two = two.observe().expect("observes");
    let first = lead(&one).await;
    let (waiting, before) = stand(&two).await;
    let (last, behind) = stand(&three).await;
    let mut round = pacing.round_time();
    for _ in 0..2 {
        evict(ground, "two").await;
        let evicted = |change: &Change| matches!(change, Change::Evicted { .. }).then_some(());
        change("the eviction", &mut of_two, evicted).await;
        let joined = |change: &Change| match change {
            Change::Joined { id } => Some(*id),
            _ => None,
        };
        let after = change("a new place", &mut of_two, joined).await;
        assert!(after > behind && after > before, "{after} is not behind {behind}");
        round += pacing.delta();
        assert_eq!(change("a longer round", &mut of_one, paced).await, round);
        assert_eq!(change("a longer round", &mut of_two, paced).await, round);
        let roster = three.members().await.expect("members");
        assert_eq!(roster.pace.map(|pace| pace.round), Some(round));
        assert_eq!(roster.members.last().map(|member| member.id), Some(after));
    }
    let flag = async || ground.users.number("SELECT evicted FROM incumbent_vars").await;
    until("the flag is answered", async || flag().await == 0).await;
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid(), "it had nothing to do with that");
    drop(first);
    // Now three is ahead of two.
    let second = won(last).await;
    assert!(!waiting.is_finished());
    waiting.abort();
    drop(second);
    close_all([one, two, three]).await;
}

pub(crate) async fn a_leader_whose_row_is_gone_lets_go_and_another_leads(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let (waiting, _) = stand(&two).await;
    evict(ground, "one").await;
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid());
    let token = first.token();
    drop(first);
    let second = won(waiting).await;
    assert!(second.token() > token);
    assert_eq!(leader_of(&two).await, *two.backend().candidate());
    drop(second);
    close_all([one, two]).await;
}

async fn leader_of(election: &Election) -> incumbent::CandidateId {
    election.leader().await.expect("a look").expect("somebody leads").id
}
