//! One thing that was looked at, and what was seen.
//!
//! Assumes: nothing.
//! Promises: the name of a probe is stable, for programs; the words are for people.

use serde::Serialize;

use crate::error::Error;
use crate::store::holder::LockHolder;

/// What a finding means for elections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Elections work, and somebody should know about this.
    Warn,
    /// No election can be held, or none can be safe, before this is changed.
    Refuse,
}

impl Verdict {
    /// The word used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Warn => "warn",
            Verdict::Refuse => "refuse",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What was looked at, in a word or two.
    pub probe: &'static str,
    /// What it means.
    pub verdict: Verdict,
    /// What was seen.
    pub said: String,
    /// What to do about it, if anything.
    pub advice: Option<String>,
}

/// Findings, as they come in.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    pub(crate) fn good(&mut self, probe: &'static str, said: impl Into<String>) {
        self.add(probe, Verdict::Good, said.into(), None);
    }

    pub(crate) fn warn(
        &mut self,
        probe: &'static str,
        said: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(probe, Verdict::Warn, said.into(), Some(advice.into()));
    }

    pub(crate) fn refuse(
        &mut self,
        probe: &'static str,
        said: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(probe, Verdict::Refuse, said.into(), Some(advice.into()));
    }

    /// Something could not be tried: nothing is known about it.
    pub(crate) fn untried(&mut self, probe: &'static str, why: &str) {
        self.add(probe, Verdict::Warn, format!("not tried: {why}"), None);
    }

    /// Who holds elections up.
    pub(crate) fn holders(&mut self, found: Result<Vec<LockHolder>, Error>) {
        match found {
            Ok(holders) if holders.is_empty() => self.good("held up", "nobody keeps a lock"),
            Ok(holders) => holders.iter().for_each(|one| {
                let advice = "orders and claims wait for it: find out why that work does not end";
                self.warn("held up", one.to_string(), advice);
            }),
            Err(error) => self.untried("held up", &format!("this user cannot see it ({error})")),
        }
    }

    pub(crate) fn add(
        &mut self,
        probe: &'static str,
        verdict: Verdict,
        said: String,
        advice: Option<String>,
    ) {
        self.0.push(Finding { probe, verdict, said, advice });
    }

    /// Whether this was looked at and refused.
    pub(crate) fn is_refused(&self, probe: &str) -> bool {
        self.0.iter().any(|it| it.probe == probe && it.verdict == Verdict::Refuse)
    }
}
