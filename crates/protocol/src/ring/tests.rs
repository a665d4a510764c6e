//! The rules of the ring that are beyond the seed, one at a time.

use super::*;
use core::time::Duration;

const T: Duration = Duration::from_millis(1);

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

fn at(units: u32) -> Time {
    Time::ZERO + T * units
}

fn ring(me: u128, order: &[u128], rejoin: Rejoin) -> Ring {
    let timeouts = Timeouts::of_message_time(T).expect("good");
    let mut ring = Ring::new(node(me), timeouts, rejoin);
    ring.begin(at(0));
    ring.handle(at(0), Input::Nodes(order.iter().map(|id| node(*id)).collect()));
    ring
}

fn sent(ring: &mut Ring) -> Vec<(NodeId, Message)> {
    let effects = core::iter::from_fn(|| ring.poll_effect());
    effects.map(|Effect::Send { to, message }| (to, message)).collect()
}

fn hear(ring: &mut Ring, units: u32, from: u128, message: Message) {
    ring.handle(at(units), Input::Message { from: node(from), message });
}

fn election(run: u64, best: u128) -> Message {
    Message::Hop(Word::Election { run: Run(run), best: Some(node(best)) })
}

#[test]
fn a_single_node_picks_itself_at_once() {
    let mut ring = ring(1, &[1], Rejoin::Sticky);
    ring.handle(at(0), Input::Vacant);
    assert_eq!(ring.nominee(), Some(node(1)));
    assert_eq!(sent(&mut ring), []);
}

#[test]
fn a_node_that_is_new_asks_first_and_begins_when_nobody_knows_of_a_leader() {
    let mut ring = ring(2, &[1, 2, 3], Rejoin::Sticky);
    ring.handle(at(0), Input::Vacant);
    assert_eq!(sent(&mut ring), [(node(1), Message::Ask), (node(3), Message::Ask)]);
    for from in [1, 3] {
        hear(&mut ring, 1, from, Message::Current { run: Run(0), nominee: None });
    }
    assert_eq!(sent(&mut ring), [(node(3), election(1, 2))]);
}

#[test]
fn a_node_that_is_new_leaves_it_at_whom_it_is_told_of_unless_it_preempts() {
    for (rejoin, picked) in [(Rejoin::Sticky, Some(node(1))), (Rejoin::Preempting, None)] {
        let mut ring = ring(2, &[1, 2, 3], rejoin);
        ring.handle(at(0), Input::Vacant);
        hear(&mut ring, 1, 3, Message::Current { run: Run(7), nominee: Some(node(1)) });
        assert_eq!(ring.nominee(), picked);
        assert_eq!(ring.run(), if picked.is_some() { Run(7) } else { Run(8) });
    }
}

#[test]
fn a_word_goes_to_the_next_neighbour_after_the_hop_timeout_and_at_once_if_it_is_unreachable() {
    let mut ring = ring(1, &[1, 2, 3, 4], Rejoin::Preempting);
    ring.handle(at(0), Input::Vacant);
    assert_eq!(sent(&mut ring), [(node(2), election(1, 1))]);
    assert_eq!(ring.wake_at(), Some(at(3)));
    ring.handle(at(3), Input::Wake);
    assert_eq!(sent(&mut ring), [(node(3), election(1, 1))]);
    ring.handle(at(4), Input::Unreachable(node(3)));
    assert_eq!(sent(&mut ring), [(node(4), election(1, 1))]);
    ring.handle(at(5), Input::Nodes(vec![node(1), node(2)]));
    assert_eq!(ring.nominee(), Some(node(1)), "who is left was passed over: it is alone");
}

#[test]
fn an_acknowledged_word_is_not_sent_again() {
    let mut ring = ring(1, &[1, 2, 3], Rejoin::Preempting);
    ring.handle(at(0), Input::Vacant);
    sent(&mut ring);
    let word = Word::Election { run: Run(1), best: Some(node(1)) };
    hear(&mut ring, 2, 2, Message::Ack(word));
    ring.handle(at(4), Input::Wake);
    assert_eq!(sent(&mut ring), []);
}

#[test]
fn a_second_copy_of_a_word_goes_no_further() {
    let mut ring = ring(1, &[1, 2, 3], Rejoin::Sticky);
    hear(&mut ring, 0, 3, election(1, 3));
    hear(&mut ring, 0, 3, election(1, 3));
    let words = sent(&mut ring).into_iter().filter(|(to, _)| *to == node(2)).count();
    assert_eq!(words, 1);
}

#[test]
fn a_word_of_an_older_run_is_answered_with_the_newest() {
    let mut ring = ring(1, &[1, 2, 3], Rejoin::Sticky);
    hear(&mut ring, 0, 3, election(5, 3));
    sent(&mut ring);
    hear(&mut ring, 0, 2, election(4, 2));
    let current = Message::Current { run: Run(5), nominee: None };
    assert_eq!(sent(&mut ring).last(), Some(&(node(2), current)));
    assert_eq!(ring.run(), Run(5));
}

#[test]
fn a_node_that_may_not_be_picked_passes_on_without_putting_itself_in() {
    let mut ring = ring(9, &[1, 2, 9], Rejoin::Sticky);
    ring.handle(at(0), Input::Eligible(false));
    hear(&mut ring, 0, 2, election(1, 2));
    assert_eq!(sent(&mut ring).last(), Some(&(node(1), election(1, 2))));
    let empty = Word::Election { run: Run(2), best: None };
    hear(&mut ring, 0, 2, Message::Hop(empty));
    assert_eq!(sent(&mut ring).last(), Some(&(node(1), Message::Hop(empty))));
    hear(&mut ring, 0, 2, Message::Hop(empty));
    assert_eq!(sent(&mut ring), [(node(2), Message::Ack(empty))], "it does not go round twice");
}

#[test]
fn a_run_that_picks_nobody_is_followed_by_another() {
    let mut ring = ring(1, &[1, 2], Rejoin::Sticky);
    hear(&mut ring, 0, 2, election(1, 2));
    let word = Word::Election { run: Run(1), best: Some(node(2)) };
    hear(&mut ring, 0, 2, Message::Ack(word));
    let late = ring.wake_at().expect("every wait has an end");
    ring.handle(late, Input::Wake);
    assert_eq!(ring.run(), Run(2));
}

#[test]
fn of_two_that_were_picked_in_one_run_the_higher_stands() {
    let mut ring = ring(1, &[1, 2, 3], Rejoin::Sticky);
    let elected = |nominee| Message::Hop(Word::Elected { run: Run(1), nominee: node(nominee) });
    hear(&mut ring, 0, 3, elected(2));
    hear(&mut ring, 0, 3, elected(3));
    hear(&mut ring, 0, 3, elected(2));
    assert_eq!(ring.nominee(), Some(node(3)));
}

#[test]
fn whoever_is_known_to_lead_ends_a_run() {
    let mut ring = ring(1, &[1, 2, 3], Rejoin::Preempting);
    ring.handle(at(0), Input::Vacant);
    ring.handle(at(1), Input::Led(node(2)));
    assert!(!ring.is_electing() && !ring.is_participant());
    assert_eq!((ring.nominee(), ring.wake_at()), (Some(node(2)), None));
}
