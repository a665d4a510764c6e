//! A Galera cluster replicates and heals.

use incumbent_testbed::Galera;

use crate::common::{Result, eventually};

#[tokio::test]
async fn galera_replicates_and_takes_a_killed_node_back() -> Result {
    let mut cluster = Galera::start().await?;
    cluster.node(0).sql("CREATE TABLE kept (number int PRIMARY KEY)").await?;
    cluster.node(1).sql("INSERT INTO kept VALUES (7)").await?;
    let asked = "SET wsrep_sync_wait = 1; SELECT number FROM kept ORDER BY number";
    for index in 0..3 {
        assert_eq!(cluster.node(index).sql(asked).await?, "7", "on node {index}");
    }
    cluster.nodes[0].kill();
    cluster.node(1).sql("SET SESSION wsrep_sync_wait = 0; SELECT 1").await?;
    eventually("the rest accepts writes", async || {
        cluster.node(2).sql("REPLACE INTO kept VALUES (8)").await.is_ok()
    })
    .await?;
    cluster.nodes[0].restart().await?;
    cluster.wait_until_synced().await?;
    assert_eq!(cluster.node(0).sql(asked).await?, "7\n8");
    Ok(())
}
