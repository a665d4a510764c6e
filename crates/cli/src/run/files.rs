//! How many files this process may have open.
//!
//! Assumes: the hard limit is what the administrator allows, the soft one only what is usual.
//! Promises: this program uses what is allowed, and the command finds the limit of before.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The soft limit of before. It is one for the whole process, as the limit is.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Raises the soft limit to the hard one.
pub(crate) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    if let Some(before) = limit.current.filter(|_| limit.current != limit.maximum)
        && set(limit.maximum)
    {
        let _ = BEFORE.set(before);
    }
}

/// What the soft limit was, if it was raised.
pub(crate) fn before() -> Option<u64> {
    BEFORE.get().copied()
}

/// Sets the soft limit. Not every system lets it be everything; then it stays as it is.
pub(crate) fn set(current: Option<u64>) -> bool {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).is_ok()
}
