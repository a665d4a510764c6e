//! What can be asked of a server before it starts, and databases of one's own on a shared one.

use std::collections::BTreeSet;

use incumbent_testbed::{
    MariaDb, MariaDbOptions, Postgres, PostgresOptions, shared_mariadb, shared_postgres,
};

use crate::common::{Result, mariadb, psql};

#[tokio::test]
async fn fresh_databases_can_be_made_side_by_side() -> Result {
    let (postgres, mariadb) = (shared_postgres().await?, shared_mariadb().await?);
    let mut names = BTreeSet::new();
    let many = (0..8).map(|_| tokio::spawn(postgres.fresh_database()));
    let more = (0..8).map(|_| tokio::spawn(mariadb.fresh_database()));
    for database in many.chain(more).collect::<Vec<_>>() {
        names.insert(database.await??.name);
    }
    assert_eq!(names.len(), 16);
    Ok(())
}

#[tokio::test]
async fn fresh_databases_are_empty_and_apart() -> Result {
    let server = shared_postgres().await?;
    let (one, other) = (server.fresh_database().await?, server.fresh_database().await?);
    psql(&one.url, "CREATE TABLE here ()").await?;
    assert!(psql(&other.url, "SELECT FROM here").await.is_err(), "databases are not apart");
    assert_eq!(psql(&one.superuser_url, "SELECT current_database()").await?, one.name);
    let server = shared_mariadb().await?;
    let (one, other) = (server.fresh_database().await?, server.fresh_database().await?);
    server.sql_on(&one.name, "CREATE TABLE here (number int)").await?;
    assert!(server.sql_on(&other.name, "SELECT * FROM here").await.is_err());
    Ok(())
}

#[tokio::test]
async fn settings_reach_the_servers() -> Result {
    let settings = vec![("lock_timeout".to_owned(), "1234ms".to_owned())];
    let options = PostgresOptions { settings, durable: true, ..PostgresOptions::default() };
    let server = Postgres::start_with(options).await?;
    assert_eq!(server.sql("SHOW lock_timeout").await?, "1234ms");
    assert_eq!(server.sql("SHOW fsync").await?, "on");
    let settings = vec![("innodb_lock_wait_timeout".to_owned(), "7".to_owned())];
    let options = MariaDbOptions { settings, durable: true, ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await?;
    let asked = "SELECT @@innodb_lock_wait_timeout, @@innodb_flush_log_at_trx_commit";
    assert_eq!(server.sql(asked).await?, "7\t1");
    Ok(())
}

#[tokio::test]
async fn a_server_that_cannot_start_shows_its_log() -> Result {
    let settings = vec![("no_such_setting".to_owned(), "1".to_owned())];
    let options = PostgresOptions { settings: settings.clone(), ..PostgresOptions::default() };
    let error = Postgres::start_with(options).await.expect_err("the setting is wrong");
    assert!(format!("{error:#}").contains("no_such_setting"), "{error:#}");
    let options = MariaDbOptions { settings, ..MariaDbOptions::default() };
    let error = MariaDb::start_with(options).await.expect_err("the setting is wrong");
    assert!(format!("{error:#}").contains("no_such_setting"), "{error:#}");
    Ok(())
}

#[tokio::test]
async fn both_speak_tls_with_a_certificate_that_can_be_verified() -> Result {
    let options = PostgresOptions { tls: true, ..PostgresOptions::default() };
    let server = Postgres::start_with(options).await?;
    let certificate = server.certificate().display().to_string();
    let url = format!("{}?sslmode=verify-full&sslrootcert={certificate}", server.url());
    let asked = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert_eq!(psql(&url, asked).await?, "t");
    let options = MariaDbOptions { tls: true, ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await?;
    let certificate = server.certificate().display().to_string();
    let extra = [format!("--ssl-ca={certificate}"), "--ssl-verify-server-cert".to_owned()];
    let cipher = mariadb(&server, &extra, "SHOW STATUS LIKE 'Ssl_cipher'").await?;
    assert!(cipher.starts_with("Ssl_cipher\tTLS"), "{cipher:?}");
    Ok(())
}
