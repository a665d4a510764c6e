//! Somebody in the middle, who records, repeats and cuts what passes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};

use super::*;

/// Stands before a node and records what callers say.
struct Tape {
    address: String,
    said: Arc<Mutex<Vec<u8>>>,
    connections: Arc<AtomicUsize>,
}

impl Tape {
    /// The n-th connection, counted from zero, is cut after as many bytes as `cut` says.
    async fn before(node: &Node, cut: impl Fn(usize) -> usize + Send + 'static) -> Tape {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound").to_string();
        let (said, connections) = (Arc::default(), Arc::default());
        let tape = Tape { address, said: Arc::clone(&said), connections: Arc::clone(&connections) };
        let to = node.address.clone();
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let cut = cut(connections.fetch_add(1, Ordering::SeqCst));
                let callee = TcpStream::connect(&to).await.expect("a node");
                relay(caller, callee, cut, &said).await;
            }
        });
        tape
    }

    fn said(&self) -> Vec<u8> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Passes so many bytes of the caller on, and all of the callee, until either ends.
async fn relay(caller: TcpStream, callee: TcpStream, cut: usize, said: &Mutex<Vec<u8>>) {
    let (mut from_caller, mut to_caller) = caller.into_split();
    let (mut from_callee, mut to_callee) = callee.into_split();
    let there = async {
        let (mut left, mut bytes) = (cut, [0; 1024]);
        while left > 0 {
            let most = left.min(bytes.len());
            let Ok(length @ 1..) = from_caller.read(&mut bytes[..most]).await else { return };
            said.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..length]);
            if to_callee.write_all(&bytes[..length]).await.is_err() {
                return;
            }
            left -= length;
        }
    };
    let back = async {
        let _ = copy(&mut from_callee, &mut to_caller).await;
    };
    tokio::select! {
        () = there => {}
        () = back => {}
    }
}

/// All that a caller says to meet a node and tell it one word.
async fn record(node: &mut Node, word: &str) -> Vec<u8> {
    let mut caller = Node::onlooker(2);
    let tape = Tape::before(node, |_| usize::MAX).await;
    caller.links.keep(&tape.address);
    caller.expect_up(&node.hello).await;
    assert!(caller.links.send(node.id(), word.to_owned()));
    node.expect_up(&caller.hello).await;
    node.expect(caller.id(), word).await;
    caller.links.close().await;
    node.expect_down(caller.id(), false).await;
    tape.said()
}

#[tokio::test]
async fn what_was_recorded_delivers_nothing_when_it_is_played_again() {
    let log = log::Log::start();
    let mut node = Node::start(1).await;
    let said = record(&mut node, "pay a hundred").await;
    for round in 1..=5 {
        let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
        stream.write_all(&said).await.expect("written");
        let mut answer = Vec::new();
        // The first bytes are those of one who knows the secret, and are answered; the keys that
        // follow from the answer are not those of the record.
        let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("ended");
        until(|| node.links.counts().failed == round).await;
    }
    assert_eq!(node.so_far(), []);
    assert_eq!(node.links.counts().lines, 0);
    let told = log.with("not sealed in this conversation");
    assert_eq!((told.len(), log.lines().len()), (1, 1), "{:?}", log.lines());
}

#[tokio::test]
async fn a_record_cut_anywhere_delivers_nothing() {
    let mut node = Node::start(1).await;
    let said = record(&mut node, "pay a hundred").await;
    for end in 0..said.len() {
        let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
        stream.write_all(&said[..end]).await.expect("written");
        drop(stream);
    }
    until(|| node.links.counts().failed == said.len() as u64).await;
    until(|| node.links.counts().strangers == 0).await;
    assert_eq!(node.so_far(), []);
}

#[tokio::test]
async fn a_connection_cut_after_any_byte_delivers_whole_messages_only() {
    let mut node = Node::start(1).await;
    let whole = record(&mut node, "word").await.len();
    let listener = None;
    let mut caller = Node::at(2, listener, |settings| {
        settings.limits.first_pause = Duration::from_millis(1);
        settings.limits.longest_pause = Duration::from_millis(1);
    });
    let tape = Tape::before(&node, |connection| connection).await;
    caller.links.keep(&tape.address);
    let mut heard = 0;
    while heard == 0 {
        tokio::select! {
            event = caller.next() => if let Event::Up(_) = event {
                caller.links.send(node.id(), "word".to_owned());
            },
            event = node.next() => match event {
                Event::Message { message, .. } => {
                    assert_eq!(message, "word");
                    heard += 1;
                }
                Event::Up(hello) => assert_eq!(hello, caller.hello),
                event @ Event::Down { .. } => {
                    assert_eq!(event, Event::Down { node: caller.id(), refused: false });
                }
            },
        }
    }
    // One cut for each byte came before.
    let connections = tape.connections.load(Ordering::SeqCst);
    assert!(connections >= whole, "{connections} connections for {whole} bytes");
}
