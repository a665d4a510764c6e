//! Demands 11 and 12: who is preferred, and what a rollout does to leaderships.

use std::time::Duration;

use incumbent::{Config, Election};

use crate::support::{
    BILLING, Campaign, LONG, Place, config, contend, for_a_while, lead, leader, resign, seen, soon,
    until, won,
};

fn zone(name: &str, zone: &str) -> Config {
    let near = "zone=near".parse().expect("a preference");
    config(name, LONG).label("zone", zone).prefer(near)
}

// Leaders ended up far from their data, and nobody could say where they belong. Here labels and numbers
// say who is next; whoever leads stays, until it lets go.
#[tokio::test]
async fn p11_whoever_is_preferred_is_next_and_whoever_leads_stays() {
    let place = Place::file();
    let (one, far) =
        (place.enter(&zone("one", "far")).await, place.enter(&zone("far", "far")).await);
    let near = place.enter(&zone("near", "near")).await;
    let first = lead(&one).await;
    let (far_waits, near_waits) = (contend(&far), contend(&near));
    seen(&one, "far").await;
    seen(&one, "near").await;
    assert!(
        first.is_valid() && first.handover().is_none(),
        "it is not the preferred one, but leads"
    );
    resign(first).await;
    let second = won(near_waits).await;
    assert!(!far_waits.is_finished());
    resign(second).await;
    assert!(won(far_waits).await.is_valid(), "a preference never keeps anybody out");
}

// Where the preferred one should get it back, leaderships flapped. Here it asks, after a delay, and not
// before the term has reached an age.
#[tokio::test]
async fn p11_a_preferred_candidate_gets_it_back_in_good_order_if_that_is_wanted() {
    let place = Place::file();
    let one = place.candidate("one", LONG).await;
    let first = lead(&one).await;
    let (after, hold_down) = (Duration::from_millis(300), Duration::from_secs(1));
    let better = place.enter(&config("better", LONG).priority(5).preempt(after, hold_down)).await;
    let waits = contend(&better);
    let asked = soon("to be asked", first.draining()).await;
    assert_eq!(asked.to.map(|to| to.to_string()).as_deref(), Some("better"));
    let status = one.status().await.expect("a look");
    let since = status.record.expect("a record").since;
    let transfer = status.controls.transfer.expect("it is asked for a transfer");
    assert!(transfer.by.at.since(since) >= hold_down, "a term so young is left alone");
    assert!(first.is_valid());
    resign(first).await;
    assert!(won(waits).await.is_valid());
}

/// A lease in which a candidate can be started anew.
const STEADY: Duration = Duration::from_secs(30);

async fn start(place: &Place, name: &str, version: &str) -> (Election, Campaign) {
    let config = config(name, STEADY).label("version", version).rolling(true);
    let election = place.enter(&config).await;
    let campaign = contend(&election);
    (election, campaign)
}

/// Stops a candidate in good order, as a service manager does.
async fn stop((election, campaign): (Election, Campaign)) {
    if campaign.is_finished() {
        resign(won(campaign).await).await;
    } else {
        campaign.abort();
    }
    soon("closing", election.backend().clone().close()).await;
}

// A rollout of n processes moved the leadership up to n times, each time to one that was to be stopped
// next. Here it moves once.
#[tokio::test]
async fn p12_a_rollout_hands_over_once() {
    let place = Place::file();
    let onlooker = place.candidate("onlooker", STEADY).await;
    let names = ["a", "b", "c"];
    let mut running = Vec::new();
    for name in names {
        running.push(start(&place, name, "1").await);
        seen(&onlooker, name).await;
        until("a leader", async || leader(&onlooker).await == "a").await;
    }
    for (name, old) in names.into_iter().zip(std::mem::take(&mut running)) {
        stop(old).await;
        running.push(start(&place, name, "2").await);
        seen(&onlooker, name).await;
        until("a leader", async || !leader(&onlooker).await.is_empty()).await;
    }
    for_a_while().await;
    let terms = onlooker.backend().terms(BILLING, 99).await.expect("terms");
    let leaders: Vec<_> = terms.iter().map(|term| term.leader.as_str()).collect();
    assert_eq!(leaders.len(), 2, "{leaders:?}");
    for candidate in running {
        stop(candidate).await;
    }
}
