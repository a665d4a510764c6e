//! Voters that come and go where many elections are kept.

use std::time::{Duration, Instant};

use incumbent::Leadership;
use tokio::task::JoinSet;

use crate::support::{Cluster, LONG, close_all, soon};

const ELECTIONS: usize = 2_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_voter_is_added_and_another_removed_where_two_thousand_elections_are_led() {
    let cluster = Cluster::new("bully", 4).options("voters=3");
    let mut all = Vec::new();
    for node in 0..4 {
        let quiet = cluster.node(node, LONG).beat(Duration::from_secs(10));
        all.push(cluster.open(&quiet.roll_every(Duration::from_mins(30))).await);
    }
    let mut campaigns = JoinSet::new();
    for number in 0..ELECTIONS {
        let election = all[0].election(&format!("shard-{number}")).await.expect("opens");
        campaigns.spawn(async move { election.campaign().await.expect("won") });
    }
    let led = soon("all leaderships", campaigns.join_all()).await;
    let begun = Instant::now();
    let added = soon("one more", all[1].add_voter(&cluster.address(3))).await.expect("added");
    let took = begun.elapsed();
    #[expect(clippy::print_stdout, reason = "how long it took is for people to read")]
    {
        println!("a change of the voters with {ELECTIONS} elections took {took:?}");
    }
    assert_eq!((added.members.len(), added.settled), (4, true));
    let removed = soon("one less", all[1].remove_voter(&cluster.address(2))).await;
    let removed = removed.expect("removed");
    assert_eq!((removed.members.len(), removed.settled), (3, true));
    // Those who lead went on all the time, and what is kept is what was kept.
    assert!(led.iter().all(Leadership::is_valid));
    let statuses = all[3].statuses().await.expect("a look");
    assert_eq!(statuses.iter().filter(|status| status.leader().is_some()).count(), ELECTIONS);
    drop(led);
    close_all(all).await;
}
