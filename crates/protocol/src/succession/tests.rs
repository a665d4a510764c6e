//! What a candidate makes of the others, step by step.

use super::*;
use crate::controls::Controls;
use crate::identity::Incarnation;
use crate::lease::row::Record;
use crate::policy::Preempt;
use crate::rules::{Expiry, Rules};
use crate::term::Recorded;

const SECOND: Duration = Duration::from_secs(1);

fn id(name: &str) -> CandidateId {
    let bits = name.bytes().fold(1, |bits, byte| bits * 257 + u128::from(byte));
    CandidateId::new(CandidateName::new(name).expect("a name"), Incarnation::from_random(bits))
}

fn at(seconds: u64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

fn store(seconds: u64) -> StoreTime {
    StoreTime::from_micros((1_000 + seconds) * 1_000_000)
}

fn term(number: u64) -> Term {
    Term::recorded(number).expect("terms begin at one")
}

fn settings(priority: i32, policy: Policy) -> Settings {
    Settings { profile: Profile::default(), priority, policy, drain: SECOND * 5, every: SECOND }
}

fn succession(name: &str, settings: Settings) -> Succession {
    let timing = Timing::of_lease(SECOND * 3).expect("timings");
    Succession::new(id(name), settings, timing)
}

fn row(name: &str, priority: i32, seconds: u64) -> Peer {
    let (me, mut row) =
        (id(name), succession(name, settings(priority, Policy::default())).row(true));
    (row.id, row.started, row.beaten_at) = (me, store(0), store(seconds));
    row
}

/// What a store shows of an election that `leader` leads since then.
fn led(leader: &str, since: u64, seconds: u64) -> Snapshot {
    let lease = SECOND * 3;
    let record = Record {
        state: State::Held,
        holder: id(leader),
        term: term(7),
        beat: 1,
        rules: Rules::new(lease, lease / 10, Expiry::Observed).expect("rules"),
        since: store(since),
        beaten_at: store(seconds),
        successor: None,
    };
    let (now, controls) = (store(seconds), Controls::default());
    Snapshot { record: Some(record), now, holder_died: false, replaced: None, controls }
}

/// Shows a candidate that waits to lead the others, and says what it wants done then.
fn show(
    it: &mut Succession,
    seconds: u64,
    candidates: Vec<Peer>,
    snapshot: Snapshot,
) -> Vec<Effect> {
    let standing = Standing { waits: true, owes: false, ahead: None };
    it.handle(at(seconds), Input::Shown { candidates, snapshot, standing });
    effects(it)
}

fn effects(it: &mut Succession) -> Vec<Effect> {
    core::iter::from_fn(|| it.poll_effect()).collect()
}

fn orders(effects: &[Effect]) -> Vec<&Order> {
    let order = |effect: &'_ Effect| matches!(effect, Effect::Order(..));
    let effects = effects.iter().filter(|effect| order(effect));
    effects
        .map(|effect| match effect {
            Effect::Order(order, _) => order,
            Effect::Tell(_) => unreachable!("filtered"),
        })
        .collect()
}

#[test]
fn a_leader_is_asked_to_hand_over_only_after_hold_down_and_after_having_been_worse_for_a_while() {
    let preempt = Some(Preempt { after: SECOND * 4, hold_down: SECOND * 10 });
    let mut bob = succession("bob", settings(5, Policy { preempt, ..Policy::default() }));
    let both = |seconds| vec![row("ann", 0, seconds), row("bob", 5, seconds)];
    for seconds in 0..10 {
        let asked = show(&mut bob, seconds, both(seconds), led("ann", 0, seconds));
        assert_eq!(orders(&asked), [&Order::DEMOTE; 0], "at {seconds}");
    }
    let asked = show(&mut bob, 10, both(10), led("ann", 0, 10));
    let to = id("bob").name;
    assert_eq!(orders(&asked), [&Order::Transfer { to, drain: SECOND * 5 }]);
    // An old term, and a candidate that just came.
    let mut new = succession("bob", settings(5, Policy { preempt, ..Policy::default() }));
    for seconds in 20..24 {
        assert!(orders(&show(&mut new, seconds, both(seconds), led("ann", 0, seconds))).is_empty());
    }
    assert_eq!(orders(&show(&mut new, 24, both(24), led("ann", 0, 24))).len(), 1);
}

#[test]
fn a_better_candidate_is_let_go_first_and_a_candidate_with_a_preference_waits_for_the_first_rows() {
    let mut ann = succession("ann", settings(1, Policy::default()));
    assert_eq!(ann.wish(Wish::Lead), Wish::Watch, "it does not know of the others");
    let step = ann.timing.beat() + ann.timing.timeout();
    let told = show(&mut ann, 1, vec![row("ann", 1, 1), row("bob", 5, 1)], led("eve", 0, 1));
    assert!(told.contains(&Effect::Tell(candidacy::Input::Defer(step))), "{told:?}");
    assert_eq!(ann.wish(Wish::Lead), Wish::Lead);
    ann.handle(at(2), Input::Fit(Some("no disk".to_owned())));
    assert_eq!((ann.wish(Wish::Lead), ann.presence(true)), (Wish::Watch, Some(Presence::Unfit)));
}

#[test]
fn a_nominee_that_asks_does_so_and_nominees_let_no_others_go_first() {
    let mut bob = succession("bob", settings(0, Policy::default()));
    bob.handle(at(0), Input::Nominated { mine: true, asks: true });
    let told = show(&mut bob, 1, vec![row("bob", 0, 1), row("eve", 9, 1)], led("ann", 0, 1));
    assert_eq!(told[0], Effect::Tell(candidacy::Input::Nominated(true)));
    assert!(!told.iter().any(|it| matches!(it, Effect::Tell(candidacy::Input::Defer(_)))));
    assert_eq!(orders(&told).len(), 1);
}

#[test]
fn a_hand_over_that_takes_too_long_is_forced_and_again_a_lease_later() {
    let mut ann = succession("ann", settings(0, Policy::default()));
    ann.handle(at(0), Input::Gained(term(7)));
    let mut shown = led("ann", 0, 1);
    let (to, by) = (id("bob").name, Mandate::default());
    let transfer = Transfer { to: to.clone(), term: 7, drain_us: 5_000_000, by };
    shown.controls.transfer = Some(Box::new(transfer));
    let told = show(&mut ann, 1, vec![row("ann", 0, 1), row("bob", 0, 1)], shown);
    assert!(told.contains(&Effect::Tell(candidacy::Input::Heir(Some(to.clone())))), "{told:?}");
    assert!(
        matches!(ann.poll_notice(), Some(Notice::Draining { handover, .. }) if handover.within == SECOND * 5)
    );
    assert_eq!((ann.wake_at(), ann.presence(false)), (Some(at(6)), Some(Presence::Draining)));
    ann.handle(at(5), Input::Wake);
    assert_eq!(effects(&mut ann), []);
    ann.handle(at(6), Input::Wake);
    assert_eq!(orders(&effects(&mut ann)), [&Order::Takeover { successor: to }]);
    ann.handle(at(9), Input::Wake);
    assert_eq!(orders(&effects(&mut ann)), [&Order::DEMOTE]);
    ann.handle(at(9), Input::Lost);
    assert_eq!((ann.wake_at(), ann.presence(true)), (None, Some(Presence::Ready)));
}

#[test]
fn a_leader_that_falls_ill_hands_over_and_names_itself_no_heir() {
    let rolling = Policy { rolling: true, ..Policy::default() };
    let mut ann = succession("ann", settings(0, rolling));
    ann.handle(at(0), Input::Gained(term(7)));
    let told = show(&mut ann, 1, vec![row("ann", 0, 1)], led("ann", 0, 1));
    let heir = |name: Option<&str>| candidacy::Input::Heir(name.map(|name| id(name).name));
    assert_eq!(told.last(), Some(&Effect::Tell(heir(Some("ann")))), "it is restarted first");
    ann.handle(at(2), Input::Fit(Some("no disk".to_owned())));
    assert_eq!(effects(&mut ann), [Effect::Tell(heir(None))]);
    assert!(matches!(ann.poll_notice(), Some(Notice::Draining { .. })));
}

#[test]
fn a_live_process_of_the_same_name_is_told_of_once() {
    let mut ann = succession("ann", settings(0, Policy::default()));
    let twin = CandidateId { incarnation: Incarnation::from_random(99), ..id("ann") };
    for seconds in 0..5 {
        let other = Peer { id: twin.clone(), ..row("ann", 0, seconds) };
        show(&mut ann, seconds, vec![row("ann", 0, seconds), other], led("eve", 0, seconds));
        let told = core::iter::from_fn(|| ann.poll_notice()).count();
        assert_eq!(told, usize::from(seconds == 1), "a first row may be of a process that died");
    }
}
