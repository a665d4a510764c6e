//! What no sequence of orders brings about.
//!
//! Assumes: candidates of one true clock who renew, let go and bid as they like, with all the
//! evidence that they have.
//! Promises: what is in force is kept in a second book, from the orders that were accepted alone, and
//! every term that begins is judged by that book.

use core::cell::Cell;
use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::lease::request::{
    Bid, Claim, Done, Holding, Opening, Request, Resignation,
};
use incumbent_protocol::lease::row::State;
use incumbent_protocol::observation::Observation;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rules::{Expiry, Rules};
use incumbent_protocol::time::{HeardAt, Time};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::field::{id, name};
use crate::support::store::Store;

const NAMES: [&str; 3] = ["ann", "bob", "cat"];
const LEASE: Duration = Duration::from_secs(10);

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Order(Order),
    /// A candidate bids, with what it has observed.
    Bid(usize),
    /// A candidate looks at the row.
    Look(usize),
    /// Whoever holds the term renews it.
    Renew,
    /// Whoever holds the term lets go, perhaps for an heir.
    Resign(Option<usize>),
    /// Time passes, in tenths of a lease.
    Pass(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = || 0..NAMES.len();
    let named =
        |make: fn(CandidateName) -> Order| who().prop_map(move |who| make(name(NAMES[who])));
    let order = prop_oneof![
        Just(Order::Pause),
        Just(Order::Resume),
        (0..25_u64).prop_map(|s| Order::Demote { hold_off: Duration::from_secs(s) }),
        named(|name| Order::Cordon { name }),
        named(|name| Order::Uncordon { name }),
        named(|successor| Order::Takeover { successor }),
        named(|to| Order::Transfer { to, drain: Duration::ZERO }),
    ];
    let step = prop_oneof![
        3 => order.prop_map(Step::Order),
        3 => who().prop_map(Step::Bid),
        3 => who().prop_map(Step::Look),
        1 => Just(Step::Renew),
        1 => proptest::option::of(who()).prop_map(Step::Resign),
        4 => (1..14_u32).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..80)
}

/// An election, and the second book.
struct Play {
    store: Store,
    now: Duration,
    rules: Rules,
    observed: [Option<Observation>; 3],
    paused: bool,
    /// Who may not win, and until when if not for good.
    barred: BTreeMap<CandidateName, Option<Duration>>,
    /// When whoever holds the term last heard that it does.
    held_since: Duration,
}

impl Play {
    fn new(expiry: Expiry) -> Play {
        Play {
            store: Store::default(),
            now: Duration::from_hours(1),
            rules: Rules::new(LEASE, LEASE / 10, expiry).expect("rules"),
            observed: [None, None, None],
            paused: false,
            barred: BTreeMap::new(),
            held_since: Duration::ZERO,
        }
    }

    fn local(&self) -> Time {
        Time::ZERO + self.now
    }

    fn look(&mut self, who: usize) {
        let (view, heard) = (self.store.snapshot(self.now).view(), self.local());
        let heard = HeardAt::after_answer(heard);
        match &mut self.observed[who] {
            Some(seen) => seen.hear(view, heard),
            none => *none = Some(Observation::first(view, heard)),
        }
    }

    /// A bid with everything that its candidate has seen; what came of it, if a term began.
    fn bid(&mut self, who: usize) -> Option<Claim> {
        let seen = self.observed[who].as_ref();
        let newest = seen.and_then(|seen| seen.view().mark).map(|(term, _)| term);
        let suspicion = seen.and_then(|seen| seen.suspect(self.local(), Duration::ZERO));
        let (candidate, rules) = (id(NAMES[who]), self.rules);
        let bid = Bid { candidate, rules, suspicion, newest, longest: rules.lease() };
        match self.store.execute(self.now, &Request::Bid(bid)) {
            Outcome::Committed(Done::Claimed(claim)) => Some(claim),
            _ => None,
        }
    }

    fn holding(&self) -> Option<Holding> {
        let record = self.store.record()?;
        Some(Holding { candidate: record.holder.clone(), term: record.term })
    }

    fn order(&mut self, order: &Order) {
        let holder = self.store.record().map(|record| record.holder.name.clone());
        if self.store.order_with(self.now, order, &Papers::default()).is_err() {
            return;
        }
        match order {
            Order::Pause => self.paused = true,
            Order::Resume => self.paused = false,
            Order::Cordon { name } => {
                self.barred.insert(name.clone(), None);
            }
            Order::Uncordon { name } => {
                self.barred.remove(name);
            }
            Order::Demote { hold_off } if !hold_off.is_zero() => {
                let name = holder.expect("a demoted leader");
                let until = self.barred.entry(name).or_insert(Some(Duration::ZERO));
                *until = until.map(|_| self.now + *hold_off);
            }
            Order::Demote { .. } | Order::Takeover { .. } | Order::Transfer { .. } => {}
        }
    }

    /// A term began: by the second book, and by the lease of whoever held the one before?
    fn judge(&mut self, who: usize, before: Option<State>, claim: &Claim) -> Result<(), String> {
        if self.paused {
            return Err(format!("{} won while the election was paused", NAMES[who]));
        }
        let bar = self.barred.get(&name(NAMES[who]));
        if bar.is_some_and(|until| until.is_none_or(|until| self.now < until)) {
            return Err(format!("{} won, and may not", NAMES[who]));
        }
        let held = matches!(before, Some(State::Held | State::Ending));
        let waited = self.now.saturating_sub(self.held_since);
        if held && claim.opening != Opening::Own && waited < LEASE {
            return Err(format!("{} won {waited:?} after the last beat", NAMES[who]));
        }
        self.held_since = self.now;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<bool, String> {
        match *step {
            Step::Order(ref order) => self.order(order),
            Step::Look(who) => self.look(who),
            Step::Bid(who) => {
                let before = self.store.record().map(|record| record.state);
                if let Some(claim) = self.bid(who) {
                    self.judge(who, before, &claim)?;
                    return Ok(true);
                }
            }
            Step::Renew => {
                if let Some(holding) = self.holding()
                    && let Outcome::Committed(_) =
                        self.store.execute(self.now, &Request::Renew(holding))
                {
                    self.held_since = self.now;
                }
            }
            Step::Resign(heir) => {
                if let Some(holding) = self.holding() {
                    let heir = heir.map(|who| name(NAMES[who]));
                    let end = Request::Resign(Resignation { holding, heir });
                    let _answer = self.store.execute(self.now, &end);
                }
            }
            Step::Pass(tenths) => self.now += LEASE / 10 * tenths,
        }
        Ok(false)
    }
}

fn runner() -> TestRunner {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    config.cases = config.cases.max(2_000);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    TestRunner::new(config)
}

#[test]
fn no_sequence_of_orders_gives_a_term_against_what_is_in_force_or_before_a_lease_is_over() {
    let began = Cell::new(0_u32);
    for expiry in [Expiry::Observed, Expiry::Database] {
        let result = runner().run(&steps(), |steps| {
            let mut play = Play::new(expiry);
            for step in &steps {
                let won = play.step(step).map_err(TestCaseError::fail)?;
                began.set(began.get() + u32::from(won));
            }
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(began.get() > 5_000, "terms did begin: {}", began.get());
}

/// The judge is not blind: where what is in force is ignored, it says so.
#[cfg(feature = "planted")]
#[test]
fn a_store_that_ignores_what_is_in_force_is_noticed() {
    use incumbent_protocol::planted::{Bug, while_planted};
    let ignored = while_planted(Bug::ControlsIgnored, || {
        runner().run(&steps(), |steps| {
            let mut play = Play::new(Expiry::Observed);
            steps
                .iter()
                .try_for_each(|step| play.step(step).map(|_| ()))
                .map_err(TestCaseError::fail)
        })
    });
    assert!(ignored.is_err());
}
