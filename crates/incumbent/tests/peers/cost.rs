//! What elections among peers cost.

use std::time::Duration;

use incumbent::{Leadership, Order};

use crate::support::{Cluster, LONG, close_all, lead, soon, until};

const ELECTIONS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_elections_cost_one_message_per_voter_and_beat() {
    let cluster = Cluster::new("bully", 3);
    // The roll is called once a lease, whatever the beat; here not at all.
    let quiet = |node| {
        let config = cluster.node(node, LONG).beat(Duration::from_millis(200));
        config.roll_every(Duration::from_mins(30))
    };
    let one = cluster.open(&quiet(0)).await;
    let (two, three) = (cluster.open(&quiet(1)).await, cluster.open(&quiet(2)).await);
    let mut campaigns = tokio::task::JoinSet::new();
    for number in 0..ELECTIONS {
        let election = one.election(&format!("shard-{number}")).await.expect("opens");
        campaigns.spawn(async move { election.campaign().await.expect("won") });
    }
    let led = soon("all leaderships", campaigns.join_all()).await;
    let beats = async || {
        let mut all = Vec::new();
        for status in two.statuses().await.expect("a look") {
            all.push(status.record.expect("a row").beat);
        }
        assert_eq!(all.len(), ELECTIONS);
        (all.iter().copied().min().expect("many"), all.iter().copied().max().expect("many"))
    };
    let settled = beats().await.0 + 3;
    until("beats in step", async || beats().await.0 >= settled).await;
    let before = (one.statements().await.expect("counted"), beats().await.1);
    until("ten more beats", async || beats().await.0 >= before.1 + 10).await;
    let after = (one.statements().await.expect("counted"), beats().await.1);
    let (questions, passed) = (after.0 - before.0, after.1 - before.1);
    // Counting and looking are two moments, between which a few beats may fall on a slow day; one
    // question for each election would be far more.
    assert!(questions <= passed + 5, "{questions} questions in {passed} beats");
    assert!(led.iter().all(Leadership::is_valid));
    drop(led);
    close_all(vec![one, two, three]).await;
}

/// A beat and an order of the same election get in each other's way: each must come through.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_come_through_beside_many_renewals() {
    let cluster = Cluster::new("bully", 3);
    let all = cluster.start_all(LONG).await;
    let mut led = Vec::new();
    for number in 0..20 {
        let name = format!("shard-{number}");
        let election = all[0].election(&name).await.expect("opens");
        led.push(soon("a leadership", election.campaign()).await.expect("won"));
        for order in [Order::Pause, Order::Resume, Order::Pause, Order::Resume] {
            all[1].order(&name, order, None, "ann", Some("why")).await.expect("ordered");
        }
        assert_eq!(all[2].orders(&name, 9).await.expect("orders").len(), 4, "each once");
    }
    for leadership in &led {
        soon("a renewal", leadership.extended()).await;
        assert!(leadership.is_valid());
    }
    drop(led);
    close_all(all).await;
}

/// Where peers keep elections, a leader still knows by itself whether it leads.
#[tokio::test]
async fn whether_one_leads_is_asked_of_nobody() {
    let cluster = Cluster::new("ring", 1);
    let one = cluster.open(&cluster.node(0, LONG).beat(Duration::from_secs(20))).await;
    let leadership = lead(&one).await;
    let before = one.statements().await.expect("counted");
    for _ in 0..1_000_000 {
        assert!(leadership.is_valid());
    }
    // It goes on renewing and saying who it is meanwhile.
    assert!(one.statements().await.expect("counted") - before < 1_000);
    drop(leadership);
    close_all(vec![one]).await;
}
