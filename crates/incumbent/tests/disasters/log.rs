//! What writers tried, and what they were told of it.
//!
//! Assumes: each attempt has a number of its own within its term.
//! Promises: an attempt is only called kept if the commit was acknowledged, and only undone if no
//! commit was sent or the library said that nothing was written.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a writer knows of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is committed.
    Kept,
    /// It is not, because its term was over.
    Fenced,
    /// It is not, for any other reason.
    Undone,
    /// The answer was lost.
    Doubt,
}

/// One fenced transaction.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) candidate: usize,
    pub(crate) election: String,
    pub(crate) term: u64,
    pub(crate) number: u64,
    pub(crate) fate: Fate,
    /// Whether the leadership was valid after it.
    pub(crate) valid: bool,
}

/// Everything that all writers of a story tried.
#[derive(Debug, Default)]
pub(crate) struct Log {
    attempts: Mutex<Vec<Attempt>>,
    troubles: Mutex<Vec<String>>,
}

impl Log {
    pub(crate) fn attempts(&self) -> MutexGuard<'_, Vec<Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What campaigns failed with, or changes told of.
    pub(crate) fn troubles(&self) -> MutexGuard<'_, Vec<String>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many attempts met this fate.
    pub(crate) fn count(&self, fate: Fate) -> usize {
        self.attempts().iter().filter(|attempt| attempt.fate == fate).count()
    }

    /// How often a valid leader of this election committed, and the last of these attempts.
    pub(crate) fn led(&self, election: &str) -> (usize, Option<Attempt>) {
        let attempts = self.attempts();
        let led = |attempt: &&Attempt| {
            attempt.election == election && attempt.fate == Fate::Kept && attempt.valid
        };
        (attempts.iter().filter(led).count(), attempts.iter().rev().find(led).cloned())
    }
}
