//! The file of a voter: what it is good for, and what its loss means.

use crate::lines;
use crate::support::{
    Cluster, LONG, Process, SHORT, close_all, contend, for_a_while, lead, leader, until, won,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_or_killed_node_lets_go_of_its_port_and_of_its_file() {
    let cluster = Cluster::new("bully", 1);
    for _ in 0..3 {
        let node = cluster.start(0, SHORT).await;
        drop(lead(&node).await);
        node.close().await;
        // Again at once: nothing is left to wait for.
        let node = cluster.start(0, SHORT).await;
        drop(node);
        until("its port is free", async || std::net::TcpListener::bind(cluster.address(0)).is_ok())
            .await;
        let node = Process::start(&cluster, &cluster.node(0, SHORT)).await;
        node.kill();
        until("its port is free", async || std::net::TcpListener::bind(cluster.address(0)).is_ok())
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn voters_that_restart_keep_what_they_promised() {
    let cluster = Cluster::new("bully", 3);
    let leading =
        Process::start(&cluster, &cluster.guest("leader", LONG).me(guest_address())).await;
    let mut voters = Vec::new();
    for node in 0..3 {
        voters.push(Process::start(&cluster, &cluster.node(node, LONG)).await);
    }
    let first = lead(&leading.backend).await;
    // All at once: only what is on the disks is left of the term.
    voters.into_iter().for_each(Process::kill);
    let mut voters = Vec::new();
    for node in 0..3 {
        voters.push(restart(&cluster, node).await);
    }
    let look = cluster.look().await;
    assert_eq!(leader(&look).await, "leader");
    let status = look.status("billing").await.expect("a look");
    assert_eq!(status.leader().map(|leader| leader.term), Some(first.term()));
    let waiting = contend(&voters[1].backend).await;
    for_a_while().await;
    assert!(!waiting.is_finished() && first.is_valid(), "a promise was forgotten");
    let token = first.token();
    first.resign().await.expect("resigns");
    assert!(won(waiting).await.token() > token);
    close_all(vec![look, leading.backend.clone()]).await;
    close_all(voters.into_iter().map(|it| it.backend.clone()).collect()).await;
}

/// An address that is nobody's in the list.
fn guest_address() -> String {
    Cluster::new("bully", 1).address(0)
}

/// Starts a node whose former process may still be ending.
async fn restart(cluster: &Cluster, node: usize) -> Process {
    let free = async || std::net::TcpListener::bind(cluster.address(node)).is_ok();
    until("its port is free", free).await;
    Process::start(cluster, &cluster.node(node, LONG)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_voter_that_lost_its_file_does_not_vote_and_says_so() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let mut all = cluster.start_all(SHORT).await;
    drop(lead(&all[0]).await);
    all.remove(1).close().await;
    std::fs::remove_dir_all(cluster.data(1)).expect("its folder");
    let forgetful = cluster.start(1, SHORT).await;
    let folder = cluster.data(1).display().to_string();
    until("it says so", async || !lines::with(&["does not vote", &folder]).is_empty()).await;
    assert_eq!(lines::with(&["does not vote", &folder]).len(), 1, "once");
    // It may contend: the two others are a majority.
    drop(lead(&forgetful).await);
    // With one of the others it is none.
    all.remove(1).close().await;
    let waiting = contend(&all[0]).await;
    tokio::time::sleep(SHORT * 2).await;
    assert!(!waiting.is_finished(), "a vote of one that forgot was counted");
    let third = cluster.start(2, SHORT).await;
    drop(won(waiting).await);
    all.extend([forgetful, third]);
    close_all(all).await;
}
