//! When a caucus begins a run, and whom it names.

use core::time::Duration;

use super::*;
use crate::{bully, ring};

const T: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(100);

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

fn at(units: u32) -> Time {
    Time::ZERO + T * units
}

/// A bully's caucus of node 2 among three, which leads nobody and follows nobody yet.
fn caucus(rejoin: Rejoin) -> Caucus {
    let timeouts = bully::Timeouts::of_message_time(T).expect("good");
    let mut caucus = Caucus::new(node(2), Manner::Bully(timeouts), rejoin, PATIENCE);
    caucus.begin(at(0));
    caucus.handle(at(0), Input::Nodes([1, 2, 3].map(node).to_vec()));
    caucus
}

fn told(caucus: &mut Caucus) -> Vec<Notice> {
    core::iter::from_fn(|| caucus.poll_notice()).collect()
}

fn hear(caucus: &mut Caucus, units: u32, from: u128, message: bully::Message) {
    let message = Message::Bully(message);
    caucus.handle(at(units), Input::Message { from: node(from), message });
}

#[test]
fn nothing_begins_before_it_is_known_whether_anybody_leads() {
    let mut caucus = caucus(Rejoin::Sticky);
    assert!(!caucus.is_electing());
    caucus.handle(at(0), Input::Leader(None));
    assert!(caucus.is_electing());
}

#[test]
fn a_leader_is_the_nominee_and_is_watched() {
    let mut caucus = caucus(Rejoin::Sticky);
    caucus.handle(at(0), Input::Leader(Some(node(1))));
    assert_eq!(told(&mut caucus), [Notice::Nominee(Some(node(1)))]);
    assert_eq!(caucus.watches(), BTreeSet::from([node(1)]));
    caucus.handle(at(0), Input::Leader(Some(node(2))));
    assert_eq!(caucus.watches(), [1, 3].map(node).into(), "both ways");
}

#[test]
fn a_suspected_leader_begins_a_run_and_a_trusted_one_is_the_nominee_again() {
    let mut caucus = caucus(Rejoin::Sticky);
    caucus.handle(at(0), Input::Leader(Some(node(3))));
    told(&mut caucus);
    caucus.handle(at(1), Input::Suspected(node(3)));
    // The highest of those who live: picked at once.
    assert_eq!(told(&mut caucus), [Notice::Began, Notice::Nominee(Some(node(2)))]);
    caucus.handle(at(1), Input::Trusted(node(3)));
    assert_eq!(told(&mut caucus), [Notice::Nominee(Some(node(3)))]);
}

#[test]
fn a_nominee_that_does_not_lead_in_time_is_followed_by_another_run() {
    let mut caucus = caucus(Rejoin::Sticky);
    caucus.handle(at(0), Input::Leader(Some(node(1))));
    caucus.handle(at(0), Input::Leader(None));
    hear(&mut caucus, 1, 3, bully::Message::Coordinator { run: Run(1) });
    assert_eq!(caucus.nominee(), Some(node(3)));
    assert_eq!(caucus.watches(), BTreeSet::from([node(3)]));
    caucus.handle(at(101), Input::Wake);
    assert_eq!((caucus.run(), caucus.nominee()), (Run(2), None));
}

#[test]
fn a_nominee_that_is_suspected_or_left_is_followed_by_another_run() {
    for gone in [Input::Suspected(node(3)), Input::Nodes([1, 2].map(node).to_vec())] {
        let mut caucus = caucus(Rejoin::Sticky);
        caucus.handle(at(0), Input::Leader(Some(node(1))));
        caucus.handle(at(0), Input::Leader(None));
        hear(&mut caucus, 1, 3, bully::Message::Coordinator { run: Run(1) });
        caucus.handle(at(2), gone);
        assert_eq!((caucus.run(), caucus.nominee()), (Run(2), Some(node(2))));
    }
}

#[test]
fn a_run_of_others_does_not_unseat_a_leader_that_is_trusted() {
    let mut caucus = caucus(Rejoin::Sticky);
    caucus.handle(at(0), Input::Leader(Some(node(1))));
    told(&mut caucus);
    hear(&mut caucus, 1, 3, bully::Message::Coordinator { run: Run(1) });
    assert_eq!(caucus.nominee(), Some(node(1)));
    // But one that is suspected soon after makes room without another run.
    caucus.handle(at(2), Input::Suspected(node(1)));
    assert_eq!((caucus.run(), caucus.nominee()), (Run(1), Some(node(3))));
}

#[test]
fn a_lower_leader_is_preempted_only_where_that_is_wanted() {
    for (rejoin, nominee) in [(Rejoin::Sticky, Some(node(1))), (Rejoin::Preempting, None)] {
        let mut caucus = caucus(rejoin);
        caucus.handle(at(0), Input::Leader(Some(node(1))));
        assert_eq!(caucus.nominee(), nominee);
        assert_eq!(caucus.is_electing(), nominee.is_none());
    }
}

#[test]
fn messages_of_the_other_manner_are_ignored() {
    let mut caucus = caucus(Rejoin::Sticky);
    let message = Message::Ring(ring::Message::Ask);
    caucus.handle(at(0), Input::Message { from: node(3), message });
    assert_eq!(caucus.poll_effect(), None);
}

#[test]
fn whoever_becomes_eligible_is_picked_though_the_run_before_could_pick_nobody() {
    let me = NodeId::given(1);
    let message = Duration::from_millis(10);
    let manner = bully::Timeouts::of_message_time(message).map(Manner::Bully).expect("a span");
    let mut caucus = Caucus::new(me, manner, Rejoin::Sticky, 1_000 * Duration::from_secs(1));
    let start = Time::ZERO;
    caucus.begin(start);
    caucus.handle(start, Input::Eligible(false));
    caucus.handle(start, Input::Nodes(vec![me]));
    caucus.handle(start, Input::Leader(None));
    assert_eq!(caucus.nominee(), None, "it would not take a term");
    let later = start + Duration::from_secs(1);
    caucus.handle(later, Input::Eligible(true));
    let mut now = later;
    while caucus.nominee().is_none() && now < later + 10 * Duration::from_secs(1) {
        now = now + message;
        caucus.handle(now, Input::Wake);
    }
    assert_eq!(caucus.nominee(), Some(me));
}
