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
}

/// What one judge found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// How many facts it looked at.
    pub facts: u64,
    /// What was broken: when and how.
    pub broken: Vec<(Time, String)>,
}

impl Finding {
    pub(super) fn accuse(&mut self, at: Time, story: String) {
        self.broken.push((at, story));
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

    pub(super) fn add<C: Checker>(&mut self, checker: C, cast: &Cast) {
        self.take(C::NAME, checker.finish(cast));
    }

    pub(super) fn take(&mut self, property: &'static str, finding: Finding) {
        let Finding { facts, broken } = finding;
        self.checked.push((property, facts));
        let told = |(at, story)| Violation { property, at, story };
        self.violations.extend(broken.into_iter().map(told));
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
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        match self.violations.len() as u64 {
            0 => write!(f, "no broken promise found"),
            broken => write!(f, "{} found", counted(broken, "broken promise")),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.property, self.at, self.story)
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
