//! Nobody in line is passed over who is there.
//!
//! Assumes: whoever keeps a roster tells of every beat of its rows and of every term, at the moment at
//! which it is written. No history tells that, so this is judged where the store can be seen.
//! Promises: a term begins for a candidate only if each row ahead of it in line stood still for a lease,
//! unless its candidate led before, is proved to be dead or may not win, or the term was reserved for
//! the one who takes it.

use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::time::Time;

use super::orders_hold::is_short;
use super::{Finding, Report};
use crate::clock::Skew;

/// Judges the line of a roster.
#[derive(Debug, Default)]
pub struct PlaceInLine {
    /// By election and place: when its row last beat.
    beats: BTreeMap<(usize, MemberId), Time>,
    finding: Finding,
}

impl PlaceInLine {
    /// The name of the property.
    pub const NAME: &'static str = "place_in_line";

    /// A row of a roster was entered or beat.
    pub fn beat(&mut self, at: Time, election: usize, id: MemberId) {
        self.beats.insert((election, id), at);
    }

    /// The roster of an election is not what it was: nothing is known of its rows any more.
    pub fn forget(&mut self, election: usize) {
        self.beats.retain(|(its, _), _| *its != election);
    }

    /// A term began, while these were ahead in line who could have had it. `fast` is how much faster than
    /// the world a clock may run.
    pub fn begun<'a>(
        &mut self,
        at: Time,
        election: usize,
        claim: &Claim,
        ahead: impl Iterator<Item = (MemberId, &'a CandidateId)>,
        (lease, fast): (Duration, Skew),
    ) {
        self.finding.facts += 1;
        for (id, other) in ahead {
            let beat = self.beats.get(&(election, id)).copied();
            if let Some(beat) = beat.filter(|&beat| is_short(at.since(beat), lease, fast)) {
                let (who, term) = (&claim.candidate, claim.term);
                let story = format!(
                    "term {term} of {who} began at {at}, though {other} was ahead in line with id {id} and beat at {beat}"
                );
                self.finding.accuse(at, story, &[]);
            }
        }
    }

    /// Adds what was found to the report.
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
    use incumbent_protocol::lease::request::Opening;
    use incumbent_protocol::rules::{Expiry, Rules};
    use incumbent_protocol::time::StoreTime;

    const LEASE: Duration = Duration::from_millis(10);

    /// What is told if B takes the term at 20 ms while A, whose row last beat then, is ahead.
    fn told(beat: u64, fast: Skew, forgotten: bool) -> Vec<String> {
        let mut judge = PlaceInLine::default();
        judge.beat(at(beat), 0, MemberId::new(3));
        if forgotten {
            judge.forget(0);
        }
        let rules = Rules::new(LEASE, LEASE / 10, Expiry::Observed).expect("rules");
        let (candidate, term, since) = (id(B), term(6), StoreTime::from_micros(1));
        let opening = Opening::Released;
        let claim = Claim { expected: None, candidate, term, rules, since, opening };
        let a = id(A);
        judge.begun(at(20), 0, &claim, [(MemberId::new(3), &a)].into_iter(), (LEASE, fast));
        let mut report = Report::default();
        judge.add_to(&mut report);
        report.violations.into_iter().map(|violation| violation.story).collect()
    }

    #[test]
    fn whoever_stood_still_for_a_lease_may_be_passed_over() {
        assert_eq!(told(10, 0, false), [""; 0]);
        assert_eq!(told(11, crate::clock::WHOLE / 8, false), [""; 0], "by a clock that runs fast");
        assert_eq!(told(19, 0, true), [""; 0], "its row is of another life");
    }

    #[test]
    fn whoever_beat_within_a_lease_must_not_be_passed_over() {
        let told = told(11, 0, false);
        assert!(told.len() == 1 && told[0].contains("a#0000000a was ahead"), "{told:?}");
    }
}
