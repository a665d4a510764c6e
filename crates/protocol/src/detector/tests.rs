//! What a detector suspects, and what it does not.

use core::time::Duration;

use super::*;

const PEER: NodeId = NodeId::given(2);

fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Pings every 100 ms, and suspects after 300.
fn detector() -> Detector {
    let manner = Manner::of_timeout(Duration::from_millis(300)).expect("good");
    let mut detector = Detector::new(manner);
    detector.begin(at(0));
    detector.handle(at(0), Input::Watch(BTreeSet::from([PEER])));
    detector
}

fn pings(detector: &mut Detector) -> Vec<u64> {
    let effects = core::iter::from_fn(|| detector.poll_effect());
    effects.map(|Effect::Send { message: Message::Ping(n) | Message::Pong(n), .. }| n).collect()
}

fn pong(detector: &mut Detector, millis: u64, number: u64) {
    let message = Message::Pong(number);
    detector.handle(at(millis), Input::Message { from: PEER, message });
}

#[test]
fn a_peer_is_suspected_once_and_trusted_again_when_it_answers() {
    let mut detector = detector();
    for millis in (0..=1_000).step_by(100) {
        detector.handle(at(millis), Input::Wake);
    }
    assert_eq!(detector.poll_notice(), Some(Notice::Suspected(PEER)));
    assert_eq!(detector.poll_notice(), None);
    let newest = *pings(&mut detector).last().expect("it is pinged all the while");
    pong(&mut detector, 1_001, newest);
    assert_eq!(detector.poll_notice(), Some(Notice::Trusted(PEER)));
}

#[test]
fn an_answer_that_comes_too_late_proves_nothing() {
    let mut detector = detector();
    let first = pings(&mut detector)[0];
    for millis in (0..=300).step_by(100) {
        detector.handle(at(millis), Input::Wake);
    }
    pong(&mut detector, 300, first);
    assert_eq!(detector.poll_notice(), Some(Notice::Suspected(PEER)));
    assert_eq!(detector.poll_notice(), None);
}

#[test]
fn time_in_which_this_process_stood_still_counts_against_nobody() {
    let mut detector = detector();
    pings(&mut detector);
    detector.handle(at(5_000), Input::Wake);
    assert_eq!(detector.poll_notice(), None);
    assert_eq!(pings(&mut detector).len(), 1, "but it asks at once");
}

#[test]
fn a_peer_that_cannot_be_reached_is_suspected_at_once() {
    let mut detector = detector();
    detector.handle(at(1), Input::Unreachable(PEER));
    detector.handle(at(1), Input::Unreachable(NodeId::given(9)));
    assert_eq!(detector.poll_notice(), Some(Notice::Suspected(PEER)));
    assert_eq!(detector.poll_notice(), None, "nobody asked about the other");
}

#[test]
fn nobody_is_watched_for_ever() {
    let mut detector = detector();
    detector.handle(at(1), Input::Watch(BTreeSet::new()));
    assert_eq!(detector.wake_at(), None);
}

#[test]
fn a_former_life_of_this_process_gets_no_answers_that_fit() {
    let mut first = detector();
    let mut second = Detector::new(Manner::default());
    second.begin(at(50));
    second.handle(at(50), Input::Watch(BTreeSet::from([PEER])));
    assert_ne!(pings(&mut first), pings(&mut second));
}
