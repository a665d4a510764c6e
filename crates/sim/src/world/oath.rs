//! Promises that only the world can judge, because no history shows them.
//!
//! Assumes: the world tells what it gave to whom.
//! Promises: they stand in the same report as those that the judges of histories find.

use incumbent_protocol::observation::Mark;
use incumbent_protocol::time::Time;

use crate::check::{Report, Violation};
use crate::clock::At;

/// A leader counts as deposed only on the word of the store: an outcome that nobody can tell
/// deposes nobody.
const DEPOSED_BY_STORE: &str = "deposed_by_store";

/// A renewal and a takeover of the same mark never both succeed.
const RENEWED_OR_TAKEN: &str = "renewed_or_taken";

/// Judges what only the world can see.
#[derive(Debug, Default)]
pub(super) struct Oaths {
    unknowns: u64,
    takeovers: u64,
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

    fn accuse(&mut self, property: &'static str, at: At, story: String) {
        self.broken.push(Violation { property, at: Time::from_nanos(at), story });
    }

    /// Adds what was found to the report.
    pub(super) fn add_to(self, report: &mut Report) {
        report.checked.push((DEPOSED_BY_STORE, self.unknowns));
        report.checked.push((RENEWED_OR_TAKEN, self.takeovers));
        report.violations.extend(self.broken);
        report.violations.sort_by_key(|violation| violation.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::term::{Recorded, Term};

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
    fn a_takeover_of_a_mark_that_was_renewed_meanwhile_is_told() {
        let mut oaths = Oaths::default();
        let mark = |beat| Term::recorded(5).map(|term| (term, beat));
        oaths.taken_over(1, &"a", mark(1), mark(2));
        assert_eq!(properties(oaths), [RENEWED_OR_TAKEN]);
    }
}
