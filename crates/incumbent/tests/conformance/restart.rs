//! Everything ends and begins again.

use incumbent::Fence;
use incumbent_testbed::{Galera, MariaDb, PgBouncer, PoolMode, Postgres};

use crate::ground::{Ground, Kind};
use crate::host::Host;
use crate::support::{LONG, SHORT, close_all, contend, lead, resign, soon, won};

/// Leads once as a process that comes and goes.
async fn once(ground: &Ground, name: &str) -> u64 {
    let election = ground.candidate(name, LONG).await;
    let leadership = lead(&election).await;
    let token = leadership.token().get();
    resign(leadership).await;
    close_all([election]).await;
    token
}

pub(crate) async fn tokens_grow_over_restarts_and_a_fence_keeps_them_in_order(ground: &Ground) {
    let mut tokens = Vec::new();
    for name in ["one", "two", "one"] {
        let fence = Fence::open(ground.path("fence")).expect("a fence");
        let token = once(ground, name).await;
        fence.admit(token).expect("a newer token passes");
        tokens.push(token);
    }
    assert!(tokens.is_sorted_by(|before, after| before < after), "{tokens:?}");
    let fence = Fence::open(ground.path("fence")).expect("a fence");
    assert!(fence.admit(tokens[1]).is_err(), "a deposed leader passes");
}

/// A leader's server is killed and comes back: whoever leads next has a higher token, and both
/// candidates go on without being told.
async fn outlives<F: Future<Output = ()>>(ground: &Ground, crash: impl FnOnce() -> F) {
    let (one, two) = (ground.candidate("one", SHORT).await, ground.candidate("two", SHORT).await);
    let first = lead(&one).await;
    let token = first.token();
    soon("the crash", crash()).await;
    // It may have come back within the lease, and then the leader is still the same.
    let waiting = contend(&two);
    drop(first);
    let second = won(waiting).await;
    assert!(second.token() > token);
    let newest = second.token();
    drop(second);
    assert!(lead(&one).await.token() > newest);
    close_all([one, two]).await;
}

pub(crate) async fn postgres_outlives_a_kill() -> Ground {
    let server = tokio::sync::Mutex::new(Postgres::start().await.expect("starts"));
    let ground = Ground::on(Kind::Postgres, Host::Postgres(&*server.lock().await)).await;
    let crash = async || {
        let mut server = server.lock().await;
        server.kill();
        server.restart().await.expect("restarts");
    };
    outlives(&ground, crash).await;
    ground
}

pub(crate) async fn postgres_behind_pgbouncer_outlives_a_kill() -> Ground {
    let server = tokio::sync::Mutex::new(Postgres::start().await.expect("starts"));
    let mut pooler =
        PgBouncer::start(&*server.lock().await, PoolMode::Transaction).await.expect("starts");
    let ground = {
        let server = server.lock().await;
        Ground::on(Kind::PgBouncer, Host::PgBouncer(&server, &pooler)).await
    };
    let crash = async || {
        let mut server = server.lock().await;
        server.kill();
        pooler.kill();
        server.restart().await.expect("restarts");
        pooler.restart().await.expect("restarts");
    };
    outlives(&ground, crash).await;
    ground
}

pub(crate) async fn mariadb_outlives_a_kill() -> Ground {
    let server = tokio::sync::Mutex::new(MariaDb::start().await.expect("starts"));
    let ground = Ground::on(Kind::MariaDb, Host::MariaDb(&*server.lock().await)).await;
    let crash = async || {
        let mut server = server.lock().await;
        server.kill();
        server.restart().await.expect("restarts");
    };
    outlives(&ground, crash).await;
    ground
}

pub(crate) async fn the_writing_node_of_galera_is_outlived() -> Ground {
    let cluster = tokio::sync::Mutex::new(Galera::start().await.expect("starts"));
    let ground = Ground::on(Kind::Galera, Host::Galera(&*cluster.lock().await)).await;
    let crash = async || {
        let mut cluster = cluster.lock().await;
        cluster.nodes[0].kill();
        cluster.nodes[0].restart().await.expect("restarts");
        cluster.wait_until_synced().await.expect("in sync");
    };
    outlives(&ground, crash).await;
    ground
}
