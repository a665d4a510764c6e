//! A pooler between a client and PostgreSQL.

use incumbent_testbed::{PgBouncer, PoolMode, shared_postgres};

use crate::common::{Result, psql};

#[tokio::test]
async fn pgbouncer_answers_in_every_mode_and_comes_back() -> Result {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    for mode in [PoolMode::Session, PoolMode::Statement, PoolMode::Transaction] {
        let mut pooler = PgBouncer::start(server, mode).await?;
        let url = pooler.url_for(&database.name);
        assert_eq!(psql(&url, "SELECT current_database()").await?, database.name);
        assert_eq!(psql(&pooler.url(), "SELECT current_user").await?, "incumbent");
        pooler.kill();
        assert!(psql(&url, "SELECT 1").await.is_err(), "a killed pooler answers");
        pooler.restart().await?;
        assert_eq!(psql(&url, "SELECT 1").await?, "1");
        pooler.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_pooler_in_transaction_mode_shares_sessions_and_one_in_statement_mode_has_none() -> Result
{
    let server = shared_postgres().await?;
    let pooler = PgBouncer::start(server, PoolMode::Transaction).await?;
    psql(&pooler.url(), "SET application_name_of_a_test.x = 'seen'").await?;
    let seen =
        psql(&pooler.url(), "SELECT current_setting('application_name_of_a_test.x')").await?;
    assert_eq!(seen, "seen", "the next client did not get the same session");
    let pooler = PgBouncer::start(server, PoolMode::Statement).await?;
    assert!(psql(&pooler.url(), "BEGIN").await.is_err(), "a transaction could begin");
    Ok(())
}
