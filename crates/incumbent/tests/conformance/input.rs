//! What people get wrong: each is an error that says what to do, and nobody leads.

use incumbent::{Backend, Config, Error};
use incumbent_testbed::{MariaDb, MariaDbOptions, PgBouncer, PoolMode, Postgres, Standby};

use sqlx::Connection;

use crate::ground::{Ground, Kind};
use crate::host::{Host, galera, mariadb, postgres};
use crate::support::{BILLING, LONG, lead};
use crate::users::Users;

/// The words of whatever opening this URL in the way of the ground fails with.
async fn refused(ground: &Ground, url: &str) -> String {
    let error = ground.open_at(url, &Config::new()).await.map(drop);
    let text = error.expect_err("it cannot be used").to_string();
    let password = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let password = password.and_then(|(user, _)| user.split_once(':'));
    let (_, password) = password.expect("the URL has a password");
    assert!(!text.contains(password), "a password is shown: {text}");
    text
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
}

pub(crate) async fn a_wrong_password_is_said_and_not_shown(ground: &Ground) {
    let url = ground.url_with("incumbent", "hunter2", &ground.database().name);
    let text = refused(ground, &url).await;
    says(&text, &["password", "check the user and the password of the URL"]);
    assert_eq!(ground.held().await, 0);
}

pub(crate) async fn an_unknown_database_is_named(ground: &Ground) {
    let password = ground.url.split_once("incumbent:").expect("a user").1;
    let (password, _) = password.split_once('@').expect("a host");
    let url = ground.url_with("incumbent", password, "no_such_place");
    let text = refused(ground, &url).await;
    says(&text, &["no_such_place", "create it"]);
}

pub(crate) async fn a_server_that_is_not_there_is_named(ground: &Ground) {
    // Port 1 of this machine serves nobody.
    let (scheme, _) = ground.url.split_once("://").expect("a URL");
    let text = refused(ground, &format!("{scheme}://me:hunter2@127.0.0.1:1/app")).await;
    says(&text, &["127.0.0.1:1/app", "check that the server runs"]);
}

pub(crate) async fn missing_tables_are_said(ground: &Ground) {
    let text = refused(ground, &ground.url).await;
    says(&text, &["no tables of Incumbent", "schema --apply", &ground.database().name]);
}

pub(crate) async fn a_newer_schema_is_left_alone(ground: &Ground) {
    let newer = "UPDATE incumbent_meta SET value = '99' WHERE item = 'schema_version'";
    ground.users.run(newer).await;
    let text = refused(ground, &ground.url).await;
    says(&text, &["99", "upgrade the program"]);
    let applied = ground.schema().apply().await;
    assert!(matches!(applied, Err(Error::SchemaNewer { found: 99, .. })), "{applied:?}");
    assert_eq!(ground.held().await, 0);
}

pub(crate) async fn a_newer_file_is_left_alone(ground: &Ground) {
    let newer = "UPDATE incumbent_meta SET value = '99' WHERE key = 'schema_version'";
    ground.users.run(newer).await;
    let error = ground.open_at(&ground.url, &Config::new()).await.map(drop);
    let error = error.expect_err("a newer schema");
    says(&error.to_string(), &["99", "upgrade the program"]);
    assert_eq!(ground.held().await, 0);
}

pub(crate) async fn a_pool_of_one_connection_is_refused(ground: &Ground) {
    let config = Config::new();
    let opened = match Users::new(&ground.url, 1) {
        Users::Sqlite(_) => panic!("SQLite needs no more than one"),
        Users::Postgres(pool) => Backend::with_postgres_pool(pool, &config).await,
        Users::MySql(pool) => Backend::with_mysql_pool(pool, &config).await,
    };
    let text = opened.map(drop).expect_err("one is too few").to_string();
    says(&text, &["one connection only", "at least 2"]);
}

pub(crate) async fn a_password_with_a_slash_is_not_shown() {
    for url in [
        "postgres://me:hunter/2@host/db",
        "postgres://me:hunter2?@host/db",
        "mysql://me:hunter/2@host/db",
        "mysql://me:hunter2#@host/db",
        "postgres://me:hunter2@host/db?sslmoed=x",
        "postgres://host/db?user=me&password=hunter2&prot=1",
        "mysql://me:hunter2@host",
        "etcd://me:hunter2@host",
        "postgres:me:hunter2@host/db",
    ] {
        let error = Backend::open(url).await.map(drop).expect_err("an odd URL").to_string();
        assert!(!error.contains("hunter"), "{url}: {error}");
    }
}

pub(crate) async fn an_unlogged_table_is_refused(ground: &Ground) {
    ground.users.run("ALTER TABLE incumbent_beat SET UNLOGGED").await;
    let text = refused(ground, &ground.url).await;
    says(&text, &["incumbent_beat is unlogged", "SET LOGGED"]);
    assert_eq!(ground.held().await, 0);
    ground.users.run("ALTER TABLE incumbent_beat SET LOGGED").await;
    ground.open(&Config::new()).await.close().await;
}

pub(crate) async fn a_table_of_another_engine_is_refused(ground: &Ground) {
    ground.users.run("ALTER TABLE incumbent_term ENGINE = MyISAM").await;
    let text = refused(ground, &ground.url).await;
    says(&text, &["do not all use InnoDB", "ENGINE = InnoDB"]);
    assert_eq!(ground.held().await, 0);
    ground.users.run("ALTER TABLE incumbent_term ENGINE = InnoDB").await;
    ground.open(&Config::new()).await.close().await;
}

pub(crate) async fn a_standby_is_refused() -> Ground {
    let primary = Postgres::start().await.expect("starts");
    let ground = Ground::on(Kind::Postgres, Host::Postgres(&primary)).await;
    let standby = primary.standby(Standby::Asynchronous).await.expect("a standby");
    standby.catch_up_with(&primary).await.expect("catches up");
    let url = standby.url_for("incumbent", standby.password(), &ground.database().name);
    let text = refused(&ground, &url).await;
    says(&text, &["standby", "use the URL of the primary"]);
    // Whoever only looks may look there.
    let looks = Backend::open_existing(&url, &Config::new()).await.expect("opens to look");
    assert_eq!(looks.statuses().await.expect("a look"), []);
    looks.close().await;
    assert_eq!(ground.held().await, 0);
    ground
}

pub(crate) async fn a_server_that_is_read_only_is_refused() -> Ground {
    let server = MariaDb::start().await.expect("starts");
    let ground = Ground::on(Kind::MariaDb, Host::MariaDb(&server)).await;
    server.sql("SET GLOBAL read_only = 1").await.expect("read-only");
    let text = refused(&ground, &ground.url).await;
    says(&text, &["read-only", "use the URL of the primary"]);
    assert_eq!(ground.held().await, 0);
    let looks = Backend::open_existing(&ground.url, &Config::new()).await.expect("opens to look");
    assert_eq!(looks.statuses().await.expect("a look"), []);
    looks.close().await;
    ground
}

pub(crate) async fn a_pooler_that_parts_transactions_is_refused() -> Ground {
    let ground = Ground::new(Kind::Postgres).await;
    let pooler = PgBouncer::start(postgres().await, PoolMode::Statement).await.expect("starts");
    let text = refused(&ground, &pooler.url_for(&ground.database().name)).await;
    says(&text, &["statement mode", "use transaction or session mode"]);
    assert_eq!(ground.held().await, 0);
    ground
}

pub(crate) async fn nothing_is_left_in_the_sessions_of_a_pooler_that_forgets_options() -> Ground {
    let ground = Ground::new(Kind::Postgres).await;
    let pooler = PgBouncer::start(postgres().await, PoolMode::Forgetful).await.expect("starts");
    let url = pooler.url_for(&ground.database().name);
    let backend = ground.open_at(&url, &ground.config("one", LONG)).await.expect("opens");
    let election = backend.election(BILLING).await.expect("opens");
    let leadership = lead(&election).await;
    let users = Users::new(&url, 4);
    // The pooler has four sessions; whoever asks may get any of them.
    for _ in 0..12 {
        for limit in ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"] {
            users.run(&format!("SELECT 1 / (current_setting('{limit}') = '0')::int")).await;
        }
    }
    assert!(leadership.is_valid());
    drop(leadership);
    backend.close().await;
    ground
}

pub(crate) async fn a_pooler_in_session_mode_will_do() -> Ground {
    let ground = Ground::new(Kind::Postgres).await;
    let pooler = PgBouncer::start(postgres().await, PoolMode::Session).await.expect("starts");
    let url = pooler.url_for(&ground.database().name);
    let backend = ground.open_at(&url, &ground.config("one", LONG)).await.expect("opens");
    let election = backend.election(BILLING).await.expect("opens");
    drop(lead(&election).await);
    backend.close().await;
    ground
}

pub(crate) async fn a_cluster_nobody_vouches_for_is_refused(ground: &Ground) {
    let plain = ground.url.replace("?galera=single-writer", "");
    let text = refused(ground, &plain).await;
    says(&text, &["Galera", "?galera=single-writer"]);
    assert_eq!(ground.held().await, 0);
    // A pool has no URL, so there the settings vouch.
    let pool = || match Users::new(&plain, 4) {
        Users::MySql(pool) => pool,
        other => panic!("not a pool of MySQL: {other:?}"),
    };
    let refused = Backend::with_mysql_pool(pool(), &Config::new()).await.map(drop);
    says(&refused.expect_err("nobody vouches").to_string(), &["Galera"]);
    let vouched = Config::new().single_writer();
    Backend::with_mysql_pool(pool(), &vouched).await.expect("opens").close().await;
    assert_eq!(galera().await.nodes.len(), 3);
}

/// Neither with encryption nor without is there an answer that PostgreSQL would give.
pub(crate) async fn another_product_at_the_port_is_said() {
    let url = mariadb().await.url().replacen("mysql://", "postgres://", 1);
    for options in ["", "?sslmode=disable"] {
        let opened = Backend::open_with(&format!("{url}{options}"), &Config::new()).await;
        let text = opened.map(drop).expect_err("it is MariaDB").to_string();
        says(&text, &["does not speak PostgreSQL's protocol", "mysql://"]);
    }
}

pub(crate) async fn a_database_of_postgres_without_room_is_said() {
    let server = postgres().await;
    let database = server.fresh_database().await.expect("a database");
    let limit = format!("ALTER DATABASE {} CONNECTION LIMIT 0", database.name);
    server.sql(&limit).await.expect("limited");
    let opened = Backend::open_with(&database.url, &Config::new()).await;
    let text = opened.map(drop).expect_err("there is no room").to_string();
    says(&text, &["too many connections", "max_connections", "two connections"]);
}

pub(crate) async fn a_mariadb_without_room_is_said() {
    let settings = vec![("max_connections".to_owned(), "10".to_owned())];
    let options = MariaDbOptions { settings, ..MariaDbOptions::default() };
    let server = MariaDb::start_with(options).await.expect("the server starts");
    let mut taken = Vec::new();
    while let Ok(connection) = sqlx::MySqlConnection::connect(&server.url()).await {
        taken.push(connection);
        assert!(taken.len() <= 11, "there is no limit");
    }
    let opened = Backend::open_with(&server.url(), &Config::new()).await;
    let text = opened.map(drop).expect_err("there is no room").to_string();
    says(&text, &["Too many connections", "max_connections", "one connection"]);
}
