//! Links that end, and what is left of them.

use super::*;

#[tokio::test]
async fn a_link_comes_back_after_the_other_restarts() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    other.links.close().await;
    one.expect_down(other.id(), false).await;
    // Nobody listens any more, which says more than a link that ended.
    one.expect_down(other.id(), true).await;
    let mut back = Node::again(2, &other.address).await;
    assert_ne!(back.hello.incarnation, other.hello.incarnation);
    one.expect_up(&back.hello).await;
    back.expect_up(&one.hello).await;
    assert!(one.links.send(back.id(), "again".to_owned()));
    back.expect(one.id(), "again").await;
}

#[tokio::test]
async fn closing_writes_what_was_sent_and_ends_all_tasks() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    for number in 0..200 {
        assert!(one.links.send(other.id(), number.to_string()));
    }
    one.links.close().await;
    for number in 0..200 {
        other.expect(one.id(), &number.to_string()).await;
    }
    other.expect_down(one.id(), false).await;
    assert_eq!(one.links.counts(), Counts { dropped: 0, ..Counts::default() });
    assert!(!one.links.send(other.id(), "too late".to_owned()));
    one.links.keep(&other.address);
    assert_eq!(one.links.counts().tasks, 0);
}

#[tokio::test]
async fn closing_does_not_wait_for_one_that_takes_nothing() {
    let grace = Duration::from_millis(10);
    let mut node = Node::with(1, |settings| settings.limits.grace = grace).await;
    let (_from, _to) = rogue(2, &node.address).await;
    assert!(matches!(node.next().await, Event::Up(_)));
    let word = "x".repeat(100_000);
    until(|| !node.links.send(NodeId::given(2), &word)).await;
    timeout(PATIENCE / 2, node.links.close()).await.expect("closed before the link is given up");
    assert_eq!(node.links.counts().tasks, 0);
}

#[tokio::test]
async fn dropping_the_last_handle_ends_everything() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    let copy = one.links.clone();
    drop(one.links);
    assert!(copy.send(other.id(), "one is left".to_owned()));
    other.expect(NodeId::given(1), "one is left").await;
    drop(copy);
    other.expect_down(NodeId::given(1), false).await;
    assert_eq!(
        TcpStream::connect(&one.address).await.map(drop).map_err(|e| e.kind()),
        Err(std::io::ErrorKind::ConnectionRefused)
    );
}

#[tokio::test]
async fn dropping_the_events_ends_everything() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    drop(one.events);
    other.expect_down(NodeId::given(1), false).await;
    until(|| one.links.counts().tasks == 0).await;
}

#[tokio::test]
async fn an_address_that_was_left_is_not_dialled_again() {
    let (mut one, mut other) = (Node::start(1).await, Node::start(2).await);
    one.meet(&mut other).await;
    one.links.leave(&other.address);
    one.expect_down(other.id(), false).await;
    other.expect_down(one.id(), false).await;
    // What is left are the door and the watch over the events.
    until(|| one.links.counts().tasks == 2).await;
    one.links.keep(&other.address);
    one.expect_up(&other.hello).await;
}
