//! Other sessions get in each other's way: deadlocks, and a database that serializes everything.

use std::cell::Cell;
use std::time::Duration;

use incumbent_testbed::{MariaDb, Postgres};

use crate::judge::Memory;
use crate::server::Server;
use crate::support::{LEASE, soon, until};
use crate::troupe::{BILLING, Troupe};

/// So long that a deadlock is found before anybody gives up waiting.
const LONG: Duration = Duration::from_secs(3);

/// Locks the rows of an election in the opposite order, until candidates were the ones undone.
async fn deadlock<S: Server>(
    server: &S,
    stranger: &str,
    first: &str,
    found: impl AsyncFn() -> u64,
) {
    let mut troupe = Troupe::<S>::empty(server, LONG).await;
    troupe.join_three().await;
    let pool = S::pool(stranger);
    let mut met = 0;
    soon("deadlocks", async {
        while met < 3 {
            let leader = troupe.leader(BILLING).await.candidate;
            let before = found().await;
            let mut stranger = pool.acquire().await.expect("a connection");
            let beat = format!(
                "{first}; UPDATE incumbent_beat SET beat = beat + 1 WHERE name = '{BILLING}'"
            );
            let row =
                format!("SELECT term FROM incumbent_election WHERE name = '{BILLING}' FOR UPDATE");
            S::tell(&mut stranger, beat).await.expect("a lock");
            // Letting go takes the first row, and waits for the second one.
            troupe.candidates[leader].resign();
            tokio::time::sleep(Duration::from_millis(30)).await;
            let won = S::tell(&mut stranger, row).await.is_ok();
            S::tell(&mut stranger, "ROLLBACK".to_owned()).await.expect("undone");
            met += u64::from(won && found().await > before);
        }
    })
    .await;
    troupe.judge("deadlocks", server, Memory::Whole).await;
}

#[tokio::test]
async fn elections_survive_deadlocks_in_postgres() {
    let server = Postgres::start().await.expect("the server starts");
    Server::sql(&server, "ALTER SYSTEM SET deadlock_timeout = '60ms'").await;
    Server::sql(&server, "SELECT pg_reload_conf()").await;
    let found = async || {
        let log = std::fs::read_to_string(server.folder().join("log")).expect("a log");
        log.matches("deadlock detected").count() as u64
    };
    // Whoever looks for it first is undone: the stranger does not look.
    let first = "BEGIN; SET LOCAL deadlock_timeout = '1min'";
    deadlock(&server, &server.superuser_url(), first, found).await;
}

#[tokio::test]
async fn elections_survive_deadlocks_in_mariadb() {
    let server = MariaDb::start().await.expect("the server starts");
    let found = async || {
        let ask = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'innodb_deadlocks'";
        Server::sql(&server, ask).await.parse().expect("a number")
    };
    // Whoever wrote less is undone: the stranger has written something.
    deadlock(&server, &server.superuser_url(), "START TRANSACTION", found).await;
}

/// A stranger gets in the way again and again, for a while each time, until candidates met it.
async fn serializable<S: Server>(
    server: &S,
    setting: &str,
    (lock, hold): (&str, Duration),
    is_met: impl AsyncFn() -> bool,
) {
    let mut troupe = Troupe::<S>::empty(server, LEASE).await;
    server.sql(setting).await;
    troupe.join_three().await;
    troupe.work().await;
    let mut stranger = S::pool(&server.url()).acquire().await.expect("a connection");
    until("conflicts", async || {
        let began = S::tell(&mut stranger, format!("BEGIN; {lock}")).await;
        tokio::time::sleep(hold).await;
        let met = is_met().await;
        let end = if began.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let _ = S::tell(&mut stranger, end.to_owned()).await;
        met
    })
    .await;
    troupe.candidates[0].resign();
    troupe.judge("serializable", server, Memory::Whole).await;
}

#[tokio::test]
async fn elections_work_in_a_postgres_that_serializes_everything() {
    let server = Postgres::start().await.expect("the server starts");
    let setting = "ALTER DATABASE incumbent SET default_transaction_isolation = 'serializable'";
    // The stranger writes to what leaders write: whoever comes second is undone.
    let lock = format!(
        "UPDATE incumbent_beat SET beaten_us = beaten_us + 1 WHERE name = '{BILLING}';
        UPDATE last_work SET seq = seq WHERE election = '{BILLING}'"
    );
    let is_met = async || {
        let log = std::fs::read_to_string(server.folder().join("log")).expect("a log");
        log.matches("could not serialize access").count() > 5
    };
    serializable(&server, setting, (&lock, Duration::from_millis(20)), is_met).await;
}

#[tokio::test]
async fn elections_work_in_a_mariadb_that_serializes_everything() {
    let server = MariaDb::start().await.expect("the server starts");
    let setting = "SET GLOBAL tx_isolation = 'SERIALIZABLE'";
    // The stranger only reads, which keeps nobody waiting on any other level.
    let lock = format!(
        "SELECT beat FROM incumbent_beat WHERE name = '{BILLING}';
        SELECT seq FROM last_work WHERE election = '{BILLING}'"
    );
    // The server lists a lock only while somebody waits for it; a shared one is the stranger's.
    let waits = |table: &str| {
        format!(
            "SELECT COUNT(*) FROM information_schema.innodb_locks
            WHERE lock_table LIKE '%{table}%' AND lock_mode LIKE 'S%'"
        )
    };
    let (beats, works) = (Cell::new(0), Cell::new(0));
    let is_met = async || {
        for (table, count) in [("incumbent_beat", &beats), ("last_work", &works)] {
            let met = Server::sql(&server, &waits(table)).await != "0";
            count.set(count.get() + u32::from(met));
        }
        beats.get() > 2 && works.get() > 2
    };
    serializable(&server, setting, (&lock, LEASE / 3), is_met).await;
}
