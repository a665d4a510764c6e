//! Many elections in one process: one connection, one statement a beat.

use std::time::Duration;

use incumbent::{Backend, Leadership};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use crate::support::{Place, config, lead, soon, until};

const ELECTIONS: usize = 1_000;

async fn lead_all(backend: &Backend, elections: usize) -> Vec<Leadership> {
    let mut campaigns = tokio::task::JoinSet::new();
    for number in 0..elections {
        let name = format!("shard-{number}");
        let election = backend.election(&name).await.expect("opens");
        campaigns.spawn(async move { lead(&election).await });
    }
    soon("all leaderships", campaigns.join_all()).await
}

/// The least and the most beats that any election has seen.
async fn beats(store: &mut SqliteConnection) -> (u64, u64) {
    let row = sqlx::query("SELECT min(beat), max(beat) FROM incumbent_beat")
        .fetch_one(store)
        .await
        .expect("a row");
    let number = |at: usize| u64::try_from(row.get::<i64, _>(at)).expect("beats");
    (number(0), number(1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_elections_cost_one_statement_a_beat() {
    let place = Place::new();
    // A beat that a test can wait for, and a timeout that a thousand claims at once fit into on a
    // slow day.
    let lease = Duration::from_mins(1);
    let config = config("one", lease).beat(Duration::from_millis(300)).timeout(lease / 3);
    // The roll is called once a lease; here not while beats are counted.
    let config = config.roll_every(Duration::from_mins(30));
    let backend = place.open(&config).await;
    let led = lead_all(&backend, ELECTIONS).await;
    let mut store = place.connect().await;
    // What follows the claims passes first: every claim rings the doorbell, which brings renewals
    // forward, and the list of candidates is written in parts.
    let mut windows = Vec::new();
    let steady = loop {
        let before = (beats(&mut store).await, backend.statements().await);
        let from = before.0.1;
        until("five more beats", async || beats(&mut store).await.0 >= from + 5).await;
        let after = (beats(&mut store).await, backend.statements().await);
        let statements = after.1.expect("counted") - before.1.expect("counted");
        let beaten = after.0.1 - from;
        assert!(beaten >= 5);
        windows.push((statements, beaten));
        // Counting and reading are two moments, between which one beat may fall on either side.
        if statements.abs_diff(beaten) <= 1 {
            break true;
        }
        if windows.len() == 5 {
            break false;
        }
    };
    assert!(steady, "statements and beats of {ELECTIONS} elections, in windows: {windows:?}");
    assert!(led.iter().all(Leadership::is_valid));

    let statuses = backend.statuses().await.expect("a look");
    assert_eq!(statuses.iter().filter(|s| s.leader().is_some()).count(), ELECTIONS);
    drop(led);
    soon("letting go of all", backend.close()).await;
    let other = place.open(&config).await;
    let statuses = other.statuses().await.expect("a look");
    assert!(statuses.iter().all(|s| s.sight.word() == "vacant"));
}

/// One transaction for all of them may take longer than the store may take, and would be given up as
/// a whole, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_of_many_elections_are_written_in_parts() {
    let place = Place::new();
    let lease = Duration::from_mins(1);
    let config = config("one", lease).beat(lease / 8).timeout(lease / 9);
    let backend = place.open(&config.roll_every(Duration::from_mins(30))).await;
    let led = lead_all(&backend, ELECTIONS).await;
    assert!(led.iter().all(Leadership::is_valid));
    let mut store = place.connect().await;
    // What one transaction claims begins at one instant.
    let largest = "SELECT count(*) FROM incumbent_term GROUP BY began_us ORDER BY 1 DESC LIMIT 1";
    let row = sqlx::query(largest).fetch_one(&mut store).await.expect("a row");
    let largest: i64 = row.get(0);
    assert!((50..=100).contains(&largest), "{largest} claims in one transaction");
}

#[tokio::test]
async fn elections_with_timings_of_their_own_run_side_by_side() {
    let place = Place::new();
    let backend = place.open(&config("one", Duration::from_mins(1))).await;
    let timing = incumbent::Timing::of_lease(Duration::from_secs(2)).expect("a timing");
    let slow = backend.election("slow").await.expect("opens");
    let quick = backend.election_with("quick", timing).await.expect("opens");
    let (slow, quick) = (lead(&slow).await, lead(&quick).await);
    assert!(slow.remaining() > quick.remaining());
    let before = quick.valid_until_nanos();
    until("a renewal", async || quick.valid_until_nanos() > before).await;
    assert!(slow.is_valid());
}
