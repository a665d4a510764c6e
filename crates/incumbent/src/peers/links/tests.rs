//! Links between real sockets of this host.

use std::time::Duration;

use incumbent_protocol::identity::Incarnation;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::*;
use crate::peers::channel;

mod ends;
mod kin;
mod log;
mod meeting;
#[cfg(feature = "metrics")]
mod numbers;
mod queues;
mod strangers;
mod tape;

/// What these tests send.
type Word = String;

/// For what must happen, however slow the machine is.
const PATIENCE: Duration = Duration::from_mins(5);

const SECRET: &str = "a secret for tests only";

/// A node under test.
struct Node {
    links: Links<Word>,
    events: mpsc::Receiver<Event<Word>>,
    hello: Hello,
    address: String,
}

impl Node {
    async fn start(number: u128) -> Node {
        Node::with(number, |_| ()).await
    }

    async fn with(number: u128, change: impl FnOnce(&mut Settings)) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Node::at(number, Some(listener), change)
    }

    /// A listener on the address of a node that is gone.
    async fn again(number: u128, address: &str) -> Node {
        let listener = TcpListener::bind(address).await.expect("the same port");
        Node::at(number, Some(listener), |_| ())
    }

    fn onlooker(number: u128) -> Node {
        Node::at(number, None, |_| ())
    }

    fn at(number: u128, listener: Option<TcpListener>, change: impl FnOnce(&mut Settings)) -> Node {
        let address = listener.as_ref().map(|l| l.local_addr().expect("bound").to_string());
        let life = Incarnation::from_random(getrandom::u64().expect("randomness").into());
        let name = format!("host-{number}");
        let hello = Hello::new(NodeId::given(number), life, name, address.clone());
        let secret = Secret::from_text(SECRET).expect("long enough");
        let numbers = Numbers::default();
        let mut settings = Settings { hello, listener, secret, limits: patient(), numbers };
        change(&mut settings);
        let hello = settings.hello.clone();
        let (links, events) = Links::start(settings);
        Node { links, events, hello, address: address.unwrap_or_default() }
    }

    fn id(&self) -> NodeId {
        self.hello.node
    }

    async fn next(&mut self) -> Event<Word> {
        let next = timeout(PATIENCE, self.events.recv()).await;
        next.expect("an event in time").expect("links that run")
    }

    async fn expect_up(&mut self, other: &Hello) {
        assert_eq!(self.next().await, Event::Up(other.clone()));
    }

    async fn expect(&mut self, from: NodeId, word: &str) {
        assert_eq!(self.next().await, Event::Message { from, message: word.to_owned() });
    }

    async fn expect_down(&mut self, node: NodeId, refused: bool) {
        assert_eq!(self.next().await, Event::Down { node, refused });
    }

    /// What has happened so far and was not taken.
    fn so_far(&mut self) -> Vec<Event<Word>> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// Waits until both can be talked to by each other, the first one dialling.
    async fn meet(&mut self, other: &mut Node) {
        self.links.keep(&other.address);
        self.expect_up(&other.hello).await;
        other.expect_up(&self.hello).await;
    }
}

/// Limits of time that no slow machine reaches.
fn patient() -> Limits {
    let (dial, handshake, stuck, grace) = (PATIENCE, PATIENCE, PATIENCE, PATIENCE);
    Limits { dial, handshake, stuck, grace, repeat: PATIENCE, ..Limits::default() }
}

/// One who knows the secret, and is known by that number, but does as it likes.
async fn rogue(
    number: u128,
    address: &str,
) -> (channel::Receiver<OwnedReadHalf>, channel::Sender<OwnedWriteHalf>) {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (from, to) = stream.into_split();
    let secret = Secret::from_text(SECRET).expect("long enough");
    let begun = channel::begin(from, to, channel::Side::Caller, &secret).await;
    let (mut from, mut to) = begun.expect("the right secret");
    let hello = Hello::new(NodeId::given(number), Incarnation::from_random(1), "rogue", None);
    hello.exchange(&mut from, &mut to).await.expect("another node");
    (from, to)
}

/// Waits until something is so.
async fn until(mut so: impl FnMut() -> bool) {
    let wait = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it becomes so in time");
}
