//! A ground: one kind of database with everything that a scenario needs to hold elections on it.
//!
//! Assumes: the host outlives it.
//! Promises: every ground is a database of its own, with our tables and one of the user's. Whatever
//! candidates do on it is written to histories, and [`Ground::judge`] judges them as the simulator's
//! are judged.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use incumbent::{Backend, Config, Election, Error, Protocol, Schema};
use incumbent_audit::{HistoryError, audit};
use incumbent_testbed::{Database, Proxy, free_port};
use tempfile::TempDir;

use crate::host::Host;
use crate::support::{BILLING, LONG, close_all, contend, until};
use crate::users::Users;

/// What elections are agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    SqlitePool,
    Postgres,
    PostgresPool,
    /// Through a pooler in transaction mode.
    PgBouncer,
    MariaDb,
    MariaDbPool,
    Galera,
    /// Three voters of this process, which pick by a ring.
    Ring,
    /// The same, where the highest is picked.
    Bully,
}

impl Kind {
    /// Whether candidates bring a pool of their own.
    const fn brings_pool(self) -> bool {
        matches!(self, Kind::SqlitePool | Kind::PostgresPool | Kind::MariaDbPool)
    }

    pub(crate) const fn is_file(self) -> bool {
        matches!(self, Kind::Sqlite | Kind::SqlitePool)
    }

    /// Whether elections are kept by processes, and not by a database.
    pub(crate) const fn is_peers(self) -> bool {
        matches!(self, Kind::Ring | Kind::Bully)
    }

    pub(crate) const fn is_postgres(self) -> bool {
        matches!(self, Kind::Postgres | Kind::PostgresPool | Kind::PgBouncer)
    }
}

/// One database to hold elections on.
pub(crate) struct Ground {
    pub(crate) kind: Kind,
    /// How elections are held on it.
    protocol: Protocol,
    /// By which candidates reach it.
    pub(crate) url: String,
    pub(crate) users: Users,
    /// As its server knows it, if there is one.
    database: Option<Database>,
    address: Option<SocketAddr>,
    /// Where elections are kept by processes: those who vote. They contend in nothing.
    voters: Vec<Backend>,
    /// Where those keep their promises, for as long as the ground is there.
    _promises: Option<TempDir>,
    folder: TempDir,
    histories: Mutex<Vec<PathBuf>>,
}

impl Ground {
    /// One with all tables, on the host that tests of this kind share.
    pub(crate) async fn new(kind: Kind) -> Ground {
        Ground::on(kind, Host::shared(kind).await).await
    }

    /// One with all tables, or with all voters.
    pub(crate) async fn on(kind: Kind, host: Host<'_>) -> Ground {
        let ground = Ground::bare(kind, host).await;
        if kind.is_peers() {
            return ground.with_voters().await;
        }
        ground.schema().apply().await.expect("the tables are made");
        let table = "CREATE TABLE ledger (entry BIGINT NOT NULL PRIMARY KEY, note VARCHAR(64))";
        ground.users.run(table).await;
        ground
    }

    /// One without any table.
    pub(crate) async fn bare(kind: Kind, host: Host<'_>) -> Ground {
        let folder = tempfile::tempdir().expect("a folder");
        let file = || format!("sqlite://{}", folder.path().join("app.db").display());
        let (url, database) = host.fresh_database().await.unzip();
        let url = url.unwrap_or_else(file);
        let (users, histories) = (Users::new(&url, 4), Mutex::default());
        let (protocol, address, voters) = (Protocol::Lease, host.address(), Vec::new());
        Ground {
            kind,
            protocol,
            url,
            users,
            database,
            address,
            voters,
            _promises: None,
            folder,
            histories,
        }
    }

    /// One whose elections are kept by three voters. The database is the user's alone.
    async fn with_voters(self) -> Ground {
        let scheme = if self.kind == Kind::Ring { "ring" } else { "bully" };
        let ports = [(); 3].map(|()| free_port().expect("a free port"));
        // In memory, where there is plenty: other processes may keep the disks of this machine busy.
        let promises = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let promises = promises.expect("a folder");
        let data = promises.path().join("promises");
        let url = format!("{}?data={}", peers_url(scheme, &ports), data.display());
        let mut voters = Vec::new();
        for number in 1..=ports.len() {
            let config = Config::new().name(format!("voter-{number}")).lease(LONG);
            voters.push(Backend::open_with(&url, &config).await.expect("a voter starts"));
        }
        Ground { url, voters, _promises: Some(promises), ..self }
    }

    /// The same place, where elections are held by this protocol.
    pub(crate) fn by(self, protocol: Protocol) -> Ground {
        Ground { protocol, ..self }
    }

    pub(crate) fn schema(&self) -> Schema {
        Schema::of(&self.url).expect("a URL")
    }

    /// The same database for its server's superuser, without any pooler.
    pub(crate) fn superuser(&self) -> Users {
        Users::new(&self.database().superuser_url, 2)
    }

    pub(crate) fn database(&self) -> &Database {
        self.database.as_ref().expect("there is a server")
    }

    /// The same place for another user, password or database of the server.
    pub(crate) fn url_with(&self, user: &str, password: &str, database: &str) -> String {
        let (scheme, rest) = self.url.split_once("://").expect("a URL");
        let (_, rest) = rest.split_once('@').expect("a user");
        let (host, rest) = rest.split_once('/').expect("a database");
        let options = rest.split_once('?').map(|(_, options)| format!("?{options}"));
        let options = options.unwrap_or_default();
        format!("{scheme}://{user}:{password}@{host}/{database}{options}")
    }

    /// Settings that write a history. Beats are short whatever the lease. In rounds, a lease that does
    /// not end is as many rounds as there may be.
    pub(crate) fn config(&self, name: &str, lease: Duration) -> Config {
        // All peers of a ground share the threads of one test, which takes its time on a slow day.
        let roll = Duration::from_millis(if self.kind.is_peers() { 300 } else { 150 });
        let config = self.noted(name).roll_every(roll);
        if self.protocol == Protocol::Lease {
            let beat = (lease / 4).min(Duration::from_millis(200));
            return config.lease(lease).beat(beat);
        }
        let (round, limit) =
            if lease == LONG { (Duration::from_millis(120), 100) } else { (lease / 4, 4) };
        let timeout = round * limit / 6;
        config.protocol(self.protocol).round_time(round).round_limit(limit).timeout(timeout)
    }

    /// All defaults, but for a name and a history.
    pub(crate) fn noted(&self, name: &str) -> Config {
        let mut histories = self.histories.lock().expect("no panic");
        let path = self.folder.path().join(format!("{}-{name}", histories.len()));
        histories.push(path.clone());
        Config::new().name(name).history(path)
    }

    pub(crate) async fn open(&self, config: &Config) -> Backend {
        self.open_at(&self.url, config).await.expect("the backend opens")
    }

    /// Opens another URL in the way of this ground.
    pub(crate) async fn open_at(&self, url: &str, config: &Config) -> Result<Backend, Error> {
        if !self.kind.brings_pool() {
            return Backend::open_with(url, config).await;
        }
        match Users::new(url, 4) {
            Users::Sqlite(pool) => Backend::with_sqlite_pool(pool, config).await,
            Users::Postgres(pool) => Backend::with_postgres_pool(pool, config).await,
            Users::MySql(pool) => Backend::with_mysql_pool(pool, config).await,
        }
    }

    /// A candidate of that name in the election that most scenarios hold.
    pub(crate) async fn candidate(&self, name: &str, lease: Duration) -> Election {
        self.enter(&self.config(name, lease)).await
    }

    pub(crate) async fn enter(&self, config: &Config) -> Election {
        self.open(config).await.election(BILLING).await.expect("the election opens")
    }

    /// A network before the server that can be broken, and a candidate behind it.
    pub(crate) async fn behind_a_proxy(&self, name: &str, lease: Duration) -> (Proxy, Election) {
        let proxy = self.proxy().await;
        // What goes over the wire is to be counted: rounds, and no calls of the roll.
        let config = self.config(name, lease).roll_every(Duration::from_mins(30));
        let backend = self.open_at(&proxy.url(&self.url), &config).await.expect("opens");
        (proxy, backend.election(BILLING).await.expect("the election opens"))
    }

    pub(crate) async fn proxy(&self) -> Proxy {
        let address = self.address.expect("there is a server");
        Proxy::start(address).await.expect("a proxy")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a candidate known that was heard of once: an order may name nobody else. It is not there,
    /// so that nobody waits for it.
    pub(crate) async fn heard_of(&self, name: &str) {
        if self.kind.is_peers() {
            return self.come_and_go(name).await;
        }
        let line = format!(
            "INSERT INTO incumbent_candidate (election, incarnation, holder, labels, priority, presence, prefers,
                started_us, beaten_us, every_us)
            VALUES ('{BILLING}', 'fedcba9876543210fedcba9876543210', '{name}', '', 0, 'left', '', 1, 4102444800000000, 1)"
        );
        self.users.run("DELETE FROM incumbent_candidate WHERE presence = 'left'").await;
        self.users.run(&line).await;
    }

    /// There is no table to write to: the named one must have taken part for a moment, unless it does.
    async fn come_and_go(&self, name: &str) {
        let known = async || {
            let peers = self.voters[0].candidates(BILLING).await.expect("a roll");
            peers.iter().any(|peer| peer.id.name.as_str() == name)
        };
        if known().await {
            return;
        }
        let election = self.candidate(name, LONG).await;
        let campaign = contend(&election);
        until("a line of the roll", known).await;
        campaign.abort();
        close_all([election]).await;
    }

    /// How many elections somebody holds, by the rows.
    pub(crate) async fn held(&self) -> i64 {
        let held = "SELECT count(*) FROM incumbent_election WHERE state <> 'released'";
        let users = if self.kind.is_file() { self.users.clone() } else { self.superuser() };
        users.number(held).await
    }

    /// Whether all that candidates did here keeps every promise.
    pub(crate) fn judge(&self) {
        let paths = self.histories.lock().expect("no panic").clone();
        for path in &paths {
            // Every candidate writes that it was opened, if nothing else.
            assert!(path.exists(), "{} was not written", path.display());
        }
        if paths.is_empty() {
            return;
        }
        let report = match audit(&paths) {
            // Where nobody contended there is nothing to judge.
            Err(error @ HistoryError::Empty { .. }) => return drop(error),
            report => report.expect("readable histories"),
        };
        assert!(report.is_clean(), "{report}");
        assert!(report.lines > 0 && report.torn == 0, "{report}");
    }
}

/// Voters on these ports of this machine.
fn peers_url(scheme: &str, ports: &[u16]) -> String {
    let list: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    format!("{scheme}://{}", list.join(","))
}
