//! Whether a PostgreSQL server is ground for elections: the part that is asked at every start.
//!
//! Assumes: the tables are there.
//! Promises: one question, and one empty transaction; nothing is changed.

use sqlx::postgres::PgConnection;

use super::{Pg, trouble};
use crate::error::Error;
use crate::server::dialect::Dialect;
use crate::server::fit::Unfit;
use crate::store::Manner;

/// Every reason to refuse it, gravest first.
pub(super) async fn unfit(
    connection: &mut PgConnection,
    manner: Manner,
) -> Result<Vec<Unfit>, Error> {
    let fit = Pg::send(connection, include_str!("fit.sql").to_owned()).await;
    let fit = fit.map_err(Pg::trouble)?;
    let row = fit.first().and_then(|reply| reply.rows.first());
    let row = row.ok_or_else(|| Error::Store("no answer".to_owned()))?;
    let cell = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
    let named = |at: usize| Some(cell(at)).filter(|name| !name.is_empty());
    if let Some(missing) = named(0) {
        let problem = format!("the table {missing} is missing");
        return Err(Error::Corrupt { place: String::new(), problem });
    }
    let mut unfit = Vec::new();
    if !manner.contends {
        return Ok(unfit);
    }
    if cell(1) == "t" {
        unfit.push(Unfit::new(
            "endpoint",
            "it is a read-only standby: nobody can be elected on it",
            "use the URL of the primary",
        ));
    } else if cell(2) == "on" {
        unfit.push(Unfit::new(
            "endpoint",
            "its transactions are read-only: nobody can be elected in it",
            "use the primary, or set default_transaction_read_only = off for this user",
        ));
    }
    if let Some(unlogged) = named(3) {
        unfit.push(Unfit::new(
            "tables",
            format!("the table {unlogged} is unlogged: a crash of the server would empty it under a leader"),
            format!("ALTER TABLE {unlogged} SET LOGGED"),
        ));
    }
    if let Some(lacking) = named(4) {
        unfit.push(Unfit::new(
            "rights",
            format!("this user lacks rights ({lacking})"),
            "have the owner run what `incumbent schema --grants USER --url URL` prints",
        ));
    }
    unfit.extend(pooler(connection).await?);
    Ok(unfit)
}

/// Whether a pooler parts what belongs together.
pub(super) async fn pooler(connection: &mut PgConnection) -> Result<Option<Unfit>, Error> {
    // One message each, or a pooler would not notice that it parts them; and no limit in between, or
    // a client that is slow would be taken for one behind a pooler.
    for step in ["BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0", "COMMIT"] {
        match Pg::send(connection, step.to_owned()).await {
            Ok(_) => {}
            Err(error) if trouble::is_pooler(&error) => {
                return Ok(Some(Unfit::new(
                    "pooler",
                    "there is a pooler before it that does not keep a transaction together (statement mode)",
                    "use transaction or session mode, or connect without it",
                )));
            }
            Err(error) => return Err(Pg::trouble(error)),
        }
    }
    Ok(None)
}
