//! How a former leader comes back, and what is wrong with a wait that is too short.
//!
//! Assumes: nothing. Promises: an error names both numbers that do not fit each other.

use core::time::Duration;

/// What a node does that comes back, or is new, while somebody lower than it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rejoin {
    /// It asks who leads, and leaves it at that.
    #[default]
    Sticky,
    /// It begins a run at once, so that the highest is picked.
    Preempting,
}

/// A wait that would end before what it waits for can have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} of {span:?} is too short: it must be at least {least:?}, {reason}")]
pub struct WaitError {
    /// Which wait.
    pub what: &'static str,
    /// How long it is.
    pub span: Duration,
    /// How long it must be at least.
    pub least: Duration,
    /// Why.
    pub reason: &'static str,
}

/// Refuses a wait that is shorter than `least`.
pub(crate) fn at_least(
    what: &'static str,
    span: Duration,
    least: Duration,
    reason: &'static str,
) -> Result<(), WaitError> {
    if span < least { Err(WaitError { what, span, least, reason }) } else { Ok(()) }
}
