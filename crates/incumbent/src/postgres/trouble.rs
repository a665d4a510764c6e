//! What an error of PostgreSQL means here.
//!
//! Assumes: the five-letter codes of the SQL standard and of PostgreSQL.
//! Promises: what the server undid is told apart from what is not known; a missing table from a
//! server that is away.

use crate::error::Error;
use crate::server::dialect;

/// What an error of PostgreSQL means here.
pub(super) fn trouble(error: &sqlx::Error) -> Error {
    let Some(inner) = error.as_database_error() else {
        if let sqlx::Error::Protocol(_) = error {
            return Error::Store(format!(
                "what answers does not speak PostgreSQL's protocol ({error}): check the host and the port of the URL; for \
                 MySQL or MariaDB write mysql://"
            ));
        }
        return Error::Store(dialect::unheard(error));
    };
    let message = inner.message();
    let code = inner.code();
    let code = match code.as_deref().unwrap_or_default() {
        // A pooler says everything under the same code.
        "08P01" if message.contains("authentication failed") => "28P01",
        "08P01" if message.contains("does not exist") || message.contains("no such database") => {
            "3D000"
        }
        code => code,
    };
    match code {
        // Serialization failure, deadlock; and two who insert the same first row.
        "40001" | "40P01" | "23505" |
        // Two who make the same table or routine.
        "42P07" | "42710" | "42723" => Error::Conflict(message.to_owned()),
        "XX000" if message.contains("concurrently updated") => Error::Conflict(message.to_owned()),
        "42883" if message.contains("incumbent_guard") => {
            Error::Store(format!("{message}: make it with `incumbent schema --apply --url URL`"))
        }
        "42P01" => Error::Corrupt { place: String::new(), problem: message.to_owned() },
        "25006" => Error::ReadOnly(format!(
            "{message}: it is a standby, or switched over; nobody can be elected on it"
        )),
        "42501" => Error::Store(format!(
            "{message}: have the owner run what `incumbent schema --grants USER --url URL` prints"
        )),
        "28P01" | "28000" => {
            Error::Store(format!("{message}: check the user and the password of the URL"))
        }
        "3D000" => Error::Store(format!("{message}: create it first, or check the URL")),
        "53300" => Error::Store(format!(
            "{message}: close connections, raise max_connections, or put a pooler before it; each candidate process keeps \
             two connections"
        )),
        "53100" => Error::Store(format!("{message}: the server's disk is full")),
        "55P03" | "57014" => Error::Store(format!(
            "{message}: somebody holds a lock on the election's row, or the server is overloaded"
        )),
        _ => Error::Store(message.to_owned()),
    }
}

/// Whether a pooler answered instead of the server.
pub(super) fn is_pooler(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|inner| {
        let message = inner.message();
        message.contains("unsupported startup parameter")
            || message.contains("statement pooling mode")
    })
}
