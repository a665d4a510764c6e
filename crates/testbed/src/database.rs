//! A database of its own for one test.
//!
//! Assumes a server that outlives the test. Promises that the database is new, empty, and owned by
//! the role `incumbent`; it goes when its server goes.

use anyhow::Context as _;

/// An empty database on a server that others use too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// For the role `incumbent`, which owns it.
    pub url: String,
    /// Its name.
    pub name: String,
    /// For the superuser of the server.
    pub superuser_url: String,
}

/// A name that no other database of a server has.
pub(crate) fn fresh_name() -> anyhow::Result<String> {
    Ok(format!("test_{}", random_word()?))
}

/// Sixteen hexadecimal digits that nobody can guess.
pub(crate) fn random_word() -> anyhow::Result<String> {
    let number = getrandom::u64().context("the system has no randomness")?;
    Ok(format!("{number:016x}"))
}
