//! The server, or the pooler before it, is killed or stands still under running leaders.

use std::time::Duration;

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, PgBouncer, PoolMode, Postgres};

use crate::judge::Memory;
use crate::server::Server;
use crate::support::{LEASE, tenths_of_a_lease};
use crate::troupe::{BILLING, Troupe};

/// A short outage, one that leases barely outlive, and one that they do not.
pub(crate) async fn killed_and_restarted<S: Server>(protocol: Protocol) {
    let mut server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    for tenths in [0, 6, 15, 0] {
        troupe.work().await;
        server.kill();
        tenths_of_a_lease(tenths).await;
        server.restart().await;
    }
    troupe.judge("killed and restarted", &server, Memory::Whole).await;
}

#[tokio::test]
async fn elections_survive_a_postgres_that_is_killed_again_and_again() {
    killed_and_restarted::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn elections_survive_a_mariadb_that_is_killed_again_and_again() {
    killed_and_restarted::<MariaDb>(Protocol::Lease).await;
}

/// What was sent to a server that stood still is done when it goes on, long after its sender gave up.
pub(crate) async fn frozen<S: Server>(protocol: Protocol) {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    for tenths in [4, 18, 25] {
        troupe.work().await;
        server.freeze();
        tenths_of_a_lease(tenths).await;
        server.thaw();
    }
    troupe.judge("frozen", &server, Memory::Whole).await;
}

#[tokio::test]
async fn elections_survive_a_postgres_that_stands_still() {
    frozen::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn elections_survive_a_mariadb_that_stands_still() {
    frozen::<MariaDb>(Protocol::Lease).await;
}

#[tokio::test]
async fn elections_survive_a_pgbouncer_that_is_killed_and_restarted() {
    let server = Postgres::start().await.expect("the server starts");
    let pooler = PgBouncer::start(&server, PoolMode::Transaction).await;
    let mut pooler = pooler.expect("the pooler starts");
    let url = server.url();
    let mut troupe = Troupe::<Postgres>::before(&url, server.address(), LEASE).await;
    troupe.retarget(pooler.address());
    troupe.join_three().await;
    for pause in [Duration::ZERO, LEASE * 2] {
        let before = troupe.leader(BILLING).await;
        pooler.kill();
        tokio::time::sleep(pause).await;
        pooler.restart().await.expect("the pooler starts again");
        if pause > LEASE {
            troupe.succession(&before).await;
        }
    }
    troupe.judge("pooler killed", &server, Memory::Whole).await;
}
