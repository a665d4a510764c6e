//! Queues that fill.

use super::*;

#[tokio::test]
async fn a_full_queue_drops_and_says_so() {
    let mut node = Node::with(1, |settings| settings.limits.queue = 4).await;
    let (_from, _to) = rogue(2, &node.address).await;
    assert!(matches!(node.next().await, Event::Up(_)));
    let word = "x".repeat(100_000);
    // Nobody reads, so the buffers of both sockets fill, and then the queue.
    until(|| !node.links.send(NodeId::given(2), &word)).await;
    assert_eq!(node.links.counts().dropped, 1);
    assert!(!node.links.send(NodeId::given(2), &word));
    assert_eq!(node.links.counts().dropped, 2);
    assert!(node.links.is_up(NodeId::given(2)));
}

#[tokio::test]
async fn one_that_takes_nothing_any_more_is_given_up() {
    let mut node =
        Node::with(1, |settings| settings.limits.stuck = Duration::from_millis(50)).await;
    let (_from, _to) = rogue(2, &node.address).await;
    assert!(matches!(node.next().await, Event::Up(_)));
    let word = "x".repeat(100_000);
    until(|| !node.links.send(NodeId::given(2), &word)).await;
    node.expect_down(NodeId::given(2), false).await;
}

#[tokio::test]
async fn a_slow_reader_stops_the_sockets_and_loses_nothing() {
    let mut one = Node::start(1).await;
    let mut other = Node::with(2, |settings| settings.limits.events = 8).await;
    one.meet(&mut other).await;
    for number in 0..200 {
        assert!(one.links.send(other.id(), number.to_string()));
    }
    until(|| other.events.len() == 8).await;
    for number in 0..200 {
        other.expect(one.id(), &number.to_string()).await;
    }
    assert_eq!(one.links.counts().dropped, 0);
}

#[tokio::test]
async fn many_messages_arrive_in_order_without_loss_while_the_queue_has_room() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    let mut sent = 0;
    for taken in 0..5_000 {
        while sent < 5_000 && sent - taken < 200 && one.links.send(other.id(), sent.to_string()) {
            sent += 1;
        }
        other.expect(one.id(), &taken.to_string()).await;
    }
    assert_eq!(one.links.counts().dropped, 0);
}
