//! Demand 13: what elections cost a database.

use std::time::{Duration, Instant};

use incumbent::{Backend, Config, Leadership};

use crate::support::{BILLING, LONG, Place, config, contend, lead, resign, soon, until};

/// How often something that comes once a span can have come since.
fn times(since: Instant, span: Duration) -> u64 {
    u64::try_from(since.elapsed().as_nanos() / span.as_nanos()).expect("a number") + 2
}

async fn statements(backend: &Backend) -> u64 {
    backend.statements().await.expect("a number")
}

const BEAT: Duration = Duration::from_millis(300);
const ROLL: Duration = Duration::from_secs(1);

/// How many statements a candidate runs while a leader renews eight times, and how many at most would
/// do if it asks so often and its roll is called as it is set.
async fn window(backend: &Backend, leader: &Leadership, every: Duration) -> (u64, u64) {
    let (since, before) = (Instant::now(), statements(backend).await);
    for _ in 0..8 {
        soon("a renewal", leader.extended()).await;
    }
    let asked = statements(backend).await - before;
    // A roll is a line that is written, everybody's lines and the row.
    (asked, times(since, every) + 3 * times(since, ROLL))
}

/// Waits until the doorbell of a candidate works, so that it does not look more often than once a beat.
async fn hears_the_bell(backend: &Backend, leader: &Leadership) {
    until("a quiet follower", async || {
        let (asked, most) = window(backend, leader, BEAT).await;
        asked > 0 && asked <= most
    })
    .await;
}

fn quiet(name: &str) -> Config {
    config(name, LONG).beat(BEAT).roll_every(ROLL)
}

// Millions of statements an hour came from processes that only waited. Here a follower asks once a
// beat where the store rings when something changes.
#[tokio::test]
async fn p13_a_follower_asks_once_a_beat_where_the_store_rings() {
    let place = Place::postgres().await;
    let (one, two) = (place.enter(&quiet("one")).await, place.enter(&quiet("two")).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    hears_the_bell(two.backend(), &first).await;
    for _ in 0..3 {
        let (asked, most) = window(two.backend(), &first, BEAT).await;
        assert!(asked > 0 && asked <= most, "{asked} statements, at most {most} were due");
    }
    waits.abort();
}

// Where it does not, there is a bound.
#[tokio::test]
async fn p13_a_follower_asks_sixteen_times_a_beat_at_most_where_nothing_rings() {
    let place = Place::mariadb().await;
    let (one, two) = (place.enter(&quiet("one")).await, place.enter(&quiet("two")).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    let since = Instant::now();
    let (asked, most) = window(two.backend(), &first, BEAT / 16).await;
    // Beats have a time of their own.
    let most = most + times(since, BEAT);
    assert!(asked > 0 && asked <= most, "{asked} statements, at most {most} were due");
    waits.abort();
}

// Every election of a process had a loop of its own. Here all of them go into one statement a beat.
#[tokio::test]
async fn p13_thirty_elections_of_a_process_cost_as_much_as_one() {
    for place in [Place::postgres().await, Place::mariadb().await] {
        let backend = Backend::open_with(&place.url, &quiet("one")).await.expect("opens");
        let mut campaigns = tokio::task::JoinSet::new();
        for number in 0..30 {
            let election = backend.election(&format!("shard-{number}")).await.expect("opens");
            campaigns.spawn(async move { lead(&election).await });
        }
        let led: Vec<Leadership> = soon("all of them", campaigns.join_all()).await;
        // Claims ring the doorbell, which brings renewals forward: let that pass.
        tokio::time::sleep(ROLL).await;
        // Those that came to lead at another moment beat at another moment for a while.
        let (asked, most) = window(&backend, &led[0], BEAT / 2).await;
        assert!(asked > 0 && asked <= most, "{asked} statements, at most {most} were due");
        assert!(led.iter().all(Leadership::is_valid));
    }
}

// When a leader let go, all that waited fell upon the database, again and again, until one had won.
#[tokio::test]
async fn p13_a_release_does_not_start_a_stampede() {
    let place = Place::postgres().await;
    let one = place.enter(&quiet("one")).await;
    let first = lead(&one).await;
    let (mut others, mut campaigns) = (Vec::new(), tokio::task::JoinSet::new());
    for number in 0..8 {
        let election = place.enter(&quiet(&format!("waits-{number}"))).await;
        campaigns.spawn({
            let election = election.clone();
            async move { election.campaign().await }
        });
        others.push(election);
    }
    for other in &others {
        hears_the_bell(other.backend(), &first).await;
    }
    let mut before = 0;
    for other in &others {
        before += statements(other.backend()).await;
    }
    let since = Instant::now();
    resign(first).await;
    let second = soon("a leadership", campaigns.join_next()).await.expect("eight");
    let second = second.expect("no panic").expect("won");
    tokio::time::sleep(BEAT).await;
    let mut asked = 0;
    for other in &others {
        asked += statements(other.backend()).await;
    }
    let asked = asked - before;
    // Each hears the release and the claim, and bids or looks, besides what is due by the clock.
    let most = 8 * (times(since, BEAT) + 3 * times(since, ROLL) + 8);
    assert!(asked <= most, "{asked} statements, at most {most} were due");
    assert_eq!(one.backend().terms(BILLING, 9).await.expect("terms").len(), 2);
    assert!(second.is_valid());
    assert!(campaigns.try_join_next().is_none(), "two lead");
}
