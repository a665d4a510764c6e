//! The tables on a server: made when asked to, versioned, brought up to date, never downgraded.
//!
//! Assumes: a user that may create tables, for as long as it takes to make them; candidates need
//! far less.
//! Promises: a schema of a newer version is refused and left alone; two who bring it up to date at
//! once do not harm each other; nothing of the user's is touched.

use std::time::Duration;

use sqlx::{Connection, Database};

use super::dialect::{Dialect, Limits};
use super::hosts::Hosts;
use crate::error::Error;
use crate::schema::Applied;

/// How often making the tables is tried again while another does the same, and how soon.
const PATIENCE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// How long connecting may take.
const PATIENCE_TO_CONNECT: Duration = Duration::from_secs(30);

/// What brings a schema from one version to the next.
#[derive(Debug)]
pub(crate) struct Step {
    /// The version that it leads to.
    pub(crate) version: i64,
    /// The statements, apart because some servers take a routine only by itself.
    pub(crate) statements: &'static [&'static str],
}

/// The version that this program writes and reads.
pub(crate) fn known<D: Dialect>() -> i64 {
    D::STEPS.last().map_or(0, |step| step.version)
}

/// All statements, for people who want to see or run them first.
pub(crate) fn sql<D: Dialect>() -> String {
    let mut sql = String::new();
    for step in D::STEPS {
        for statement in step.statements {
            sql += &by_hand(statement.trim());
        }
        sql += &note("schema_version", &format!("'{}'", step.version));
        sql += ";\n\n";
    }
    for statement in once::<D>() {
        sql += &statement;
        sql += ";\n\n";
    }
    sql
}

/// A statement as people's own clients want it: those of MySQL end a statement at its first
/// semicolon, unless they are told of another sign.
fn by_hand(statement: &str) -> String {
    if statement.contains("PROCEDURE incumbent_guard(") {
        format!("DELIMITER //\n{statement}\n//\nDELIMITER ;\n\n")
    } else {
        format!("{statement};\n\n")
    }
}

/// The version that is there, if any.
pub(crate) async fn version<D: Dialect>(
    connection: &mut <D::Db as Database>::Connection,
) -> Result<Option<i64>, Error> {
    let tables = D::send(connection, D::TABLES.to_owned()).await.map_err(D::trouble)?;
    if tables.first().and_then(|reply| reply.cell()) != Some("1") {
        return Ok(None);
    }
    let version = "SELECT value FROM incumbent_meta WHERE item = 'schema_version'".to_owned();
    let found = D::send(connection, version).await.map_err(D::trouble)?;
    let Some(found) = found.first().and_then(|reply| reply.cell()) else {
        return Ok(None);
    };
    let problem = "its version is no number".to_owned();
    let found = found.parse().map_err(|_| Error::Corrupt { place: String::new(), problem });
    found.map(Some)
}

/// Connects, and makes what is missing.
pub(crate) async fn make<D: Dialect>(hosts: &Hosts<D>) -> Result<Applied, Error> {
    // Making tables may take longer than any round may.
    let at_open = |error: Error| match error {
        Error::Store(problem) | Error::ReadOnly(problem) | Error::Conflict(problem) => {
            Error::Open { place: hosts.place(), problem }
        }
        other => other,
    };
    let connected = hosts.connect(Limits::generous(), PATIENCE_TO_CONNECT, false).await;
    let (mut connection, _) = connected.map_err(at_open)?;
    let mut applied = apply::<D>(&mut connection).await;
    // Whoever makes them at the same moment makes the same.
    for _ in 0..PATIENCE {
        if !matches!(applied, Err(Error::Conflict(_))) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        applied = apply::<D>(&mut connection).await;
    }
    let applied = applied.map_err(at_open);
    // Nothing is left to be done on it, so that nothing is lost if this fails.
    let _ = connection.close().await;
    applied
}

/// Makes what is missing, and nothing else. Tells from which version to which.
async fn apply<D: Dialect>(
    connection: &mut <D::Db as Database>::Connection,
) -> Result<Applied, Error> {
    let (found, known) = (version::<D>(connection).await?, known::<D>());
    if let Some(found) = found.filter(|&found| found > known) {
        return Err(Error::SchemaNewer { found, known });
    }
    for step in D::STEPS.iter().filter(|step| found.is_none_or(|found| step.version > found)) {
        for statement in step.statements {
            D::send(connection, (*statement).to_owned()).await.map_err(D::trouble)?;
        }
        // Only when all of it is in place; each statement may be run again.
        let noted = note("schema_version", &format!("'{}'", step.version));
        D::send(connection, noted).await.map_err(D::trouble)?;
    }
    for statement in once::<D>() {
        D::send(connection, statement).await.map_err(D::trouble)?;
    }
    Ok(Applied { from: found, to: known })
}

/// Replaces what the database says about itself, in words that every server understands.
fn note(item: &str, value: &str) -> String {
    format!(
        "DELETE FROM incumbent_meta WHERE item = '{item}';
INSERT INTO incumbent_meta (item, value) VALUES ('{item}', {value})"
    )
}

/// What the database knows about itself from the beginning. What is there already stays: it may be
/// in use.
fn once<D: Dialect>() -> [String; 2] {
    let lineage = format!("CONCAT({}, ' ')", D::LINEAGE);
    [("probe", "''"), ("lineage", lineage.as_str())].map(|(item, value)| {
        format!(
            "INSERT INTO incumbent_meta (item, value) SELECT '{item}', {value} FROM (SELECT 1 AS one) AS it
WHERE NOT EXISTS (SELECT 1 FROM incumbent_meta WHERE item = '{item}')"
        )
    })
}
