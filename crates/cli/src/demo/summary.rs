//! What is told at the end of the demo.
//!
//! Assumes: nothing.
//! Promises: it is a success only if every step came about and every promise was judged and kept.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use incumbent::Timing;
use incumbent_audit::Report;
use serde::Serialize;

use crate::span;

/// A change of leaders.
#[derive(Debug, Serialize)]
pub(super) struct Change {
    from: &'static str,
    to: &'static str,
    /// From the blow until the successor's command ran.
    seconds: f64,
}

impl Change {
    pub(super) fn new(from: &'static str, to: &'static str, took: Duration) -> Self {
        Change { from, to, seconds: took.as_secs_f64() }
    }
}

/// Everything that came out.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    ok: bool,
    /// What did not hold, in words.
    failed: Vec<String>,
    /// Seconds.
    lease: f64,
    /// The longest that a failover may take, in seconds.
    bound: f64,
    pub(super) failover: Option<Change>,
    pub(super) handover: Option<Change>,
    /// Processes that could not be ended.
    pub(super) orphans: Vec<u32>,
    audit: Option<Report>,
    /// What the candidates said last, if the story broke off.
    pub(super) logs: Vec<String>,
}

impl Summary {
    pub(super) fn new(timing: &Timing) -> Self {
        Summary {
            ok: false,
            failed: Vec::new(),
            lease: timing.rules().lease().as_secs_f64(),
            bound: timing.failover_bound().as_secs_f64(),
            failover: None,
            handover: None,
            orphans: Vec::new(),
            audit: None,
            logs: Vec::new(),
        }
    }

    /// Something did not hold.
    pub(super) fn fail(&mut self, words: String) {
        self.failed.push(words);
    }

    /// Judges what the candidates wrote down.
    pub(super) fn judge(&mut self, histories: &[PathBuf]) {
        match incumbent_audit::audit(histories) {
            Ok(report) => {
                self.failed.extend(report.violations.iter().map(ToString::to_string));
                // Three leaderships happened: a judge that saw fewer has not seen the story.
                if report.terms < 3 {
                    self.fail(format!("the histories tell of {} terms only", report.terms));
                }
                self.audit = Some(report);
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// Comes to a conclusion.
    pub(super) fn conclude(&mut self) -> bool {
        if !self.orphans.is_empty() {
            self.failed.push(format!("left behind: processes {:?}", self.orphans));
        }
        self.ok = self.failed.is_empty();
        self.ok
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = |change: &Change| span::show(Duration::from_secs_f64(change.seconds));
        writeln!(f)?;
        if let Some(change) = &self.failover {
            let bound = span::show(Duration::from_secs_f64(self.bound));
            writeln!(
                f,
                "failover   {} from {} to {}, bound {bound}",
                took(change),
                change.from,
                change.to
            )?;
        }
        if let Some(change) = &self.handover {
            writeln!(f, "hand-over  {} from {} to {}", took(change), change.from, change.to)?;
        }
        if self.orphans.is_empty() {
            writeln!(f, "orphans    none")?;
        }
        if let Some(report) = &self.audit {
            let kept = report.checked.iter().filter(|(_, facts)| *facts > 0).count();
            let broken = report.violations.len();
            writeln!(
                f,
                "audit      {} lines, {} terms, {kept} properties judged, {broken} broken promises",
                report.lines, report.terms
            )?;
        }
        for words in &self.failed {
            writeln!(f, "failed     {words}")?;
        }
        for words in &self.logs {
            writeln!(f, "log        {words}")?;
        }
        let verdict = if self.ok { "every promise was kept" } else { "the demo failed" };
        write!(f, "{verdict}")
    }
}
