//! A resource never accepts a deposed leader after its successor.
//!
//! Assumes: the lines of one resource come in the order of its decisions. Nothing about clocks,
//! pauses or candidates.
//! Promises: accepted tokens never go down, not even below one that the resource only refused by;
//! one token is shown by one candidate incarnation, the one that gained the term; nobody is refused
//! with a token newer than any the resource met.

use std::collections::BTreeMap;

use incumbent_protocol::history::Event;
use incumbent_protocol::term::Term;

use super::{Cast, Checker, Clock, Contest, Fact, Finding, Spot, Who};

/// Judges the token promise at resources.
#[derive(Debug, Default)]
pub struct FenceOrder {
    /// By the clock of whoever wrote the lines, so that only ordered decisions are compared.
    resources: BTreeMap<(String, Contest, Clock), Newest>,
    shown: BTreeMap<(Contest, Term), Shown>,
    gained: BTreeMap<(Contest, Term), (Who, u64)>,
    finding: Finding,
}

/// The newest token that a resource met.
#[derive(Clone, Copy, Debug)]
struct Newest {
    term: Term,
    from: Option<Who>,
    at: Spot,
}

/// Who first showed a token.
#[derive(Clone, Copy, Debug)]
struct Shown {
    from: Who,
    at: Spot,
}

impl FenceOrder {
    fn accepted(
        &mut self,
        fact: &Fact<'_>,
        resource: &str,
        contest: Contest,
        term: Term,
        from: Who,
    ) {
        self.finding.facts += 1;
        let key = (resource.to_owned(), contest, fact.clock);
        let newest =
            self.resources.entry(key).or_insert(Newest { term, from: Some(from), at: fact.spot() });
        if newest.term > term {
            let cast = fact.cast;
            let before =
                newest.from.map_or_else(String::new, |who| format!(" of {}", cast.candidate(who)));
            self.finding.accuse(
                fact.at,
                format!(
                    "{resource} accepted token {term} of {} at {}, though it had met token {}{before} at {}",
                    cast.candidate(from),
                    fact.at,
                    newest.term,
                    newest.at
                ),
                &[newest.at.line, fact.line],
            );
        } else {
            *newest = Newest { term, from: Some(from), at: fact.spot() };
        }
        self.one_bearer(fact, resource, contest, term, from);
    }

    fn one_bearer(
        &mut self,
        fact: &Fact<'_>,
        resource: &str,
        contest: Contest,
        term: Term,
        from: Who,
    ) {
        let shown = self.shown.entry((contest, term)).or_insert(Shown { from, at: fact.spot() });
        if shown.from != from {
            let story = format!(
                "{resource} accepted token {term} of {} at {}, but that token was first shown by {} at {}",
                fact.cast.candidate(from),
                fact.at,
                fact.cast.candidate(shown.from),
                shown.at
            );
            self.finding.accuse(fact.at, story, &[shown.at.line, fact.line]);
        }
    }

    fn rejected(
        &mut self,
        fact: &Fact<'_>,
        resource: &str,
        contest: Contest,
        term: Term,
        met: Term,
    ) {
        self.finding.facts += 1;
        if met < term {
            let from = fact.other.map(|who| fact.cast.candidate(who).to_string());
            let story = format!(
                "{resource} refused token {term} of {} at {}, though the newest it had met was {met}",
                from.unwrap_or_default(),
                fact.at
            );
            self.finding.accuse(fact.at, story, &[fact.line]);
        }
        let key = (resource.to_owned(), contest, fact.clock);
        let newest = Newest { term: met, from: None, at: fact.spot() };
        let known = self.resources.entry(key).or_insert(newest);
        if known.term < met {
            *known = newest;
        }
    }
}

impl Checker for FenceOrder {
    const NAME: &'static str = "fence_order";

    fn line(&mut self, fact: &Fact<'_>) {
        match (fact.event, fact.contest, fact.other) {
            (Event::Gained { term, .. }, Some(contest), _) => {
                self.gained.entry((contest, *term)).or_insert((fact.who, fact.line));
            }
            (Event::Accepted { resource, term, .. }, Some(contest), Some(from)) => {
                self.accepted(fact, resource, contest, *term, from);
            }
            (Event::Rejected { resource, term, newest, .. }, Some(contest), _) => {
                self.rejected(fact, resource, contest, *term, *newest);
            }
            _ => {}
        }
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        // Only now are the gains of all candidates known, whatever clocks they stand on.
        for (&(contest, term), shown) in &self.shown {
            let from = cast.candidate(shown.from);
            let gained = self.gained.get(&(contest, term)).copied();
            let story = match gained {
                Some((who, _)) if who == shown.from => continue,
                Some((who, _)) => format!(
                    "token {term} was accepted from {from}, but {} gained that term",
                    cast.candidate(who)
                ),
                None if !cast.has_spoken(shown.from) => continue,
                None => {
                    format!("token {term} was accepted from {from}, who never gained that term")
                }
            };
            let lines = gained.map(|(_, line)| line).into_iter().chain([shown.at.line]);
            self.finding.accuse(shown.at.at, story, &lines.collect::<Vec<_>>());
        }
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use incumbent_protocol::history::Line;

    fn accepted(millis: u64, from: u8, number: u64) -> Line {
        let event = Event::Accepted {
            resource: "table".to_owned(),
            election: election(),
            term: term(number),
            from: id(from),
        };
        line(millis, WORLD, event)
    }

    fn rejected(millis: u64, from: u8, number: u64, newest: u64) -> Line {
        let event = Event::Rejected {
            resource: "table".to_owned(),
            election: election(),
            term: term(number),
            from: id(from),
            newest: term(newest),
        };
        line(millis, WORLD, event)
    }

    #[test]
    fn tokens_that_stay_or_grow_are_in_order() {
        let lines = [accepted(1, A, 5), accepted(2, A, 5), accepted(3, B, 6), rejected(4, A, 5, 6)];
        assert_eq!(clean::<FenceOrder>(&lines), 4);
    }

    #[test]
    fn a_deposed_leader_that_is_accepted_after_its_successor_is_told() {
        let lines = [accepted(1, B, 6), accepted(2, A, 5)];
        accused::<FenceOrder>(&lines, &["token 5 of a#", "token 6 of b#", "at 0.001s"]);
    }

    #[test]
    fn a_token_below_one_that_others_were_refused_by_is_told() {
        let lines = [rejected(1, A, 5, 7), accepted(2, B, 6)];
        accused::<FenceOrder>(&lines, &["token 6 of b#", "met token 7"]);
    }

    #[test]
    fn one_token_from_two_candidates_is_told() {
        let lines = [accepted(1, A, 5), accepted(2, B, 5)];
        accused::<FenceOrder>(&lines, &["token 5 of b#", "first shown by a#"]);
    }

    #[test]
    fn a_token_that_another_gained_is_told_even_if_the_gain_is_read_later() {
        let lines = [accepted(1, A, 5), gained(2, B, 5, 9)];
        accused::<FenceOrder>(&lines, &["accepted from a#", "but b#", "gained that term"]);
    }

    #[test]
    fn a_token_of_a_candidate_that_wrote_and_never_gained_it_is_told() {
        let lines = [opened(0, A, "one"), accepted(1, A, 5)];
        accused::<FenceOrder>(&lines, &["never gained"]);
    }

    #[test]
    fn a_rightful_leader_that_is_refused_is_told() {
        let lines = [accepted(1, A, 5), rejected(2, B, 6, 5)];
        accused::<FenceOrder>(&lines, &["refused token 6 of b#", "newest it had met was 5"]);
    }
}
