//! Many elections in one process: one connection, one statement a beat.

use std::time::Duration;

use incumbent::Leadership;

use crate::ground::Ground;
use crate::support::{LONG, lead, soon, until};

const ELECTIONS: usize = 50;

pub(crate) async fn fifty_elections_cost_one_statement_a_beat(ground: &Ground) {
    let config = ground.config("one", LONG).beat(Duration::from_millis(150));
    // The roll is called once a lease, whatever the beat; here not at all.
    let config = config.roll_every(Duration::from_mins(30));
    let backend = ground.open(&config).await;
    let mut campaigns = tokio::task::JoinSet::new();
    for number in 0..ELECTIONS {
        let election = backend.election(&format!("shard-{number}")).await.expect("opens");
        campaigns.spawn(async move { lead(&election).await });
    }
    let led = soon("all leaderships", campaigns.join_all()).await;
    let least = async || count(ground.users.number("SELECT min(beat) FROM incumbent_beat").await);
    let most = async || count(ground.users.number("SELECT max(beat) FROM incumbent_beat").await);
    let settled = least().await + 3;
    until("beats in step", async || least().await >= settled).await;

    let before = (backend.statements().await.expect("counted"), most().await);
    until("five more beats", async || least().await >= before.1 + 5).await;
    let after = (backend.statements().await.expect("counted"), most().await);
    let (statements, beats) = (after.0 - before.0, after.1 - before.1);
    // Counting and reading are two moments, between which a few beats may fall on a slow day; one
    // statement for each election would be far more.
    assert!(statements <= beats + 5, "{statements} statements in {beats} beats");
    assert!(led.iter().all(Leadership::is_valid));
    drop(led);
    backend.close().await;
}

fn count(number: i64) -> u64 {
    u64::try_from(number).expect("a count")
}
