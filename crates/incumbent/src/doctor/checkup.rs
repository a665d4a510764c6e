//! What an examination found.
//!
//! Assumes: nothing.
//! Promises: no secret is in it; spans are seconds where programs read them.

use std::time::Duration;

use incumbent_protocol::rules::Timing;
use serde::{Serialize, Serializer};

use super::finding::{Finding, Findings, Verdict};
use super::promise::{Conditions, Promise};
use super::trips::Trips;

/// What an examination found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Checkup {
    /// What the store is, for example `PostgreSQL`.
    pub product: String,
    /// Which version of it.
    pub version: String,
    /// Where it is, without user and password.
    pub place: String,
    /// Everything that was looked at, in the order in which it was.
    pub findings: Vec<Finding>,
    /// How long a short question takes.
    pub question: Option<Trips>,
    /// How long a short write takes, if one could be tried.
    pub write: Option<Trips>,
    /// What the store can promise.
    pub promises: Vec<Promise>,
    /// How long an election stays without a leader after a crash, at most.
    pub failover: Bound,
}

/// What the store is.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) product: String,
    pub(crate) version: String,
    pub(crate) place: String,
}

impl Checkup {
    pub(crate) fn new(
        identity: Identity,
        findings: Findings,
        (question, write): (Option<Trips>, Option<Trips>),
        timing: &Timing,
        conditions: &Conditions,
        at_once: bool,
    ) -> Checkup {
        let Identity { product, version, place } = identity;
        let promises = conditions.promises(&findings, timing);
        let failover = Bound::of(timing, at_once);
        let findings = findings.0;
        Checkup { product, version, place, findings, question, write, promises, failover }
    }

    /// Whether elections can be held: nothing was refused.
    pub fn is_fit(&self) -> bool {
        self.verdict() != Verdict::Refuse
    }

    /// The gravest of all verdicts.
    pub fn verdict(&self) -> Verdict {
        self.findings.iter().map(|it| it.verdict).max().unwrap_or(Verdict::Good)
    }
}

/// The failover bound and what it is made of: `bound = lease + beat + 2 x timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bound {
    /// The longest that an election stays without a leader after a crash, once the store answers.
    #[serde(serialize_with = "seconds")]
    pub bound: Duration,
    /// The lease, which a challenger waits out.
    #[serde(serialize_with = "seconds")]
    pub lease: Duration,
    /// The beat that may pass before the last renewal is looked for.
    #[serde(serialize_with = "seconds")]
    pub beat: Duration,
    /// How long each of two answers may take.
    #[serde(serialize_with = "seconds")]
    pub timeout: Duration,
    /// Whether the crash of a process is noticed at once, because all candidates are on one host.
    /// The bound then is for what cannot be proved: a leader that hangs.
    pub at_once: bool,
}

impl Bound {
    fn of(timing: &Timing, at_once: bool) -> Bound {
        Bound {
            bound: timing.failover_bound(),
            lease: timing.rules().lease(),
            beat: timing.beat(),
            timeout: timing.timeout(),
            at_once,
        }
    }
}

/// A span, for programs.
pub(super) fn seconds<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_secs_f64())
}
