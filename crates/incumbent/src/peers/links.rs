//! Connections to all other nodes, kept up.
//!
//! Assumes: a tokio runtime with time and network runs, and somebody takes the events.
//! Promises: sending never waits; every queue is bounded, and what does not fit is dropped and
//! counted. For each node the events are `Up`, messages, `Down`, in this order, and messages of one
//! sender come in the order of sending, each at most once, while it has one link. Strangers cost a
//! bounded number of tasks. When the last handle is dropped, all tasks end.

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use incumbent_protocol::node::NodeId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::hello::Hello;
use super::numbers::Numbers;
use super::secret::Secret;
use shared::Shared;

mod complaints;
mod dialler;
mod door;
mod session;
mod shared;
mod socket;
mod table;
mod twins;

/// What is sent between nodes.
pub(crate) trait Words: Serialize + DeserializeOwned + Send + 'static {}

impl<M: Serialize + DeserializeOwned + Send + 'static> Words for M {}

/// What happens to links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event<M> {
    /// A node can be talked to.
    Up(Hello),
    /// A node cannot be talked to any more. If its address then refuses a connection, this comes a
    /// second time with `refused`: its process is gone, not only out of reach.
    Down {
        /// Which one.
        node: NodeId,
        /// Whether its host says that nobody listens there.
        refused: bool,
    },
    /// Something was said.
    Message {
        /// By whom.
        from: NodeId,
        /// What.
        message: M,
    },
}

/// How much of everything.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of one message.
    pub(crate) message: usize,
    /// Messages that wait for one link.
    pub(crate) queue: usize,
    /// Events that wait to be taken; when there are more, sockets are not read.
    pub(crate) events: usize,
    /// Connections from others that have not proven to know the secret; one more ends the oldest of
    /// the address that has most.
    pub(crate) strangers: usize,
    /// Connections from others that have.
    pub(crate) guests: usize,
    /// How long a connection may take.
    pub(crate) dial: Duration,
    /// How long it may take after that to prove that one knows the secret, and to say hello. Long:
    /// when many nodes start on few cores, hundreds of these proofs are made at once. What strangers
    /// cost is bounded by their number and not by this.
    pub(crate) handshake: Duration,
    /// How long what was sent may go without an answer of the other host before a link is given up.
    pub(crate) stuck: Duration,
    /// How long closing waits for what was sent to be written.
    pub(crate) grace: Duration,
    /// The first pause between two attempts; it doubles up to `longest_pause`.
    pub(crate) first_pause: Duration,
    /// The longest one.
    pub(crate) longest_pause: Duration,
    /// How long it is not said again that two processes have one number, while that goes on.
    pub(crate) repeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message: 1 << 20,
            queue: 256,
            events: 1024,
            strangers: 64,
            guests: 1024,
            dial: Duration::from_secs(1),
            handshake: Duration::from_secs(10),
            stuck: Duration::from_secs(3),
            grace: Duration::from_millis(500),
            first_pause: Duration::from_millis(10),
            longest_pause: Duration::from_secs(1),
            repeat: Duration::from_mins(1),
        }
    }
}

/// Who this node is, and how it talks.
#[derive(Debug)]
pub(crate) struct Settings {
    /// What others are told first.
    pub(crate) hello: Hello,
    /// Where others may dial; none for onlookers.
    pub(crate) listener: Option<TcpListener>,
    /// What all nodes know.
    pub(crate) secret: Secret,
    /// How much of everything.
    pub(crate) limits: Limits,
    /// What operators watch.
    pub(super) numbers: Numbers,
}

/// How much there is of everything.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Nodes that can be talked to.
    pub(crate) nodes: usize,
    /// Connections to and from them.
    pub(crate) lines: usize,
    /// Connections from strangers.
    pub(crate) strangers: usize,
    /// Tasks that run.
    pub(crate) tasks: usize,
    /// Messages that did not fit their queue.
    pub(crate) dropped: u64,
    /// Connections that became no link, in either direction.
    pub(crate) failed: u64,
}

/// A handle to all links of this node; copies are the same links.
pub(crate) struct Links<M> {
    last: Arc<Last<M>>,
}

impl<M> Clone for Links<M> {
    fn clone(&self) -> Self {
        Links { last: Arc::clone(&self.last) }
    }
}

/// Ends everything when the last handle goes; the tasks do not hold one.
struct Last<M>(Arc<Shared<M>>);

impl<M> Drop for Last<M> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<M: Words> Links<M> {
    /// Opens the door, if there is one. Dials nobody yet. Must be called within a tokio runtime.
    pub(crate) fn start(settings: Settings) -> (Self, mpsc::Receiver<Event<M>>) {
        let Settings { hello, listener, secret, limits, numbers } = settings;
        let (shared, events) = Shared::new(hello, secret, limits, numbers);
        let shared = Arc::new(shared);
        if let Some(listener) = listener {
            shared.serve(door::keep_open(Arc::clone(&shared), listener));
        }
        let ears = Arc::clone(&shared);
        shared.serve(async move {
            ears.events.closed().await;
            ears.end();
        });
        (Links { last: Arc::new(Last(shared)) }, events)
    }

    /// Dials an address such as `host:7600`, and again whenever the connection ends. Once is enough.
    pub(crate) fn keep(&self, address: &str) {
        if let Some(stop) = self.shared().table().dial(address) {
            let shared = Arc::clone(self.shared());
            self.shared().spawn(dialler::keep(shared, address.to_owned(), stop));
        }
    }

    /// Dials an address no more, and ends the connection to it once all was written.
    pub(crate) fn leave(&self, address: &str) {
        self.shared().table().dials.remove(address);
    }

    /// Hands a message to a link of that node. Never waits. False if there is none, or its queue is
    /// full, or the message is too long; true does not say that it will arrive.
    pub(crate) fn send(&self, to: NodeId, message: impl Borrow<M>) -> bool {
        self.shared().send(to, message.borrow())
    }

    /// Whether that node can be talked to.
    #[cfg(test)]
    pub(crate) fn is_up(&self, node: NodeId) -> bool {
        self.shared().table().peers.get(&node).is_some_and(|peer| !peer.lines.is_empty())
    }

    /// Ends everything. What was sent is written first, if that does not take long.
    pub(crate) async fn close(&self) {
        self.shared().close().await;
    }

    /// How much there is of everything.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> Counts {
        self.shared().counts()
    }

    /// Which numbers two processes have, as was lately seen or told.
    pub(crate) fn twins(&self) -> Vec<String> {
        self.shared().twins.known(Instant::now())
    }

    /// Whether the process at that address, which this one dials, has another secret.
    pub(crate) fn has_another_secret(&self, address: &str) -> bool {
        self.shared().complaints.has_another_secret(address)
    }

    fn shared(&self) -> &Arc<Shared<M>> {
        &self.last.0
    }
}

#[cfg(test)]
mod tests;
