//! Terms strictly grow and are never used twice.
//!
//! Assumes: for the order in which terms are *gained*, that clocks ran within the margin of each
//! other (a candidate that was suspended with its clock may hear of its term after its successor
//! did). For all else nothing.
//! Promises: no term belongs to two incarnations, whatever clocks they stand on and however often
//! the store restarted; a store issues each term above all before it; what is gained was issued, if
//! the store wrote what it issued. A term that others saw and that its holder says nothing of is noted,
//! because its lines may be missing.

use std::collections::BTreeMap;

use incumbent_protocol::history::Event;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Contest, Fact, Finding, Spot, Who};

/// Judges that tokens grow.
#[derive(Debug)]
pub struct TokenGrowth {
    even_clocks: bool,
    /// Until then clocks may differ by more than the margin.
    uneven_until: Time,
    owners: BTreeMap<(Contest, Term), Owner>,
    /// By clock: the newest term gained and issued so far.
    gained: Grid<Option<Newest>>,
    issued: Grid<Option<Newest>>,
    /// The first term that the store of an election was seen to issue.
    first_issued: BTreeMap<Contest, Term>,
    /// Who was first seen to lead in a term, and where another candidate says so.
    seen: BTreeMap<(Contest, Term), (Who, Spot)>,
    finding: Finding,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    who: Who,
    /// The line that first named it.
    line: u64,
    gained: Option<Spot>,
    issued: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    term: Term,
    who: Who,
    at: Spot,
}

impl Default for TokenGrowth {
    fn default() -> Self {
        TokenGrowth::new(true)
    }
}

impl TokenGrowth {
    /// A judge that does or does not rely on the order in which terms are gained.
    pub fn new(even_clocks: bool) -> Self {
        TokenGrowth {
            even_clocks,
            uneven_until: Time::ZERO,
            owners: BTreeMap::new(),
            gained: Grid::default(),
            issued: Grid::default(),
            first_issued: BTreeMap::new(),
            seen: BTreeMap::new(),
            finding: Finding::default(),
        }
    }

    /// The order in which terms are gained is not judged until then.
    pub(super) fn uneven(&mut self, until: Time) {
        self.uneven_until = self.uneven_until.max(until);
    }

    /// How many terms were gained.
    pub fn terms(&self) -> usize {
        let gained = |owner: &&Owner| owner.gained.is_some();
        self.owners.values().filter(gained).count()
    }

    fn gained(&mut self, fact: &Fact<'_>, contest: Contest, term: Term) {
        self.finding.facts += 1;
        let gained_before = self
            .own(fact, contest, term, fact.who)
            .and_then(|owner| owner.gained.replace(fact.spot()));
        if let Some(before) = gained_before {
            let who = fact.cast.candidate(fact.who);
            let story = format!("{who} gained term {term} at {} and again at {}", before, fact.at);
            self.finding.accuse(fact.at, story, &[before.line, fact.line]);
            return;
        }
        let newest = self.gained.at(contest, fact.clock);
        let behind = newest.filter(|newest| newest.term > term && newest.at.at < fact.at);
        if let Some(newest) = behind.filter(|_| self.even_clocks && fact.at >= self.uneven_until) {
            let story = told_backwards("gained", fact, fact.who, term, &newest);
            self.finding.accuse(fact.at, story, &[newest.at.line, fact.line]);
        }
        advance(newest, fact, term, fact.who);
    }

    fn issued(&mut self, fact: &Fact<'_>, contest: Contest, term: Term, to: Who) {
        self.finding.facts += 1;
        self.first_issued.entry(contest).or_insert(term);
        let issued_before =
            self.own(fact, contest, term, to).and_then(|owner| owner.issued.replace(fact.line));
        let newest = self.issued.at(contest, fact.clock);
        if let Some(newest) = newest.filter(|newest| newest.term > term) {
            let story = told_backwards("was issued", fact, to, term, &newest);
            self.finding.accuse(fact.at, story, &[newest.at.line, fact.line]);
        } else if let Some(before) = issued_before {
            let to = fact.cast.candidate(to);
            let story =
                format!("term {term} was issued twice to {to}, the second time at {}", fact.at);
            self.finding.accuse(fact.at, story, &[before, fact.line]);
        }
        advance(newest, fact, term, to);
    }

    /// The owner of a term, unless that is another.
    fn own(
        &mut self,
        fact: &Fact<'_>,
        contest: Contest,
        term: Term,
        who: Who,
    ) -> Option<&mut Owner> {
        let owner = self.owners.entry((contest, term)).or_insert(Owner {
            who,
            line: fact.line,
            gained: None,
            issued: None,
        });
        if owner.who == who {
            return Some(owner);
        }
        let story = format!(
            "term {term} of {} belongs to {}, but {} has it too, at {}",
            fact.cast.election(contest),
            fact.cast.candidate(owner.who),
            fact.cast.candidate(who),
            fact.at
        );
        let lines = [owner.line, fact.line];
        self.finding.accuse(fact.at, story, &lines);
        None
    }
}

impl Checker for TokenGrowth {
    const NAME: &'static str = "token_growth";

    fn line(&mut self, fact: &Fact<'_>) {
        match (fact.event, fact.contest, fact.other) {
            (Event::Gained { term, .. }, Some(contest), _) => self.gained(fact, contest, *term),
            (Event::Issued { term, .. }, Some(contest), Some(to)) => {
                self.issued(fact, contest, *term, to);
            }
            (Event::Saw { term: Some(term), .. }, Some(contest), Some(leader)) => {
                self.seen.entry((contest, *term)).or_insert((leader, fact.spot()));
            }
            _ => {}
        }
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        for (&(contest, term), owner) in &self.owners {
            let kept = self.first_issued.get(&contest).is_some_and(|first| *first <= term);
            if let (Some(at), true, None) = (owner.gained, kept, owner.issued) {
                let who = cast.candidate(owner.who);
                let story =
                    format!("{who} gained term {term} at {at}, which the store never issued");
                self.finding.accuse(at.at, story, &[at.line]);
            }
        }
        for (&(contest, term), &(leader, seen)) in &self.seen {
            let gained = self.owners.get(&(contest, term)).is_some_and(|o| o.gained.is_some());
            if cast.has_spoken(leader) && !gained {
                let (who, election) = (cast.candidate(leader), cast.election(contest));
                let story = format!(
                    "{who} was seen at {seen} to lead {election} in term {term}, but no line says that it gained that term: it \
                     gave it back or ended at once, or lines are missing"
                );
                self.finding.note(seen.at, story, &[seen.line]);
            }
        }
        self.finding
    }
}

fn advance(newest: &mut Option<Newest>, fact: &Fact<'_>, term: Term, who: Who) {
    if newest.is_none_or(|newest| newest.term < term) {
        *newest = Some(Newest { term, who, at: fact.spot() });
    }
}

fn told_backwards(verb: &str, fact: &Fact<'_>, who: Who, term: Term, newest: &Newest) -> String {
    let cast = fact.cast;
    format!(
        "{} {verb} term {term} at {}, after {} had term {} at {}",
        cast.candidate(who),
        fact.at,
        cast.candidate(newest.who),
        newest.term,
        newest.at
    )
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::super::{Conditions, Judge};
    use super::*;
    use crate::History;
    use incumbent_protocol::history::Line;

    fn issued(millis: u64, number: u64, to: u8) -> Line {
        let event = Event::Issued { election: election(), term: term(number), to: id(to) };
        line(millis, WORLD, event)
    }

    #[test]
    fn growing_terms_are_clean() {
        let lines = [issued(0, 5, A), gained(1, A, 5, 3), issued(3, 9, B), gained(4, B, 9, 6)];
        assert_eq!(clean::<TokenGrowth>(&lines), 4);
    }

    #[test]
    fn a_term_that_two_candidates_gained_is_told_whatever_their_clocks() {
        let lines =
            [opened(0, A, "one"), opened(0, B, "two"), gained(1, A, 5, 3), gained(0, B, 5, 2)];
        accused::<TokenGrowth>(&lines, &["term 5 of ledger belongs to a#", "b#"]);
    }

    #[test]
    fn the_same_name_in_another_life_is_another_candidate() {
        let mut again = gained(9, A, 5, 12);
        again.candidate.incarnation = id(B).incarnation;
        accused::<TokenGrowth>(
            &[gained(1, A, 5, 3), again],
            &["belongs to a#0000000a", "a#0000000b"],
        );
    }

    #[test]
    fn a_term_that_is_gained_twice_is_told() {
        let lines = [gained(1, A, 5, 3), gained(4, A, 5, 7)];
        accused::<TokenGrowth>(&lines, &["gained term 5 at 0.001s and again at 0.004s"]);
    }

    #[test]
    fn a_term_below_an_earlier_one_is_told() {
        let lines = [gained(1, A, 5, 3), gained(4, B, 4, 7)];
        accused::<TokenGrowth>(&lines, &["b#0000000b gained term 4", "had term 5"]);
    }

    #[test]
    fn the_order_of_gains_is_not_judged_where_clocks_are_not_even() {
        let mut judge = Judge::new(Conditions { even_clocks: false, ..Conditions::default() });
        for line in [gained(1, A, 5, 3), gained(4, B, 4, 7)] {
            judge.line(&line);
        }
        assert!(judge.finish().is_clean());
    }

    #[test]
    fn a_store_that_issues_below_what_it_issued_before_is_told_though_nobody_gained() {
        let lines = [issued(1, 5, A), issued(2, 4, B)];
        accused::<TokenGrowth>(&lines, &["b#0000000b was issued term 4", "had term 5"]);
    }

    #[test]
    fn a_term_that_others_saw_and_its_holder_says_nothing_of_is_noted() {
        let noted = |lines: &[Line]| {
            let report = super::super::judge(&History::from_lines(lines.to_vec()));
            assert!(report.is_clean(), "{report}");
            report.notes
        };
        let (a, b) = (opened(0, A, "boot"), opened(0, B, "boot"));
        let seen = saw(2, B, Some((A, 5)));
        let notes = noted(&[a.clone(), b.clone(), seen.clone()]);
        assert!(notes.len() == 1 && notes[0].story.contains("a#0000000a was seen"), "{notes:?}");
        assert_eq!(notes[0].lines, [3]);
        assert_eq!(noted(&[a, b.clone(), gained(1, A, 5, 3), seen.clone()]), []);
        assert_eq!(noted(&[b, seen]), [], "another host's history is not here");
    }

    #[test]
    fn a_gain_that_a_store_never_issued_is_told() {
        let lines = [issued(1, 5, A), gained(2, A, 6, 4)];
        accused::<TokenGrowth>(&lines, &["gained term 6", "never issued"]);
    }
}
