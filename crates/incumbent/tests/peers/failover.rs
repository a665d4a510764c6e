//! Leaders that end, in good order or not.

use std::time::Duration;

use incumbent::lease_clock_nanos;

use crate::support::{Cluster, LONG, Process, SHORT, close_all, contend, lead, seen, soon, won};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_leader_is_followed_after_its_lease() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let (one, two) = (cluster.start(0, SHORT).await, cluster.start(1, SHORT).await);
        let leading = Process::start(&cluster, &cluster.node(2, SHORT)).await;
        let first = lead(&leading.backend).await;
        let waiting = [contend(&one).await, contend(&two).await];
        seen(&one, "node-0").await;
        seen(&one, "node-1").await;
        leading.kill();
        let [a, b] = waiting;
        let second = soon("a successor", async {
            tokio::select! { won = a => won, won = b => won }
        });
        let second = second.await.expect("no panic").expect("won");
        assert!(lease_clock_nanos() > first.valid_until_nanos(), "the successor was early");
        assert!(!first.is_valid() && second.token() > first.token());
        drop(second);
        close_all(vec![one, two]).await;
    }
}

#[tokio::test]
async fn a_leader_whose_backend_is_dropped_is_followed_at_once() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let mut all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        let token = first.token();
        let waiting = contend(&all[1]).await;
        seen(&all[2], "node-1").await;
        // The lease is longer than anybody's patience here: it was let go of.
        drop((first, all.remove(0)));
        assert!(won(waiting).await.token() > token);
        close_all(all).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_follow_each_other_while_nodes_are_killed_and_started() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let mut nodes = Vec::new();
        for node in 0..3 {
            nodes.push(Process::start(&cluster, &cluster.node(node, SHORT)).await);
        }
        let mut newest = 0;
        for round in 0..4 {
            let first = lead(&nodes[0].backend).await;
            assert!(first.token().get() > newest, "{scheme}, round {round}");
            newest = first.token().get();
            let next = contend(&nodes[1].backend).await;
            nodes.remove(0).kill();
            let second = won(next).await;
            assert!(!first.is_valid() && second.token().get() > newest);
            newest = second.token().get();
            drop(second);
            let gone = round % 3;
            let free = async || std::net::TcpListener::bind(cluster.address(gone)).is_ok();
            crate::support::until("its port is free", free).await;
            nodes.push(Process::start(&cluster, &cluster.node(gone, SHORT)).await);
        }
        close_all(nodes.iter().map(|node| node.backend.clone()).collect()).await;
        nodes.into_iter().for_each(Process::kill);
    }
}

#[tokio::test]
async fn work_may_go_on_for_longer_than_a_lease() {
    let cluster = Cluster::new("ring", 3);
    let all = cluster.start_all(SHORT).await;
    let mut first = lead(&all[0]).await;
    let mut until = first.valid_until_nanos() + 2 * nanos(SHORT);
    while first.valid_until_nanos() < until {
        tokio::select! {
            () = first.extended() => assert!(first.is_valid()),
            // On a slow day a lease may end.
            _ = first.lost() => {
                drop(first);
                first = lead(&all[0]).await;
                until = first.valid_until_nanos() + 2 * nanos(SHORT);
            }
        }
    }
    drop(first);
    close_all(all).await;
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("short")
}
