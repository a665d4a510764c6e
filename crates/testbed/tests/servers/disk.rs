//! A full disk is a true one: the server is told that no space is left, and recovers.

use incumbent_testbed::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};

use crate::common::{Result, eventually, is_gone};

const SIZE: u64 = 160 << 20;

#[tokio::test]
async fn postgres_meets_a_full_disk_and_recovers() -> Result {
    let options = PostgresOptions { disk: Some(SIZE), ..PostgresOptions::default() };
    let server = Postgres::start_with(options).await?;
    server.sql("CREATE TABLE kept (words text)").await?;
    server.fill_disk()?;
    let write = "INSERT INTO kept SELECT repeat('x', 1000) FROM generate_series(1, 20000)";
    assert!(server.sql(write).await.is_err(), "20 MB fit on a full disk");
    eventually("the log says why", async || {
        let log = std::fs::read_to_string(server.folder().join("log")).unwrap_or_default();
        log.contains("No space left on device")
    })
    .await?;
    server.free_disk()?;
    eventually("writes succeed again", async || server.sql(write).await.is_ok()).await?;
    let folder = server.folder().to_owned();
    drop(server);
    assert!(is_gone(&folder)?, "the disk is left");
    Ok(())
}

#[tokio::test]
async fn mariadb_meets_a_full_disk_and_recovers() -> Result {
    let options = MariaDbOptions { disk: Some(SIZE), ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await?;
    server.sql("CREATE TABLE kept (words text) ENGINE=InnoDB").await?;
    server.fill_disk()?;
    let write = "INSERT INTO kept SELECT repeat('x', 1000) FROM seq_1_to_20000";
    let error = server.sql(write).await.expect_err("20 MB fit on a full disk").to_string();
    assert!(error.contains("is full"), "{error}");
    server.free_disk()?;
    eventually("writes succeed again", async || server.sql(write).await.is_ok()).await?;
    let folder = server.folder().to_owned();
    drop(server);
    assert!(is_gone(&folder)?, "the disk is left");
    Ok(())
}

#[tokio::test]
async fn a_server_without_a_disk_of_its_own_fills_nothing() -> Result {
    let server = incumbent_testbed::shared_postgres().await?;
    assert!(server.fill_disk().is_err(), "the disk of this machine was filled");
    Ok(())
}
