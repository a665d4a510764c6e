//! A majority that is not there yet, is lost, and is there again.

use std::time::Duration;

use incumbent::{Config, Reason, lease_clock_nanos};

use crate::lines;
use crate::support::{
    Cluster, LONG, Process, SHORT, close_all, contend, enter, for_a_while, lead, leader, soon,
    until, won,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_time_all_voters_must_be_there_once() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let (one, two) = (cluster.start(0, LONG).await, cluster.start(1, LONG).await);
    let missing = cluster.address(2);
    let waits = lines::with(&["waiting for", &missing]);
    assert!(!waits.is_empty(), "whoever waits says for whom");
    assert!(waits.iter().all(|line| line.contains("all")), "not for a majority: {waits:?}");
    let campaign = contend(&one).await;
    for_a_while().await;
    assert!(!campaign.is_finished(), "two of three found nothing");
    let error = cluster.try_look(&cluster.guest("onlooker", LONG)).await.map(drop);
    let text = error.expect_err("nothing is founded").to_string();
    assert!(text.contains(&missing) && text.contains("all"), "{text}");
    let three = cluster.start(2, LONG).await;
    drop(won(campaign).await);
    // From now on most of them will do.
    close_all(vec![one, three]).await;
    let one = cluster.start(0, LONG).await;
    drop(lead(&one).await);
    close_all(vec![one, two]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nobody_leads_and_with_one_somebody_does_again() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let one = cluster.start(0, SHORT).await;
        let mut others = Vec::new();
        for node in [1, 2] {
            others.push(Process::start(&cluster, &cluster.node(node, SHORT)).await);
        }
        let first = lead(&one).await;
        soon("a renewal", first.extended()).await;
        others.into_iter().for_each(Process::kill);
        let reason = soon("the loss", first.lost()).await;
        assert!(matches!(reason, Reason::Ending | Reason::Expired), "{reason}");
        until("the end of its lease", async || !first.is_valid()).await;
        let token = first.token();
        drop(first);
        let waiting = contend(&one).await;
        tokio::time::sleep(SHORT * 3).await;
        assert!(!waiting.is_finished(), "one of three leads");
        let two = cluster.start(1, SHORT).await;
        let second = won(waiting).await;
        assert!(second.token() > token);
        drop(second);
        close_all(vec![one, two]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewals_stop_before_the_lease_ends() {
    let cluster = Cluster::new("bully", 3);
    let one = cluster.start(0, SHORT).await;
    let mut others = Vec::new();
    for node in [1, 2] {
        others.push(Process::start(&cluster, &cluster.node(node, SHORT)).await);
    }
    let first = lead(&one).await;
    others.into_iter().for_each(Process::kill);
    // A renewal that was under way may still have come through.
    for_a_while().await;
    let until = first.valid_until_nanos();
    soon("the loss", first.lost()).await;
    assert_eq!(first.valid_until_nanos(), until, "renewed without a majority");
    // Both come back while the first still has its leadership in hand (to drop it would be to
    // resign, which ends a lease at once): whoever leads next waited for the lease.
    let (two, three) = (cluster.start(1, SHORT).await, cluster.start(2, SHORT).await);
    let second = lead(&two).await;
    assert!(lease_clock_nanos() > until, "two was early");
    drop((first, second));
    close_all(vec![one, two, three]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_is_not_disturbed_by_a_minority_that_goes() {
    let cluster = Cluster::new("bully", 3);
    let (one, two) = (cluster.start(0, LONG).await, cluster.start(1, LONG).await);
    let three = Process::start(&cluster, &cluster.node(2, LONG)).await;
    let first = lead(&one).await;
    three.kill();
    for _ in 0..3 {
        soon("a renewal", first.extended()).await;
    }
    assert!(first.is_valid());
    until("the other sees it", async || leader(&two).await == "node-0").await;
    drop(first);
    close_all(vec![one, two]).await;
}

#[tokio::test]
async fn an_onlooker_is_told_who_does_not_answer() {
    let cluster = Cluster::new("ring", 3);
    let all = cluster.start_all(LONG).await;
    drop(lead(&all[0]).await);
    let mut all = all.into_iter();
    let one = all.next().expect("the first");
    close_all(all.collect()).await;
    let error = cluster.try_look(&cluster.guest("onlooker", LONG)).await.map(drop);
    let text = error.expect_err("no majority").to_string();
    for node in [1, 2] {
        assert!(text.contains(&cluster.address(node)), "{text}");
    }
    assert!(text.contains("1 of 3 voters") && !text.contains(&cluster.address(0)), "{text}");
    close_all(vec![one]).await;
}

#[tokio::test]
async fn a_cluster_of_one_needs_nobody() {
    let cluster = Cluster::new("ring", 1);
    let one = cluster.start(0, LONG).await;
    let election = enter(&one).await;
    for _ in 0..3 {
        drop(soon("a leadership", election.campaign()).await.expect("won"));
    }
    close_all(vec![one]).await;
    let timeless: Config = cluster.node(0, Duration::from_secs(10));
    let one = cluster.open(&timeless).await;
    close_all(vec![one]).await;
}
