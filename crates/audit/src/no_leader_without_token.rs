//! Nobody leads without a token, nor with one that it knows to be stale.
//!
//! Assumes: lines of one candidate come in the order in which it wrote them.
//! Promises: whoever renews, loses or works under a term gained that term before; and no candidate
//! gains or renews a term below one that it has already seen.

use incumbent_protocol::history::Event;
use incumbent_protocol::term::Term;

use super::grid::Grid;
use super::{Cast, Checker, Fact, Finding};

/// Judges that leading rests on a term.
#[derive(Debug, Default)]
pub struct NoLeaderWithoutToken {
    known: Grid<Known>,
    finding: Finding,
}

/// What one candidate gained and saw in one election.
#[derive(Debug, Default)]
struct Known {
    /// Oldest first; asked from the end, where the answer nearly always is.
    gained: Vec<Term>,
    /// The newest term that it saw, and the line that says so.
    newest_seen: Option<(Term, u64)>,
}

impl Known {
    fn stale(&self, term: Term) -> Option<(Term, u64)> {
        self.newest_seen.filter(|&(seen, _)| seen > term)
    }
}

impl Checker for NoLeaderWithoutToken {
    const NAME: &'static str = "no_leader_without_token";

    fn line(&mut self, fact: &Fact<'_>) {
        let Some(contest) = fact.contest else { return };
        let known = self.known.at(contest, fact.who);
        let (verb, term) = match *fact.event {
            Event::Saw { term, .. } => {
                let newer = term.filter(|&term| known.newest_seen.is_none_or(|seen| seen.0 < term));
                known.newest_seen = newer.map(|term| (term, fact.line)).or(known.newest_seen);
                return;
            }
            Event::Gained { term, .. } => {
                known.gained.push(term);
                ("gained", term)
            }
            Event::Renewed { term, .. } => ("renewed", term),
            Event::Unsure { term, .. } => ("became unsure of", term),
            Event::Lost { term, .. } => ("lost", term),
            Event::WorkBegan { term, .. } => ("began work under", term),
            Event::WorkEnded { term, .. } => ("ended work under", term),
            _ => return,
        };
        self.finding.facts += 1;
        let who = || fact.cast.candidate(fact.who);
        let election = || fact.cast.election(contest);
        if !known.gained.iter().rev().any(|gained| *gained == term) {
            let story = format!(
                "{} {verb} term {term} of {} at {} without having gained it",
                who(),
                election(),
                fact.at
            );
            self.finding.accuse(fact.at, story, &[fact.line]);
            // Told once.
            known.gained.push(term);
        }
        let claims = matches!(fact.event, Event::Gained { .. } | Event::Renewed { .. });
        if let Some((seen, line)) = known.stale(term).filter(|_| claims) {
            let story = format!(
                "{} {verb} term {term} of {} at {}, though it had already seen term {seen}",
                who(),
                election(),
                fact.at
            );
            self.finding.accuse(fact.at, story, &[line, fact.line]);
        }
    }

    fn finish(self, _: &Cast) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use incumbent_protocol::standing::Reason;

    #[test]
    fn a_whole_leadership_is_clean() {
        let lines = [
            saw(0, A, Some((B, 4))),
            gained(1, A, 5, 4),
            saw(1, A, Some((A, 5))),
            work_began(1, A, 5),
            renewed(2, A, 5, 5),
            work_ended(3, A, 5),
            lost(3, A, 5, Reason::Resigned),
        ];
        assert_eq!(clean::<NoLeaderWithoutToken>(&lines), 5);
    }

    #[test]
    fn whatever_needs_a_term_is_told_if_there_was_none() {
        for (line, verb) in [
            (renewed(2, A, 5, 5), "renewed"),
            (work_began(2, A, 5), "began work under"),
            (unsure(2, A, 5), "became unsure of"),
            (lost(2, A, 5, Reason::Expired), "lost"),
        ] {
            let lines = [gained(1, A, 4, 9), line];
            accused::<NoLeaderWithoutToken>(&lines, &["a#", verb, "term 5"]);
        }
    }

    #[test]
    fn a_term_of_another_candidate_does_not_count() {
        let lines = [gained(1, B, 5, 9), work_began(2, A, 5)];
        accused::<NoLeaderWithoutToken>(&lines, &["a#", "without having gained"]);
    }

    #[test]
    fn leading_with_a_term_below_one_that_was_seen_is_told() {
        let lines = [saw(0, A, Some((B, 6))), gained(1, A, 5, 9)];
        accused::<NoLeaderWithoutToken>(&lines, &["gained term 5", "already seen term 6"]);
        let lines = [gained(1, A, 5, 9), saw(2, A, Some((B, 6))), renewed(3, A, 5, 12)];
        accused::<NoLeaderWithoutToken>(&lines, &["renewed term 5", "already seen term 6"]);
    }
}
