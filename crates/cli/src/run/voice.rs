//! What `run` tells on standard error, in words or as JSON.
//!
//! Assumes: standard output belongs to the command.
//! Promises: one line for each transition.

use serde::Serialize;

use crate::printer::Printer;

/// One who tells, and about whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Voice<'a> {
    pub(crate) printer: &'a Printer,
    /// Empty before the store is open.
    pub(crate) candidate: &'a str,
    pub(crate) election: &'a str,
    pub(crate) term: Option<u64>,
}

/// A transition as programs read it.
#[derive(Debug, Serialize)]
struct Transition<'a> {
    event: &'static str,
    election: &'a str,
    candidate: &'a str,
    term: Option<u64>,
    text: &'a str,
}

impl Voice<'_> {
    pub(crate) fn say(&self, event: &'static str, text: &str) {
        let Voice { printer, candidate, election, term } = *self;
        let who = if candidate.is_empty() { String::new() } else { format!("{candidate}: ") };
        let words = match term {
            Some(term) => format!("{who}{event} (term {term}): {text}"),
            None => format!("{who}{event}: {text}"),
        };
        printer.event(words, &Transition { event, election, candidate, term, text });
    }
}
