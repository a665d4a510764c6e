//! A leader is asked for its place in order, and a hand-over that was begun ends in time.
//!
//! Assumes: the world tells of every order to hand over that preferences ask for, with what stood in
//! the store then, and gives its word on every turn that a process had. No history tells that, so this
//! is judged where the store and the clocks can be seen.
//! Promises: a candidate that asks for the place of a leader it does not precede, or whose term is
//! younger than the hold-down, is told. So is a leader that neither let go nor ordered the end of its
//! term although its time to hand over is up on its own clock.

use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::orders_hold::is_short;
use super::{Finding, Report};
use crate::Skew;

/// What rounding to microseconds costs.
const ROUNDING: Duration = Duration::from_micros(2);

/// Judges hand-overs.
#[derive(Debug, Default)]
pub struct HandoverInOrder {
    /// By process and election: the term that is to be handed over, and until when on the leader's clock.
    under_way: BTreeMap<(usize, usize), (Term, Time)>,
    finding: Finding,
}

/// A candidate asks for the place of a leader.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Who asks.
    pub who: CandidateId,
    /// The term that is to end.
    pub term: Term,
    /// How much the asker is preferred.
    pub priority: Option<i32>,
    /// How much the leader is preferred, where that is known.
    pub holder: Option<i32>,
    /// How old the term is by the store's clock.
    pub age: Duration,
    /// How old it must be.
    pub hold_down: Duration,
    /// How much faster than the world a clock may run.
    pub fast: Skew,
}

impl HandoverInOrder {
    /// The name of the property.
    pub const NAME: &'static str = "handover_in_order";

    /// A candidate asks for the place of a leader.
    pub fn asked(&mut self, at: Time, asked: &Asked) {
        self.finding.facts += 1;
        let Asked { who, term, age, hold_down, .. } = asked;
        if asked.holder.is_some_and(|holder| asked.priority <= Some(holder)) {
            let story = format!(
                "{who} asked at {at} for the place of the leader of term {term}, whom it does not precede"
            );
            self.finding.accuse(at, story, &[]);
        }
        if is_short(*age, hold_down.saturating_sub(ROUNDING), asked.fast) {
            let story = format!(
                "{who} asked at {at} for the place of the leader of term {term}, which is {age:?} old; it is to be left \
                 alone for {hold_down:?}"
            );
            self.finding.accuse(at, story, &[]);
        }
    }

    /// A leader was asked to hand over until then, on its own clock.
    pub fn begun(&mut self, process: usize, election: usize, until: Time, term: Term) {
        self.finding.facts += 1;
        self.under_way.insert((process, election), (term, until));
    }

    /// It ordered the end of its term.
    pub fn forced(&mut self, process: usize, election: usize) {
        self.under_way.remove(&(process, election));
    }

    /// It does not lead any more.
    pub fn ended(&mut self, process: usize, election: usize) {
        self.under_way.remove(&(process, election));
    }

    /// The process ended, or is not to hand over any more.
    pub fn gone(&mut self, process: usize) {
        self.under_way.retain(|&(it, _), _| it != process);
    }

    /// A process had its turn, when its clock showed `local`.
    pub fn turn(&mut self, at: Time, process: usize, local: Time) {
        let late = |&(it, _): &(usize, usize), (_, until): &mut (Term, Time)| {
            it == process && *until <= local
        };
        let late: Vec<_> = self.under_way.extract_if(.., late).collect();
        for ((process, election), (term, until)) in late {
            let story = format!(
                "process {process} still leads election {election} in term {term} at {at} ({local} on its clock): it was \
                 to hand over until {until}, and did not order the end of the term"
            );
            self.finding.accuse(at, story, &[]);
        }
    }

    /// Adds what was found to the report, where there was anything to judge.
    pub fn add_to(self, report: &mut Report) {
        if self.finding.facts > 0 {
            report.take(Self::NAME, self.finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn told(forge: impl FnOnce(&mut HandoverInOrder)) -> Vec<String> {
        let mut judge = HandoverInOrder::default();
        forge(&mut judge);
        let mut report = Report::default();
        judge.add_to(&mut report);
        report.violations.into_iter().map(|violation| violation.story).collect()
    }

    fn asked() -> Asked {
        let (who, term, priority, holder) = (id(A), term(5), Some(3), Some(2));
        Asked { who, term, priority, holder, age: SECOND * 10, hold_down: SECOND * 10, fast: 0 }
    }

    #[test]
    fn a_better_candidate_may_ask_after_the_hold_down() {
        assert_eq!(told(|judge| judge.asked(at(7), &asked())), [""; 0]);
        let unknown = Asked { holder: None, ..asked() };
        assert_eq!(told(|judge| judge.asked(at(7), &unknown)), [""; 0]);
    }

    #[test]
    fn a_candidate_that_asks_too_early_is_told() {
        let early = Asked { age: SECOND * 9, ..asked() };
        let told = told(|judge| judge.asked(at(7), &early));
        assert!(
            told.len() == 1 && told[0].contains("a#") && told[0].contains("9s old"),
            "{told:?}"
        );
    }

    #[test]
    fn a_candidate_that_asks_a_better_leader_is_told() {
        for holder in [3, 4] {
            let worse = Asked { holder: Some(holder), ..asked() };
            let told = told(|judge| judge.asked(at(7), &worse));
            assert!(told.len() == 1 && told[0].contains("does not precede"), "{told:?}");
        }
    }

    #[test]
    fn a_hand_over_that_ends_in_time_or_is_forced_is_clean() {
        let clean = told(|judge| {
            judge.begun(0, 0, at(9), term(5));
            judge.turn(at(8), 0, at(8));
            judge.ended(0, 0);
            judge.begun(1, 0, at(9), term(6));
            judge.forced(1, 0);
            judge.begun(2, 0, at(9), term(7));
            judge.gone(2);
            (0..3).for_each(|process| judge.turn(at(20), process, at(20)));
        });
        assert_eq!(clean, [""; 0]);
    }

    #[test]
    fn a_hand_over_that_nobody_ends_is_told_once() {
        let told = told(|judge| {
            judge.begun(0, 0, at(9), term(5));
            judge.begun(1, 0, at(30), term(5));
            judge.turn(at(8), 1, at(8));
            judge.turn(at(9), 0, at(9));
            judge.turn(at(10), 0, at(10));
        });
        assert!(told.len() == 1 && told[0].contains("process 0 still leads"), "{told:?}");
    }
}
