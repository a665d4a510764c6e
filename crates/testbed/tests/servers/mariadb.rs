//! MariaDB on its own: it answers, dies and comes back.

use std::time::Duration;

use incumbent_testbed::MariaDb;

use crate::common::{Result, mariadb};

#[tokio::test]
async fn mariadb_answers_and_survives_a_kill_on_the_same_port() -> Result {
    let mut server = MariaDb::start().await?;
    assert_eq!(mariadb(&server, &[], "SELECT user()").await?, "incumbent@127.0.0.1");
    let written = "CREATE TABLE kept (number int) ENGINE=InnoDB; INSERT INTO kept VALUES (7)";
    mariadb(&server, &[], written).await?;
    let (port, pid) = (server.port(), server.pid());
    assert!(server.cpu()? > Duration::ZERO);
    server.kill();
    assert!(server.sql("SELECT 1").await.is_err(), "a killed server answers");
    server.restart().await?;
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), pid);
    assert_eq!(server.sql("SELECT number FROM kept").await?, "7");
    server.stop().await?;
    server.restart().await?;
    assert_eq!(server.sql("SELECT number FROM kept").await?, "7");
    Ok(())
}
