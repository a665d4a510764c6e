//! Forged orders, renewals and terms for `orders_hold`.

use core::time::Duration;

use incumbent_protocol::controls::{Bar, Mandate, Transfer};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::rules::{Expiry, Rules};

use super::super::forge::*;
use super::*;

const LEASE: Duration = Duration::from_millis(10);

fn row(state: State, successor: Option<u8>) -> Record {
    Record {
        state,
        holder: id(A),
        term: term(5),
        beat: 1,
        rules: Rules::new(LEASE, LEASE / 10, Expiry::Observed).expect("rules"),
        since: StoreTime::from_micros(1),
        beaten_at: StoreTime::from_micros(1),
        successor: successor.map(|who| id(who).name),
    }
}

fn shown(row: Record, controls: Controls) -> Snapshot {
    let now = StoreTime::from_micros(50);
    Snapshot { record: Some(row), now, holder_died: false, replaced: None, controls }
}

fn bar(who: u8, until: Option<u64>) -> Bar {
    let until = until.map(StoreTime::from_micros);
    Bar { name: id(who).name, until, by: Mandate::default() }
}

fn paused() -> Controls {
    Controls { paused: Some(Box::default()), ..Controls::default() }
}

fn barred(bars: Vec<Bar>) -> Controls {
    Controls { bars, ..Controls::default() }
}

fn claim(who: u8) -> Claim {
    let Record { rules, since, .. } = row(State::Held, None);
    let (candidate, term) = (id(who), term(6));
    Claim { expected: None, candidate, term, rules, since, opening: Opening::Released }
}

fn stories(judge: OrdersHold) -> Vec<String> {
    let mut report = Report::default();
    judge.add_to(&mut report);
    report.violations.into_iter().map(|violation| violation.story).collect()
}

/// An order that was carried out.
fn given<'a>(order: &'a Order, before: &'a Snapshot, after: &'a Snapshot) -> Given<'a> {
    Given { order, meant: None, done: true, before, after }
}

/// What is told of an order that was carried out.
fn told(order: &Order, before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut judge = OrdersHold::default();
    judge.ordered(at(1), 0, given(order, before, after));
    stories(judge)
}

fn held(controls: Controls) -> Snapshot {
    shown(row(State::Held, None), controls)
}

#[test]
fn orders_that_show_are_clean() {
    let (name, by) = (id(B).name, Mandate::default());
    let to = name.clone();
    let transfer = Transfer { to: to.clone(), term: 5, drain_us: 1, by };
    let asked = Controls { transfer: Some(Box::new(transfer)), ..Controls::default() };
    let hold_off = Duration::from_micros(7);
    let ending = |successor| row(State::Ending, successor);
    for (order, before, after) in [
        (Order::Pause, held(Controls::default()), held(paused())),
        (Order::Resume, held(paused()), held(Controls::default())),
        (
            Order::Cordon { name: name.clone() },
            held(barred(vec![bar(A, Some(51))])),
            held(barred(vec![bar(A, Some(51)), bar(B, None)])),
        ),
        (
            Order::Uncordon { name: name.clone() },
            held(barred(vec![bar(B, None)])),
            held(Controls::default()),
        ),
        (Order::DEMOTE, held(Controls::default()), shown(ending(None), Controls::default())),
        (
            Order::Demote { hold_off },
            held(Controls::default()),
            shown(ending(None), barred(vec![bar(A, Some(57))])),
        ),
        (
            Order::Takeover { successor: name },
            held(Controls::default()),
            shown(ending(Some(B)), Controls::default()),
        ),
        (Order::Transfer { to, drain: hold_off }, held(Controls::default()), held(asked)),
    ] {
        assert_eq!(told(&order, &before, &after), [""; 0], "{order:?}");
    }
}

#[test]
fn an_order_that_does_not_show_is_told() {
    let (name, hold_off) = (id(B).name, Duration::from_micros(7));
    let nothing = held(Controls::default());
    for order in [
        Order::Pause,
        Order::Cordon { name: name.clone() },
        Order::DEMOTE,
        Order::Takeover { successor: name.clone() },
        Order::Transfer { to: name.clone(), drain: hold_off },
    ] {
        let told = told(&order, &nothing, &nothing);
        assert!(told.len() == 1 && told[0].contains("does not show"), "{told:?}");
    }
    let ended = shown(row(State::Ending, None), barred(vec![bar(A, Some(56))]));
    assert_eq!(told(&Order::Demote { hold_off }, &nothing, &ended).len(), 1, "barred too briefly");
    let bars = held(barred(vec![bar(B, Some(51))]));
    assert_eq!(told(&Order::Uncordon { name }, &bars, &bars).len(), 1);
    assert_eq!(told(&Order::Resume, &held(paused()), &held(paused())).len(), 1);
}

#[test]
fn an_order_that_undoes_another_is_told() {
    let cordon = Order::Cordon { name: id(B).name };
    let after = held(barred(vec![bar(B, None)]));
    let pause = told(&cordon, &held(paused()), &after);
    assert!(pause.len() == 1 && pause[0].contains("it lifted a pause"), "{pause:?}");
    let bars = told(&cordon, &held(barred(vec![bar(A, None)])), &after);
    assert!(bars.len() == 1 && bars[0].contains("the bar on a"), "{bars:?}");
    assert_eq!(told(&cordon, &held(barred(vec![bar(A, Some(50))])), &after), [""; 0], "it ran out");
}

#[test]
fn an_order_that_means_another_term_must_be_refused_and_change_nothing() {
    let (before, after) = (held(Controls::default()), held(paused()));
    for (meant, done, after, word) in [
        (4, true, &after, "it means term 4"),
        (5, false, &after, "it was refused, and changed something"),
    ] {
        let mut judge = OrdersHold::default();
        let meant = Some(term(meant));
        judge.ordered(
            at(1),
            0,
            Given { order: &Order::Pause, meant, done, before: &before, after },
        );
        let told = stories(judge);
        assert!(told.len() == 1 && told[0].contains(word), "{told:?}");
    }
}

#[test]
fn what_is_in_force_changes_by_orders_alone() {
    let mut judge = OrdersHold::default();
    judge.ordered(at(1), 0, given(&Order::Pause, &held(Controls::default()), &held(paused())));
    let cordon = Order::Cordon { name: id(B).name };
    let after = held(barred(vec![bar(B, None)]));
    judge.ordered(at(2), 0, given(&cordon, &held(Controls::default()), &after));
    let told = stories(judge);
    assert!(told.len() == 1 && told[0].contains("without an order"), "{told:?}");
}

#[test]
fn a_term_that_an_order_ended_is_not_renewed() {
    let mut judge = OrdersHold::default();
    let (before, after) =
        (held(Controls::default()), shown(row(State::Ending, None), Controls::default()));
    let (order, before, after) = (&Order::DEMOTE, &before, &after);
    judge.renewed(at(1), 0, before.record.as_ref());
    judge.ordered(at(2), 0, given(order, before, after));
    judge.renewed(at(3), 0, after.record.as_ref());
    let told = stories(judge);
    assert!(told.len() == 1 && told[0].contains("renewed term 5 at 0.003s"), "{told:?}");
}

#[test]
fn a_reserved_term_is_kept_for_a_lease_or_for_two() {
    for (state, patience) in [(State::Released, 10), (State::Ending, 20)] {
        for (who, waited, broken) in [(C, patience - 1, true), (C, patience, false), (B, 0, false)]
        {
            let mut judge = OrdersHold::default();
            judge.renewed(at(100), 0, Some(&row(State::Held, None)));
            judge.let_go(0, Some(&row(state, Some(B))));
            judge.begun(at(100 + waited), 0, &claim(who), Some(0));
            let told = stories(judge);
            assert_eq!(told.len(), usize::from(broken), "{told:?}");
            assert!(told.iter().all(|told| told.contains("reserved for b")), "{told:?}");
        }
    }
}

#[test]
fn a_clock_within_the_bound_may_wait_less_and_one_beyond_is_not_judged() {
    for fast in [Some(WHOLE / 10), None] {
        let mut judge = OrdersHold::default();
        judge.renewed(at(100), 0, Some(&row(State::Ending, Some(B))));
        judge.begun(at(119), 0, &claim(C), fast);
        assert_eq!(stories(judge), [""; 0]);
    }
}

#[test]
fn nothing_is_held_against_a_store_that_went_back() {
    let mut judge = OrdersHold::default();
    judge.renewed(at(100), 0, Some(&row(State::Ending, Some(B))));
    judge.forget();
    judge.begun(at(101), 0, &claim(C), Some(0));
    assert_eq!(stories(judge), [""; 0]);
}
