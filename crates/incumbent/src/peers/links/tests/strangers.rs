//! Those who do not know the secret, and those who know it and mean no good.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::peers::hello::VERSION;

/// Whether the other side ends the connection, after whatever it has to say.
async fn is_ended(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    let end = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(rest.len() <= 50, "a stranger is told too much: {} bytes", rest.len());
    end.is_ok()
}

#[tokio::test]
async fn a_wrong_secret_is_refused_by_both_sides_and_logged_once_by_each() {
    let log = log::Log::start();
    let mut one = Node::start(1).await;
    let mut other = Node::with(2, |settings| {
        settings.secret = Secret::from_text("another secret for tests").expect("long enough");
    })
    .await;
    one.links.keep(&other.address);
    until(|| one.links.counts().failed >= 7 && other.links.counts().failed >= 7).await;
    let told = log.with("give all nodes of a cluster the same secret");
    assert_eq!(told.len(), 2, "{:?}", log.lines());
    assert!(told.iter().any(|line| line.contains(&one_place(&other.address))), "{told:?}");
    assert!(log.lines().iter().all(|line| !line.contains(SECRET)));
    assert!(one.so_far().is_empty() && other.so_far().is_empty());
    assert_eq!(log.lines().len(), 2, "{:?}", log.lines());
}

fn one_place(address: &str) -> String {
    format!("place=\"{address}\"")
}

#[tokio::test]
async fn bytes_that_are_no_handshake_end_the_connection_and_are_logged_once() {
    let log = log::Log::start();
    let mut node = Node::start(1).await;
    let garbage: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\nHost: node\r\n\r\n",
        &[0, 0],
        &[255, 255],
        &[1, 1],
        &[0, 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    for round in 1..=4_u64 {
        for bytes in garbage {
            let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
            stream.write_all(bytes).await.expect("written");
            stream.shutdown().await.expect("ended");
            assert!(is_ended(&mut stream).await);
        }
        until(|| node.links.counts().failed == round * garbage.len() as u64).await;
    }
    assert_eq!(node.so_far(), []);
    assert_eq!(node.links.counts().strangers, 0);
    assert_eq!(log.lines().len(), 1, "{:?}", log.lines());
    assert!(log.lines()[0].contains("check that only nodes connect to this port"));
}

#[tokio::test]
async fn one_who_sends_garbage_without_end_is_cut_off() {
    let mut node = Node::start(1).await;
    let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
    let garbage = vec![0xA5; 1 << 16];
    // A write fails once the other side has ended the connection.
    until_ended(&mut stream, &garbage).await;
    until(|| node.links.counts().strangers == 0).await;
    assert_eq!(node.so_far(), []);
}

async fn until_ended(stream: &mut TcpStream, bytes: &[u8]) {
    let write = async { while stream.write_all(bytes).await.is_ok() {} };
    timeout(PATIENCE, write).await.expect("cut off in time");
}

#[tokio::test]
async fn five_hundred_silent_connections_cost_little_and_keep_no_node_out() {
    let mut node = Node::start(1).await;
    let mut silent = Vec::new();
    for _ in 0..500 {
        silent.push(TcpStream::connect(&node.address).await.expect("a connection"));
        let counts = node.links.counts();
        assert!(counts.strangers <= 64, "{counts:?}");
        // Besides: the door, and the watch over the events; ended ones go when they next run.
        assert!(counts.tasks <= 2 + 64 + 64, "{counts:?}");
    }
    let mut other = Node::start(2).await;
    other.links.keep(&node.address);
    other.expect_up(&node.hello).await;
    node.expect_up(&other.hello).await;
    until(|| node.links.counts().failed >= 500 - 64).await;
    let counts = node.links.counts();
    assert!(counts.strangers <= 64 && counts.tasks <= 2 + 64 + 1, "{counts:?}");
}

#[tokio::test]
async fn one_who_says_nothing_is_sent_away() {
    let log = log::Log::start();
    let node =
        Node::with(1, |settings| settings.limits.handshake = Duration::from_millis(50)).await;
    let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
    assert!(is_ended(&mut stream).await);
    until(|| log.with("said nothing sensible in time").len() == 1).await;
    assert_eq!(node.links.counts().strangers, 0);
}

#[tokio::test]
async fn connections_that_end_or_stay_silent_say_nothing_of_another_secret() {
    let log = log::Log::start();
    let short = Duration::from_millis(50);
    let node = Node::with(1, |settings| settings.limits.handshake = short).await;
    let door = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    node.links.keep(&door.local_addr().expect("bound").to_string());
    let mut silent = Vec::new();
    for round in 0..8 {
        let (mut stream, _) = timeout(PATIENCE, door.accept()).await.expect("dialled").expect("it");
        if round % 2 == 0 {
            stream.read_exact(&mut [0; 50]).await.expect("the first bytes");
        } else {
            silent.push(stream);
        }
    }
    until(|| node.links.counts().failed >= 7).await;
    assert_eq!(log.with("secret"), [""; 0]);
    until(|| log.with("said nothing sensible in time").len() == 1).await;
    assert_eq!(log.lines().len(), 1, "{:?}", log.lines());
}

#[tokio::test]
async fn one_who_knows_the_secret_cannot_send_more_than_the_limit_either() {
    let log = log::Log::start();
    let mut node = Node::with(1, |settings| settings.limits.message = 100_000).await;
    let (mut from, mut to) = rogue(2, &node.address).await;
    assert!(matches!(node.next().await, Event::Up(_)));
    to.seal(&vec![1; 100_001]).expect("sealed");
    to.flush().await.expect("written");
    node.expect_down(NodeId::given(2), false).await;
    assert!(from.receive(1 << 20).await.is_err());
    assert_eq!(log.with("a message of more than 100000 bytes").len(), 1);
}

#[tokio::test]
async fn one_who_knows_the_secret_and_sends_no_message_is_cut_off() {
    let mut node = Node::start(1).await;
    for bytes in [&[VERSION][..], &[VERSION + 1, 0], &[VERSION, 200, 0], &[VERSION, 1, 255]] {
        let (mut from, mut to) = rogue(2, &node.address).await;
        assert!(matches!(node.next().await, Event::Up(_)), "{bytes:?}");
        to.seal(bytes).expect("sealed");
        to.flush().await.expect("written");
        node.expect_down(NodeId::given(2), false).await;
        assert!(from.receive(1 << 20).await.is_err());
    }
}

#[tokio::test]
async fn guests_beyond_the_limit_are_turned_away_and_one_node_has_few_lines() {
    let mut node = Node::with(1, |settings| settings.limits.guests = 5).await;
    let mut kept = Vec::new();
    for _ in 0..5 {
        kept.push(rogue(2, &node.address).await);
    }
    assert!(matches!(node.next().await, Event::Up(_)));
    until(|| node.links.counts().lines == 4).await;
    assert_eq!(node.so_far(), []);
    for number in 3..=6 {
        kept.push(rogue(number, &node.address).await);
    }
    until(|| node.links.counts().tasks == 2 + 5).await;
    assert!(node.links.counts().lines <= 5);
}

/// A connection from another address of this host.
async fn connect_from(from: &str, to: &str) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(format!("{from}:0").parse().expect("an address")).expect("an address of this host");
    socket.connect(to.parse().expect("an address")).await.expect("a connection")
}

#[tokio::test]
async fn many_connections_of_one_address_do_not_end_the_handshake_of_another() {
    let node = Node::start(1).await;
    // It is slow: it has said nothing yet.
    let mut slow = connect_from("127.0.0.2", &node.address).await;
    until(|| node.links.counts().strangers == 1).await;
    let mut flood = Vec::new();
    for _ in 0..200 {
        flood.push(connect_from("127.0.0.1", &node.address).await);
    }
    until(|| node.links.counts().failed >= 200 - 63).await;
    assert_eq!(node.links.counts().strangers, 64);
    let silent = timeout(Duration::from_millis(50), slow.read_u8()).await;
    assert!(silent.is_err(), "it was sent away: {silent:?}");
    // It goes on where it was.
    let (from, to) = slow.into_split();
    let secret = Secret::from_text(SECRET).expect("long enough");
    let begun = channel::begin(from, to, channel::Side::Caller, &secret).await;
    begun.map(drop).expect("heard out");
}
