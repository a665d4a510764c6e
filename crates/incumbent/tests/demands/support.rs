//! What the tests share: a place with a database, candidates in it, and patience.
//!
//! Assumes: a machine that may be slow.
//! Promises: every place is a database of its own, with our tables. Whoever waits here for something
//! that never comes fails with its name.

use std::time::Duration;

use incumbent::{Backend, Change, Changes, Config, Election, Error, Leadership, Schema};
use incumbent_testbed::{Proxy, shared_mariadb, shared_postgres};
use tempfile::TempDir;
use tokio::task::JoinHandle;

pub(crate) use incumbent_testbed::{soon, until};

/// A lease that does not end within a test: whoever is succeeded was not succeeded because of time.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// A lease whose end a test can wait for.
pub(crate) const SHORT: Duration = Duration::from_secs(3);

/// The election that most tests hold.
pub(crate) const BILLING: &str = "billing";

/// A database of its own.
pub(crate) struct Place {
    pub(crate) url: String,
    /// As its server knows it.
    pub(crate) database: String,
    _folder: Option<TempDir>,
}

impl Place {
    /// In a file of this host.
    pub(crate) fn file() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}/elections.db", folder.path().display());
        Place { url, database: String::new(), _folder: Some(folder) }
    }

    pub(crate) async fn postgres() -> Place {
        let server = shared_postgres().await.expect("a server");
        let database = server.fresh_database().await.expect("a database");
        Place::with_tables(database.url, database.name).await
    }

    pub(crate) async fn mariadb() -> Place {
        let server = shared_mariadb().await.expect("a server");
        let database = server.fresh_database().await.expect("a database");
        Place::with_tables(database.url, database.name).await
    }

    async fn with_tables(url: String, database: String) -> Place {
        Schema::of(&url).expect("a URL").apply().await.expect("tables");
        Place { url, database, _folder: None }
    }

    pub(crate) async fn enter(&self, config: &Config) -> Election {
        enter(&self.url, config).await
    }

    pub(crate) async fn candidate(&self, name: &str, lease: Duration) -> Election {
        self.enter(&config(name, lease)).await
    }

    /// A network before the PostgreSQL server that can be broken, and a candidate behind it.
    pub(crate) async fn behind_a_proxy(&self, config: &Config) -> (Proxy, Election) {
        let server = shared_postgres().await.expect("a server");
        let proxy = Proxy::start(server.address()).await.expect("a proxy");
        let election = enter(&proxy.url(&self.url), config).await;
        (proxy, election)
    }
}

pub(crate) async fn enter(url: &str, config: &Config) -> Election {
    let backend = Backend::open_with(url, config).await.expect("the backend opens");
    backend.election(BILLING).await.expect("the election opens")
}

/// Beats are short whatever the lease, and everybody soon knows of everybody.
pub(crate) fn config(name: &str, lease: Duration) -> Config {
    let beat = (lease / 4).min(Duration::from_millis(200));
    Config::new().name(name).lease(lease).beat(beat).roll_every(Duration::from_millis(100))
}

/// Gives something that must not happen a fair chance to happen.
pub(crate) async fn for_a_while() {
    tokio::time::sleep(Duration::from_millis(400)).await;
}

pub(crate) async fn lead(election: &Election) -> Leadership {
    soon("a leadership", election.campaign()).await.expect("the campaign is won")
}

/// A campaign in the background.
pub(crate) type Campaign = JoinHandle<Result<Leadership, Error>>;

pub(crate) fn contend(election: &Election) -> Campaign {
    let election = election.clone();
    tokio::spawn(async move { election.campaign().await })
}

pub(crate) async fn won(campaign: Campaign) -> Leadership {
    let leadership = soon("a leadership", campaign).await.expect("no panic");
    leadership.expect("the campaign is won")
}

pub(crate) async fn resign(leadership: Leadership) {
    leadership.resign().await.expect("resigns");
}

/// Who leads by the store; nobody if it is empty.
pub(crate) async fn leader(election: &Election) -> String {
    let leader = election.leader().await.expect("a look");
    leader.map(|leader| leader.id.name.to_string()).unwrap_or_default()
}

/// Waits until a candidate has told the store that it takes part, and the others have had the time to
/// hear of it.
pub(crate) async fn seen(onlooker: &Election, name: &str) {
    until("a line of the roll", async || {
        let peers = onlooker.backend().candidates(BILLING).await.expect("a look");
        let now = onlooker.status().await.expect("a look").now;
        peers.iter().any(|peer| peer.id.name.as_str() == name && peer.contends(now))
    })
    .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
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
