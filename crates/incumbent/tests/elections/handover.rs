//! Leaders that are asked to hand over: work that heeds it, work that does not, and settings that
//! make no sense.

use std::time::Duration;

use incumbent::{Change, Config, Election, Error, Leadership, Reason};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::support::{LONG, Place, change, config, contend, for_a_while, lead, soon, until, won};

/// Settings of a candidate that soon knows of the others.
fn lively(name: &str, lease: Duration) -> Config {
    config(name, lease).roll_every(Duration::from_millis(100))
}

async fn leader(election: &Election) -> String {
    let leader = election.leader().await.expect("a look");
    leader.map(|leader| leader.id.name.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn whoever_is_asked_to_hand_over_leads_until_its_work_has_ended() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    assert_eq!(first.handover(), None);
    let asks = tokio::spawn({
        let one = one.clone();
        async move { one.hand_over(Some("two")).await }
    });
    let handover = soon("to be asked", first.draining()).await;
    assert_eq!(handover.to.as_ref().map(incumbent::CandidateName::as_str), Some("two"));
    assert_eq!(handover.by.actor, "one");
    assert_eq!(first.handover(), Some(handover));
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid() && !asks.is_finished() && !waits.is_finished());
    first.resign().await.expect("resigns");
    soon("the end of it", asks).await.expect("no panic").expect("told");
    assert!(won(waits).await.is_valid());
}

#[tokio::test]
async fn whoever_does_not_lead_has_nothing_to_hand_over() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    soon("nothing", one.hand_over(None)).await.expect("told");
    let first = lead(&one).await;
    let waits = contend(&two);
    soon("nothing", two.hand_over(Some("one"))).await.expect("told");
    let wrong = one.hand_over(Some("o n e")).await;
    assert!(matches!(wrong, Err(Error::Name(_))), "{wrong:?}");
    for_a_while().await;
    assert!(first.is_valid() && first.handover().is_none());
    waits.abort();
}

#[tokio::test]
async fn work_that_does_not_end_in_time_is_ended_by_order() {
    let place = Place::new();
    let one = place.enter(&config("one", LONG).drain(Duration::from_millis(200))).await;
    let two = place.candidate("two", LONG).await;
    let (first, waits) = (lead(&one).await, contend(&two));
    // Nobody lets go of the leadership: it is over all the same, and so is waiting for that.
    soon("the end of it", one.hand_over(None)).await.expect("told");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid() && !waits.is_finished());
    let terms = one.backend().terms("billing", 1).await.expect("terms");
    assert_eq!(terms[0].actor.as_deref(), Some("one"));
    assert!(terms[0].note.as_deref().is_some_and(|note| note.contains("did not end within")));
    drop(first);
    assert!(won(waits).await.is_valid());
}

#[tokio::test]
async fn a_hand_over_to_nobody_in_sight_is_bounded_too() {
    let place = Place::new();
    let lease = Duration::from_secs(3);
    let one = place.enter(&config("one", lease).drain(Duration::from_millis(200))).await;
    let first = lead(&one).await;
    soon("the end of it", one.hand_over(Some("nobody"))).await.expect("told");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
}

/// Says, when the work is dropped, whether it had come to its own end, and under a valid lease.
struct Goodbye<'a> {
    leadership: &'a Leadership,
    told: mpsc::UnboundedSender<(bool, bool)>,
    ended: bool,
}

impl Drop for Goodbye<'_> {
    fn drop(&mut self) {
        let _ = self.told.send((self.ended, self.leadership.is_valid()));
    }
}

/// Work in the background, and what it says at its end.
type Job = (JoinHandle<Result<(), Error>>, mpsc::UnboundedReceiver<(bool, bool)>);

/// Runs work in the background, which ends when it is asked to if it heeds that. Returns once the work
/// has begun: the store shows a leader a moment before that process itself knows, and one that does
/// not know that it leads has nothing to hand over.
async fn work(election: &Election, heeds: bool) -> Job {
    let (told, goodbyes) = mpsc::unbounded_channel();
    let (begins, mut begun) = mpsc::unbounded_channel();
    let election = election.clone();
    let job = tokio::spawn(async move {
        let work = async move |leadership: &Leadership| {
            let mut goodbye = Goodbye { leadership, told: told.clone(), ended: false };
            let _ = begins.send(());
            if heeds {
                leadership.draining().await;
                soon("a renewal", leadership.extended()).await;
                goodbye.ended = true;
            } else {
                std::future::pending::<()>().await;
            }
        };
        election.run(work).await
    });
    soon("the beginning of the work", begun.recv()).await;
    (job, goodbyes)
}

#[tokio::test]
async fn run_lets_work_end_that_heeds_a_hand_over_and_then_contends_again() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (job, mut goodbyes) = work(&one, true).await;
    let waits = contend(&two);
    soon("the end of it", one.hand_over(Some("two"))).await.expect("told");
    let goodbye = soon("the end of the work", goodbyes.recv()).await;
    assert_eq!(goodbye, Some((true, true)), "it ended by itself, under a lease that was renewed");
    let second = won(waits).await;
    assert!(!job.is_finished(), "work that was asked to end is not done");
    second.resign().await.expect("resigns");
    until("one leads again", async || leader(&two).await == "one").await;
    job.abort();
}

#[tokio::test]
async fn run_drops_work_that_does_not_heed_a_hand_over_at_once() {
    let place = Place::new();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (job, mut goodbyes) = work(&one, false).await;
    let waits = contend(&two);
    soon("the end of it", one.hand_over(Some("two"))).await.expect("told");
    let goodbye = soon("the end of the work", goodbyes.recv()).await;
    assert_eq!(goodbye, Some((false, true)), "it was dropped, while nobody else could lead");
    assert!(won(waits).await.is_valid());
    job.abort();
}

#[tokio::test]
async fn a_process_that_is_not_well_hands_over_and_contends_again_when_it_is() {
    let place = Place::new();
    let one = place.enter(&lively("one", LONG)).await;
    let two = place.enter(&lively("two", LONG)).await;
    let (job, mut goodbyes) = work(&one, true).await;
    until("one leads", async || leader(&two).await == "one").await;
    let mut changes = one.observe().expect("observes");
    let waits = contend(&two);
    one.backend().set_fit(Err("no disk".to_owned())).expect("told");
    assert_eq!(soon("the end of the work", goodbyes.recv()).await, Some((true, true)));
    let second = won(waits).await;
    let why = change("an obstacle", &mut changes, |change| match change {
        Change::Obstacle { why } => why.clone(),
        _ => None,
    });
    assert!(why.await.contains("no disk"));
    second.resign().await.expect("resigns");
    for_a_while().await;
    assert_eq!(leader(&two).await, "", "one is not well");
    one.backend().set_fit(Ok(())).expect("told");
    until("one leads again", async || leader(&two).await == "one").await;
    job.abort();
}

#[tokio::test]
async fn whoever_falls_ill_while_its_bid_is_under_way_does_not_lead() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let mut writer = place.connect().await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut writer).await.expect("begins");
    let waits = contend(&one);
    for_a_while().await;
    one.backend().set_fit(Err("no disk".to_owned())).expect("told");
    for_a_while().await;
    sqlx::raw_sql("ROLLBACK").execute(&mut writer).await.expect("ends");
    for_a_while().await;
    assert!(!waits.is_finished(), "it leads and is not well");
    until("nobody leads", async || leader(&one).await.is_empty()).await;
    one.backend().set_fit(Ok(())).expect("told");
    assert!(won(waits).await.is_valid());
}

#[tokio::test]
async fn settings_of_hand_overs_that_make_no_sense_are_refused() {
    let place = Place::new();
    let refused =
        async |config: Config| match incumbent::Backend::open_with(&place.url(), &config).await {
            Err(Error::Setting { setting, problem }) => format!("{setting}: {problem}"),
            other => panic!("{config:?}: {other:?}"),
        };
    let base = || config("one", LONG);
    assert!(refused(base().rolling(true)).await.contains("label version"));
    let (after, hold_down) = (Duration::from_secs(1), Duration::from_secs(1));
    let both = base().label("version", "1").rolling(true).preempt(after, hold_down);
    assert!(refused(both).await.starts_with("rolling: it hands over once"));
    let day = Duration::from_hours(24);
    let too_long = day + Duration::from_nanos(1);
    assert!(refused(base().drain(too_long)).await.starts_with("drain"));
    for every in [Duration::ZERO, Duration::from_millis(49), Duration::from_secs(3_601)] {
        assert!(refused(base().roll_every(every)).await.starts_with("roll"));
    }
    assert!(!place.path().exists(), "nothing was made");
    let most = base().drain(day).label("version", "1").rolling(true);
    place.open(&most).await.close().await;
}

#[tokio::test]
async fn an_heir_is_not_forgotten_while_the_store_is_being_told() {
    let place = Place::new();
    let beat = Duration::from_secs(1);
    let one = place.enter(&lively("one", LONG).beat(beat)).await;
    let first = lead(&one).await;
    let mut writer = place.connect().await;
    soon("a renewal", first.extended()).await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut writer).await.expect("begins");
    // A roll waits for the writer, then behind it a renewal, then behind that the release.
    tokio::time::sleep(beat * 2).await;
    let asks = tokio::spawn({
        let one = one.clone();
        async move { one.hand_over(Some("two")).await }
    });
    soon("to be asked", first.draining()).await;
    drop(first);
    for_a_while().await;
    sqlx::raw_sql("ROLLBACK").execute(&mut writer).await.expect("ends");
    soon("the end of it", asks).await.expect("no panic").expect("told");
    let record = one.status().await.expect("a look").record.expect("a record");
    assert_eq!(record.successor.map(|name| name.to_string()).as_deref(), Some("two"));
}
