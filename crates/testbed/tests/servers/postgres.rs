//! PostgreSQL on its own: it answers, dies, comes back, and can be measured.

use std::time::Duration;

use anyhow::Context as _;
use incumbent_testbed::{Postgres, shared_postgres};

use crate::common::{Result, psql};

#[tokio::test]
async fn postgres_answers_and_survives_a_kill_on_the_same_port() -> Result {
    let mut server = Postgres::start().await?;
    assert_eq!(psql(&server.url(), "SELECT current_user").await?, "incumbent");
    assert_eq!(psql(&server.superuser_url(), "SELECT current_user").await?, "postgres");
    psql(&server.url(), "CREATE TABLE kept (number int); INSERT INTO kept VALUES (7)").await?;
    let (port, pid) = (server.port(), server.pid());
    server.kill();
    assert!(psql(&server.url(), "SELECT 1").await.is_err(), "a killed server answers");
    assert!(server.cpu().is_err(), "a killed server has processes");
    server.restart().await?;
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), pid);
    assert_eq!(psql(&server.url(), "SELECT number FROM kept").await?, "7");
    server.stop().await?;
    server.restart().await?;
    assert_eq!(server.sql("SELECT number FROM kept").await?, "7");
    Ok(())
}

#[tokio::test]
async fn postgres_wants_a_password_over_tcp() -> Result {
    let server = shared_postgres().await?;
    let url = server.url_for("incumbent", "wrong", "incumbent");
    let error = psql(&url, "SELECT 1").await.expect_err("the password is wrong");
    assert!(error.to_string().contains("password authentication failed"), "{error}");
    Ok(())
}

#[tokio::test]
async fn processor_time_grows_with_work_even_of_finished_backends() -> Result {
    let server = Postgres::start().await?;
    let before = server.cpu()?;
    server.sql("SELECT count(*) FROM generate_series(1, 3000000)").await?;
    let spent = server.cpu()?.checked_sub(before).context("time went back")?;
    assert!(spent >= Duration::from_millis(20), "only {spent:?} for millions of rows");
    Ok(())
}

#[tokio::test]
async fn a_frozen_server_is_silent_and_then_goes_on() -> Result {
    let server = Postgres::start().await?;
    server.freeze();
    let silent = tokio::time::timeout(Duration::from_millis(500), server.sql("SELECT 1")).await;
    server.thaw();
    assert!(silent.is_err(), "a frozen server answers");
    assert_eq!(server.sql("SELECT 1").await?, "1");
    Ok(())
}
