//! What an error of SQLite means here.
//!
//! Assumes: SQLite's primary result codes.
//! Promises: damage is told apart from what passes by itself.

use std::path::Path;

use crate::error::Error;

/// What an error of SQLite means here.
#[expect(clippy::needless_pass_by_value, reason = "it is the function of many `map_err`s")]
pub(crate) fn trouble(error: sqlx::Error) -> Error {
    if let sqlx::Error::Database(inner) = &error {
        let code = code(&error);
        // 11: malformed; 26: not a database. One of our tables is missing only if somebody dropped
        // it.
        let dropped = inner.message().starts_with("no such table: incumbent_");
        if dropped || matches!(code, Some(11 | 26)) {
            return Error::Corrupt { place: String::new(), problem: inner.message().to_owned() };
        }
        if code == Some(8) {
            let problem = "it is read-only: nobody can be elected in it".to_owned();
            return Error::Open { place: String::new(), problem };
        }
        return Error::Store(inner.message().to_owned());
    }
    Error::Store(error.to_string())
}

/// Whether somebody else holds a lock: 5, busy; 6, locked.
pub(super) fn is_locked(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(5 | 6))
}

/// Whether the disk failed (10, input or output): what was being written may be there all the same.
pub(crate) fn is_disk_trouble(error: &sqlx::Error) -> bool {
    code(error) == Some(10)
}

/// SQLite's primary result code.
fn code(error: &sqlx::Error) -> Option<i64> {
    let code = error.as_database_error()?.code()?.parse::<i64>().ok()?;
    Some(code & 0xff)
}

/// An error of opening this file.
pub(super) fn at(path: &Path, error: Error) -> Error {
    match error {
        Error::Corrupt { problem, .. } => {
            Error::Corrupt { place: path.display().to_string(), problem }
        }
        Error::Store(problem) | Error::Open { problem, .. } => {
            Error::Open { place: path.display().to_string(), problem }
        }
        other => other,
    }
}
