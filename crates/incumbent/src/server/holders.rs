//! Who keeps a lock of an election on a server.
//!
//! Assumes: the user may see the sessions of others, or at least that they are there.
//! Promises: asks without a lock. Elections need no such right: whoever lacks it is told so by the
//! server's own words.

use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use sqlx::Database;

use super::dialect::{Dialect, Reply};
use crate::store::holder::LockHolder;

/// Everybody who has a lock at this moment.
pub(crate) async fn read<D: Dialect>(
    connection: &mut <D::Db as Database>::Connection,
) -> sqlx::Result<Vec<LockHolder>> {
    let replies = D::send(connection, D::HOLDERS.to_owned()).await?;
    Ok(replies.last().map(holders).unwrap_or_default())
}

/// Reads the answer to [`Dialect::HOLDERS`].
fn holders(reply: &Reply) -> Vec<LockHolder> {
    let rows = reply.rows.iter().map(|row| {
        // What a program calls itself may be anything.
        let cell = |at: usize| row.get(at)?.as_ref().map(|it| it.replace(char::is_control, " "));
        LockHolder {
            election: cell(0).and_then(|name| ElectionName::new(&name).ok()),
            who: cell(1).unwrap_or_default(),
            what: cell(2).unwrap_or_default(),
            held_for: cell(3).and_then(|it| it.parse().ok()).map(Duration::from_secs),
            end: cell(4),
            work: cell(5).unwrap_or_default(),
        }
    });
    rows.collect()
}
