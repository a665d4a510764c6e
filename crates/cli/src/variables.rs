//! Variables of the environment that look like settings and are none.
//!
//! Assumes: every setting has a flag, but for those that this program hands to its own processes.
//! Promises: each is told once, with the setting that was probably meant; none stops anything.

use serde::Serialize;

use crate::flags::{Flags, SECRET};
use crate::printer::Printer;

/// What all settings begin with.
const START: &str = "INCUMBENT_";

/// No flags: what `run` tells its command, which may call this program again, and the secret.
const OTHERS: [&str; 3] = ["INCUMBENT_TOKEN", "INCUMBENT_SLOT", SECRET];

/// More changes of one letter than that make another word.
const TYPOS_MAX: usize = 2;

/// Warns of variables that are almost a setting. What is far from all of them belongs to others: a
/// container beside a service named `incumbent` has `INCUMBENT_PORT` and more.
pub(crate) fn warn(printer: &Printer) {
    let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let given: Vec<String> = given.filter(|name| name.starts_with(START)).collect();
    if given.is_empty() {
        return;
    }
    let known = Flags::variables();
    let known: Vec<&str> = known.iter().map(String::as_str).chain(OTHERS).collect();
    for name in given {
        if let Some(meant) = meant(&name, &known) {
            let text = format!("{name} means nothing to this program: was {meant} meant?");
            let value = Warning { event: "warning", text: &text };
            printer.event(format!("warning: {text}"), &value);
        }
    }
}

/// A warning as programs read it.
#[derive(Debug, Serialize)]
struct Warning<'a> {
    event: &'static str,
    text: &'a str,
}

/// The setting that is nearest to this name, if the name is none itself.
fn meant<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&name) {
        return None;
    }
    let far = known.iter().map(|it| (distance(name, it), *it));
    far.min().filter(|(far, _)| *far <= TYPOS_MAX).map(|(_, it)| it)
}

/// How many letters must be added, removed or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], line + 1);
        for (at, it) in other.iter().enumerate() {
            let changed = before + usize::from(*it != letter);
            before = row[at + 1];
            row[at + 1] = changed.min(before + 1).min(row[at] + 1);
        }
    }
    *row.last().unwrap_or(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_names_the_nearest_setting_and_a_stranger_none() {
        let known = ["INCUMBENT_URL", "INCUMBENT_ELECTION", "INCUMBENT_ME"];
        for (name, setting) in [
            ("INCUMBENT_URI", Some("INCUMBENT_URL")),
            ("INCUMBENT_ELECTON", Some("INCUMBENT_ELECTION")),
            ("INCUMBENT_ELECTIONS", Some("INCUMBENT_ELECTION")),
            ("INCUMBENT_URL", None),
            ("INCUMBENT_PORT", None),
            ("INCUMBENT_SERVICE_HOST", None),
        ] {
            assert_eq!(meant(name, &known), setting, "{name}");
        }
    }
}
