//! Standbys follow, lag, miss writes and take over.

use std::time::Duration;

use incumbent_testbed::{Postgres, Standby};

use crate::common::{Result, psql};

#[tokio::test]
async fn a_standby_follows_and_refuses_writes_until_it_is_promoted() -> Result {
    let mut primary = Postgres::start().await?;
    let standby = primary.standby(Standby::Asynchronous).await?;
    psql(&primary.url(), "CREATE TABLE kept (number int); INSERT INTO kept VALUES (7)").await?;
    standby.catch_up_with(&primary).await?;
    assert_eq!(psql(&standby.url(), "SELECT number FROM kept").await?, "7");
    let write = "INSERT INTO kept VALUES (8)";
    let error = psql(&standby.url(), write).await.expect_err("a standby is read-only");
    assert!(error.to_string().contains("read-only"), "{error}");
    primary.kill();
    standby.promote().await?;
    psql(&standby.url(), write).await?;
    Ok(())
}

#[tokio::test]
async fn a_disconnected_standby_misses_writes_and_is_promoted_without_them() -> Result {
    let primary = Postgres::start().await?;
    let standby = primary.standby(Standby::Asynchronous).await?;
    primary.sql("CREATE TABLE kept (number int); INSERT INTO kept VALUES (7)").await?;
    standby.catch_up_with(&primary).await?;
    standby.disconnect().await?;
    primary.sql("INSERT INTO kept VALUES (8)").await?;
    standby.promote().await?;
    assert_eq!(standby.sql("SELECT number FROM kept").await?, "7");
    assert_eq!(primary.sql("SELECT count(*) FROM kept").await?, "2");
    Ok(())
}

#[tokio::test]
async fn a_reconnected_standby_gets_what_it_missed() -> Result {
    let primary = Postgres::start().await?;
    let standby = primary.standby(Standby::Asynchronous).await?;
    standby.disconnect().await?;
    primary.sql("CREATE TABLE kept (number int)").await?;
    standby.reconnect().await?;
    standby.catch_up_with(&primary).await?;
    assert_eq!(standby.sql("SELECT count(*) FROM kept").await?, "0");
    Ok(())
}

#[tokio::test]
async fn a_standby_that_pauses_replay_lags_but_loses_nothing_on_promotion() -> Result {
    let primary = Postgres::start().await?;
    let standby = primary.standby(Standby::Synchronous).await?;
    primary.sql("CREATE TABLE kept (number int)").await?;
    standby.catch_up_with(&primary).await?;
    standby.pause_replay().await?;
    // Synchronous, so the standby has received it when this returns.
    primary.sql("INSERT INTO kept VALUES (7)").await?;
    assert_eq!(standby.sql("SELECT number FROM kept").await?, "");
    standby.promote().await?;
    assert_eq!(standby.sql("SELECT number FROM kept").await?, "7");
    Ok(())
}

#[tokio::test]
async fn commits_wait_for_a_synchronous_standby_that_is_gone() -> Result {
    let primary = Postgres::start().await?;
    let mut standby = primary.standby(Standby::Synchronous).await?;
    primary.sql("CREATE TABLE kept (number int)").await?;
    standby.kill();
    let write = primary.sql("INSERT INTO kept VALUES (7)");
    let waited = tokio::time::timeout(Duration::from_secs(1), write).await;
    assert!(waited.is_err(), "the commit did not wait: {waited:?}");
    standby.restart().await?;
    primary.sql("INSERT INTO kept VALUES (8)").await?;
    Ok(())
}

#[tokio::test]
async fn a_promoted_synchronous_standby_does_not_wait_for_itself() -> Result {
    let mut primary = Postgres::start().await?;
    let standby = primary.standby(Standby::Synchronous).await?;
    primary.sql("CREATE TABLE kept (number int); INSERT INTO kept VALUES (7)").await?;
    primary.kill();
    standby.promote().await?;
    standby.sql("INSERT INTO kept VALUES (8)").await?;
    assert_eq!(standby.sql("SELECT count(*) FROM kept").await?, "2");
    Ok(())
}
