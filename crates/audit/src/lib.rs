//! The judges of a history: one property per file, the same ones for simulator, chaos and production.
//!
//! A history is the record that a process, a simulated world or a test writes, one JSON object a
//! line (`incumbent_protocol::history`). This crate reads such records back, merges those of several
//! processes and judges them together.
//!
//! Assumes: lines of one clock come in the order of their stamps, as a [`History`] gives them.
//! Promises: a judge looks at the history and at nothing else, keeps no more than it needs for what
//! is still open, and tells every broken promise as a sentence with names, terms and times. Stamps
//! of different clocks are never compared; wall clocks are never read.

use std::path::Path;

use incumbent_protocol::history::Line;
use incumbent_protocol::time::Time;

mod agreement;
mod at_most_one_lease;
mod by_transaction;
mod eventual_leader;
mod fact;
mod fence_order;
#[cfg(test)]
mod forge;
mod grid;
mod handover_in_order;
mod history;
mod ids_grow;
mod loss_told_once;
mod no_idle_change;
mod no_leader_without_token;
mod no_term_against_orders;
mod orders_hold;
mod report;
mod token_growth;
mod work_stops_in_time;

pub use agreement::Agreement;
pub use at_most_one_lease::AtMostOneLease;
pub use by_transaction::ByTransaction;
pub use eventual_leader::EventualLeader;
pub use fact::{Cast, Clock, Contest, Fact, Spot, Who};
pub use fence_order::FenceOrder;
pub use handover_in_order::{Asked, HandoverInOrder};
pub use history::{History, HistoryError};
pub use ids_grow::IdsGrow;
pub use loss_told_once::LossToldOnce;
pub use no_idle_change::NoIdleChange;
pub use no_leader_without_token::NoLeaderWithoutToken;
pub use no_term_against_orders::NoTermAgainstOrders;
pub use orders_hold::{Given, OrdersHold, Skew, WHOLE};
pub use report::{Finding, Report, Violation};
pub use token_growth::TokenGrowth;
pub use work_stops_in_time::WorkStopsInTime;

/// Judges a history by all properties.
pub fn judge(history: &History) -> Report {
    let mut judge = Judge::new(Conditions::default());
    for line in &history.lines {
        judge.line(line);
    }
    let mut report = Report { torn: history.torn, ..judge.finish() };
    report.locate(|line| history.place(line));
    report
}

/// Reads history files, merges them and judges what they tell together. If nothing happens in any of
/// them, that is an error: they are likely to be the wrong ones.
pub fn audit(paths: &[impl AsRef<Path>]) -> Result<Report, HistoryError> {
    let history = History::read(paths)?;
    let idle = history.idle();
    if idle.len() == history.files.len() {
        return Err(HistoryError::Empty { files: idle.join(", ") });
    }
    Ok(judge(&history))
}

/// A judge of one property: it takes facts as they come and tells at the end what it found.
pub trait Checker {
    /// The name of the property.
    const NAME: &'static str;

    /// Takes one fact.
    fn line(&mut self, fact: &Fact<'_>);

    /// Tells what was found.
    fn finish(self, cast: &Cast) -> Finding;
}

/// Under which conditions a history came about, where the history itself cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Whether all clocks ran within the margin of each other. If not, only tokens are promised:
    /// leases, the end of work and the order in which terms are heard of are not judged.
    pub even_clocks: bool,
    /// Whether every pause, continuation and kill of a process is marked at its instant, as
    /// simulators do. If not, a process that falls silent may be dead.
    pub marked: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions { even_clocks: true, marked: false }
    }
}

/// All judges at once, fed line by line.
#[derive(Debug, Default)]
pub struct Judge {
    conditions: Conditions,
    /// Spans in which clocks ran beyond the margin, and what comes of that lasted.
    uneven: Vec<(Time, Time)>,
    cast: Cast,
    at_most_one_lease: AtMostOneLease,
    fence_order: FenceOrder,
    by_transaction: ByTransaction,
    token_growth: TokenGrowth,
    no_leader_without_token: NoLeaderWithoutToken,
    work_stops_in_time: WorkStopsInTime,
    loss_told_once: LossToldOnce,
    no_idle_change: NoIdleChange,
    eventual_leader: EventualLeader,
    agreement: Agreement,
    ids_grow: IdsGrow,
}

impl Judge {
    /// Judges that have heard nothing yet.
    pub fn new(conditions: Conditions) -> Self {
        Judge {
            conditions,
            work_stops_in_time: WorkStopsInTime::new(conditions.marked),
            token_growth: TokenGrowth::new(conditions.even_clocks),
            ..Judge::default()
        }
    }

    /// From now on until then clocks may differ by more than the margin, and what comes of that may
    /// last. Only tokens are promised meanwhile.
    pub fn uneven(&mut self, now: Time, until: Time) {
        self.uneven.push((now, until));
        self.token_growth.uneven(until);
        self.work_stops_in_time.uneven(now, until);
    }

    /// Takes one line.
    pub fn line(&mut self, line: &Line) {
        let fact = &self.cast.fact(line);
        if self.conditions.even_clocks {
            self.at_most_one_lease.line(fact);
            self.work_stops_in_time.line(fact);
        }
        self.fence_order.line(fact);
        self.by_transaction.line(fact);
        self.token_growth.line(fact);
        self.no_leader_without_token.line(fact);
        self.loss_told_once.line(fact);
        self.no_idle_change.line(fact);
        self.eventual_leader.line(fact);
        self.agreement.line(fact);
        self.ids_grow.line(fact);
    }

    /// Tells what all of them found.
    pub fn finish(self) -> Report {
        let mut report = Report {
            lines: self.cast.lines(),
            elections: self.cast.elections(),
            candidates: self.cast.candidates(),
            terms: self.token_growth.terms(),
            not_comparable: self.at_most_one_lease.not_comparable(),
            ..Report::default()
        };
        let cast = &self.cast;
        report.add::<AtMostOneLease>(self.at_most_one_lease, cast);
        report.add::<FenceOrder>(self.fence_order, cast);
        report.add::<ByTransaction>(self.by_transaction, cast);
        report.add::<TokenGrowth>(self.token_growth, cast);
        report.add::<NoLeaderWithoutToken>(self.no_leader_without_token, cast);
        report.add::<WorkStopsInTime>(self.work_stops_in_time, cast);
        report.add::<LossToldOnce>(self.loss_told_once, cast);
        report.add::<NoIdleChange>(self.no_idle_change, cast);
        report.add::<EventualLeader>(self.eventual_leader, cast);
        report.add::<Agreement>(self.agreement, cast);
        report.add::<IdsGrow>(self.ids_grow, cast);
        let excused = |at: Time| self.uneven.iter().any(|&(from, until)| from <= at && at <= until);
        let timed = [AtMostOneLease::NAME, WorkStopsInTime::NAME];
        report.violations.retain(|told| !timed.contains(&told.property) || !excused(told.at));
        report.violations.sort_by_key(|violation| violation.at);
        report.notes.sort_by_key(|note| note.at);
        report
    }
}

#[cfg(test)]
#[path = "lib_test.rs"]
mod tests;
