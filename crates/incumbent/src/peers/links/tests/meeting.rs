//! Nodes that mean well.

use super::*;

#[tokio::test]
async fn two_nodes_talk_both_ways() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.links.keep(&other.address);
    one.expect_up(&other.hello).await;
    other.expect_up(&one.hello).await;
    assert!(one.links.send(other.id(), "there".to_owned()));
    assert!(other.links.send(one.id(), "back".to_owned()));
    other.expect(one.id(), "there").await;
    one.expect(other.id(), "back").await;
}

#[tokio::test]
async fn a_large_message_arrives_whole_and_a_larger_one_is_not_taken() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    let large = "x".repeat(1_000_000);
    assert!(one.links.send(other.id(), &large));
    other.expect(one.id(), &large).await;
    let log = log::Log::start();
    assert!(!one.links.send(other.id(), "x".repeat(1 << 20)));
    assert_eq!(one.links.counts().dropped, 1);
    assert_eq!(log.with("more than 1048576 bytes").len(), 1);
}

#[tokio::test]
async fn nobody_can_be_told_anything_before_there_is_a_link() {
    let one = Node::start(1).await;
    assert!(!one.links.send(NodeId::given(2), "there".to_owned()));
    assert!(!one.links.send(one.id(), "myself".to_owned()));
    assert!(!one.links.is_up(NodeId::given(2)));
}

#[tokio::test]
async fn an_onlooker_is_answered_over_its_own_connection() {
    let (mut onlooker, mut node) = (Node::onlooker(9), Node::start(1).await);
    onlooker.links.keep(&node.address);
    onlooker.expect_up(&node.hello).await;
    assert_eq!(onlooker.hello.address, None);
    node.expect_up(&onlooker.hello).await;
    assert!(onlooker.links.send(node.id(), "who leads?".to_owned()));
    node.expect(onlooker.id(), "who leads?").await;
    assert!(node.links.send(onlooker.id(), "nobody".to_owned()));
    onlooker.expect(node.id(), "nobody").await;
}

#[tokio::test]
async fn two_nodes_that_dial_each_other_are_up_once_and_down_once() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.links.keep(&other.address);
    other.links.keep(&one.address);
    one.expect_up(&other.hello).await;
    other.expect_up(&one.hello).await;
    until(|| one.links.counts().lines == 2 && other.links.counts().lines == 2).await;
    assert_eq!(one.links.counts().nodes, 1);
    // Whichever line a message takes, it arrives.
    for word in ["a", "b"] {
        assert!(one.links.send(other.id(), word.to_owned()));
        other.expect(one.id(), word).await;
    }
    one.links.leave(&other.address);
    until(|| one.links.counts().lines == 1).await;
    assert!(one.links.send(other.id(), "still".to_owned()));
    other.expect(one.id(), "still").await;
    other.links.leave(&one.address);
    one.expect_down(other.id(), false).await;
    other.expect_down(one.id(), false).await;
}

#[tokio::test]
async fn an_address_is_dialled_once_however_often_it_is_kept() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    let before = one.links.counts();
    one.links.keep(&other.address);
    one.links.clone().keep(&other.address);
    assert_eq!(one.links.counts(), before);
}

#[tokio::test]
async fn a_name_is_looked_up_again_at_every_attempt() {
    let mut one = Node::start(1).await;
    // Nobody listens there yet; the name itself has addresses.
    let gone = Node::start(2).await;
    let port = gone.address.rsplit_once(':').expect("a port").1.to_owned();
    gone.links.close().await;
    one.links.keep(&format!("localhost:{port}"));
    until(|| one.links.counts().failed > 0).await;
    let back = Node::again(2, &gone.address).await;
    one.expect_up(&back.hello).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_nodes_on_several_threads_hear_all_of_each_other_in_order() {
    const WORDS: usize = 100;
    let mut nodes = Vec::new();
    for number in 1..=5 {
        nodes.push(Node::start(number).await);
    }
    let seats: Vec<_> = nodes.iter().map(|node| (node.id(), node.address.clone())).collect();
    let talks: Vec<_> =
        nodes.into_iter().map(|node| tokio::spawn(talk(node, seats.clone(), WORDS))).collect();
    // Kept, so that nobody leaves while another still listens.
    let mut ended = Vec::new();
    for talk in talks {
        ended.push(talk.await.expect("all was heard"));
    }
    assert!(ended.iter().all(|node| node.links.counts().nodes == 4));
}

/// Says so many words to each other node as soon as it is up, and hears as many of each.
async fn talk(mut node: Node, seats: Vec<(NodeId, String)>, words: usize) -> Node {
    // One line for each two: words that took different ones could overtake each other.
    for (_, address) in seats.iter().filter(|&&(other, _)| other > node.id()) {
        node.links.keep(address);
    }
    let mut heard: std::collections::BTreeMap<NodeId, usize> = std::collections::BTreeMap::new();
    while heard.len() < seats.len() - 1 || heard.values().any(|&count| count < words) {
        match node.next().await {
            Event::Up(hello) => {
                assert_eq!(heard.insert(hello.node, 0), None, "up once");
                for word in 0..words {
                    assert!(node.links.send(hello.node, word.to_string()));
                }
            }
            Event::Message { from, message } => {
                let count = heard.get_mut(&from).expect("up before it is heard");
                assert_eq!(message, count.to_string());
                *count += 1;
            }
            event @ Event::Down { .. } => panic!("nobody leaves: {event:?}"),
        }
    }
    node
}
