//! What the tests share: a cluster on free ports, and the few steps that most tests take.
//!
//! Assumes: a machine that may be slow.
//! Promises: every cluster has ports and folders of its own. Whoever waits here for something that
//! never comes fails with its name.

use std::path::PathBuf;
use std::time::Duration;

use incumbent::{Backend, Config, Election, Error, Leadership};
use incumbent_testbed::free_port;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

pub(crate) use incumbent_testbed::{soon, until};

/// A lease that does not end within a test: whoever is succeeded was not succeeded because of time.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// A lease whose end a test can wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(900);

/// The election that most tests hold.
pub(crate) const BILLING: &str = "billing";

/// What all nodes of a cluster know.
pub(crate) const SECRET: &str = "a secret of sixteen characters and more";

/// Addresses of nodes that run or not, and a folder for each of them.
pub(crate) struct Cluster {
    scheme: &'static str,
    ports: Vec<u16>,
    ids: Vec<Option<u64>>,
    options: String,
    folder: TempDir,
}

impl Cluster {
    /// So many addresses; nobody runs yet.
    pub(crate) fn new(scheme: &'static str, count: usize) -> Cluster {
        Cluster::with_ids(scheme, &vec![None; count])
    }

    /// The same where numbers are given.
    pub(crate) fn with_ids(scheme: &'static str, ids: &[Option<u64>]) -> Cluster {
        let ports = ids.iter().map(|_| free_port().expect("a free port")).collect();
        let folder = folder();
        Cluster { scheme, ports, ids: ids.to_vec(), options: String::new(), folder }
    }

    /// The same with this behind the question mark.
    pub(crate) fn options(self, options: &str) -> Cluster {
        Cluster { options: options.to_owned(), ..self }
    }

    pub(crate) fn address(&self, node: usize) -> String {
        format!("127.0.0.1:{}", self.ports[node])
    }

    /// The list as it stands in the URL.
    pub(crate) fn list(&self) -> String {
        let number = |id: Option<u64>| id.map(|id| format!("{id}@")).unwrap_or_default();
        let node = |(at, id): (usize, &Option<u64>)| format!("{}{}", number(*id), self.address(at));
        self.ids.iter().enumerate().map(node).collect::<Vec<_>>().join(",")
    }

    /// The one URL for all.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}?{}", self.scheme, self.list(), self.options)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of a node.
    pub(crate) fn data(&self, node: usize) -> PathBuf {
        self.path(&format!("node-{node}"))
    }

    /// Settings of the node with that address.
    pub(crate) fn node(&self, node: usize, lease: Duration) -> Config {
        self.guest(&format!("node-{node}"), lease).data(self.data(node)).me(self.address(node))
    }

    /// Settings of somebody else.
    pub(crate) fn guest(&self, name: &str, lease: Duration) -> Config {
        let beat = (lease / 4).min(Duration::from_millis(200));
        let config = Config::new().name(name).lease(lease).beat(beat);
        let config = config.data(self.path("guests")).roll_every(Duration::from_millis(150));
        config.secret(SECRET).expect("a secret")
    }

    pub(crate) async fn open(&self, config: &Config) -> Backend {
        Backend::open_with(&self.url(), config).await.expect("it opens")
    }

    /// Starts the node with that address.
    pub(crate) async fn start(&self, node: usize, lease: Duration) -> Backend {
        self.open(&self.node(node, lease)).await
    }

    /// Starts every node.
    pub(crate) async fn start_all(&self, lease: Duration) -> Vec<Backend> {
        let mut all = Vec::new();
        for node in 0..self.ports.len() {
            all.push(self.start(node, lease).await);
        }
        all
    }

    /// Somebody who looks on.
    pub(crate) async fn look(&self) -> Backend {
        self.try_look(&self.guest("onlooker", LONG)).await.expect("a majority answers")
    }

    pub(crate) async fn try_look(&self, config: &Config) -> Result<Backend, Error> {
        Backend::open_existing(&self.url(), config).await
    }
}

/// A campaign in the background.
pub(crate) type Campaign = JoinHandle<Result<Leadership, Error>>;

pub(crate) async fn enter(backend: &Backend) -> Election {
    backend.election(BILLING).await.expect("the election opens")
}

/// Contends in the background.
pub(crate) async fn contend(backend: &Backend) -> Campaign {
    let election = enter(backend).await;
    tokio::spawn(async move { election.campaign().await })
}

pub(crate) async fn lead(backend: &Backend) -> Leadership {
    won(contend(backend).await).await
}

pub(crate) async fn won(campaign: Campaign) -> Leadership {
    let leadership = soon("a leadership", campaign).await.expect("no panic");
    leadership.expect("the campaign is won")
}

/// Who leads as this one sees it; nobody is an empty name.
pub(crate) async fn leader(backend: &Backend) -> String {
    let status = backend.status(BILLING).await;
    let leader = status.as_ref().ok().and_then(incumbent::Status::leader);
    leader.map(|leader| leader.id.name.to_string()).unwrap_or_default()
}

/// Waits until a candidate's line shows that it takes part.
pub(crate) async fn seen(onlooker: &Backend, name: &str) {
    until("a line of the roll", async || {
        let peers = onlooker.candidates(BILLING).await.unwrap_or_default();
        let now = onlooker.status(BILLING).await.map(|status| status.now).unwrap_or_default();
        peers.iter().any(|peer| peer.id.name.as_str() == name && peer.contends(now))
    })
    .await;
}

/// Gives something that must not happen a fair chance to happen.
pub(crate) async fn for_a_while() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}

pub(crate) async fn close_all(all: Vec<Backend>) {
    for backend in all {
        soon("closing", backend.close()).await;
    }
}

/// A node in a runtime of its own, as if it were a process.
pub(crate) struct Process {
    pub(crate) backend: Backend,
    runtime: Option<Runtime>,
}

impl Process {
    pub(crate) async fn start(cluster: &Cluster, config: &Config) -> Process {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (url, config) = (cluster.url(), config.clone());
        let opened = runtime.spawn(async move { Backend::open_with(&url, &config).await });
        let backend = opened.await.expect("no panic").expect("it opens");
        Process { backend, runtime: Some(runtime) }
    }

    /// Everything in it is dropped, and nothing is told to anybody.
    pub(crate) fn kill(self) {
        drop(self);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A folder in memory, where there is one: other processes of this machine may keep its disks busy.
fn folder() -> TempDir {
    let memory = tempfile::tempdir_in("/dev/shm");
    memory.or_else(|_| tempfile::tempdir()).expect("a folder")
}
