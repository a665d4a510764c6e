//! PostgreSQL, its standbys, and what may stand before it.

use incumbent::{Config, Doctor, Expiry, Schema};
use incumbent_testbed::{
    PgBouncer, PoolMode, Postgres, PostgresOptions, Proxy, Standby, shared_postgres,
};

use crate::support::{examine, finding, is_refused, is_sound, is_warned_of, prepared, refused};

#[tokio::test]
async fn a_primary_is_sound_and_leaves_no_trace() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    let checkup = prepared(&database.url).await?;
    is_sound(
        &checkup,
        &[
            "schema",
            "endpoint",
            "tables",
            "rights",
            "isolation",
            "locks",
            "counts",
            "pooler",
            "advisory locks",
            "limits",
            "doorbell",
            "standbys",
            "encryption",
            "clock",
        ],
    );
    assert_eq!(checkup.product, "PostgreSQL");
    assert!(checkup.place.starts_with("postgres://127.0.0.1:"), "{}", checkup.place);
    let json = serde_json::to_string(&checkup)?;
    assert!(!json.contains(server.password()), "{json}");
    let left = "SELECT count(*) FROM incumbent_term";
    assert_eq!(server.sql_on(&database.name, left).await?, "0");
    // The testbed's own servers do not wait for the disk.
    is_warned_of(&checkup, "durability", "fsync off");
    Ok(())
}

#[tokio::test]
async fn a_durable_server_has_nothing_to_be_warned_of() -> anyhow::Result<()> {
    let options = PostgresOptions { durable: true, ..PostgresOptions::default() };
    let server = Postgres::start_with(options).await?;
    let checkup = prepared(&server.url()).await?;
    is_sound(&checkup, &["durability", "locks"]);
    Ok(())
}

#[tokio::test]
async fn a_database_without_tables_is_refused_and_tried_out_all_the_same() -> anyhow::Result<()> {
    let database = shared_postgres().await?.fresh_database().await?;
    let checkup = examine(&database.url).await?;
    is_refused(&checkup, "schema", "incumbent schema --apply");
    assert!(finding(&checkup, "locks").said.contains("FOR UPDATE excludes"), "{checkup:#?}");
    let tables = "SELECT count(*) FROM pg_class WHERE relname LIKE 'incumbent%'";
    assert_eq!(shared_postgres().await?.sql_on(&database.name, tables).await?, "0");
    Ok(())
}

#[tokio::test]
async fn a_standby_is_refused() -> anyhow::Result<()> {
    let server = Postgres::start().await?;
    Schema::of(&server.url())?.apply().await?;
    let standby = server.standby(Standby::Asynchronous).await?;
    standby.catch_up_with(&server).await?;
    is_refused(&examine(&standby.url()).await?, "endpoint", "use the URL of the primary");
    let primary = examine(&server.superuser_url()).await?;
    is_warned_of(&primary, "standbys", "1 asynchronous");
    let condition = primary.promises.iter().find(|it| it.name == "by transaction");
    let condition = condition.and_then(|it| it.condition.as_deref()).unwrap_or_default();
    assert!(condition.contains("asynchronous"), "{condition}");
    Ok(())
}

#[tokio::test]
async fn a_synchronous_standby_is_good() -> anyhow::Result<()> {
    let server = Postgres::start().await?;
    Schema::of(&server.url())?.apply().await?;
    let _standby = server.standby(Standby::Synchronous).await?;
    is_sound(&examine(&server.superuser_url()).await?, &["standbys"]);
    Ok(())
}

#[tokio::test]
async fn a_pooler_that_keeps_transactions_together_is_good_but_swallows_the_doorbell()
-> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    let pooler = PgBouncer::start(server, PoolMode::Transaction).await?;
    let checkup = examine(&pooler.url_for(&database.name)).await?;
    is_sound(&checkup, &["pooler", "isolation", "locks", "counts", "limits"]);
    assert!(finding(&checkup, "pooler").said.contains("there is one"), "{checkup:#?}");
    let advice = finding(&checkup, "pooler").advice.as_deref().unwrap_or_default();
    assert!(advice.contains("server_login_retry"), "{checkup:#?}");
    is_warned_of(&checkup, "doorbell", "look every");
    Ok(())
}

#[tokio::test]
async fn a_pooler_in_statement_mode_is_refused() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    let pooler = PgBouncer::start(server, PoolMode::Statement).await?;
    let checkup = examine(&pooler.url_for(&database.name)).await?;
    is_refused(&checkup, "pooler", "statement mode");
    Ok(())
}

#[tokio::test]
async fn an_unlogged_table_is_refused_with_the_statement_that_mends_it() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    server.sql_on(&database.name, "ALTER TABLE incumbent_beat SET UNLOGGED").await?;
    let checkup = examine(&database.url).await?;
    is_refused(&checkup, "tables", "ALTER TABLE incumbent_beat SET LOGGED");
    Ok(())
}

#[tokio::test]
async fn a_user_without_rights_is_refused_and_one_with_the_grants_is_not() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    let schema = Schema::of(&database.url)?;
    schema.apply().await?;
    let user = format!("user_{}", database.name);
    server.sql(&format!("CREATE ROLE {user} LOGIN PASSWORD 'x'")).await?;
    let url = server.url_for(&user, "x", &database.name);
    let before = examine(&url).await?;
    assert_eq!(refused(&before), ["rights"], "{before:#?}");
    server.sql_on(&database.name, &schema.grants(&user)?).await?;
    is_sound(&examine(&url).await?, &["rights", "isolation", "locks", "counts"]);
    Ok(())
}

#[tokio::test]
async fn a_default_of_serializable_or_of_read_only_is_seen() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    let set = |name: &str, value: &str| {
        format!("ALTER DATABASE {} SET {name} = '{value}'", database.name)
    };
    server.sql(&set("default_transaction_isolation", "serializable")).await?;
    let checkup = examine(&database.url).await?;
    is_sound(&checkup, &["isolation", "locks"]);
    assert!(finding(&checkup, "isolation").said.ends_with("SERIALIZABLE"), "{checkup:#?}");
    server.sql(&set("default_transaction_read_only", "on")).await?;
    is_refused(&examine(&database.url).await?, "endpoint", "read-only");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_too_far_away_is_refused_with_both_numbers() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    let proxy = Proxy::start(server.address()).await?;
    proxy.delay(std::time::Duration::from_millis(20));
    let config =
        Config::new().lease(std::time::Duration::from_millis(200)).expiry(Expiry::Database);
    let checkup = Doctor::examine(&proxy.url(&database.url), &config).await?;
    is_refused(&checkup, "round trips", "lengthen the lease");
    let condition = checkup.promises[0].condition.clone().unwrap_or_default();
    assert!(condition.contains("round trips"), "{condition}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_away_or_refuses_the_password_is_an_error_without_secrets()
-> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let wrong = server.url_for("incumbent", "hunter2", "incumbent");
    for url in [wrong.as_str(), "postgres://me:hunter2@127.0.0.1:1/db"] {
        let error = examine(url).await.expect_err("no answer").to_string();
        assert!(error.contains("127.0.0.1") && !error.contains("hunter2"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_schema_of_another_version_is_refused_with_what_to_do() -> anyhow::Result<()> {
    let server = shared_postgres().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    for (version, words) in [("1", "bring it up to date"), ("99", "upgrade the program")] {
        let set =
            format!("UPDATE incumbent_meta SET value = '{version}' WHERE item = 'schema_version'");
        server.sql_on(&database.name, &set).await?;
        is_refused(&examine(&database.url).await?, "schema", words);
    }
    Ok(())
}

#[tokio::test]
async fn an_encrypted_connection_is_seen() -> anyhow::Result<()> {
    let options = PostgresOptions { tls: true, ..PostgresOptions::default() };
    let server = Postgres::start_with(options).await?;
    let checkup = prepared(&format!("{}?sslmode=require", server.url())).await?;
    is_sound(&checkup, &["encryption"]);
    assert!(finding(&checkup, "encryption").said.starts_with("TLS"), "{checkup:#?}");
    Ok(())
}
