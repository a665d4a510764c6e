//! Elections and their work over TLS, where the server has to prove who it is.
//!
//! Assumes: servers whose certificate is its own authority and names 127.0.0.1.
//! Promises: the strictest mode of each driver, which fails rather than speak openly.

use std::path::Path;

use incumbent::Schema;
use incumbent_testbed::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};

use crate::ground::{Ground, Kind};
use crate::host::Host;
use crate::support::{BILLING, LONG, close_all, lead};
use crate::users::{Users, send, with_pool};

async fn postgres() -> Postgres {
    let options = PostgresOptions { tls: true, ..PostgresOptions::default() };
    Postgres::start_with(options).await.expect("starts")
}

async fn mariadb() -> MariaDb {
    let options = MariaDbOptions { tls: true, ..MariaDbOptions::default() };
    MariaDb::start_with(options).await.expect("starts")
}

/// The URL of a ground for whoever trusts this authority alone.
fn verified(ground: &Ground, authority: &Path) -> String {
    let (url, authority) = (&ground.url, authority.display());
    if ground.kind.is_postgres() {
        format!("{url}?sslmode=verify-full&sslrootcert={authority}")
    } else {
        format!("{url}?ssl-mode=VERIFY_IDENTITY&ssl-ca={authority}")
    }
}

/// Everything that a user does, from the tables to a commit; `encrypted` counts the sessions that
/// are, of one that asks.
async fn all_of_it(ground: &Ground, url: &str, encrypted: &str) {
    Schema::of(url).expect("a URL").apply().await.expect("applied");
    let backend = ground.open_at(url, &ground.config("one", LONG)).await.expect("opens");
    let one = backend.election(BILLING).await.expect("opens");
    let leadership = lead(&one).await;
    let users = Users::new(url, 2);
    assert_eq!(users.number(encrypted).await, 1, "spoken openly");
    with_pool!(&users, pool => {
        let mut work = leadership.transaction(pool).await.expect("begins");
        send!("INSERT INTO ledger VALUES (1, 'sealed')", &mut *work).expect("inserts");
        work.commit().await.expect("commits");
    });
    assert_eq!(ground.users.entries().await, 1);
    drop(leadership);
    close_all([one]).await;
}

/// Whoever trusts another authority is told so, and does not lead.
async fn is_refused(ground: &Ground, authority: &Path) {
    let held = ground.held().await;
    let config = incumbent::Config::new();
    let error = ground.open_at(&verified(ground, authority), &config).await.map(drop);
    let text = error.expect_err("another authority").to_string();
    assert!(text.contains("invalid peer certificate"), "{text}");
    assert!(text.contains(&ground.database().name), "{text}");
    assert_eq!(ground.held().await, held);
}

pub(crate) async fn an_election_and_its_work_on_postgres_go_over_tls() -> Ground {
    let (server, other) = tokio::join!(postgres(), postgres());
    let ground = Ground::on(Kind::Postgres, Host::Postgres(&server)).await;
    is_refused(&ground, &other.certificate()).await;
    let encrypted = "SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()";
    all_of_it(&ground, &verified(&ground, &server.certificate()), encrypted).await;
    ground
}

pub(crate) async fn an_election_and_its_work_on_mariadb_go_over_tls() -> Ground {
    let (server, other) = tokio::join!(mariadb(), mariadb());
    let ground = Ground::on(Kind::MariaDb, Host::MariaDb(&server)).await;
    is_refused(&ground, &other.certificate()).await;
    let encrypted = "SELECT count(*) FROM information_schema.session_status
        WHERE variable_name = 'SSL_CIPHER' AND variable_value <> ''";
    all_of_it(&ground, &verified(&ground, &server.certificate()), encrypted).await;
    ground
}
