//! What is counted of links.

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use super::*;
use crate::metrics::{HANDSHAKES_REFUSED, MESSAGES_DROPPED, Metric};

const NAME: &str = "ann";

/// What was counted of this metric since the last look, by its last label.
fn counted(snapshotter: &Snapshotter, metric: &Metric) -> Vec<(String, u64)> {
    let all = snapshotter.snapshot().into_vec().into_iter();
    let own = all.filter(|(key, ..)| key.key().name() == metric.name);
    let found = own.filter_map(|(key, .., value)| match value {
        DebugValue::Counter(times) if times > 0 => {
            let label = key.key().labels().last().expect("a label");
            Some((label.value().to_owned(), times))
        }
        _ => None,
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found
}

async fn counting(number: u128, change: impl FnOnce(&mut Settings)) -> Node {
    Node::with(number, |settings| {
        settings.numbers = Numbers::of(&NAME.parse().expect("a name"));
        change(settings);
    })
    .await
}

#[tokio::test]
async fn messages_that_are_not_sent_are_counted_by_cause() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let mut node = counting(1, |settings| settings.limits.queue = 4).await;
    let (_from, _to) = rogue(2, &node.address).await;
    assert!(matches!(node.next().await, Event::Up(_)));
    let word = "x".repeat(100_000);
    until(|| !node.links.send(NodeId::given(2), &word)).await;
    assert!(!node.links.send(NodeId::given(2), &word));
    assert!(!node.links.send(NodeId::given(2), "x".repeat(2 << 20)));
    let counted = counted(&snapshotter, &MESSAGES_DROPPED);
    assert_eq!(counted, [("full".to_owned(), 2), ("long".to_owned(), 1)]);
}

#[tokio::test]
async fn connections_that_become_no_link_are_counted_by_cause() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let node = counting(1, |_| ()).await;
    let short = Duration::from_millis(50);
    let hasty = counting(1, |settings| settings.limits.handshake = short).await;
    let seen = async |node: &Node, bytes: &[u8]| {
        let mut stream = TcpStream::connect(&node.address).await.expect("a connection");
        let before = node.links.counts().failed;
        tokio::io::AsyncWriteExt::write_all(&mut stream, bytes).await.expect("written");
        until(|| node.links.counts().failed > before).await;
        counted(&snapshotter, &HANDSHAKES_REFUSED)
    };
    let unknown = [&[0, 48][..], &[7; 48]].concat();
    assert_eq!(seen(&node, &[0, 0]).await, [("rubbish".to_owned(), 1)]);
    assert_eq!(seen(&node, &unknown).await, [("secret".to_owned(), 1)]);
    assert_eq!(seen(&hasty, &[]).await, [("late".to_owned(), 1)]);
}
