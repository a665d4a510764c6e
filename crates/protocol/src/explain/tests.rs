//! Tables of what is said of whom.

use super::*;
use crate::controls::{Bar, Mandate, Transfer};
use crate::identity::Incarnation;
use crate::rounds::register::Profile;
use crate::rules::Timing;
use crate::term::{Recorded, Term};

fn name(text: &str) -> CandidateName {
    CandidateName::new(text).expect("name")
}

fn id(text: &str, life: u128) -> CandidateId {
    CandidateId::new(name(text), Incarnation::from_random(life))
}

fn at(seconds: u64) -> StoreTime {
    StoreTime::from_micros(seconds * 1_000_000)
}

fn by() -> Mandate {
    Mandate { at: at(90), actor: "ann@desk".into(), reason: Some("repair".into()) }
}

fn peer(text: &str, presence: Presence, beaten: u64) -> Peer {
    Peer {
        id: id(text, 1),
        profile: Profile::default(),
        priority: 0,
        presence,
        why: None,
        prefers: "zone=a, version=newest".to_owned(),
        started: at(1),
        beaten_at: at(beaten),
        every: Duration::from_secs(3),
    }
}

/// Alice leads since second 80; it is second 100.
fn led(controls: Controls) -> Snapshot {
    let rules = *Timing::of_lease(Duration::from_secs(3)).expect("timing").rules();
    let record = Record {
        state: State::Held,
        holder: id("alice", 1),
        term: Term::recorded(7).expect("term"),
        beat: 1,
        rules,
        since: at(80),
        beaten_at: at(99),
        successor: None,
    };
    let (now, record) = (at(100), Some(record));
    Snapshot { record, now, holder_died: false, replaced: None, controls }
}

fn vacant(successor: Option<&str>) -> Snapshot {
    let mut snapshot = led(Controls::default());
    if let Some(record) = &mut snapshot.record {
        record.state = State::Released;
        record.successor = successor.map(name);
    }
    snapshot
}

fn words(who: &str, snapshot: &Snapshot, peers: &[Peer], line: &[CandidateId]) -> Vec<String> {
    explain(&name(who), snapshot, peers, line).iter().map(ToString::to_string).collect()
}

const STAYS: &str = "alice leads, for 20.0 s, and whoever leads stays";

#[test]
fn one_that_leads_is_said_to_lead() {
    let peers = [peer("alice", Presence::Leading, 99)];
    let snapshot = led(Controls::default());
    assert_eq!(words("alice", &snapshot, &peers, &[]), ["it leads, in term 7, for 20.0 s"]);
}

#[test]
fn one_that_is_gone_is_told_from_one_that_never_came() {
    let snapshot = led(Controls::default());
    let peers = [peer("bob", Presence::Ready, 40), peer("cat", Presence::Left, 70)];
    let silent = "it was last heard of 1 min 0 s ago; is it running?";
    assert_eq!(words("bob", &snapshot, &peers, &[]), [silent, STAYS]);
    let left = "it stopped in good order 30.0 s ago";
    assert_eq!(words("cat", &snapshot, &peers, &[]), [left, STAYS]);
    let never = "it was never seen in this election: check its name, or start it";
    assert_eq!(words("dan", &snapshot, &peers, &[]), [never, STAYS]);
    let nowhere = Snapshot { record: None, ..snapshot };
    let never = "the election was never held here: check its name";
    assert_eq!(words("bob", &nowhere, &[], &[]), [never]);
}

#[test]
fn a_holder_without_a_line_was_heard_of_at_its_last_beat() {
    let silent = "it was last heard of 1.0 s ago; is it running?";
    assert_eq!(words("alice", &vacant(None), &[], &[]), [silent]);
}

#[test]
fn what_weighs_most_comes_first() {
    let bars = vec![Bar { name: name("bob"), until: None, by: by() }];
    let controls = Controls { paused: Some(Box::new(by())), bars, transfer: None };
    let unfit = Peer { why: Some("disk full".into()), ..peer("bob", Presence::Unfit, 99) };
    assert_eq!(
        words("bob", &led(controls), &[unfit], &[]),
        [
            "it is not well and does not contend: disk full",
            "the election is paused by order of ann@desk (repair): no term begins until it is resumed",
            "it is cordoned by order of ann@desk (repair): it may not win until it is uncordoned",
            STAYS,
        ]
    );
}

#[test]
fn a_hold_off_says_for_how_long_and_is_over_when_it_is() {
    let held_off = |until| {
        let bars = vec![Bar { name: name("alice"), until: Some(until), by: by() }];
        let controls = Controls { bars, ..Controls::default() };
        words(
            "bob",
            &Snapshot { controls, ..vacant(None) },
            &[peer("bob", Presence::Ready, 99)],
            &[],
        )
    };
    assert_eq!(held_off(at(130)), ["nothing speaks against it: it may win the next term"]);
    let bars = |until| vec![Bar { name: name("bob"), until: Some(until), by: by() }];
    let asked = |until| {
        let controls = Controls { bars: bars(until), ..Controls::default() };
        words(
            "bob",
            &Snapshot { controls, ..vacant(None) },
            &[peer("bob", Presence::Ready, 99)],
            &[],
        )
    };
    assert_eq!(
        asked(at(130)),
        ["it is held off for another 30.0 s, by order of ann@desk (repair)"]
    );
    assert_eq!(asked(at(100)), ["nothing speaks against it: it may win the next term"]);
}

#[test]
fn a_transfer_is_told_to_all_three_sides() {
    let transfer = Transfer { to: name("bob"), term: 7, drain_us: 1, by: by() };
    let controls = Controls { transfer: Some(Box::new(transfer)), ..Controls::default() };
    let ready = |who| peer(who, Presence::Ready, 99);
    let peers = [peer("alice", Presence::Draining, 99), ready("bob"), ready("cat")];
    let told = |who: &str| words(who, &led(controls.clone()), &peers, &[]);
    let asked =
        "it is asked to end its work and to hand over to bob, by order of ann@desk (repair)";
    assert_eq!(told("alice")[1], asked);
    let to_it = "whoever leads is asked to hand over to it, and ends its work first";
    assert_eq!(told("bob"), [to_it, STAYS]);
    let other = "whoever leads is asked to hand over to bob, by order of ann@desk (repair)";
    assert_eq!(told("cat"), [other, STAYS]);
}

#[test]
fn a_reserved_term_names_its_heir() {
    let peers = [peer("bob", Presence::Ready, 99), peer("cat", Presence::Ready, 99)];
    let told = |who| words(who, &vacant(Some("cat")), &peers, &[]);
    assert_eq!(told("bob"), ["the next term is reserved for cat"]);
    assert_eq!(told("cat"), ["the next term is reserved for it; it has not taken it yet"]);
}

#[test]
fn better_ones_are_named_with_what_makes_them_better() {
    let with = |who: &str, priority, labels: &[(&str, &str)]| {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let labels = labels.iter().map(own).collect();
        let profile = Profile { address: None, labels };
        Peer { profile, priority, ..peer(who, Presence::Ready, 99) }
    };
    let peers = [
        with("bob", 0, &[("zone", "b"), ("version", "1.9")]),
        with("cat", 0, &[("zone", "b"), ("version", "1.10")]),
        with("dan", 0, &[("zone", "a")]),
        with("eve", 3, &[]),
        with("fay", -1, &[("zone", "a")]),
    ];
    assert_eq!(
        words("bob", &vacant(None), &peers, &[]),
        [
            "eve is preferred: its priority is 3, this one's is 0",
            "dan is preferred: zone=a counts, its zone is a, this one's is b",
            "cat is preferred: version=newest counts, its version is 1.10, this one's is 1.9",
        ]
    );
    let gone = peers.map(|peer| Peer { beaten_at: at(40), ..peer });
    let told = words("bob", &vacant(None), &gone, &[]);
    assert_eq!(told, ["it was last heard of 1 min 0 s ago; is it running?"]);
}

#[test]
fn one_that_is_preferred_to_the_leader_hears_what_it_takes_to_follow_it() {
    let better = Peer { priority: 1, ..peer("bob", Presence::Ready, 99) };
    let peers = [peer("alice", Presence::Leading, 99), better];
    let told = words("bob", &led(Controls::default()), &peers, &[]);
    let words = "alice leads, for 20.0 s; this one is preferred to it, but asks for a hand-over only if it is set to \
                 preempt";
    assert_eq!(told, [words]);
}

#[test]
fn two_lives_of_one_name_are_found_out() {
    let twin = Peer { id: id("bob", 2), ..peer("bob", Presence::Ready, 98) };
    let peers = [peer("bob", Presence::Ready, 99), twin.clone()];
    let told = words("bob", &vacant(None), &peers, &[]);
    assert_eq!(told, ["2 live processes use this name: give each a name of its own"]);
    // A life that left is no second one.
    let left = Peer { presence: Presence::Left, ..twin };
    let peers = [peer("bob", Presence::Ready, 99), left];
    let told = words("bob", &vacant(None), &peers, &[]);
    assert_eq!(told, ["nothing speaks against it: it may win the next term"]);
}

#[test]
fn a_place_in_line_counts_those_who_wait() {
    let line = [id("alice", 1), id("bob", 1), id("cat", 1), id("dan", 1)];
    let peers = ["bob", "cat", "dan"].map(|who| peer(who, Presence::Ready, 99));
    let told = |who| words(who, &led(Controls::default()), &peers, &line).pop();
    assert_eq!(told("bob").as_deref(), Some("it is the next in line"));
    assert_eq!(told("cat").as_deref(), Some("one is before it in line"));
    assert_eq!(told("dan").as_deref(), Some("2 are before it in line"));
}

#[test]
fn words_that_are_no_preference_are_passed_over() {
    let policy = read("zone=a, version=newest, rolling, preempt=30s, hold-down=5m");
    assert_eq!(policy.prefer.len(), 2);
    assert!(policy.rolling);
    assert_eq!(read(""), Policy::default());
}

#[test]
fn whoever_holds_the_store_up_is_named_before_all_else() {
    let by = || ["session 7 has had its lock for 12 s".to_owned()];
    let named = Cause::HeldUp { by: by()[0].clone() };
    assert_eq!(held_up(vec![Cause::Contends], by()), std::slice::from_ref(&named));
    assert_eq!(held_up(vec![Cause::Draining], by()), [named.clone(), Cause::Draining]);
    let term = Term::recorded(7).expect("term");
    let leads = Cause::Leads { term, span: Duration::from_secs(1), ending: false };
    assert_eq!(held_up(vec![leads.clone()], by()), [leads, named]);
    assert_eq!(held_up(vec![Cause::Contends], []), [Cause::Contends]);
}
