//! Whether a MySQL or MariaDB server is ground for elections: the part that is asked at every start.
//!
//! Assumes: the tables are there.
//! Promises: two messages; nothing is changed.

use sqlx::mysql::MySqlConnection;

use super::My;
use crate::error::Error;
use crate::server::dialect::Dialect;
use crate::server::fit::Unfit;
use crate::store::Manner;

/// Every reason to refuse it, gravest first.
pub(super) async fn unfit(
    connection: &mut MySqlConnection,
    manner: Manner,
) -> Result<Vec<Unfit>, Error> {
    let asked = My::send(connection, include_str!("fit.sql").to_owned()).await;
    let replies = asked.map_err(My::trouble)?;
    let cell = |reply: usize, at: usize| {
        let row = replies.get(reply).and_then(|reply| reply.rows.first());
        row.and_then(|row| row.get(at)).and_then(Option::as_deref).unwrap_or_default()
    };
    if cell(0, 0) != "8" {
        let problem = "one of the tables is missing".to_owned();
        return Err(Error::Corrupt { place: String::new(), problem });
    }
    let mut unfit = Vec::new();
    if !manner.contends {
        return Ok(unfit);
    }
    if cell(0, 1) != "8" {
        unfit.push(Unfit::new(
            "tables",
            "its tables do not all use InnoDB: without transactions nobody can be elected safely",
            "ALTER TABLE each of the eight incumbent_ tables ENGINE = InnoDB",
        ));
    }
    if cell(1, 0) == "1" {
        unfit.push(Unfit::new(
            "endpoint",
            "it is read-only, a replica perhaps: nobody can be elected on it",
            "use the URL of the primary",
        ));
    }
    if cell(2, 1) == "ON" && !manner.single_writer {
        unfit.push(Unfit::new(
            "cluster",
            "it is a node of a Galera cluster, whose nodes do not see each other's row locks: with several writers a \
             deposed leader could still commit",
            "send all candidates to one node at a time and vouch for that with ?galera=single-writer in the URL",
        ));
    }
    if cell(3, 1) == "OFF" && !manner.single_writer {
        unfit.push(Unfit::new(
            "cluster",
            "it replicates in a group with several primaries, which do not see each other's row locks: a deposed leader \
             could still commit",
            "use single-primary mode, or send all candidates to one member at a time and vouch for that with \
             ?galera=single-writer in the URL",
        ));
    }
    if unfit.is_empty() {
        unfit.extend(rights(connection).await?);
    }
    Ok(unfit)
}

/// Does what candidates do, on rows that are not there.
async fn rights(connection: &mut MySqlConnection) -> Result<Option<Unfit>, Error> {
    let tried = My::send(connection, include_str!("rights.sql").to_owned()).await;
    match tried.map_err(My::trouble) {
        Ok(_) => Ok(None),
        Err(Error::Store(said)) => Ok(Some(Unfit { probe: "rights", said, advice: None })),
        Err(other) => Err(other),
    }
}
