//! The servers of this process: one of each kind, started by whoever needs it first.
//!
//! Assumes: scenarios that share a server take a database of their own and break nothing; those
//! that break something start a server of their own.
//! Promises: a server that cannot start fails the test that needs it.

use std::net::SocketAddr;

use incumbent_testbed::{Database, Galera, MariaDb, PgBouncer, PoolMode, Postgres};
use incumbent_testbed::{shared_mariadb, shared_postgres};
use tokio::sync::OnceCell;

use crate::ground::Kind;

/// Where the database of a ground is.
#[derive(Clone, Copy)]
pub(crate) enum Host<'a> {
    /// Nowhere else than in a file of this host.
    Here,
    Postgres(&'a Postgres),
    PgBouncer(&'a Postgres, &'a PgBouncer),
    MariaDb(&'a MariaDb),
    /// The first node takes all writes.
    Galera(&'a Galera),
}

impl Host<'static> {
    /// The one that tests of this kind share.
    pub(crate) async fn shared(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite | Kind::SqlitePool | Kind::Ring | Kind::Bully => Host::Here,
            Kind::Postgres | Kind::PostgresPool => Host::Postgres(postgres().await),
            Kind::PgBouncer => Host::PgBouncer(postgres().await, pgbouncer().await),
            Kind::MariaDb | Kind::MariaDbPool => Host::MariaDb(mariadb().await),
            Kind::Galera => Host::Galera(galera().await),
        }
    }
}

impl Host<'_> {
    /// Where it listens, for a proxy.
    pub(crate) fn address(self) -> Option<SocketAddr> {
        match self {
            Host::Here => None,
            Host::Postgres(server) => Some(server.address()),
            Host::PgBouncer(_, pooler) => Some(pooler.address()),
            Host::MariaDb(server) => Some(server.address()),
            Host::Galera(cluster) => Some(cluster.node(0).address()),
        }
    }

    /// A database of its own, and the URL by which candidates reach it.
    pub(crate) async fn fresh_database(self) -> Option<(String, Database)> {
        let fresh = match self {
            Host::Here => return None,
            Host::Postgres(server) | Host::PgBouncer(server, _) => server.fresh_database().await,
            Host::MariaDb(server) => server.fresh_database().await,
            Host::Galera(cluster) => cluster.node(0).fresh_database().await,
        };
        let database = fresh.expect("a database");
        let url = match self {
            Host::PgBouncer(_, pooler) => pooler.url_for(&database.name),
            Host::Galera(_) => format!("{}?galera=single-writer", database.url),
            _ => database.url.clone(),
        };
        Some((url, database))
    }
}

pub(crate) async fn postgres() -> &'static Postgres {
    shared_postgres().await.expect("PostgreSQL starts")
}

pub(crate) async fn mariadb() -> &'static MariaDb {
    shared_mariadb().await.expect("MariaDB starts")
}

pub(crate) async fn galera() -> &'static Galera {
    static CLUSTER: OnceCell<Galera> = OnceCell::const_new();
    CLUSTER.get_or_try_init(Galera::start).await.expect("a Galera cluster starts")
}

/// A pooler in transaction mode before the shared PostgreSQL.
pub(crate) async fn pgbouncer() -> &'static PgBouncer {
    static POOLER: OnceCell<PgBouncer> = OnceCell::const_new();
    let start = async || PgBouncer::start(postgres().await, PoolMode::Transaction).await;
    POOLER.get_or_try_init(start).await.expect("PgBouncer starts")
}
