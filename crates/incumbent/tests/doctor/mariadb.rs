//! MariaDB, alone and in a cluster.

use incumbent::{Schema, Verdict};
use incumbent_testbed::{Galera, MariaDb, MariaDbOptions, shared_mariadb};

use crate::support::{examine, finding, is_refused, is_sound, is_warned_of, prepared, refused};

#[tokio::test]
async fn a_primary_is_sound_and_leaves_no_trace() -> anyhow::Result<()> {
    let server = shared_mariadb().await?;
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
            "advisory locks",
            "limits",
            "doorbell",
            "standbys",
            "encryption",
            "clock",
        ],
    );
    assert_eq!(checkup.product, "MariaDB");
    assert!(finding(&checkup, "isolation").said.ends_with("REPEATABLE READ"), "{checkup:#?}");
    assert!(!serde_json::to_string(&checkup)?.contains(server.password()));
    let left = "SELECT COUNT(*) FROM incumbent_term";
    assert_eq!(server.sql_on(&database.name, left).await?, "0");
    // The testbed's own servers do not wait for the disk.
    is_warned_of(&checkup, "durability", "innodb_flush_log_at_trx_commit 2");
    Ok(())
}

#[tokio::test]
async fn a_database_without_tables_is_refused_and_tried_out_all_the_same() -> anyhow::Result<()> {
    let server = shared_mariadb().await?;
    let database = server.fresh_database().await?;
    let checkup = examine(&database.url).await?;
    is_refused(&checkup, "schema", "incumbent schema --apply");
    assert!(finding(&checkup, "locks").said.contains("FOR UPDATE excludes"), "{checkup:#?}");
    assert_eq!(server.sql_on(&database.name, "SHOW TABLES").await?, "");
    Ok(())
}

#[tokio::test]
async fn a_read_only_server_is_refused() -> anyhow::Result<()> {
    let server = MariaDb::start().await?;
    Schema::of(&server.url())?.apply().await?;
    server.sql("SET GLOBAL read_only = 1").await?;
    is_refused(&examine(&server.url()).await?, "endpoint", "use the URL of the primary");
    Ok(())
}

#[tokio::test]
async fn a_table_without_transactions_is_refused_and_its_locks_are_seen_to_fail()
-> anyhow::Result<()> {
    let server = shared_mariadb().await?;
    let database = server.fresh_database().await?;
    Schema::of(&database.url)?.apply().await?;
    server.sql_on(&database.name, "ALTER TABLE incumbent_term ENGINE = MyISAM").await?;
    let checkup = examine(&database.url).await?;
    assert_eq!(refused(&checkup), ["tables", "isolation", "locks"], "{checkup:#?}");
    assert!(finding(&checkup, "tables").said.contains("InnoDB"), "{checkup:#?}");
    assert!(finding(&checkup, "locks").said.contains("nobody wait"), "{checkup:#?}");
    Ok(())
}

#[tokio::test]
async fn a_user_with_the_grants_and_no_more_is_sound() -> anyhow::Result<()> {
    let server = shared_mariadb().await?;
    let database = server.fresh_database().await?;
    let schema = Schema::of(&database.url)?;
    schema.apply().await?;
    let user = format!("u_{}", &database.name[..16]);
    server.sql(&format!("CREATE USER {user}@'%' IDENTIFIED BY 'x'")).await?;
    server.sql_on(&database.name, &format!("GRANT SELECT ON incumbent_meta TO {user}@'%'")).await?;
    let url = server.url_for(&user, "x", &database.name);
    let before = examine(&url).await?;
    assert!(!before.is_fit(), "{before:#?}");
    server.sql_on(&database.name, &schema.grants(&user)?).await?;
    let checkup = examine(&url).await?;
    is_sound(&checkup, &["rights", "isolation", "locks", "counts"]);
    // Whoever cannot see it must not say that all is well.
    is_warned_of(&checkup, "held up", "not tried: this user cannot see it");
    Ok(())
}

#[tokio::test]
async fn a_server_that_flushes_now_and_then_is_warned_of() -> anyhow::Result<()> {
    let settings = vec![("innodb_flush_log_at_trx_commit".to_owned(), "0".to_owned())];
    let options = MariaDbOptions { settings, ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await?;
    is_warned_of(&prepared(&server.url()).await?, "durability", "a crash of the server can forget");
    Ok(())
}

#[tokio::test]
async fn a_cluster_is_refused_unless_somebody_vouches_for_a_single_writer() -> anyhow::Result<()> {
    let cluster = Galera::start().await?;
    let url = cluster.node(0).url();
    let before = examine(&url).await?;
    assert_eq!(refused(&before), ["schema", "cluster"], "{before:#?}");
    let vouched = format!("{url}?galera=single-writer");
    let checkup = prepared(&vouched).await?;
    is_sound(&checkup, &["schema", "isolation", "locks", "counts"]);
    is_warned_of(&checkup, "cluster", "one of 3 nodes");
    let lease = checkup.promises[0].condition.as_deref().unwrap_or_default();
    assert!(lease.contains("as you vouch"), "{lease}");
    is_refused(&examine(&url).await?, "cluster", "?galera=single-writer");
    assert_eq!(checkup.verdict(), Verdict::Warn);
    Ok(())
}

#[tokio::test]
async fn an_encrypted_connection_is_seen() -> anyhow::Result<()> {
    let options = MariaDbOptions { tls: true, ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await?;
    let checkup = prepared(&format!("{}?ssl-mode=required", server.url())).await?;
    is_sound(&checkup, &["encryption"]);
    assert!(finding(&checkup, "encryption").said.starts_with("TLS"), "{checkup:#?}");
    Ok(())
}
