//! Demands 6 and 15: what stands between a candidate and its database, and what that claims to be.

use incumbent::{Backend, Error, Schema};
use incumbent_testbed::{PgBouncer, PoolMode, shared_mariadb, shared_postgres};
use sqlx::postgres::PgPoolOptions;

use crate::support::{BILLING, LONG, Place, config, contend, enter, lead, resign, soon, won};

// Locks of sessions were stranded in a pooler for an hour, or were let go of in the middle of a term.
// Here a leadership is a row: sessions may come and go, and none of them holds anything.
#[tokio::test]
async fn p06_a_leadership_behind_a_pooler_outlives_every_session() {
    let place = Place::postgres().await;
    let server = shared_postgres().await.expect("a server");
    let pooler = PgBouncer::start(server, PoolMode::Transaction).await.expect("a pooler");
    let url = pooler.url_for(&place.database);
    let one = enter(&url, &config("one", LONG)).await;
    let two = enter(&url, &config("two", LONG)).await;
    let (first, waits) = (lead(&one).await, contend(&two));
    let ours = format!("datname = '{}'", place.database);
    for _ in 0..3 {
        let cut =
            format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {ours}");
        assert_ne!(server.sql(&cut).await.expect("cut"), "0", "there was no session");
        soon("a renewal", first.extended()).await;
    }
    assert!(first.is_valid() && !waits.is_finished());
    let held = format!(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE {ours} AND locktype = 'advisory'"
    );
    assert_eq!(server.sql(&held).await.expect("counted"), "0");
    assert_eq!(one.backend().terms(BILLING, 9).await.expect("terms").len(), 1);
    resign(first).await;
    assert!(won(waits).await.is_valid());
}

// Renewals waited in line for a connection behind the work of the application, until the lease ended.
#[tokio::test]
async fn p06_a_pool_without_a_free_connection_does_not_keep_a_leader_from_renewing() {
    let place = Place::postgres().await;
    let pool = PgPoolOptions::new().max_connections(3).connect(&place.url).await.expect("a pool");
    let backend = Backend::with_postgres_pool(pool.clone(), &config("one", LONG)).await;
    let first = lead(&backend.expect("opens").election(BILLING).await.expect("opens")).await;
    let mut busy = Vec::new();
    while busy.len() < 2 {
        busy.push(soon("a connection", pool.begin()).await.expect("begins"));
    }
    assert!(pool.try_acquire().is_none(), "the pool is exhausted");
    for _ in 0..3 {
        soon("a renewal", first.extended()).await;
    }
    assert!(first.is_valid());
}

/// Opening is refused, and the words say why.
async fn is_refused(url: &str, why: &str) {
    match Backend::open_with(url, &config("one", LONG)).await {
        Err(Error::Open { problem, .. }) => assert!(problem.contains(why), "{problem}"),
        other => panic!("{other:?}"),
    }
}

// Databases took a statement and did not do what it says: tables that a crash empties, engines without
// transactions, poolers that part a transaction. Here that is looked at before anybody contends.
#[tokio::test]
async fn p15_a_table_that_a_crash_would_empty_is_refused() {
    let place = Place::postgres().await;
    let server = shared_postgres().await.expect("a server");
    let alter = "ALTER TABLE incumbent_beat SET UNLOGGED";
    server.sql_on(&place.database, alter).await.expect("altered");
    is_refused(&place.url, "unlogged").await;
}

#[tokio::test]
async fn p15_an_engine_without_transactions_is_refused() {
    let place = Place::mariadb().await;
    let server = shared_mariadb().await.expect("a server");
    let alter = "ALTER TABLE incumbent_election ENGINE = MyISAM";
    server.sql_on(&place.database, alter).await.expect("altered");
    is_refused(&place.url, "InnoDB").await;
}

#[tokio::test]
async fn p15_a_pooler_that_parts_a_transaction_is_refused() {
    let server = shared_postgres().await.expect("a server");
    let database = server.fresh_database().await.expect("a database");
    Schema::of(&database.url).expect("a URL").apply().await.expect("tables");
    let pooler = PgBouncer::start(server, PoolMode::Statement).await.expect("a pooler");
    is_refused(&pooler.url_for(&database.name), "statement mode").await;
}

// A count of changed rows meant something else in another database, and every process led. Here three
// candidates contend at once on each, and the store's own history has one leader for each term.
#[tokio::test]
async fn p15_whatever_the_dialect_one_of_three_wins() {
    for place in [Place::file(), Place::postgres().await, Place::mariadb().await] {
        let mut campaigns = tokio::task::JoinSet::new();
        for name in ["one", "two", "three"] {
            let election = place.candidate(name, LONG).await;
            campaigns.spawn(async move { election.campaign().await.map(|it| (it, election)) });
        }
        let mut last = None;
        for round in 1..=3 {
            let won = soon("a leadership", campaigns.join_next()).await.expect("one is left");
            let (leadership, election) = won.expect("no panic").expect("won");
            assert!(Some(leadership.token()) > last, "tokens grow");
            last = Some(leadership.token());
            let terms = election.backend().terms(BILLING, 9).await.expect("terms");
            assert_eq!(terms.len(), round, "{terms:?}");
            assert!(leadership.is_valid() && campaigns.try_join_next().is_none(), "two lead");
            resign(leadership).await;
        }
    }
}
