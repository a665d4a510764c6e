//! A row to try things out on, which nobody else ever looks at.
//!
//! Assumes: no election is called what this row is called: names of elections have other letters.
//! Promises: candidates' own rights are enough where the tables are; where they are not, a table of
//! its own is made if that is allowed. Both are gone afterwards, and what an examination that was
//! killed left behind goes with the next one.

use sqlx::Database;

use super::server::Probed;
use crate::error::Error;

/// Before the name of every such row.
const MARK: &str = "~probe-";

/// How old a row may be before it counts as left behind.
const LEFT_BEHIND: &str = "3600000000";

/// One row.
#[derive(Debug)]
pub(crate) struct Scratch {
    table: String,
    key: String,
    own: bool,
}

impl Scratch {
    /// Makes it, in the table of terms if there is one.
    pub(crate) async fn make<D: Probed>(
        connection: &mut <D::Db as Database>::Connection,
        has_tables: bool,
    ) -> Result<Scratch, Error> {
        let random = getrandom::u64().map_err(|error| Error::Store(error.to_string()))?;
        let key = format!("{MARK}{random:016x}");
        let own = !has_tables;
        let table = if own {
            format!("incumbent_probe_{random:016x}")
        } else {
            "incumbent_term".to_owned()
        };
        let scratch = Scratch { table, key, own };
        let Scratch { table, key, .. } = &scratch;
        let now = D::NOW;
        let before = if own {
            format!(
                "CREATE TABLE {table} (election VARCHAR(64) NOT NULL, term BIGINT NOT NULL, holder VARCHAR(64) NOT NULL,
                    incarnation VARCHAR(64) NOT NULL, opening VARCHAR(16) NOT NULL, began_us BIGINT NOT NULL,
                    PRIMARY KEY (election, term)){}",
                D::TABLE_TAIL
            )
        } else {
            format!(
                "DELETE FROM {table} WHERE election LIKE '{MARK}%' AND began_us < {now} - {LEFT_BEHIND}"
            )
        };
        let row = format!(
            "INSERT INTO {table} (election, term, holder, incarnation, opening, began_us)
            VALUES ('{key}', 1, 'doctor', '', 'one', {now})"
        );
        D::send(connection, before).await.map_err(D::trouble)?;
        D::send(connection, row).await.map_err(D::trouble)?;
        Ok(scratch)
    }

    /// Reads its word, under a lock if one is named.
    pub(crate) fn read(&self, lock: &str) -> String {
        let Scratch { table, key, .. } = self;
        format!("SELECT opening FROM {table} WHERE election = '{key}' AND term = 1 {lock}")
    }

    /// Writes its word.
    pub(crate) fn write(&self, word: &str) -> String {
        let Scratch { table, key, .. } = self;
        format!("UPDATE {table} SET opening = '{word}' WHERE election = '{key}' AND term = 1")
    }

    /// Writes the word of a row that is not there.
    pub(crate) fn write_nothing(&self) -> String {
        let Scratch { table, key, .. } = self;
        format!("UPDATE {table} SET opening = 'none' WHERE election = '{key}' AND term = 2")
    }

    /// Takes it away again.
    pub(crate) async fn clear<D: Probed>(
        self,
        connection: &mut <D::Db as Database>::Connection,
    ) -> Result<(), Error> {
        let Scratch { table, key, own } = self;
        let clear = if own {
            format!("DROP TABLE {table}")
        } else {
            format!("DELETE FROM {table} WHERE election = '{key}'")
        };
        D::send(connection, clear).await.map(drop).map_err(D::trouble)
    }
}
