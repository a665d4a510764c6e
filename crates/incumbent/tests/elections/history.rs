//! Histories: written by the library, judged by the same judges as those of the simulator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use incumbent::{Leadership, Reason};
use incumbent_audit::{Report, audit};

use crate::support::{BILLING, LONG, Place, config, contend, lead, soon, won};

fn judge(paths: &[PathBuf]) -> Report {
    let report = audit(paths).expect("readable");
    assert!(report.is_clean(), "{report}");
    report
}

fn facts(report: &Report, property: &str) -> u64 {
    let found = report.checked.iter().find(|(name, _)| *name == property);
    found.expect("is judged").1
}

fn events(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("reads");
    text.lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("an object a line");
            line["event"].as_str().expect("an event").to_owned()
        })
        .collect()
}

#[tokio::test]
async fn a_leadership_is_written_from_its_gain_to_its_loss() {
    let place = Place::new();
    let path = place.folder().join("history");
    let config = config("one", Duration::from_secs(2)).history(&path);
    let election = place.enter(&config).await;
    let leadership = lead(&election).await;
    let before = leadership.valid_until_nanos();
    crate::support::until("a renewal", async || leadership.valid_until_nanos() > before).await;
    leadership.resign().await.expect("resigns");
    election.run(async |_| ()).await.expect("works");
    election.backend().clone().close().await;
    let events = events(&path);
    assert_eq!(events.first().map(String::as_str), Some("opened"));
    assert_eq!(events.last().map(String::as_str), Some("closed"));
    let mut expected = ["gained", "renewed", "lost", "gained", "work_began", "work_ended", "lost"]
        .into_iter()
        .peekable();
    for event in &events {
        expected.next_if(|next| next == event);
    }
    assert_eq!(expected.next(), None, "missing in {events:?}");
    let report = judge(&[path]);
    assert_eq!((report.terms, report.candidates), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_hand_overs_orders_and_losses_is_judged_clean() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let names = ["one", "two", "three"];
    let paths: Vec<PathBuf> = names.iter().map(|name| place.folder().join(name)).collect();
    let mut candidates = Vec::new();
    for (name, path) in names.iter().zip(&paths) {
        candidates.push(place.enter(&config(name, lease).history(path)).await);
    }
    let mut jobs = tokio::task::JoinSet::new();
    for election in candidates.clone() {
        jobs.spawn(async move {
            for _ in 0..3 {
                let work = async move |leadership: &Leadership| {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    leadership.token()
                };
                election.run(work).await.expect("works");
            }
        });
    }
    soon("nine pieces of work", jobs.join_all()).await;

    let [one, two, three] = &candidates[..] else {
        panic!("three candidates");
    };
    let deposed = lead(one).await;
    let waiting = contend(two);
    let order = three.backend().takeover(BILLING, "two", None, "ann", None);
    order.await.expect("taken over");
    assert_eq!(soon("the loss", deposed.lost()).await, Reason::Deposed);
    drop(deposed);
    let second = won(waiting).await;

    // A writer that keeps the store for longer than a lease.
    let mut writer = place.connect().await;
    let begin = sqlx::raw_sql("BEGIN IMMEDIATE");
    begin.execute(&mut writer).await.expect("begins");
    soon("the loss", second.lost()).await;
    tokio::time::sleep(lease).await;
    let end = sqlx::raw_sql("ROLLBACK");
    end.execute(&mut writer).await.expect("ends");
    drop(second);
    drop(lead(three).await);
    for election in &candidates {
        election.backend().clone().close().await;
    }
    let report = judge(&paths);
    assert_eq!((report.candidates, report.elections), (3, 1));
    assert!(report.terms >= 12, "{report}");
    for property in ["at_most_one_lease", "token_growth", "loss_told_once", "work_stops_in_time"] {
        assert!(facts(&report, property) > 0, "{property} was not judged");
    }
}

#[tokio::test]
async fn work_that_is_dropped_from_outside_has_ended_by_the_history_too() {
    let place = Place::new();
    let path = place.folder().join("history");
    let config = config("one", Duration::from_secs(2)).history(&path);
    let election = place.enter(&config).await;
    let (told, began) = tokio::sync::oneshot::channel();
    let job = tokio::spawn({
        let election = election.clone();
        let mut told = Some(told);
        async move {
            let work = async move |_: &Leadership| {
                told.take().map(|told| told.send(()));
                std::future::pending::<()>().await;
            };
            election.run(work).await
        }
    });
    soon("the work begins", began).await.expect("begins");
    job.abort();
    assert!(job.await.is_err_and(|error| error.is_cancelled()));
    // The same process leads again: its former work must not count as running.
    drop(lead(&election).await);
    election.backend().clone().close().await;
    let events = events(&path);
    assert!(events.contains(&"work_ended".to_owned()), "{events:?}");
    judge(&[path]);
}

#[tokio::test]
async fn several_processes_may_write_one_file() {
    let place = Place::new();
    let path = place.folder().join("history");
    let one = place.enter(&config("one", LONG).history(&path)).await;
    let two = place.enter(&config("two", LONG).history(&path)).await;
    let first = lead(&one).await;
    let waiting = contend(&two);
    first.resign().await.expect("resigns");
    drop(won(waiting).await);
    one.backend().clone().close().await;
    two.backend().clone().close().await;
    let report = judge(&[path]);
    assert_eq!((report.terms, report.candidates, report.torn), (2, 2, 0));
}
