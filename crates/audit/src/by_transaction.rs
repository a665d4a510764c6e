//! Work done in a fenced transaction commits only if the leadership that began it still stands.
//!
//! Assumes: whoever runs the store writes what it issues and commits in the order of its commits.
//! Nothing about clocks, pauses or candidates.
//! Promises: in the store's own order no transaction of a term comes after the claim of a higher
//! one; a term's transactions come from the candidate that it was issued to; each has a place of its
//! own; what a candidate was told to be committed is in the store, and what it was told to be
//! refused is not. An outcome that is unknown is neither. After a store went back, the order is the
//! one that it then has: the term that it shows may go on, for the candidate that had it, and a term
//! that was lost commits nothing.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::history::{Conclusion, Event};
use incumbent_protocol::term::Term;

use super::grid::Grid;
use super::{Cast, Checker, Contest, Fact, Finding, Spot, Who};

/// Judges fenced transactions.
#[derive(Debug, Default)]
pub struct ByTransaction {
    /// By the clock of whoever wrote the lines, so that only ordered commits are compared.
    stores: Grid<Store>,
    /// Elections of which a store wrote its commits.
    kept: BTreeSet<Contest>,
    works: BTreeMap<(Contest, Who, u64), Work>,
    finding: Finding,
}

/// What the store of one election has issued and committed.
#[derive(Debug, Default)]
struct Store {
    newest: Option<(Term, Option<Who>, Spot)>,
    /// Whom each term was issued to, also before the store went back.
    holders: BTreeMap<Term, Who>,
    /// When it last went back.
    rewound: Option<Spot>,
    /// The last place, and the line that tells of it.
    position: Option<(u64, u64)>,
}

/// What is known of a work of which not everything is known yet.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// It is in the store, and its candidate has said nothing.
    Stored(u64),
    /// Its candidate was told so, and the store has said nothing.
    Told(Conclusion, Spot),
}

impl ByTransaction {
    fn committed(&mut self, fact: &Fact<'_>, contest: Contest, from: Who, term: Term, place: u64) {
        self.finding.facts += 1;
        self.kept.insert(contest);
        let who = fact.cast.candidate(from);
        let (election, at) = (fact.cast.election(contest), fact.at);
        let store = self.stores.at(contest, fact.clock);
        let story = match store.newest {
            Some((newest, _, since)) if newest > term => Some(format!(
                "work of {who} in term {term} of {election} was committed at {at}, though term {newest} was issued at {since}"
            )),
            Some((newest, Some(to), _)) if newest == term && to != from => Some(format!(
                "work of {who} was committed at {at} in term {term} of {election}, which was issued to {}",
                fact.cast.candidate(to)
            )),
            newest if newest.is_none_or(|(newest, ..)| newest < term) => {
                store.rewound.map(|rewound| format!(
                    "work of {who} was committed at {at} in term {term} of {election}, which was lost when the store went back at {rewound}"
                ))
            }
            _ => None,
        };
        if let Some(story) = story {
            let since = store.newest.map(|(_, _, since)| since.line);
            let lines = since.into_iter().chain([fact.line]);
            self.finding.accuse(at, story, &lines.collect::<Vec<_>>());
        }
        if let Some((last, line)) = store.position.filter(|&(last, _)| place <= last) {
            let story = format!(
                "work of {who} in term {term} of {election} was committed at {at} in place {place}, after place {last}"
            );
            self.finding.accuse(at, story, &[line, fact.line]);
        }
        store.position = store.position.max(Some((place, fact.line)));
    }

    /// The store says that it has a work.
    fn stored(&mut self, fact: &Fact<'_>, key: (Contest, Who, u64)) {
        match self.works.remove(&key) {
            None => {
                self.works.insert(key, Work::Stored(fact.line));
            }
            Some(Work::Stored(before)) => {
                let lines = [before, fact.line];
                self.accuse(fact.spot(), fact.cast, key, "was committed twice", &lines);
                self.works.insert(key, Work::Stored(fact.line));
            }
            Some(Work::Told(Conclusion::Refused, told)) => {
                let what = "was told to be refused, and was committed";
                self.accuse(fact.spot(), fact.cast, key, what, &[told.line, fact.line]);
            }
            Some(Work::Told(..)) => {}
        }
    }

    /// A candidate says what it was told of a work.
    fn concluded(&mut self, fact: &Fact<'_>, key: (Contest, Who, u64), told: Conclusion) {
        self.finding.facts += 1;
        match (self.works.remove(&key), told) {
            (Some(Work::Stored(line)), Conclusion::Refused) => {
                let what = "was told to be refused, and was committed";
                self.accuse(fact.spot(), fact.cast, key, what, &[line, fact.line]);
            }
            (Some(Work::Stored(_)), _) | (_, Conclusion::Unknown) => {}
            (_, Conclusion::Committed | Conclusion::Refused) => {
                self.works.insert(key, Work::Told(told, fact.spot()));
            }
        }
    }

    fn accuse(
        &mut self,
        at: Spot,
        cast: &Cast,
        key: (Contest, Who, u64),
        what: &str,
        lines: &[u64],
    ) {
        let (contest, who, work) = key;
        let (who, election) = (cast.candidate(who), cast.election(contest));
        let story = format!("work {work} of {who} in {election} {what}, as was told at {at}");
        self.finding.accuse(at.at, story, lines);
    }
}

impl Checker for ByTransaction {
    const NAME: &'static str = "by_transaction";

    fn line(&mut self, fact: &Fact<'_>) {
        match (fact.event, fact.contest, fact.other) {
            (Event::Issued { term, .. }, Some(contest), to) => {
                let store = self.stores.at(contest, fact.clock);
                if let Some(to) = to {
                    store.holders.insert(*term, to);
                }
                if store.newest.is_none_or(|(newest, ..)| newest < *term) {
                    store.newest = Some((*term, to, fact.spot()));
                }
            }
            (Event::Committed { term, work, position, .. }, Some(contest), Some(from)) => {
                self.committed(fact, contest, from, *term, *position);
                self.stored(fact, (contest, from, *work));
            }
            (Event::Concluded { work, outcome, .. }, Some(contest), _) => {
                self.concluded(fact, (contest, fact.who, *work), *outcome);
            }
            (Event::Rewound { newest, position, .. }, Some(contest), _) => {
                let store = self.stores.at(contest, fact.clock);
                let holder = |term| store.holders.get(&term).copied();
                store.newest = newest.map(|term| (term, holder(term), fact.spot()));
                store.rewound = Some(fact.spot());
                store.position = Some((*position, fact.line));
            }
            _ => {}
        }
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        for (key, work) in core::mem::take(&mut self.works) {
            if let Work::Told(Conclusion::Committed, at) = work
                && self.kept.contains(&key.0)
            {
                let what = "was told to be committed, and never was";
                self.accuse(at, cast, key, what, &[at.line]);
            }
        }
        self.finding
    }
}

#[cfg(test)]
#[path = "by_transaction_test.rs"]
mod tests;
