//! Nodes that have a number too many, or another release.

use super::*;
use crate::peers::hello::VERSION;
use crate::peers::way::{Scheme, Way};

#[tokio::test]
async fn another_process_with_the_own_number_is_refused_and_reported_on_both_sides() {
    let log = log::Log::start();
    let (mut one, mut twin) = (Node::start(7).await, Node::start(7).await);
    one.links.keep(&twin.address);
    until(|| one.links.counts().failed >= 4 && twin.links.counts().failed >= 4).await;
    assert_eq!((one.links.counts().lines, twin.links.counts().lines), (0, 0));
    let told = log.with("another process has the number of this node");
    assert_eq!((told.len(), log.lines().len()), (2, 2), "{:?}", log.lines());
    assert!(one.so_far().is_empty() && twin.so_far().is_empty());
    both_are_named(&told, &one, &twin);
    for node in [&one, &twin] {
        let known = node.links.twins().join("");
        assert!(known.contains(&one.address) && known.contains(&twin.address), "{known}");
    }
}

/// Each says that it is one of them, and who the other one is.
fn both_are_named(lines: &[String], one: &Node, other: &Node) {
    for (this, other) in [(one, other), (other, one)] {
        let (this, other) = (format!("this={}", this.hello), format!("other={}", other.hello));
        let named = |line: &&String| line.contains(&this) && line.contains(&other);
        assert_eq!(lines.iter().filter(named).count(), 1, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains("ERROR")), "{lines:?}");
    }
}

#[tokio::test]
async fn twins_that_never_meet_are_told_of_each_other_by_those_who_meet_both() {
    let log = log::Log::start();
    let mut node = Node::start(1).await;
    let (first, second) = (Node::start(5).await, Node::start(5).await);
    first.links.keep(&node.address);
    node.expect_up(&first.hello).await;
    second.links.keep(&node.address);
    until(|| log.with("another process has the number of this node").len() >= 2).await;
    both_are_named(&log.with("another process has the number"), &first, &second);
    let witness = log.with("two processes have one number");
    assert_eq!(witness.len(), 1, "{:?}", log.lines());
    assert!(witness[0].contains("WARN"), "{witness:?}");
    // Whoever looks on later hears of it too, and does not speak of it.
    let onlooker = Node::onlooker(9);
    onlooker.links.keep(&node.address);
    until(|| !onlooker.links.twins().is_empty()).await;
    let known = onlooker.links.twins().join("");
    assert!(known.contains(&first.address) && known.contains(&second.address), "{known}");
    assert_eq!(log.lines().len(), 3, "{:?}", log.lines());
}

#[tokio::test]
async fn a_node_that_dials_itself_leaves_it_at_that() {
    let log = log::Log::start();
    let mut one = Node::start(1).await;
    one.links.keep(&one.address);
    until(|| one.links.counts().failed >= 2).await;
    assert_eq!(one.so_far(), []);
    assert_eq!(log.lines(), [""; 0]);
    assert_eq!(one.links.counts().lines, 0);
}

#[tokio::test]
async fn a_process_that_was_replaced_is_not_let_in_again() {
    let log = log::Log::start();
    let mut node = Node::start(1).await;
    let mut first = Node::onlooker(5);
    first.links.keep(&node.address);
    node.expect_up(&first.hello).await;
    first.expect_up(&node.hello).await;
    let mut second = Node::onlooker(5);
    second.links.keep(&node.address);
    node.expect_down(NodeId::given(5), false).await;
    node.expect_up(&second.hello).await;
    second.expect_up(&node.hello).await;
    // The first one tries on: it is heard no more, however often it is let go.
    for _ in 0..2 {
        first.expect_down(node.id(), false).await;
        first.expect_up(&node.hello).await;
        first.links.send(node.id(), "it is me".to_owned());
    }
    assert!(second.links.send(node.id(), "no, me".to_owned()));
    node.expect(second.id(), "no, me").await;
    until(|| !log.with("two processes have one number").is_empty()).await;
    assert_eq!(node.so_far(), []);
    assert_eq!(log.with("two processes have one number").len(), 1);
}

#[tokio::test]
async fn nodes_of_different_releases_part_with_a_clear_word_on_both_sides() {
    let log = log::Log::start();
    let mut old = Node::start(1).await;
    let mut new = Node::with(2, |settings| settings.hello.version = VERSION + 1).await;
    old.links.keep(&new.address);
    until(|| old.links.counts().failed >= 3 && new.links.counts().failed >= 3).await;
    let told = log.with("bring both to one release");
    assert_eq!(told.len(), 2, "{:?}", log.lines());
    let says = |word: &str| told.iter().any(|line| line.contains(word));
    for (theirs, ours) in [(VERSION, VERSION + 1), (VERSION + 1, VERSION)] {
        let text =
            format!("speaks version {theirs} of the messages and this node speaks version {ours}");
        assert!(says(&text), "{told:?}");
    }
    assert!(old.so_far().is_empty() && new.so_far().is_empty());
}

#[tokio::test]
async fn nodes_of_different_schemes_part_and_each_says_so_once() {
    let log = log::Log::start();
    let by = |scheme| {
        move |settings: &mut Settings| settings.hello.way = Some(Way { scheme, ratified: true })
    };
    let mut ring = Node::with(1, by(Scheme::Ring)).await;
    let mut bully = Node::with(2, by(Scheme::Bully)).await;
    // Each meets the other in two places: where it dials, and at its door.
    ring.links.keep(&bully.address);
    bully.links.keep(&ring.address);
    until(|| ring.links.counts().failed >= 6 && bully.links.counts().failed >= 6).await;
    let told = log.with("the same URL");
    assert_eq!((told.len(), log.lines().len()), (2, 2), "{:?}", log.lines());
    for (one, words) in [(&ring, "by ring:// and"), (&bully, "by bully:// and")] {
        let names = |line: &String| line.contains(&one.hello.to_string()) && line.contains(words);
        assert!(told.iter().any(names), "{told:?}");
    }
    assert!(told.iter().all(|line| line.contains("ERROR")), "{told:?}");
    assert!(ring.so_far().is_empty() && bully.so_far().is_empty());
}
