//! A Galera cluster with one writer, which dies; and a stranger who writes to another node.

use std::time::Duration;

use incumbent::{Backend, Config, Error};
use incumbent_testbed::{Galera, MariaDb};
use sqlx::MySqlPool;

use crate::judge::Memory;
use crate::server::Server;
use crate::support::{soon, until};
use crate::troupe::{BILLING, Troupe};

/// Long enough for three nodes on a machine that has other things to do.
const LEASE: Duration = Duration::from_secs(2);

async fn undone(node: &MariaDb) -> u64 {
    let ask = "SELECT CAST(SUM(variable_value) AS UNSIGNED) FROM information_schema.global_status WHERE variable_name
        IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')";
    Server::sql(node, ask).await.parse().expect("a number")
}

#[tokio::test]
async fn elections_move_to_another_node_when_the_writer_of_a_cluster_is_killed() {
    let mut cluster = Galera::start().await.expect("the cluster starts");
    let mut troupe = Troupe::<MariaDb>::empty(cluster.node(0), LEASE).await;
    troupe.join_three().await;
    let past = troupe.leader(BILLING).await;
    cluster.nodes[0].kill();
    troupe.retarget(cluster.node(1).address());
    troupe.succession(&past).await;
    troupe.judge("writer of the cluster killed", cluster.node(1), Memory::Whole).await;
}

#[tokio::test]
async fn what_a_cluster_undoes_is_a_conflict_and_elections_survive_it() {
    let cluster = Galera::start().await.expect("the cluster starts");
    let (here, there) = (cluster.node(0), cluster.node(1));
    let mut troupe = Troupe::<MariaDb>::empty(here, LEASE).await;

    let config = Config::new().name("alone").lease(LEASE).single_writer();
    let alone = Backend::open_with(&here.url(), &config).await.expect("opens");
    let election = alone.election("alone").await.expect("the election opens");
    let leadership = soon("a leadership", election.campaign()).await.expect("won");
    let pool = MySqlPool::connect(&here.url()).await.expect("a pool");
    let mut fenced = leadership.transaction(&pool).await.expect("begins");
    let write = "UPDATE last_work SET seq = seq + 1 WHERE election = 'mail'".to_owned();
    <MariaDb as Server>::tell(&mut fenced, write.clone()).await.expect("written");
    Server::sql(there, &format!("{write}; UPDATE last_work SET seq = 0")).await;
    let after = "SELECT seq FROM last_work WHERE election = 'mail'";
    until("it has come over", async || Server::sql(here, after).await == "0").await;
    let error = fenced.commit().await.expect_err("another node was first");
    assert!(matches!(error, Error::Conflict(_)), "{error:?}");
    leadership.resign().await.expect("resigns");
    alone.close().await;

    troupe.join_three().await;
    troupe.work().await;
    let before = undone(here).await;
    let stranger = MySqlPool::connect(&there.url()).await.expect("a pool");
    let mut stranger = stranger.acquire().await.expect("a connection");
    // Several renewals, so that elections had to survive some.
    until("renewals are undone", async || {
        for _ in 0..200 {
            let beat = "UPDATE incumbent_beat SET beaten_us = beaten_us + 1".to_owned();
            // A conflict may hit the stranger instead.
            let _ = <MariaDb as Server>::tell(&mut stranger, beat).await;
        }
        undone(here).await > before + 3
    })
    .await;
    troupe.judge("strangers write to another node", here, Memory::Whole).await;
}
