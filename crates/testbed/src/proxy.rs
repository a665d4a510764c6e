//! A proxy that breaks the network between a client and a server on purpose.
//!
//! Assumes a server that speaks TCP, and that the runtime which started the proxy lives as long as
//! it does. Promises that each fault does what its method says, to connections that are there and to
//! new ones, and that with no fault set bytes pass unchanged and in order.
//!
//! A connection of which bytes (or an end) were withheld is broken for good: when the last such
//! fault is lifted it is reset, on both sides. A connection that lost nothing lives on.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::link;
use crate::port;

/// A direction in which nothing passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Everything passes.
    #[default]
    None,
    /// What the client says is never heard.
    ToServer,
    /// What the server says is never heard.
    ToClient,
    /// Neither hears the other.
    Both,
}

impl Way {
    /// Whether silence in `self` covers the direction `other`.
    pub(crate) fn covers(self, other: Self) -> bool {
        self == Self::Both || self == other
    }
}

/// What is broken now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    pub(crate) delay: Duration,
    pub(crate) drop_replies: bool,
    pub(crate) silence: Way,
    pub(crate) refuse: bool,
    /// How often all connections were reset; one that began earlier has to go.
    pub(crate) resets: u64,
    /// The next request with these bytes loses its reply.
    pub(crate) trap: Option<Vec<u8>>,
}

impl Faults {
    /// Whether some fault withholds bytes.
    pub(crate) fn withhold(&self) -> bool {
        self.drop_replies || self.silence != Way::None
    }
}

/// What the connections tell the proxy.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections: AtomicUsize,
    pub(crate) to_server: AtomicU64,
    pub(crate) to_client: AtomicU64,
    pub(crate) round_trips: AtomicU64,
    pub(crate) fired: AtomicBool,
}

/// A proxy before one server; its connections end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    upstream: Arc<Mutex<SocketAddr>>,
    faults: Arc<watch::Sender<Faults>>,
    counters: Arc<Counters>,
    listening: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy before `upstream`.
    pub async fn start(upstream: SocketAddr) -> anyhow::Result<Self> {
        let listener = listen().await?;
        let port = listener.local_addr()?.port();
        let faults = Arc::new(watch::Sender::new(Faults::default()));
        let counters = Arc::new(Counters::default());
        let upstream = Arc::new(Mutex::new(upstream));
        let (to, with) = (Arc::clone(&upstream), Arc::clone(&faults));
        let accepting = accept(listener, to, with, Arc::clone(&counters));
        Ok(Self { port, upstream, faults, counters, listening: tokio::spawn(accepting) })
    }

    /// The port to connect to, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address to connect to.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// `server_url` with the host and port of the proxy.
    pub fn url(&self, server_url: &str) -> String {
        let begin = server_url.find("://").map_or(0, |scheme| scheme + 3);
        let rest = &server_url[begin..];
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        // A password may hold an `@`; a host may not.
        let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
        let (scheme, user, path) = (&server_url[..begin], &rest[..host], &rest[end..]);
        format!("{scheme}{user}127.0.0.1:{}{path}", self.port)
    }

    /// Delivers each chunk so much later, both ways. Order is kept, and chunks travel side by side
    /// as on a long line. Zero ends it.
    pub fn delay(&self, each_way: Duration) {
        self.faults.send_modify(|faults| faults.delay = each_way);
    }

    /// Requests reach the server and its answers vanish, while connections stay open. An end of the
    /// connection by the server is passed on.
    pub fn drop_replies(&self, on: bool) {
        self.faults.send_modify(|faults| faults.drop_replies = on);
    }

    /// Nothing passes in this direction, not even the end of a connection; all stay open. A new
    /// connection is accepted and not passed on.
    pub fn silence(&self, way: Way) {
        self.faults.send_modify(|faults| faults.silence = way);
    }

    /// New connections go to another server from here on, as after a failover; present ones stay.
    pub fn retarget(&self, upstream: SocketAddr) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = upstream;
    }

    /// Resets all present connections (RST), on both sides.
    pub fn reset(&self) {
        self.faults.send_modify(|faults| faults.resets += 1);
    }

    /// Once: when bytes of a client contain this pattern they are passed on, the server answers, and
    /// instead of getting the answer the client's connection is reset. With `b"COMMIT\0"`, that is a
    /// connection lost in the middle of a commit. [`fired`](Self::fired) tells whether it happened.
    ///
    /// The answer is the next thing that the server says on that connection, so the client has to be
    /// one that waits for each answer. The pattern is looked for in the bytes as they travel, and
    /// an encrypted connection shows none. An empty pattern matches the next bytes, whatever they
    /// are.
    pub fn reset_on_reply(&self, after_request_containing: &[u8]) {
        self.counters.fired.store(false, Ordering::SeqCst);
        let pattern = after_request_containing.to_vec();
        self.faults.send_modify(|faults| faults.trap = Some(pattern));
    }

    /// Whether the last [`reset_on_reply`](Self::reset_on_reply) has happened.
    pub fn fired(&self) -> bool {
        self.counters.fired.load(Ordering::SeqCst)
    }

    /// New connections are reset at once; present ones live on.
    pub fn refuse(&self, on: bool) {
        self.faults.send_modify(|faults| faults.refuse = on);
    }

    /// How many clients are connected.
    pub fn connections(&self) -> usize {
        self.counters.connections.load(Ordering::SeqCst)
    }

    /// How many bytes were delivered: to the server, to clients.
    pub fn bytes(&self) -> (u64, u64) {
        let counters = &self.counters;
        (counters.to_server.load(Ordering::SeqCst), counters.to_client.load(Ordering::SeqCst))
    }

    /// How often a client said something and was answered, however many pieces either was in.
    pub fn round_trips(&self) -> u64 {
        self.counters.round_trips.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        self.reset();
    }
}

/// Takes a free port, and another if somebody was quicker.
async fn listen() -> anyhow::Result<TcpListener> {
    for _ in 0..10 {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port::free()?)).await {
            return Ok(listener);
        }
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("a proxy found no free port")
}

async fn accept(
    listener: TcpListener,
    upstream: Arc<Mutex<SocketAddr>>,
    faults: Arc<watch::Sender<Faults>>,
    counters: Arc<Counters>,
) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            // Out of file handles, most likely: some time may bring some back.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if faults.borrow().refuse {
            reset(client);
            continue;
        }
        let upstream = *upstream.lock().unwrap_or_else(PoisonError::into_inner);
        let (faults, counters) = (Arc::clone(&faults), Arc::clone(&counters));
        // Counted here, so that whoever has connected finds it counted soon after.
        counters.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            link::serve(client, upstream, &faults, &counters).await;
            counters.connections.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Closes a connection by RST instead of FIN.
pub(crate) fn reset(stream: TcpStream) {
    // If it cannot be told to, it is closed in the usual way.
    let _ = stream.set_zero_linger();
    drop(stream);
}
