//! What happened in a world, for transcripts and for the referee.
//!
//! Assumes: entries are written in the order of true time. Promises: nothing that the referee needs
//! stands elsewhere.

use core::time::Duration;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::term::Term;

use super::post::Kind;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// True time.
    pub(crate) at: Duration,
    /// Which process, by number.
    pub(crate) who: usize,
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A process began a life.
    Began,
    /// It told something. `until` is the true end of the lease that it tells of, by its clock as it
    /// runs now.
    Told { notice: Notice, until: Option<Duration> },
    /// It asked the store for something.
    Asked(Kind),
    /// It waited for an answer as long as it may.
    GaveUp(Kind),
    /// A request took effect, or was refused, after its sender had given up.
    CameLate(Kind),
    /// The work under a term ended.
    WorkEnded(Term),
    /// It was stopped from outside, and will wake at that instant.
    Stopped { until: Duration },
    /// Its clock cannot be trusted any more, and it will be told before it does anything else.
    ClockDoubted,
    /// It died.
    Crashed,
}
