//! What an error of MySQL or MariaDB means here.
//!
//! Assumes: their error numbers.
//! Promises: what the server undid, also what a cluster undid at the very commit, is told apart from
//! what is not known; a missing table from a server that is away.

use sqlx::mysql::MySqlDatabaseError;

use crate::error::Error;
use crate::server::dialect;

/// What an error of MySQL or MariaDB means here.
pub(super) fn trouble(error: &sqlx::Error) -> Error {
    let Some(inner) = error.as_database_error() else {
        return Error::Store(dialect::unheard(error));
    };
    let message = inner.message();
    let number =
        inner.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number);
    match number {
        // 1213: deadlock, and the certification that a cluster refused; 1020: changed since it was
        // read; 1062: two who insert the same first row; 1304 and 1060: two who make the same routine or
        // add the same column.
        1213 | 1020 | 1062 | 1304 | 1060 => Error::Conflict(message.to_owned()),
        // An error during COMMIT undid it only if it was such a deadlock.
        1180 if message.contains("eadlock") => Error::Conflict(message.to_owned()),
        1305 if message.contains("incumbent_guard") => {
            Error::Store(format!("{message}: make it with `incumbent schema --apply --url URL`"))
        }
        1146 => Error::Corrupt { place: String::new(), problem: message.to_owned() },
        1290 | 1792 | 1836 => Error::ReadOnly(format!("{message}: nobody can be elected on it")),
        1142 | 1143 | 1227 | 1370 => Error::Store(format!(
            "{message}: have the owner run what `incumbent schema --grants USER --url URL` prints"
        )),
        // Whoever may not see a database is not told whether there is one.
        1044 => Error::Store(format!(
            "{message}: create it first, have the owner run what `incumbent schema --grants USER --url URL` prints, or check the URL"
        )),
        1045 | 1698 => {
            Error::Store(format!("{message}: check the user and the password of the URL"))
        }
        1049 => Error::Store(format!("{message}: create it first, or check the URL")),
        1040 | 1203 | 1226 => Error::Store(format!(
            "{message}: close connections, or raise max_connections; each candidate process keeps one connection"
        )),
        1021 | 1114 => Error::Store(format!("{message}: the server's disk is full")),
        1205 | 1969 | 3024 => Error::Store(format!(
            "{message}: somebody holds a lock on the election's row, or the server is overloaded"
        )),
        1047 => {
            Error::Store(format!("{message}: this node has lost its cluster and can elect nobody"))
        }
        _ => Error::Store(message.to_owned()),
    }
}
