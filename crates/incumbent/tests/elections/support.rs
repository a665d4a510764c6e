//! What the tests share: a place with a database, candidates in it, and patience.
//!
//! Assumes: nothing. Promises: whoever waits here for something that never comes fails with its
//! name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use incumbent::{Backend, Change, Changes, Config, Election, Leadership};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

pub(crate) use incumbent_testbed::{PATIENCE, soon, until};

/// A lease that does not end within a test: whoever is succeeded was not succeeded because of time.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// A lease whose end a test can wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(600);

/// The election that most tests hold.
pub(crate) const BILLING: &str = "billing";

/// A folder of its own with one database in it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("elections.db")
    }

    /// The database and the files that SQLite keeps beside it.
    pub(crate) fn files(&self) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|end| {
            let mut path = self.path().into_os_string();
            path.push(end);
            path.into()
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    pub(crate) async fn open(&self, config: &Config) -> Backend {
        Backend::open_with(&self.url(), config).await.expect("the backend opens")
    }

    /// A candidate of that name in the election that most tests hold.
    pub(crate) async fn candidate(&self, name: &str, lease: Duration) -> Election {
        self.enter(&config(name, lease)).await
    }

    pub(crate) async fn enter(&self, config: &Config) -> Election {
        self.open(config).await.election(BILLING).await.expect("the election opens")
    }

    /// A connection of somebody else to the same file.
    pub(crate) async fn connect(&self) -> SqliteConnection {
        self.connect_for(PATIENCE).await
    }

    /// The same, waiting for locks no longer than that.
    pub(crate) async fn connect_for(&self, patience: Duration) -> SqliteConnection {
        SqliteConnectOptions::new()
            .filename(self.path())
            .busy_timeout(patience)
            .connect()
            .await
            .expect("a connection")
    }

    pub(crate) async fn sql(&self, statement: &'static str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(statement).execute(&mut connection).await.expect(statement);
        connection.close().await.expect("closes");
    }
}

/// Beats are short whatever the lease, so that tests without a doorbell need not wait for them.
pub(crate) fn config(name: &str, lease: Duration) -> Config {
    Config::new().name(name).lease(lease).beat((lease / 4).min(Duration::from_millis(250)))
}

/// Gives something that must not happen a fair chance to happen.
pub(crate) async fn for_a_while() {
    tokio::time::sleep(Duration::from_millis(400)).await;
}

pub(crate) async fn lead(election: &Election) -> Leadership {
    let won = soon("a leadership", election.campaign()).await;
    won.expect("the campaign is won")
}

/// Contends in the background.
pub(crate) fn contend(
    election: &Election,
) -> tokio::task::JoinHandle<Result<Leadership, incumbent::Error>> {
    let election = election.clone();
    tokio::spawn(async move { election.campaign().await })
}

pub(crate) async fn won(
    campaign: tokio::task::JoinHandle<Result<Leadership, incumbent::Error>>,
) -> Leadership {
    let leadership = soon("a leadership", campaign).await.expect("no panic");
    leadership.expect("the campaign is won")
}

/// The first change that fits; what came before is gone.
pub(crate) async fn change<T>(
    what: &str,
    changes: &mut Changes,
    pick: impl Fn(&Change) -> Option<T>,
) -> T {
    soon(what, async {
        loop {
            let change = changes.next().await.expect("the stream goes on");
            if let Some(picked) = pick(&change) {
                return picked;
            }
        }
    })
    .await
}

/// The host's boot-time clock, by which leaderships tell their end.
pub(crate) fn boot_nanos() -> u64 {
    let reading = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(reading.tv_sec).expect("after boot");
    seconds * 1_000_000_000 + u64::try_from(reading.tv_nsec).expect("below a second")
}
