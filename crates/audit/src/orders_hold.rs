//! An order takes effect, what it puts in force stays so, and a reserved term is kept.
//!
//! Assumes: whoever keeps the store tells of every order, renewal and term at the moment at which it is
//! written. No history tells that, so this is judged where the store can be seen.
//! Promises: an order that was carried out shows in the store, and undoes nothing of another order; one
//! that names another term is refused, and a refused one changes nothing. What is in force changes by
//! orders alone. A term that an order ended is not renewed. A term that is reserved begins for another
//! candidate only after the row stood still for the lease, counted from the last beat, and for two leases
//! if it was not let go of.

use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::controls::{Bar, Controls};
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{StoreTime, Time};

use super::{Finding, Report};

/// By how much a clock runs fast, in parts of 2^20; negative if slow.
pub type Skew = i64;

/// One whole, as a [`Skew`].
pub const WHOLE: Skew = 1 << 20;

/// Judges orders and reservations.
#[derive(Debug, Default)]
pub struct OrdersHold {
    kept: BTreeMap<usize, Kept>,
    finding: Finding,
}

/// What is known of one election.
#[derive(Debug, Default)]
struct Kept {
    /// What was in force after the last order.
    controls: Option<Controls>,
    /// The term that an order ended.
    ended: Option<Term>,
    /// For whom the next term is reserved, and how long others must have seen the row stand still.
    reserved: Option<(CandidateName, Duration)>,
    /// Since when its mark, the term and the beat, stands still. Letting go of a term, and an order, do
    /// not change the mark: others count from the last beat that they saw.
    still_since: Option<Time>,
}

/// An order as it reached the store.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// What was ordered.
    pub order: &'a Order,
    /// The term that was meant, if one was named.
    pub meant: Option<Term>,
    /// Whether it was carried out.
    pub done: bool,
    /// What the store held before.
    pub before: &'a Snapshot,
    /// What it holds now.
    pub after: &'a Snapshot,
}

impl OrdersHold {
    /// The name of the property.
    pub const NAME: &'static str = "orders_hold";

    /// An operator gave an order.
    pub fn ordered(&mut self, at: Time, election: usize, given: Given<'_>) {
        self.finding.facts += 1;
        let Given { order, before, after, .. } = given;
        let kept = self.kept.entry(election).or_default();
        let word = order.word();
        if kept.controls.as_ref().is_some_and(|known| *known != before.controls) {
            let story = format!("what is in force changed before {at} without an order");
            self.finding.accuse(at, story, &[]);
        }
        kept.controls = Some(after.controls.clone());
        for problem in given.problems() {
            self.finding.accuse(at, format!("the order to {word} at {at}: {problem}"), &[]);
        }
        let ends = |row: &&Record| row.state == State::Ending;
        let ended = after.record.as_ref().filter(ends).map(|row| row.term);
        if given.done && ended.is_some() {
            kept.ended = ended;
        }
        if given.done && after.record != before.record {
            kept.reserve(after.record.as_ref());
        }
    }

    /// A term was let go of.
    pub fn let_go(&mut self, election: usize, row: Option<&Record>) {
        self.kept.entry(election).or_default().reserve(row);
    }

    /// A term was renewed.
    pub fn renewed(&mut self, at: Time, election: usize, row: Option<&Record>) {
        let kept = self.kept.entry(election).or_default();
        if let Some(row) = row.filter(|row| kept.ended == Some(row.term)) {
            let (who, term) = (&row.holder, row.term);
            let story = format!("{who} renewed term {term} at {at}, which an order had ended");
            self.finding.accuse(at, story, &[]);
        }
        kept.still_since = Some(at);
        kept.reserve(row);
    }

    /// A term began. `fast` is how much faster than the world a clock may run, so that a lease seems
    /// over too soon; `None` if nothing is promised of time.
    pub fn begun(&mut self, at: Time, election: usize, claim: &Claim, fast: Option<Skew>) {
        self.finding.facts += 1;
        let kept = self.kept.entry(election).or_default();
        let (who, term) = (&claim.candidate, claim.term);
        if let (Some((heir, patience)), Some(since), Some(fast)) =
            (&kept.reserved, kept.still_since, fast)
            && *heir != who.name
            && is_short(at.since(since), *patience, fast)
        {
            let story = format!(
                "term {term} of {who} began at {at}, though it was reserved for {heir}, the last beat was at {since} and \
                 others must wait for {patience:?}"
            );
            self.finding.accuse(at, story, &[]);
        }
        kept.ended = None;
        kept.still_since = Some(at);
        kept.reserve(Some(&claim.record()));
    }

    /// The store went back, or somebody changed what is in force by hand: nothing is known any more.
    pub fn forget(&mut self) {
        self.kept.clear();
    }

    /// Adds what was found to the report.
    pub fn add_to(self, report: &mut Report) {
        report.take(Self::NAME, self.finding);
    }
}

impl Kept {
    fn reserve(&mut self, row: Option<&Record>) {
        self.reserved = row.and_then(|row| {
            let leases = if row.state == State::Released { 1 } else { 2 };
            Some((row.successor.clone()?, row.rules.lease() * leases))
        });
    }
}

impl Given<'_> {
    /// What is wrong with what became of it.
    fn problems(&self) -> Vec<String> {
        let Given { meant, done, before, after, .. } = *self;
        if !done {
            let same = before.record == after.record && before.controls == after.controls;
            return if same {
                Vec::new()
            } else {
                vec!["it was refused, and changed something".into()]
            };
        }
        let mut problems = Vec::new();
        let found = before.record.as_ref().map(|row| row.term);
        if let Some(meant) = meant.filter(|&meant| Some(meant) != found) {
            problems.push(format!("it means term {meant}, and was carried out in {found:?}"));
        }
        if !self.shows() {
            problems.push(format!("it was carried out, and does not show: {:?}", after.controls));
        }
        if before.controls.paused.is_some()
            && after.controls.paused.is_none()
            && *self.order != Order::Resume
        {
            problems.push("it lifted a pause".into());
        }
        let holds = |bar: &&Bar| holds(bar, before.now);
        for bar in before.controls.bars.iter().filter(holds) {
            let still = |it: &Bar| it.name == bar.name && ends(it.until) >= ends(bar.until);
            if !self.is_about(&bar.name) && !after.controls.bars.iter().any(still) {
                problems.push(format!("it lifted or shortened the bar on {}", bar.name));
            }
        }
        problems
    }

    /// Whether what was ordered is in the store.
    fn shows(&self) -> bool {
        let Given { order, before, after, .. } = *self;
        let controls = &after.controls;
        let for_good = |name: &CandidateName| {
            controls.bars.iter().any(|bar| bar.name == *name && bar.until.is_none())
        };
        let over = after.record.as_ref().filter(|row| row.state != State::Held);
        let reserved =
            |name: &CandidateName| over.is_some_and(|row| row.successor.as_ref() == Some(name));
        match order {
            Order::Pause => controls.paused.is_some(),
            Order::Resume => controls.paused.is_none(),
            Order::Cordon { name } => for_good(name),
            Order::Uncordon { name } => {
                !controls.bars.iter().any(|bar| bar.name == *name && holds(bar, after.now))
            }
            Order::Takeover { successor } => reserved(successor),
            Order::Transfer { to, .. } => {
                let asked = controls.transfer.as_ref().is_some_and(|asked| asked.to == *to);
                asked || reserved(to)
            }
            Order::Demote { hold_off } => {
                let until = before.now.as_micros().saturating_add(micros(*hold_off));
                let barred = |name: &CandidateName| {
                    let long = |bar: &&Bar| bar.name == *name && ends(bar.until) >= until;
                    controls.bars.iter().any(|bar| long(&bar))
                };
                over.is_some_and(|row| {
                    let free = hold_off.is_zero() || barred(&row.holder.name);
                    row.successor.is_none() && free
                })
            }
        }
    }

    /// Whether it says itself what becomes of a bar on this candidate.
    fn is_about(&self, name: &CandidateName) -> bool {
        match self.order {
            Order::Demote { .. } => {
                self.before.record.as_ref().is_some_and(|row| row.holder.name == *name)
            }
            Order::Uncordon { name: it } | Order::Cordon { name: it } => it == name,
            _ => false,
        }
    }
}

fn holds(bar: &Bar, now: StoreTime) -> bool {
    ends(bar.until) > now.as_micros()
}

fn ends(until: Option<StoreTime>) -> u64 {
    until.map_or(u64::MAX, StoreTime::as_micros)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Whether a span of the world cannot be so long on any clock that keeps to the bound.
pub(crate) fn is_short(span: Duration, least: Duration, fast: Skew) -> bool {
    let rate = u128::from((WHOLE + fast).unsigned_abs());
    span.as_nanos() * rate < least.as_nanos() * u128::from(WHOLE.unsigned_abs())
}

#[cfg(test)]
#[path = "orders_hold_test.rs"]
mod tests;
