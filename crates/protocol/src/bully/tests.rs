//! The rules of the bully that are beyond the lecture, one at a time.

use core::time::Duration;

use super::*;

const T: Duration = Duration::from_millis(1);

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

fn at(units: u32) -> Time {
    Time::ZERO + T * units
}

/// Node 2 of four.
fn bully(rejoin: Rejoin) -> Bully {
    let timeouts = Timeouts::of_message_time(T).expect("good");
    let mut bully = Bully::new(node(2), timeouts, rejoin);
    bully.begin(at(0));
    bully.handle(at(0), Input::Nodes([1, 2, 3, 4].map(node).to_vec()));
    bully
}

fn sent(bully: &mut Bully) -> Vec<(NodeId, Message)> {
    let effects = core::iter::from_fn(|| bully.poll_effect());
    effects.map(|Effect::Send { to, message }| (to, message)).collect()
}

fn hear(bully: &mut Bully, units: u32, from: u128, message: Message) {
    bully.handle(at(units), Input::Message { from: node(from), message });
}

#[test]
fn it_does_not_wait_for_those_who_cannot_be_reached() {
    let mut bully = bully(Rejoin::Preempting);
    bully.handle(at(0), Input::Vacant);
    bully.handle(at(1), Input::Unreachable(node(3)));
    assert_eq!(bully.nominee(), None);
    bully.handle(at(1), Input::Unreachable(node(4)));
    assert_eq!(bully.nominee(), Some(node(2)));
}

#[test]
fn it_does_not_wait_for_those_who_left() {
    let mut bully = bully(Rejoin::Preempting);
    bully.handle(at(0), Input::Vacant);
    bully.handle(at(1), Input::Nodes([1, 2].map(node).to_vec()));
    assert_eq!(bully.nominee(), Some(node(2)));
}

#[test]
fn it_begins_anew_when_all_who_answered_are_gone() {
    let mut bully = bully(Rejoin::Preempting);
    bully.handle(at(0), Input::Vacant);
    hear(&mut bully, 1, 3, Message::Ok { run: Run(1) });
    bully.handle(at(2), Input::Unreachable(node(3)));
    assert_eq!(bully.run(), Run(2));
}

#[test]
fn an_answer_of_another_run_does_not_count() {
    let mut bully = bully(Rejoin::Preempting);
    bully.handle(at(0), Input::Vacant);
    hear(&mut bully, 1, 3, Message::Ok { run: Run(0) });
    bully.handle(at(3), Input::Wake);
    assert_eq!(bully.nominee(), Some(node(2)));
}

#[test]
fn an_election_of_an_older_run_is_answered_with_the_newest() {
    let mut bully = bully(Rejoin::Sticky);
    hear(&mut bully, 0, 4, Message::Coordinator { run: Run(3) });
    hear(&mut bully, 0, 1, Message::Election { run: Run(2) });
    let current = Message::Current { run: Run(3), nominee: Some(node(4)) };
    assert_eq!(sent(&mut bully), [(node(1), current)]);
}

#[test]
fn it_recommends_nobody_who_cannot_be_reached() {
    let mut bully = bully(Rejoin::Sticky);
    hear(&mut bully, 0, 4, Message::Coordinator { run: Run(3) });
    bully.handle(at(0), Input::Unreachable(node(4)));
    hear(&mut bully, 0, 1, Message::Ask);
    let current = Message::Current { run: Run(3), nominee: None };
    assert_eq!(sent(&mut bully), [(node(1), current)]);
}

#[test]
fn the_nominee_says_so_again_until_it_is_known_to_lead() {
    let mut bully = bully(Rejoin::Sticky);
    bully.handle(at(0), Input::Nodes([1, 2].map(node).to_vec()));
    bully.handle(at(0), Input::Led(node(1)));
    bully.handle(at(0), Input::Vacant);
    sent(&mut bully);
    bully.handle(at(20), Input::Wake);
    let current = Message::Current { run: Run(1), nominee: Some(node(2)) };
    assert_eq!(sent(&mut bully), [(node(1), current)]);
    bully.handle(at(21), Input::Led(node(2)));
    assert_eq!(bully.wake_at(), None);
}
