//! The candidates of a story.
//!
//! Assumes: a server that is well when the story begins.
//! Promises: each candidate has a backend, a history and two proxies of its own, one for its
//! elections and one for its work, and contends in every election until the story ends.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use incumbent::{Backend, Config, Protocol, Schema};
use incumbent_testbed::Proxy;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::contender::{Contender, Wish};
use crate::log::{Attempt, Log};
use crate::server::{Server, ledger};
use crate::support::{LEASE, soon, until};

/// What is contended for in every story.
pub(crate) const ELECTIONS: [&str; 3] = ["billing", "ledger", "mail"];

/// The one that stories look at most.
pub(crate) const BILLING: &str = ELECTIONS[0];

/// Who contends in every story.
pub(crate) const NAMES: [&str; 3] = ["one", "two", "three"];

/// One candidate and what lies between it and the server.
pub(crate) struct Candidate {
    pub(crate) backend: Backend,
    pub(crate) elections: Proxy,
    pub(crate) work: Proxy,
    pub(crate) wish: watch::Sender<Wish>,
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

impl Candidate {
    /// Does the same to both of its proxies.
    pub(crate) fn network(&self, act: impl Fn(&Proxy)) {
        act(&self.elections);
        act(&self.work);
    }

    /// Lets go of whatever it leads.
    pub(crate) fn resign(&self) {
        self.wish.send_modify(|wish| wish.resignations += 1);
    }
}

/// All candidates of a story on one kind of server.
pub(crate) struct Troupe<S: Server> {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) log: Arc<Log>,
    pub(crate) histories: Vec<PathBuf>,
    folder: TempDir,
    url: String,
    address: SocketAddr,
    lease: Duration,
    protocol: Protocol,
    kind: PhantomData<S>,
}

impl<S: Server> Troupe<S> {
    /// Three candidates, each of which contends in all elections.
    pub(crate) async fn of_three(server: &S, protocol: Protocol) -> Self {
        let mut troupe = Troupe::empty(server, LEASE).await.by(protocol);
        troupe.join_three().await;
        troupe
    }

    /// Nobody yet, but all tables.
    pub(crate) async fn empty(server: &S, lease: Duration) -> Self {
        Troupe::before(&server.url(), server.address(), lease).await
    }

    /// The same, where candidates do not speak to the server itself.
    pub(crate) async fn before(url: &str, address: SocketAddr, lease: Duration) -> Self {
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let printer = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer();
        // Another story of this process may have set it.
        let _ = printer.try_init();
        Schema::of(url).expect("a URL").apply().await.expect("the tables are made");
        let pool = S::pool(url);
        let mut connection = pool.acquire().await.expect("a connection");
        S::tell(&mut connection, ledger(&ELECTIONS)).await.expect("the tables are made");
        Troupe {
            candidates: Vec::new(),
            log: Arc::default(),
            histories: Vec::new(),
            folder: tempfile::tempdir().expect("a folder"),
            url: url.to_owned(),
            address,
            lease,
            protocol: Protocol::Lease,
            kind: PhantomData,
        }
    }

    /// The same, where elections are held by this protocol.
    pub(crate) fn by(self, protocol: Protocol) -> Self {
        Troupe { protocol, ..self }
    }

    pub(crate) async fn join_three(&mut self) {
        for name in NAMES {
            self.join(name).await;
        }
    }

    /// One more candidate.
    pub(crate) async fn join(&mut self, name: &str) {
        let elections = Proxy::start(self.address).await.expect("a proxy");
        let work = Proxy::start(self.address).await.expect("a proxy");
        let history = self.folder.path().join(format!("{name}.history"));
        let config = Config::new().name(name).lease(self.lease).history(&history).single_writer();
        let config = match self.protocol {
            // As patient with a slow machine as the others. Whoever meets a server that went back waits for
            // the longest lease that there can be.
            Protocol::Rounds => {
                let config = config.protocol(Protocol::Rounds).round_limit(4);
                config.round_cap(self.lease / 2).timeout(self.lease / 6)
            }
            _ => config,
        };
        let backend = self.open(&elections.url(&self.url), &config).await;
        let (wish, wishes) = watch::channel(Wish::default());
        let pool = S::pool(&work.url(&self.url));
        let mut tasks = Vec::new();
        for name in ELECTIONS {
            let election = backend.election(name).await.expect("the election opens");
            tasks.push(tokio::spawn(Contender::<S>::listen(
                election.clone(),
                Arc::clone(&self.log),
            )));
            let contender = Contender::<S> {
                place: self.candidates.len(),
                election,
                pool: pool.clone(),
                log: Arc::clone(&self.log),
                wish: wishes.clone(),
            };
            tasks.push(tokio::spawn(contender.live()));
        }
        self.histories.push(history);
        self.candidates.push(Candidate { backend, elections, work, wish, tasks });
    }

    /// A busy machine may be too slow for the lease at first.
    async fn open(&self, url: &str, config: &Config) -> Backend {
        soon("the backend opens", async {
            loop {
                match Backend::open_with(url, config).await {
                    Ok(backend) => return backend,
                    Err(error) => tracing::info!(%error, "not open yet"),
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await
    }

    /// All new connections go to another server from here on.
    pub(crate) fn retarget(&mut self, address: SocketAddr) {
        self.address = address;
        for candidate in &self.candidates {
            candidate.network(|proxy| proxy.retarget(address));
        }
    }

    /// Nobody leads or contends until `wake`; returns when everyone has let go.
    pub(crate) async fn rest(&self, server: &S) {
        for candidate in &self.candidates {
            candidate.wish.send_modify(|wish| wish.rest = true);
        }
        let held = "SELECT COUNT(*) FROM incumbent_election WHERE state <> 'released'";
        until("everyone lets go", async || server.sql(held).await == "0").await;
    }

    /// Everyone contends again.
    pub(crate) fn wake(&self) {
        for candidate in &self.candidates {
            candidate.wish.send_modify(|wish| wish.rest = false);
        }
    }

    /// Waits until every election has a leader that works.
    pub(crate) async fn work(&self) {
        for election in ELECTIONS {
            self.leader(election).await;
        }
    }

    /// Waits for whoever leads this election to do some work from here on, and gives the last piece.
    pub(crate) async fn leader(&self, election: &str) -> Attempt {
        let (before, _) = self.log.led(election);
        until(election, async || self.log.led(election).0 > before + 2).await;
        self.log.led(election).1.expect("there was one")
    }

    /// Waits until another term than this one is led in this election.
    pub(crate) async fn succession(&self, past: &Attempt) -> Attempt {
        let newer = || self.log.led(&past.election).1.filter(|last| last.term > past.term);
        until("a successor", async || newer().is_some()).await;
        newer().expect("there is one")
    }
}
