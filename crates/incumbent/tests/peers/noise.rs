//! What is a warning, and what is only worth knowing.

use crate::lines;
use crate::numbers::unique;
use crate::support::{Cluster, SHORT, close_all, contend, until, won};

#[tokio::test]
async fn to_wait_for_voters_at_the_first_start_is_no_trouble_and_to_lose_them_is() {
    lines::listen();
    let cluster = Cluster::new("bully", 3);
    let name = unique(&cluster, 0);
    let one = cluster.open(&cluster.node(0, SHORT).name(&name)).await;
    let waiting = contend(&one).await;
    let missing = cluster.address(2);
    until("it says for whom it waits", async || {
        !lines::with(&["INFO", "waiting for voters", &missing]).is_empty()
    })
    .await;
    // Long enough for rounds to be given up.
    tokio::time::sleep(SHORT * 3).await;
    assert_eq!(lines::with(&["WARN", &name]), [""; 0]);
    let others = vec![cluster.start(1, SHORT).await, cluster.start(2, SHORT).await];
    let first = won(waiting).await;
    until("it says that they are there", async || {
        !lines::with(&["INFO", "the voters are there", &name]).is_empty()
    })
    .await;
    close_all(others).await;
    until("it warns", async || !lines::with(&["WARN", "in trouble", &name]).is_empty()).await;
    assert_eq!(lines::with(&["in trouble", &name]).len(), 1);
    drop(first);
    close_all(vec![one]).await;
}
