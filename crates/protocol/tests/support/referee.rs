//! Judges the log of a world.
//!
//! Assumes: the log is complete and in order.
//! Promises: an `Err` names the first rule that was broken, by whom and when. The work of a term
//! counts as running from the notice of the gain until the work ended, the process died, its clock
//! was doubted or the lease ran out, whichever comes first: not merely until the loss was told,
//! because work takes time to stop.

use core::fmt::Write as _;
use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::term::Term;

use super::log::{Entry, What};

/// A span of true time in which a process could act under a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) who: usize,
    pub(crate) term: Term,
    pub(crate) from: Duration,
    pub(crate) until: Duration,
}

/// All rules.
pub(crate) fn judge(log: &[Entry]) -> Result<(), String> {
    at_most_one_lease(log)?;
    every_gain_has_one_loss(log)
}

/// No two windows overlap.
pub(crate) fn at_most_one_lease(log: &[Entry]) -> Result<(), String> {
    let mut windows = windows(log);
    windows.sort_by_key(|window| (window.from, window.until));
    let mut last: Option<Window> = None;
    for window in windows {
        if let Some(before) = last.as_ref().filter(|before| window.from < before.until) {
            return Err(format!("two leases at once: {before:?} and {window:?}"));
        }
        last = Some(window);
    }
    Ok(())
}

/// In one life terms grow, every gain but the last is followed by exactly one loss, and a lost term
/// stays lost.
pub(crate) fn every_gain_has_one_loss(log: &[Entry]) -> Result<(), String> {
    let mut held: BTreeMap<usize, Option<Term>> = BTreeMap::new();
    let mut newest: BTreeMap<usize, Term> = BTreeMap::new();
    for entry in log {
        let who = entry.who;
        let now = held.entry(who).or_default();
        let mut wrong = String::new();
        match &entry.what {
            What::Began | What::Crashed => *now = None,
            What::Told { notice, .. } => match notice {
                Notice::Gained { term, .. } => {
                    if now.is_some() || newest.get(&who).is_some_and(|newest| newest >= term) {
                        write!(wrong, "{term} gained after {newest:?}").expect("text");
                    }
                    *now = Some(*term);
                    newest.insert(who, *term);
                }
                Notice::Lost { term, .. } => {
                    let lost = now.take();
                    if lost != Some(*term) {
                        write!(wrong, "{term} lost, but {lost:?} held").expect("text");
                    }
                }
                Notice::Renewed { term, .. } | Notice::Unsure { term } if *now != Some(*term) => {
                    write!(wrong, "{term} renewed or unsure but not held").expect("text");
                }
                _ => {}
            },
            _ => {}
        }
        if !wrong.is_empty() {
            return Err(format!("{:?}: process {who}: {wrong}", entry.at));
        }
    }
    Ok(())
}

/// The spans in which work could run.
pub(crate) fn windows(log: &[Entry]) -> Vec<Window> {
    let mut open: BTreeMap<usize, Window> = BTreeMap::new();
    let mut closed = Vec::new();
    let mut close = |window: Option<Window>, at: Duration| {
        closed.extend(window.map(|window| Window { until: window.until.min(at), ..window }));
    };
    for &Entry { at, who, ref what } in log {
        match what {
            What::Told { notice, until } => match (notice, until) {
                (Notice::Gained { term, .. }, Some(until)) => {
                    close(open.remove(&who), Duration::MAX);
                    let (term, until) = (*term, *until);
                    open.insert(who, Window { who, term, from: at, until });
                }
                (Notice::Renewed { term, .. }, Some(until)) => {
                    let (term, until) = (*term, *until);
                    let from = Window { who, term, from: at, until };
                    let window = open.entry(who).or_insert(from);
                    window.until = window.until.max(until);
                }
                (Notice::Unsure { .. }, _) => close(open.remove(&who), at),
                _ => {}
            },
            What::WorkEnded(term) => {
                if open.get(&who).is_some_and(|window| window.term == *term) {
                    close(open.remove(&who), at);
                }
            }
            What::ClockDoubted | What::Crashed | What::Began => close(open.remove(&who), at),
            What::Asked(_) | What::GaveUp(_) | What::CameLate(_) | What::Stopped { .. } => {}
        }
    }
    closed.extend(open.into_values());
    closed
}
