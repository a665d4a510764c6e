//! Promises that only the world can judge, because no history shows them.
//!
//! Assumes: the world tells what it gave to whom.
//! Promises: they stand in the same report as those that the judges of histories find.

use std::collections::BTreeMap;

use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::lease::row::Record;
use incumbent_protocol::observation::Mark;
use incumbent_protocol::rounds::register::Vars;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{StoreTime, Time};

use crate::clock::{At, Skew, WHOLE};
use incumbent_audit::{Report, Violation};

/// A leader counts as deposed only on the word of the store: an outcome that nobody can tell
/// deposes nobody.
const DEPOSED_BY_STORE: &str = "deposed_by_store";

/// A renewal and a takeover of the same mark never both succeed.
const RENEWED_OR_TAKEN: &str = "renewed_or_taken";

/// A term that was won and not taken up, because that was heard of too late or is not wanted any more, is
/// given back before anything else is asked.
const GIVEN_BACK: &str = "given_back";

/// After a store that knows it went back to a term of the past, no work of that term is committed, unless
/// its leader's renewal arrived since, which is the documented exception. History does not show what a
/// store knows and when a renewal arrived.
const BY_TRANSACTION: &str = "by_transaction";

/// Rounds become longer by a delta at a time and stay between the first round and the cap; they
/// become shorter only as was announced, and only a lease of the longer round after that.
const PACED_AS_ANNOUNCED: &str = "paced_as_announced";

/// Judges what only the world can see.
#[derive(Debug, Default)]
pub(super) struct Oaths {
    unknowns: u64,
    takeovers: u64,
    paces: u64,
    debts: u64,
    /// By election: the newest term that was issued.
    newest: BTreeMap<usize, Term>,
    /// By election: the row of the past that a store went back to, and when it was beaten.
    past: BTreeMap<usize, (Term, StoreTime)>,
    /// By election: when the shorter round was announced that is under way.
    announced: BTreeMap<usize, At>,
    broken: Vec<Violation>,
}

impl Oaths {
    /// Somebody was told that the outcome of its request is unknown; `deposed` if it stopped
    /// leading for that.
    pub(super) fn told_unknown(&mut self, at: At, who: &impl ToString, deposed: bool) {
        self.unknowns += 1;
        if deposed {
            let who = who.to_string();
            let story = format!(
                "{who} counted itself as deposed, though nobody could tell what became of its request"
            );
            self.accuse(DEPOSED_BY_STORE, at, story);
        }
    }

    /// A takeover was written: it was decided on one mark, and replaced another if something went
    /// wrong.
    pub(super) fn taken_over(
        &mut self,
        at: At,
        who: &impl ToString,
        decided_on: Mark,
        replaced: Mark,
    ) {
        self.takeovers += 1;
        if decided_on != replaced {
            let who = who.to_string();
            let story = format!(
                "the takeover by {who} was decided on {decided_on:?} and replaced {replaced:?}"
            );
            self.accuse(RENEWED_OR_TAKEN, at, story);
        }
    }

    /// Somebody that did not take up a term that it won asks something, which is to give it back if
    /// `given`.
    pub(super) fn owed(&mut self, at: At, who: &impl ToString, term: Term, given: bool) {
        self.debts += 1;
        if !given {
            let who = who.to_string();
            let story =
                format!("{who} won term {term}, did not take it up, and did not give it back");
            self.accuse(GIVEN_BACK, at, story);
        }
    }

    /// A term was issued, and whatever was there before is over.
    pub(super) fn issued(&mut self, election: usize, term: Term) {
        self.past.remove(&election);
        let newest = self.newest.entry(election).or_insert(term);
        *newest = term.max(*newest);
    }

    /// The newest term that was ever issued.
    pub(super) fn newest(&self, election: usize) -> Option<Term> {
        self.newest.get(&election).copied()
    }

    /// A store went back to a row, and knows it.
    pub(super) fn went_back(&mut self, election: usize, row: Option<&Record>) {
        self.past.remove(&election);
        let newest = self.newest(election);
        if let Some(row) = row.filter(|row| Some(row.term) < newest) {
            self.past.insert(election, (row.term, row.beaten_at));
        }
    }

    /// A transaction of a term was committed, under this row.
    pub(super) fn worked(
        &mut self,
        at: At,
        election: usize,
        holding: &Holding,
        row: Option<&Record>,
    ) {
        let then = (holding.term, row.map(|row| row.beaten_at));
        if self.past.get(&election).is_some_and(|&(term, beat)| (term, Some(beat)) == then) {
            let Holding { candidate, term } = holding;
            let story = format!(
                "work of {candidate} in term {term} of election-{election} was committed after the store went back to it, \
                 though a newer term had been issued"
            );
            self.accuse(BY_TRANSACTION, at, story);
        }
    }

    /// VARS was written. `slack` is how much faster than the world a clock may run, so that a lease
    /// seems over too soon; `None` if clocks keep to no bound.
    pub(super) fn paced(
        &mut self,
        at: At,
        election: usize,
        before: &Vars,
        after: &Vars,
        slack: Option<Skew>,
    ) {
        let (old, new) = (before.pace, after.pace);
        let since = self.announced.get(&election).copied().unwrap_or(0);
        if new.next.is_some() && (new.next, new.number) != (old.next, old.number) {
            self.announced.insert(election, at);
        }
        if old == new || before.epoch != after.epoch {
            return;
        }
        self.paces += 1;
        let pacing = &after.pacing;
        let waits = u128::from(at.saturating_sub(since));
        let lease = pacing.rules_at(old.round).lease().as_nanos();
        let too_soon = |fast: Skew| {
            let rate = u128::from((WHOLE + fast).unsigned_abs());
            waits * rate < lease * u128::from(WHOLE.unsigned_abs())
        };
        let problem = if new.round < pacing.round_time() || new.round > pacing.cap() {
            "which is out of bounds"
        } else if new.round > old.round + pacing.delta() {
            "which is more than one delta"
        } else if new.round < old.round && old.next != Some(new.round) {
            "though nobody had announced that"
        } else if new.round < old.round && slack.is_some_and(too_soon) {
            "less than a lease after that was announced"
        } else {
            return;
        };
        let story = format!(
            "rounds of election-{election} went from {:?} to {:?}, {problem}",
            old.round, new.round
        );
        self.accuse(PACED_AS_ANNOUNCED, at, story);
    }

    fn accuse(&mut self, property: &'static str, at: At, story: String) {
        self.broken.push(Violation::unwritten(property, Time::from_nanos(at), story));
    }

    /// Adds what was found to the report.
    pub(super) fn add_to(self, report: &mut Report) {
        report.checked.push((DEPOSED_BY_STORE, self.unknowns));
        report.checked.push((RENEWED_OR_TAKEN, self.takeovers));
        if self.paces > 0 {
            report.checked.push((PACED_AS_ANNOUNCED, self.paces));
        }
        if self.debts > 0 {
            report.checked.push((GIVEN_BACK, self.debts));
        }
        report.violations.extend(self.broken);
        report.violations.sort_by_key(|violation| violation.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use incumbent_protocol::rounds::pace::{Pace, Pacing};
    use incumbent_protocol::rounds::register::MemberId;
    use incumbent_protocol::term::Recorded;

    fn properties(oaths: Oaths) -> Vec<&'static str> {
        let mut report = Report::default();
        oaths.add_to(&mut report);
        report.violations.iter().map(|violation| violation.property).collect()
    }

    #[test]
    fn what_is_in_order_is_counted_and_not_told() {
        let mut oaths = Oaths::default();
        oaths.told_unknown(1, &"a", false);
        oaths.taken_over(2, &"a", None, None);
        let mut report = Report::default();
        oaths.add_to(&mut report);
        assert!(report.is_clean());
        assert_eq!(report.checked, [(DEPOSED_BY_STORE, 1), (RENEWED_OR_TAKEN, 1)]);
    }

    #[test]
    fn a_leader_that_is_deposed_by_silence_is_told() {
        let mut oaths = Oaths::default();
        oaths.told_unknown(1, &"a", true);
        assert_eq!(properties(oaths), [DEPOSED_BY_STORE]);
    }

    #[test]
    fn a_term_that_is_not_given_back_is_told() {
        let mut oaths = Oaths::default();
        let term = Term::recorded(5).expect("terms begin at one");
        oaths.owed(1, &"a", term, true);
        oaths.owed(2, &"a", term, false);
        assert_eq!(properties(oaths), [GIVEN_BACK]);
    }

    #[test]
    fn work_of_the_past_is_told_until_its_leader_renewed_or_another_term_began() {
        use incumbent_protocol::lease::row::State;
        use incumbent_protocol::rules::{Expiry, Rules};
        let term = |number| Term::recorded(number).expect("terms begin at one");
        let name = incumbent_protocol::identity::CandidateName::new("a").expect("a name");
        let incarnation = incumbent_protocol::identity::Incarnation::from_random(1);
        let holder = incumbent_protocol::identity::CandidateId::new(name, incarnation);
        let at = StoreTime::from_micros;
        let row = Record {
            state: State::Held,
            holder: holder.clone(),
            term: term(5),
            beat: 3,
            rules: Rules::new(ms(1_000), ms(100), Expiry::Observed).expect("rules"),
            since: at(7),
            beaten_at: at(8),
            successor: None,
        };
        let later = Record { beaten_at: at(9), ..row.clone() };
        let holding = Holding { candidate: holder, term: term(5) };
        let mut oaths = Oaths::default();
        oaths.issued(0, term(5));
        oaths.went_back(0, Some(&row));
        oaths.worked(1, 0, &holding, Some(&row));
        oaths.issued(0, term(6));
        oaths.went_back(0, None);
        oaths.worked(2, 0, &holding, Some(&row));
        oaths.went_back(0, Some(&row));
        oaths.worked(3, 0, &holding, Some(&later));
        assert!(oaths.broken.is_empty());
        oaths.worked(4, 0, &holding, Some(&row));
        assert_eq!(properties(oaths), [BY_TRANSACTION]);
    }

    #[test]
    fn a_takeover_of_a_mark_that_was_renewed_meanwhile_is_told() {
        let mut oaths = Oaths::default();
        let mark = |beat| Term::recorded(5).map(|term| (term, beat));
        oaths.taken_over(1, &"a", mark(1), mark(2));
        assert_eq!(properties(oaths), [RENEWED_OR_TAKEN]);
    }

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn vars(round: u64, next: Option<u64>, number: u64) -> Vars {
        let pacing = Pacing::new(ms(100), 2, ms(20), ms(50), ms(300)).expect("pacing");
        let pace = Pace { round: ms(round), next: next.map(ms), number };
        let (epoch, max_id) = (StoreTime::from_micros(1), MemberId::new(1));
        Vars { epoch, max_id, pacing, pace, evicted: false }
    }

    /// What is said of one pace after the other, each at its millisecond.
    fn said(paces: &[(u64, Vars)]) -> Vec<String> {
        let mut oaths = Oaths::default();
        for pair in paces.windows(2) {
            let (at, before, after) = (pair[1].0 * 1_000_000, &pair[0].1, &pair[1].1);
            oaths.paced(at, 0, before, after, Some(0));
        }
        oaths.broken.into_iter().map(|violation| violation.story).collect()
    }

    #[test]
    fn rounds_that_grow_by_a_delta_and_shrink_after_a_lease_are_in_order() {
        let paces = [
            (0, vars(100, None, 0)),
            (10, vars(150, None, 1)),
            (20, vars(150, Some(100), 2)),
            (320, vars(100, None, 3)),
        ];
        assert_eq!(said(&paces), [""; 0]);
    }

    #[test]
    fn rounds_out_of_order_are_told() {
        let announced = vars(150, Some(100), 2);
        for (paces, word) in [
            ([(0, vars(150, None, 1)), (9, vars(100, None, 2))], "nobody had announced"),
            ([(0, vars(150, None, 1)), (9, vars(250, None, 2))], "more than one delta"),
            ([(0, vars(300, None, 1)), (9, vars(310, None, 2))], "out of bounds"),
            ([(0, vars(100, None, 1)), (9, vars(90, None, 2))], "out of bounds"),
            ([(0, announced.clone()), (299, vars(100, None, 3))], "less than a lease"),
        ] {
            let told = said(&paces);
            assert!(told.len() == 1 && told[0].contains(word), "{word}: {told:?}");
        }
    }

    #[test]
    fn a_new_life_of_the_register_begins_with_its_own_pace() {
        let fresh = Vars { epoch: StoreTime::from_micros(2), ..vars(100, None, 0) };
        assert_eq!(said(&[(0, vars(300, None, 7)), (9, fresh)]), [""; 0]);
    }
}
