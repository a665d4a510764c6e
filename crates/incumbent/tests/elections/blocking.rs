//! The same without async.

use std::time::Duration;

use incumbent::Reason;
use incumbent::blocking::Backend;

use crate::support::{BILLING, LONG, PATIENCE, Place, SHORT, config};

fn open(place: &Place, name: &str) -> Backend {
    Backend::open(&place.url(), &config(name, LONG)).expect("opens")
}

#[test]
fn a_blocking_candidate_leads_and_hands_over() {
    let place = Place::new();
    let (one, two) = (open(&place, "one"), open(&place, "two"));
    let one = one.election(BILLING).expect("opens");
    let two = two.election(BILLING).expect("opens");
    let first = one.campaign().expect("leads");
    assert!(first.is_valid() && first.remaining() > Duration::ZERO);
    assert_eq!(first.token().get(), first.term().get());
    let leader = two.leader().expect("a look").expect("a leader");
    assert_eq!(leader.term, first.term());
    assert_eq!(leader.id.name.as_str(), "one");

    let waited = two.campaign_for(Duration::from_millis(300));
    assert!(waited.expect("no error").is_none(), "two led beside one");
    assert_eq!(first.lost_within(Duration::from_millis(10)), None);
    let token = first.token();
    first.resign().expect("resigns");
    let second = two.campaign_for(PATIENCE).expect("no error").expect("leads");
    assert!(second.token() > token);
}

#[test]
fn a_blocking_campaign_waits_for_its_turn() {
    let place = Place::new();
    let (one, two) = (open(&place, "one"), open(&place, "two"));
    let first = one.election(BILLING).expect("opens").campaign();
    let first = first.expect("leads");
    let two = two.election(BILLING).expect("opens");
    let waiting = std::thread::spawn(move || two.campaign().map(|second| second.token()));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!waiting.is_finished(), "two led beside one");
    let token = first.token();
    drop(first);
    let second = waiting.join().expect("no panic").expect("leads");
    assert!(second > token);
}

#[test]
fn a_closed_blocking_backend_has_let_go() {
    let place = Place::new();
    let short = |name| Backend::open(&place.url(), &config(name, SHORT)).expect("opens");
    let (one, two) = (short("one"), short("two"));
    let first = one.election(BILLING).expect("opens").campaign();
    let first = first.expect("leads");
    one.close();
    assert!(!first.is_valid());
    assert_eq!(first.lost_within(PATIENCE), Some(Reason::Resigned));
    drop(first);
    let two = two.election(BILLING).expect("opens");
    assert!(two.campaign().expect("leads").is_valid());
}

#[test]
fn a_program_that_simply_ends_is_succeeded_without_waiting_for_its_lease() {
    let place = Place::new();
    let two = open(&place, "two").election(BILLING).expect("opens");
    {
        let one = open(&place, "one");
        let election = one.election(BILLING).expect("opens");
        let _leadership = election.campaign().expect("leads");
        // Everything is dropped here, the runtime last: nobody is left to tell the store.
    }
    let second = two.campaign_for(PATIENCE).expect("no error");
    assert!(second.is_some(), "a clean end must not be slower than a crash");
}
