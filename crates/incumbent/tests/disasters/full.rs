//! The server answers, and takes no writes: its disk is full, or it was switched to read-only.

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};

use crate::judge::Memory;
use crate::log::Log;
use crate::server::Server;
use crate::support::{soon, tenths_of_a_lease, until};
use crate::troupe::{BILLING, Troupe};

/// Room for an empty server and some work.
const DISK: u64 = 160 << 20;

fn told(log: &Log, words: &str) -> bool {
    log.troubles().iter().any(|trouble| trouble.contains(words))
}

#[tokio::test]
async fn elections_on_a_postgres_whose_disk_is_full_end_and_come_back_with_room() {
    let options = PostgresOptions { disk: Some(DISK), ..PostgresOptions::default() };
    let mut server = Postgres::start_with(options).await.expect("the server starts");
    server.sql("CREATE TABLE load (words text)").await.expect("a table");
    let troupe = Troupe::of_three(&server, Protocol::Lease).await;
    troupe.work().await;
    server.fill_disk().expect("full");
    // Beats need room in the log of writes only, so that has to run out of it too.
    let load = "SELECT count(pg_logical_emit_message(false, 'load', repeat('x', 1000000)))
        FROM generate_series(1, 64)";
    soon("no write is taken", async {
        let panicked = || {
            std::fs::read_to_string(server.folder().join("log")).expect("a log").contains("PANIC")
        };
        while !panicked() {
            let _ = Postgres::sql(&server, load).await;
        }
    })
    .await;
    until("nobody leads", async || {
        let (count, _) = troupe.log.led(BILLING);
        tenths_of_a_lease(10).await;
        // It may have found a little more room when it recovered.
        let _ = Postgres::sql(&server, load).await;
        troupe.log.led(BILLING).0 == count
    })
    .await;
    assert!(!troupe.log.troubles().is_empty(), "nobody was told");
    server.free_disk().expect("freed");
    revive(&mut server).await;
    troupe.judge("disk full", &server, Memory::Whole).await;
}

/// A server that had no room to recover in has given up: somebody has to start it.
async fn revive(server: &mut Postgres) {
    for patience in (0..20).rev() {
        if Postgres::sql(server, "INSERT INTO load VALUES ('room')").await.is_ok() {
            return;
        }
        if patience == 0 {
            server.kill();
            Server::restart(server).await;
        }
        tenths_of_a_lease(1).await;
    }
}

#[tokio::test]
async fn elections_on_a_mariadb_whose_disk_is_full_are_safe_and_go_on_with_room() {
    let options = MariaDbOptions { disk: Some(DISK), ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await.expect("the server starts");
    server.sql("CREATE TABLE kept (words text) ENGINE=InnoDB").await.expect("a table");
    let troupe = Troupe::of_three(&server, Protocol::Lease).await;
    troupe.work().await;
    server.fill_disk().expect("full");
    // Its log of writes has its room for ever: beats may go on, while work that needs room cannot.
    let load = "INSERT INTO kept SELECT repeat('x', 1000) FROM seq_1_to_20000";
    let error = MariaDb::sql(&server, load).await.expect_err("20 MB fit on a full disk");
    assert!(error.to_string().contains("is full"), "{error}");
    tenths_of_a_lease(20).await;
    server.free_disk().expect("freed");
    troupe.judge("disk full", &server, Memory::Whole).await;
}

/// Switches to read-only, waits until it is told and nobody leads, and switches back.
async fn read_only<S: Server>(on: &[&str], off: &[&str]) {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, Protocol::Lease).await;
    for _ in 0..2 {
        let past = troupe.leader(BILLING).await;
        troupe.log.troubles().clear();
        for statement in on {
            server.sql(statement).await;
        }
        until("it is told", async || told(&troupe.log, "read-only")).await;
        // Not every session hears of it at the same moment.
        until("nobody writes to a read-only server", async || {
            let (count, _) = troupe.log.led(BILLING);
            tenths_of_a_lease(10).await;
            troupe.log.led(BILLING).0 == count
        })
        .await;
        for statement in off {
            server.sql(statement).await;
        }
        troupe.succession(&past).await;
    }
    troupe.judge("read-only", &server, Memory::Whole).await;
}

#[tokio::test]
async fn a_postgres_that_is_switched_to_read_only_and_back_is_led_again() {
    let reload = "SELECT pg_reload_conf()";
    read_only::<Postgres>(
        &["ALTER SYSTEM SET default_transaction_read_only = on", reload],
        &["ALTER SYSTEM RESET default_transaction_read_only", reload],
    )
    .await;
}

#[tokio::test]
async fn a_mariadb_that_is_switched_to_read_only_and_back_is_led_again() {
    read_only::<MariaDb>(&["SET GLOBAL read_only = 1"], &["SET GLOBAL read_only = 0"]).await;
}
