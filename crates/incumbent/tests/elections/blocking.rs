//! The same without async.

use std::time::Duration;

use incumbent::blocking::Backend;
use incumbent::health::{HealthRules, Probe};
use incumbent::{Error, Order, OrderError, Reason};

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
fn a_health_function_that_blocks_does_not_keep_a_leader_from_renewing() {
    let place = Place::new();
    let backend = open(&place, "one");
    let (blocks, blocked) = std::sync::mpsc::channel();
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
    let leads = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let shared = std::sync::Arc::clone(&leads);
    let probe = Probe::function(move || {
        let (leads, blocks) = (shared.load(std::sync::atomic::Ordering::Relaxed), blocks.clone());
        let gate = std::sync::Arc::clone(&gate);
        async move {
            if leads {
                blocks.send(()).expect("the test listens");
                let _ = gate.lock().expect("not poisoned").recv_timeout(PATIENCE);
            }
            Ok(())
        }
    });
    // So many failures are allowed that the leader stays fit for as long as the probe blocks.
    let often = Duration::from_millis(50);
    let rules = HealthRules::new(often, often, 1_000, often).expect("rules");
    backend.bind_health(probe, rules).expect("binds");
    let leadership = backend.election(BILLING).expect("opens").campaign().expect("leads");
    leads.store(true, std::sync::atomic::Ordering::Relaxed);
    blocked.recv_timeout(PATIENCE).expect("a probe that blocks");
    let begun = std::time::Instant::now();
    let mut left = leadership.remaining();
    loop {
        std::thread::sleep(Duration::from_millis(5));
        let now = leadership.remaining();
        if now > std::mem::replace(&mut left, now) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE / 2, "not renewed");
    }
    drop(release);
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

#[test]
fn a_blocking_leader_hands_over_when_another_thread_asks_for_it() {
    let place = Place::new();
    let (one, two) = (open(&place, "one"), open(&place, "two"));
    let election = one.election(BILLING).expect("opens");
    let first = election.campaign().expect("leads");
    assert_eq!(first.draining_within(Duration::from_millis(10)), None);
    let waiting = std::thread::spawn(move || {
        let election = two.election(BILLING).expect("opens");
        election.campaign_for(PATIENCE).map(|won| won.map(|second| second.token()))
    });
    let asks = std::thread::spawn(move || election.hand_over(Some("two")));
    let handover = first.draining_within(PATIENCE).expect("asked");
    assert_eq!(handover.to.as_ref().map(incumbent::CandidateName::as_str), Some("two"));
    assert_eq!(first.handover(), Some(handover));
    assert!(first.is_valid() && !asks.is_finished());
    let token = first.token();
    first.resign().expect("resigns");
    asks.join().expect("no panic").expect("told");
    let second = waiting.join().expect("no panic").expect("no error");
    assert!(second.expect("two leads") > token);
}

#[test]
fn a_blocking_program_gives_orders_and_sees_what_came_of_them() {
    let place = Place::new();
    let one = open(&place, "one");
    let first = one.election(BILLING).expect("opens").campaign().expect("leads");
    let operator = open(&place, "operator");
    let paused = operator.order(BILLING, Order::Pause, None, "ann", Some("moving"));
    assert_eq!(paused.expect("paused").term, first.term());
    let again = operator.order(BILLING, Order::Pause, None, "ann", None);
    assert!(matches!(again, Err(Error::Order(OrderError::AlreadyPaused))), "{again:?}");
    let status = operator.status(BILLING).expect("a look");
    assert!(status.controls.paused.is_some() && status.leader().is_some());
    let orders = operator.orders(BILLING, 9).expect("orders");
    assert_eq!(orders.iter().map(|order| order.verb.as_str()).collect::<Vec<_>>(), ["pause"]);
    assert_eq!(operator.terms(BILLING, 9).expect("terms").len(), 1);
    let began = std::time::Instant::now();
    while operator.candidates(BILLING).expect("a look").is_empty() {
        assert!(began.elapsed() < PATIENCE, "one never told of itself");
    }
    assert!(first.is_valid());
}

#[test]
fn a_blocking_program_that_is_not_well_does_not_lead() {
    let place = Place::new();
    let one = open(&place, "one");
    let election = one.election(BILLING).expect("opens");
    one.set_fit(Err("no disk".to_owned())).expect("told");
    let waited = election.campaign_for(Duration::from_millis(300)).expect("no error");
    assert!(waited.is_none(), "it led and was not well");
    let rules = HealthRules::of_every(Duration::from_millis(100)).expect("rules");
    one.bind_health(Probe::function(async || Ok(())), rules).expect("bound");
    assert!(election.campaign().expect("leads").is_valid());
}
