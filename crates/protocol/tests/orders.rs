//! Every order against every way in which an election can stand.
//!
//! Assumes: a store in memory that writes what [`Decree`] says and nothing else.
//! Promises: a refused order changes nothing; an accepted one changes what it is for and nothing
//! else; and, in `never`, no sequence of orders gives a term to somebody against what is in force,
//! or before the holder's lease is over.

mod support;

#[path = "orders/field.rs"]
mod field;
#[path = "orders/never.rs"]
mod never;

use core::time::Duration;

use field::{Field, State, name};
use incumbent_protocol::controls::{BARS_MAX, Bar, Controls, Mandate};
use incumbent_protocol::lease::order::{Decree, Order, OrderError};

/// What becomes of an order, in one word.
const ENDS: &str = "ends the term or reserves the next";
const CHANGES: &str = "changes what is in force";
const ALREADY_CORDONED: &str = "cordoned already";
const ALREADY_PAUSED: &str = "paused already";
const CORDONED: &str = "cordoned";
const LEADS: &str = "leads already";
const NO_SUCH: &str = "no such candidate";
const NOT_CORDONED: &str = "not cordoned";
const NOT_PAUSED: &str = "not paused";
const NOT_READY: &str = "not ready";
const OTHER_TERM: &str = "other term";
const PAUSED: &str = "paused";
const TRANSFERRING: &str = "transferring";
const UNKNOWN: &str = "unknown";
const VACANT: &str = "vacant";

fn word(done: &Result<Decree, OrderError>) -> &'static str {
    match done {
        Ok(Decree { ends: true, .. }) => ENDS,
        Ok(Decree { ends: false, .. }) => CHANGES,
        Err(OrderError::AlreadyCordoned { .. }) => ALREADY_CORDONED,
        Err(OrderError::AlreadyPaused) => ALREADY_PAUSED,
        Err(OrderError::Cordoned { .. }) => CORDONED,
        Err(OrderError::Leads { .. }) => LEADS,
        Err(OrderError::NoSuchCandidate { .. }) => NO_SUCH,
        Err(OrderError::NotCordoned { .. }) => NOT_CORDONED,
        Err(OrderError::NotPaused) => NOT_PAUSED,
        Err(OrderError::NotReady { .. }) => NOT_READY,
        Err(OrderError::OtherTerm { .. }) => OTHER_TERM,
        Err(OrderError::Paused) => PAUSED,
        Err(OrderError::Unknown) => UNKNOWN,
        Err(OrderError::Vacant) => VACANT,
        Err(OrderError::Transferring { .. }) => TRANSFERRING,
        Err(OrderError::TooManyBars) => "too many bars",
        Err(
            OrderError::Led { .. }
            | OrderError::Contended { .. }
            | OrderError::Unwatched { .. }
            | OrderError::ClockBehind { .. },
        ) => "of a removal only",
    }
}

fn demote(seconds: u64) -> Order {
    Order::Demote { hold_off: Duration::from_secs(seconds) }
}

fn takeover(text: &str) -> Order {
    Order::Takeover { successor: name(text) }
}

fn transfer(text: &str) -> Order {
    Order::Transfer { to: name(text), drain: Duration::from_secs(5) }
}

fn cordon(text: &str) -> Order {
    Order::Cordon { name: name(text) }
}

fn uncordon(text: &str) -> Order {
    Order::Uncordon { name: name(text) }
}

/// Each order, and what becomes of it while Ann holds the term, while an order is ending hers, after
/// she let go, and while she holds it and the election is paused. Bob is ready, Cat is cordoned, Dan
/// was not heard of for long, Eve has left, Fay is not well, and nobody ever heard of Zed.
fn table() -> Vec<(Order, [&'static str; 4])> {
    vec![
        //                 held          ending        released      paused
        (demote(0), [ENDS, ENDS, VACANT, PAUSED]),
        (demote(30), [ENDS, ENDS, VACANT, PAUSED]),
        (takeover("bob"), [ENDS, ENDS, ENDS, PAUSED]),
        (takeover("ann"), [LEADS, ENDS, ENDS, PAUSED]),
        (takeover("cat"), [CORDONED, CORDONED, CORDONED, PAUSED]),
        (takeover("dan"), [ENDS, ENDS, ENDS, PAUSED]),
        (takeover("eve"), [ENDS, ENDS, ENDS, PAUSED]),
        (takeover("fay"), [ENDS, ENDS, ENDS, PAUSED]),
        (takeover("zed"), [NO_SUCH, NO_SUCH, NO_SUCH, PAUSED]),
        (transfer("bob"), [CHANGES, ENDS, ENDS, PAUSED]),
        (transfer("ann"), [LEADS, ENDS, ENDS, PAUSED]),
        (transfer("cat"), [CORDONED, CORDONED, CORDONED, PAUSED]),
        (transfer("dan"), [NOT_READY, NOT_READY, NOT_READY, PAUSED]),
        (transfer("eve"), [NOT_READY, NOT_READY, NOT_READY, PAUSED]),
        (transfer("fay"), [NOT_READY, NOT_READY, NOT_READY, PAUSED]),
        (transfer("zed"), [NO_SUCH, NO_SUCH, NO_SUCH, PAUSED]),
        (Order::Pause, [CHANGES, CHANGES, CHANGES, ALREADY_PAUSED]),
        (Order::Resume, [NOT_PAUSED, NOT_PAUSED, NOT_PAUSED, CHANGES]),
        (cordon("ann"), [CHANGES, CHANGES, CHANGES, CHANGES]),
        (cordon("bob"), [CHANGES, CHANGES, CHANGES, CHANGES]),
        (cordon("cat"), [ALREADY_CORDONED; 4]),
        (cordon("dan"), [CHANGES, CHANGES, CHANGES, CHANGES]),
        (cordon("zed"), [NO_SUCH, NO_SUCH, NO_SUCH, NO_SUCH]),
        (uncordon("cat"), [CHANGES, CHANGES, CHANGES, CHANGES]),
        (uncordon("ann"), [NOT_CORDONED, NOT_CORDONED, NOT_CORDONED, NOT_CORDONED]),
        (uncordon("bob"), [NOT_CORDONED, NOT_CORDONED, NOT_CORDONED, NOT_CORDONED]),
        (uncordon("zed"), [NOT_CORDONED, NOT_CORDONED, NOT_CORDONED, NOT_CORDONED]),
    ]
}

/// All ways in which an election with a row can stand, in the order of the table.
fn fields() -> [Field; 4] {
    let paused = Field::in_state(State::Held).paused();
    [
        Field::in_state(State::Held),
        Field::in_state(State::Ending),
        Field::in_state(State::Released),
        paused,
    ]
}

#[test]
fn every_order_does_in_every_state_what_the_table_says() {
    for (order, words) in table() {
        for (field, expected) in fields().into_iter().zip(words) {
            let mut field = field;
            assert_eq!(word(&field.order(&order)), expected, "{order:?} while {}", field.told());
        }
    }
}

#[test]
fn a_refused_order_changes_nothing() {
    for (order, _) in table() {
        let fields = fields().into_iter();
        for mut field in fields.chain([Field::without_row(), Field::meaning_another_term()]) {
            let before = field.snapshot();
            if field.order(&order).is_err() {
                assert_eq!(field.snapshot(), before, "{order:?} while {}", field.told());
            }
        }
    }
}

#[test]
fn no_order_is_carried_out_where_nobody_ever_led_or_in_another_term_than_was_meant() {
    for (order, _) in table() {
        assert_eq!(word(&Field::without_row().order(&order)), UNKNOWN, "{order:?}");
        assert_eq!(word(&Field::meaning_another_term().order(&order)), OTHER_TERM, "{order:?}");
    }
}

/// Of what is in force: whether a pause, a bar or a transfer may be changed by an order.
const fn touches(order: &Order) -> [bool; 3] {
    match order {
        Order::Demote { hold_off } => [false, !hold_off.is_zero(), true],
        Order::Takeover { .. } | Order::Transfer { .. } => [false, false, true],
        // Nobody can win what a leader would hand over.
        Order::Pause | Order::Resume => [true, false, false],
        Order::Cordon { .. } | Order::Uncordon { .. } => [false, true, false],
    }
}

#[test]
fn an_accepted_order_changes_only_what_it_says() {
    for (order, _) in table() {
        for mut field in fields() {
            let before = field.snapshot();
            let Ok(decree) = field.order(&order) else {
                continue;
            };
            let (told, after) = (format!("{order:?} while {}", field.told()), field.snapshot());
            let [pause, bars, transfer] = touches(&order);
            assert!(pause || after.controls.paused == before.controls.paused, "{told}");
            assert!(bars || after.controls.bars == before.controls.bars, "{told}");
            assert!(transfer || after.controls.transfer == before.controls.transfer, "{told}");
            let (row, was) = (after.record.expect("a row"), before.record.expect("a row"));
            assert_eq!((&row.holder, row.term), (&was.holder, was.term), "{told}");
            assert_eq!(
                (row.rules, row.since, row.beaten_at),
                (was.rules, was.since, was.beaten_at),
                "{told}: only a leader beats"
            );
            if !decree.ends {
                assert_eq!(row, was, "{told}: whoever leads goes on");
                assert_eq!((decree.deposed, decree.may_act), (None, Duration::ZERO), "{told}");
            }
        }
    }
}

#[test]
fn what_ends_a_term_says_whose_and_for_how_long_it_may_still_act() {
    for order in [demote(0), demote(30), takeover("bob")] {
        let decree = Field::in_state(State::Held).order(&order).expect("an order");
        let deposed = decree.deposed.expect("Ann");
        assert_eq!(deposed.id.name, name("ann"));
        assert_eq!(decree.may_act, Field::LEASE.saturating_sub(Field::IDLE), "{order:?}");
        assert_eq!(decree.state, State::Ending);
    }
    let decree = Field::in_state(State::Released).order(&takeover("bob")).expect("an order");
    assert_eq!((decree.deposed, decree.may_act), (None, Duration::ZERO));
    assert_eq!((decree.state, decree.successor), (State::Released, Some(name("bob"))));
}

#[test]
fn a_transfer_asks_a_live_leader_and_reserves_the_next_term_where_nobody_can_be_asked() {
    let mut field = Field::in_state(State::Held);
    let decree = field.order(&transfer("bob")).expect("an order");
    let asked = decree.controls.transfer.as_ref().expect("a transfer");
    assert_eq!((&asked.to, asked.term), (&name("bob"), decree.term.get()));
    assert_eq!(asked.drain(), Duration::from_secs(5));
    let mut field = Field::in_state(State::Held).died();
    let decree = field.order(&transfer("bob")).expect("an order");
    assert_eq!((decree.successor, decree.controls.transfer), (Some(name("bob")), None));
    assert_eq!(decree.may_act, Duration::ZERO, "it is proved dead");
}

#[test]
fn while_a_transfer_is_under_way_nothing_is_ordered_that_would_leave_nobody_to_lead() {
    let mut field = Field::in_state(State::Held);
    field.order(&transfer("bob")).expect("an order");
    let cordon = |text| Order::Cordon { name: name(text) };
    for refused in [Order::Pause, transfer("bob"), cordon("bob")] {
        assert_eq!(word(&field.order(&refused)), TRANSFERRING, "{refused:?}");
    }
    assert_eq!(word(&field.order(&cordon("ann"))), CHANGES);
    assert_eq!(word(&field.order(&takeover("bob"))), ENDS);
}

#[test]
fn a_hold_off_runs_out_a_cordon_does_not_and_an_uncordon_lifts_either() {
    let mut field = Field::in_state(State::Held);
    field.order(&demote(30)).expect("an order");
    let until = |field: &Field| field.snapshot().controls.bars.last().and_then(|bar| bar.until);
    assert!(until(&field).is_some());
    assert!(field.bars("ann") && !field.later(30).bars("ann"), "for thirty seconds");
    field.order(&cordon("ann")).expect("a cordon takes the place of a hold-off");
    assert!(field.bars("ann") && field.later(30).bars("ann"), "for good");
    assert_eq!(field.snapshot().controls.bars.len(), 2, "Cat's and one of Ann's");
    field.order(&demote(30)).expect("an order");
    assert!(field.later(30).bars("ann"), "a hold-off does not shorten a cordon");
    field.order(&uncordon("ann")).expect("an order");
    assert!(!field.bars("ann") && field.bars("cat"));
    field.order(&demote(30)).expect("an order");
    field.order(&uncordon("ann")).expect("an order");
    assert!(!field.bars("ann"), "a hold-off is lifted too");
}

#[test]
fn an_order_says_who_gave_it_when_and_why() {
    let mut field = Field::in_state(State::Held);
    let decree = field.order(&Order::Pause).expect("an order");
    let by = decree.controls.paused.expect("paused");
    assert_eq!((by.actor.as_str(), by.reason.as_deref()), ("root", Some("an upgrade")));
    assert_eq!(by.at, field.snapshot().now);
}

#[test]
fn there_is_an_end_to_how_many_can_be_barred_and_what_ran_out_does_not_count() {
    let mut field = Field::in_state(State::Held);
    let bar = |number: usize, until| Bar {
        name: name(&format!("host-{number}")),
        until,
        by: Mandate::default(),
    };
    let bars = |until| (0..BARS_MAX).map(|number| bar(number, until)).collect();
    field.set(Controls { bars: bars(None), ..Controls::default() });
    assert_eq!(field.order(&cordon("bob")), Err(OrderError::TooManyBars));
    assert_eq!(field.order(&demote(30)), Err(OrderError::TooManyBars));
    assert_eq!(field.snapshot().controls.bars.len(), BARS_MAX);
    let now = field.snapshot().now;
    field.set(Controls { bars: bars(Some(now)), ..Controls::default() });
    let decree = field.order(&cordon("bob")).expect("an order");
    assert_eq!(decree.controls.bars.len(), 1);
}
