//! What observers are told, and in which order.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use incumbent::{Change, Leader, Reason, Sight, Term};

use crate::support::{LONG, Place, change, contend, lead, soon, won};

#[tokio::test]
async fn gains_and_losses_are_told_in_their_order() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let mut changes = election.observe().expect("observes");
    assert_eq!(soon("a first word", changes.next()).await, Some(Change::Leader(None)));
    let first = lead(&election).await;
    let one = first.term();
    first.resign().await.expect("resigns");
    let two = lead(&election).await.term();
    election.backend().clone().close().await;
    let told: Vec<Change> = soon("the end of the stream", changes.by_ref().collect()).await;
    let own: Vec<&Change> =
        told.iter().filter(|c| matches!(c, Change::Gained { .. } | Change::Lost { .. })).collect();
    let lost = |term| Change::Lost { term, reason: Reason::Resigned };
    assert_eq!(
        own,
        [&Change::Gained { term: one }, &lost(one), &Change::Gained { term: two }, &lost(two)]
    );
    let leaders: Vec<Term> = told.iter().filter_map(led).map(|l| l.term).collect();
    assert_eq!(leaders, [one, two]);
    assert_eq!(changes.next().await, None, "a closed stream stays closed");
}

fn led(change: &Change) -> Option<&Leader> {
    match change {
        Change::Leader(leader) => leader.as_ref(),
        _ => None,
    }
}

#[tokio::test]
async fn an_onlooker_sees_one_leader_follow_the_other() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let onlooker = place.candidate("onlooker", LONG).await;
    let mut changes = onlooker.observe().expect("observes");
    let leads = |name: &'static str| {
        move |change: &Change| led(change).filter(|l| l.id.name.as_str() == name).cloned()
    };
    let first = lead(&one).await;
    let seen = change("one leads", &mut changes, leads("one")).await;
    assert_eq!(seen.term, first.term());
    let waiting = contend(&two);
    first.resign().await.expect("resigns");
    let second = won(waiting).await;
    let seen = change("two leads", &mut changes, leads("two")).await;
    assert_eq!(seen.term, second.term());
    assert_eq!(seen.id, *two.backend().candidate());
}

#[tokio::test]
async fn a_slow_reader_misses_leaderships_but_no_loss_of_what_it_knows() {
    let place = Place::new();
    let election = place.candidate("one", Duration::from_millis(300)).await;
    let mut changes = election.observe().expect("observes");
    let first = lead(&election).await;
    let gained = |change: &Change| match change {
        Change::Gained { term } => Some(*term),
        _ => None,
    };
    let known = change("the first term", &mut changes, gained).await;
    assert_eq!(known, first.term());
    first.resign().await.expect("resigns");
    // More than the queue holds, each with a gain, a loss and two leaders.
    for _ in 0..80 {
        drop(lead(&election).await);
    }
    election.backend().clone().close().await;
    let told: Vec<Change> = soon("the end of the stream", changes.collect()).await;
    assert!(told.len() < 320, "{} changes waited", told.len());
    let mut open = BTreeSet::from([known]);
    for change in &told {
        match change {
            Change::Gained { term } => assert!(open.insert(*term), "{term} gained twice"),
            Change::Lost { term, .. } => assert!(open.remove(term), "{term} was never told"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "the loss of {open:?} was dropped");
}

#[tokio::test]
async fn an_observer_that_comes_late_is_told_who_leads() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let leadership = lead(&election).await;
    let mut changes = election.observe().expect("observes");
    let first = soon("a first word", changes.next()).await;
    let leader = first.as_ref().and_then(led).expect("a leader");
    assert_eq!(leader.term, leadership.term());
}

#[tokio::test]
async fn statuses_show_every_election() {
    let place = Place::new();
    let backend = place.open(&crate::support::config("one", LONG)).await;
    assert_eq!(backend.statuses().await.expect("a look"), []);
    let never = backend.status("never-held").await.expect("a look");
    assert_eq!((never.sight, never.record), (Sight::Vacant, None));
    let mut led = Vec::new();
    for name in ["b", "a", "c"] {
        led.push(lead(&backend.election(name).await.expect("opens")).await);
    }
    led.pop().expect("c").resign().await.expect("resigns");
    let statuses = backend.statuses().await.expect("a look");
    let words: Vec<_> = statuses.iter().map(|s| (s.election.as_str(), s.sight.word())).collect();
    assert_eq!(words, [("a", "led"), ("b", "led"), ("c", "vacant")]);
    assert!(statuses[0].remaining() > Duration::ZERO);
    assert_eq!(statuses[0].leader().expect("leads").term, led[1].term());
    assert_eq!(statuses[2].remaining(), Duration::ZERO);
}
