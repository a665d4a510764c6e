//! Tables of who is preferred.

use super::*;
use crate::controls::{Bar, Mandate};
use crate::identity::Incarnation;
use crate::roll::Presence;
use crate::rounds::register::Profile;

const STEP: Duration = Duration::from_millis(500);

fn id(name: &str) -> CandidateId {
    let bits = name.bytes().fold(1, |bits, byte| bits * 257 + u128::from(byte));
    CandidateId::new(CandidateName::new(name).expect("name"), Incarnation::from_random(bits))
}

fn peer(name: &str, priority: i32, labels: &[(&str, &str)]) -> Peer {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Peer {
        id: id(name),
        profile: Profile { address: None, labels: labels.iter().map(own).collect() },
        priority,
        presence: Presence::Ready,
        why: None,
        prefers: String::new(),
        started: StoreTime::from_micros(1),
        beaten_at: StoreTime::from_micros(1_000_000),
        every: Duration::from_secs(1),
    }
}

fn policy(prefer: &[&str]) -> Policy {
    let prefer = prefer.iter().map(|text| text.parse().expect("preference")).collect();
    Policy { prefer, ..Policy::default() }
}

fn with<T>(me: &str, peers: &[Peer], controls: &Controls, ask: impl Fn(&Field<'_>) -> T) -> T {
    let now = StoreTime::from_micros(2_000_000);
    ask(&Field { me: &id(me), peers, holder: None, controls, now })
}

#[test]
fn priority_comes_first_then_preferences_in_their_order() {
    let policy = policy(&["zone=a", "version=newest"]);
    let high = peer("high", 5, &[]);
    let near = peer("near", 1, &[("zone", "a"), ("version", "1.2")]);
    let new = peer("new", 1, &[("zone", "b"), ("version", "1.10")]);
    assert!(policy.compare(&high, &near).is_gt());
    assert!(policy.compare(&near, &new).is_gt());
    assert!(policy.compare(&new, &peer("old", 1, &[("version", "1.9")])).is_gt());
    assert!(policy.compare(&new, &peer("none", 1, &[])).is_gt());
}

#[test]
fn versions_are_compared_as_numbers_and_a_candidate_for_release_is_older_than_the_release() {
    let policy = policy(&["version=newest"]);
    let sorted = ["rc", "1.0-rc.1", "1.0-rc.2", "v1.0", "1.0.1", "1.2", "1.10", "2.0.0+build"];
    for pair in sorted.windows(2) {
        let (older, newer) =
            (peer("a", 0, &[("version", pair[0])]), peer("b", 0, &[("version", pair[1])]));
        assert!(policy.compare(&newer, &older).is_gt(), "{pair:?}");
    }
}

#[test]
fn a_step_is_waited_for_each_better_one_that_is_there_and_may_win() {
    let policy = policy(&["zone=a"]);
    let mut gone = peer("gone", 0, &[("zone", "a")]);
    gone.beaten_at = StoreTime::from_micros(0);
    gone.every = Duration::from_millis(100);
    let mut unfit = peer("unfit", 0, &[("zone", "a")]);
    unfit.presence = Presence::Unfit;
    let peers = [
        peer("me", 0, &[]),
        peer("equal", 0, &[]),
        peer("near", 0, &[("zone", "a")]),
        peer("cordoned", 0, &[("zone", "a")]),
        gone,
        unfit,
    ];
    let name = CandidateName::new("cordoned").expect("name");
    let bars = vec![Bar { name, until: None, by: Mandate::default() }];
    let controls = Controls { bars, ..Controls::default() };
    assert_eq!(with("me", &peers, &controls, |field| policy.deference(field, STEP)), STEP);
    let none = Policy::default();
    assert_eq!(with("me", &peers, &controls, |field| none.deference(field, STEP)), Duration::ZERO);
}

#[test]
fn nobody_waits_for_whoever_held_the_term() {
    let peers = [peer("me", 0, &[]), peer("lead", 9, &[])];
    let (me, lead, controls) = (id("me"), id("lead"), Controls::default());
    let now = StoreTime::from_micros(2_000_000);
    let mut field = Field { me: &me, peers: &peers, holder: Some(&lead), controls: &controls, now };
    assert_eq!(Policy::default().deference(&field, STEP), Duration::ZERO);
    field.holder = None;
    assert_eq!(Policy::default().deference(&field, STEP), STEP);
}

#[test]
fn a_crowd_of_better_ones_is_not_waited_for_without_end() {
    let mut peers: Vec<_> = (0..50).map(|n| peer(&format!("p{n}"), 1, &[])).collect();
    peers.push(peer("me", 0, &[]));
    let waited =
        with("me", &peers, &Controls::default(), |field| Policy::default().deference(field, STEP));
    assert_eq!(waited, STEP * 4);
}

#[test]
fn the_heir_is_the_best_of_the_others_and_nobody_if_all_are_equal() {
    let policy = policy(&["zone=a"]);
    let equal = [peer("me", 0, &[]), peer("b", 0, &[]), peer("c", 0, &[])];
    let none = Controls::default();
    assert_eq!(with("me", &equal, &none, |field| policy.heir(field)), None);
    let one = [peer("me", 9, &[]), peer("b", 0, &[]), peer("c", 0, &[("zone", "a")])];
    let heir = with("me", &one, &none, |field| policy.heir(field));
    assert_eq!(heir.as_ref().map(CandidateName::as_str), Some("c"));
}

#[test]
fn in_a_rolling_deploy_the_heir_is_new_already_or_is_awaited() {
    let policy = Policy { rolling: true, ..Policy::default() };
    let none = Controls::default();
    let old = [("version", "1")];
    let first = [peer("me", 0, &old), peer("b", 0, &old)];
    let heir = with("me", &first, &none, |field| policy.heir(field));
    assert_eq!(heir.as_ref().map(CandidateName::as_str), Some("me"));
    let later = [peer("me", 0, &old), peer("b", 0, &old), peer("c", 0, &[("version", "2")])];
    let heir = with("me", &later, &none, |field| policy.heir(field));
    assert_eq!(heir.as_ref().map(CandidateName::as_str), Some("c"));
}

#[test]
fn only_the_best_asks_a_worse_leader_to_hand_over() {
    let policy = Policy::default();
    let none = Controls::default();
    let peers = [peer("lead", 1, &[]), peer("mid", 2, &[]), peer("top", 3, &[])];
    let leader = id("lead");
    assert!(with("top", &peers, &none, |field| policy.outranks(field, &leader)));
    assert!(!with("mid", &peers, &none, |field| policy.outranks(field, &leader)));
    assert!(!with("lead", &peers, &none, |field| policy.outranks(field, &id("top"))));
    let paused = Controls { paused: Some(Box::default()), ..Controls::default() };
    assert!(!with("top", &peers, &paused, |field| policy.outranks(field, &leader)));
}

#[test]
fn what_is_no_preference_is_refused_with_what_to_write() {
    for text in ["", "zone", "=a", "zone="] {
        let error = text.parse::<Preference>().expect_err("refused").to_string();
        assert!(error.contains("zone=eu-1"), "{error}");
    }
    for text in ["zone=a", "version=newest", "version=oldest"] {
        assert_eq!(text.parse::<Preference>().expect("read").to_string(), text);
    }
}
