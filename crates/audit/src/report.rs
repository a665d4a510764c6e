//! What the judges say, for people and for programs.
//!
//! Assumes: nothing.
//! Promises: a report never calls a property kept that it had no facts about, and it names what it
//! could not judge.

use core::fmt;

use incumbent_protocol::time::Time;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Cast, Checker};

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which one.
    pub property: &'static str,
    /// When, on the clock of those who are named.
    pub at: Time,
    /// How, in a sentence with candidates, terms and times.
    pub story: String,
    /// The lines of the history that it rests on, counted from 1.
    #[serde(skip)]
    pub lines: Vec<u64>,
    /// Where these lines stand, as file and line, if they were read from files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

impl Violation {
    /// One that no line of a history shows.
    pub fn unwritten(property: &'static str, at: Time, story: String) -> Self {
        Violation { property, at, story, lines: Vec::new(), places: Vec::new() }
    }
}

/// What one judge found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// How many facts it looked at.
    pub facts: u64,
    /// What was broken.
    pub broken: Vec<Told>,
    /// What breaks no promise, and is worth a look.
    pub noted: Vec<Told>,
}

/// What a judge tells: when, how, and the lines that it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: Time,
    /// How.
    pub story: String,
    /// By which lines.
    pub lines: Vec<u64>,
}

impl Finding {
    pub(super) fn accuse(&mut self, at: Time, story: String, lines: &[u64]) {
        self.broken.push(Told { at, story, lines: lines.to_vec() });
    }

    pub(super) fn note(&mut self, at: Time, story: String, lines: &[u64]) {
        self.noted.push(Told { at, story, lines: lines.to_vec() });
    }
}

/// What all judges say of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Each property, and how many facts were looked at for it.
    #[serde(serialize_with = "as_map")]
    pub checked: Vec<(&'static str, u64)>,
    /// What was broken, oldest first.
    pub violations: Vec<Violation>,
    /// What breaks no promise and is worth a look: documented exceptions, and signs of missing lines.
    pub notes: Vec<Violation>,
    /// How many elections were named.
    pub elections: usize,
    /// How many terms were gained.
    pub terms: usize,
    /// How many candidates wrote.
    pub candidates: usize,
    /// How many lines were read.
    pub lines: u64,
    /// How many lines were cut short and left out.
    pub torn: usize,
    /// How many pairs of leases stand on different clocks, so that only their terms could be
    /// compared.
    pub not_comparable: u64,
}

impl Report {
    /// Whether no promise was seen to be broken.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether pairs of leases were left out of what was judged.
    fn is_partial(&self, property: &str) -> bool {
        self.not_comparable > 0 && property == super::AtMostOneLease::NAME
    }

    pub(super) fn add<C: Checker>(&mut self, checker: C, cast: &Cast) {
        self.take(C::NAME, checker.finish(cast));
    }

    pub(super) fn take(&mut self, property: &'static str, finding: Finding) {
        let Finding { facts, broken, noted } = finding;
        self.checked.push((property, facts));
        let told = |Told { at, story, mut lines }: Told| {
            lines.sort_unstable();
            lines.dedup();
            Violation { property, at, story, lines, places: Vec::new() }
        };
        self.violations.extend(broken.into_iter().map(told));
        self.notes.extend(noted.into_iter().map(told));
    }

    /// Brings what was told into its order, and says where the lines stand that it rests on.
    pub(super) fn locate(&mut self, place: impl Fn(u64) -> Option<String>) {
        for told in self.violations.iter_mut().chain(&mut self.notes) {
            told.places = told.lines.iter().filter_map(|&line| place(line)).collect();
        }
    }

    fn broken(&self, property: &str) -> usize {
        let of_it = |v: &&Violation| v.property == property;
        self.violations.iter().filter(of_it).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} by {} about {}: {}",
            counted(self.lines, "line"),
            counted(self.candidates as u64, "candidate"),
            counted(self.elections as u64, "election"),
            counted(self.terms as u64, "term"),
        )?;
        for &(property, facts) in &self.checked {
            let verdict = match (self.broken(property), facts) {
                (0, 0) => "nothing to judge".to_owned(),
                (0, _) if self.is_partial(property) => {
                    format!("kept where clocks are the same ({})", counted(facts, "fact"))
                }
                (0, _) => format!("kept ({})", counted(facts, "fact")),
                (times, _) => format!("BROKEN {}", counted(times as u64, "time")),
            };
            writeln!(f, "  {property:<24} {verdict}")?;
        }
        if self.torn > 0 {
            let torn = counted(self.torn as u64, "line");
            writeln!(f, "{torn} cut short, as killed processes leave them; left out")?;
        }
        if self.not_comparable > 0 {
            let pairs = counted(self.not_comparable, "pair");
            writeln!(f, "{pairs} of leases on different clocks; only their terms were compared")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        match (self.violations.len() as u64, self.not_comparable) {
            (0, 0) => write!(f, "no broken promise found"),
            (0, pairs) => write!(
                f,
                "no broken promise found, but {} of leases on different clocks could not be compared",
                counted(pairs, "pair")
            ),
            (broken, _) => write!(f, "{} found", counted(broken, "broken promise")),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.property, self.at, self.story)?;
        if self.places.is_empty() { Ok(()) } else { write!(f, " [{}]", self.places.join(", ")) }
    }
}

fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn as_map<S: Serializer>(checked: &[(&'static str, u64)], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(checked.len()))?;
    for (property, facts) in checked {
        map.serialize_entry(property, facts)?;
    }
    map.end()
}
