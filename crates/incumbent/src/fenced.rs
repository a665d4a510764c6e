//! A transaction of the user's own that commits only under the leadership that began it.
//!
//! Assumes: the pool leads to the database that holds the election.
//! Promises: it commits only if no other leadership was claimed before; whoever claims one waits for
//! it, or it fails. Where a server is far away, the lock that this takes never outlives one message:
//! guard and COMMIT travel together, so that a leader that is stopped in between cannot hold up its
//! successor.

mod kind;

use std::fmt;
use std::ops::{Deref, DerefMut};

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::term::Term;
use sqlx::{Pool, Transaction};

pub use self::kind::Fencing;
use self::kind::Sealed;
use crate::error::Error;
use crate::leadership::Leadership;

/// A fenced transaction. Use it as the connection that it wraps (`&mut *fenced`), then
/// [`commit`](Fenced::commit) it. Dropping it undoes it.
pub struct Fenced<'a, DB: Fencing> {
    work: Transaction<'static, DB>,
    election: &'a ElectionName,
    term: Term,
}

impl Leadership {
    /// Begins a transaction in your own database, if it is the one that holds this election. It
    /// commits only if this leadership still stands then: a deposed leader cannot write.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/app.db", folder.path().display());
    /// let election = incumbent::Election::open(&url, "billing").await?;
    /// let leadership = election.campaign().await?;
    ///
    /// let pool = sqlx::SqlitePool::connect(&url).await?; // or a PgPool, or a MySqlPool
    /// # sqlx::query("CREATE TABLE invoice (number INTEGER)").execute(&pool).await?;
    /// let mut work = leadership.transaction(&pool).await?;
    /// sqlx::query("INSERT INTO invoice (number) VALUES (1)").execute(&mut *work).await?;
    /// work.commit().await?;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn transaction<DB: Fencing>(&self, pool: &Pool<DB>) -> Result<Fenced<'_, DB>, Error> {
        self.begin_with(pool, None).await
    }

    /// The same with a BEGIN of your own, for example `BEGIN ISOLATION LEVEL SERIALIZABLE`.
    pub async fn transaction_with<DB: Fencing>(
        &self,
        pool: &Pool<DB>,
        begin: &'static str,
    ) -> Result<Fenced<'_, DB>, Error> {
        self.begin_with(pool, Some(begin)).await
    }

    async fn begin_with<DB: Fencing>(
        &self,
        pool: &Pool<DB>,
        begin: Option<&'static str>,
    ) -> Result<Fenced<'_, DB>, Error> {
        let (election, term) = (self.election(), self.term());
        let begun = DB::begin(pool, begin, election, term).await.map_err(DB::trouble)?;
        let work = begun.ok_or_else(|| over(election, term))?;
        Ok(Fenced { work, election, term })
    }
}

impl<DB: Fencing> Fenced<'_, DB> {
    /// Commits, if the leadership still stands. [`Error::Fenced`] and [`Error::Conflict`] mean that
    /// nothing was written; [`Error::InDoubt`] that the answer was lost.
    pub async fn commit(mut self) -> Result<(), Error> {
        let sealed = DB::seal(&mut self.work, self.election, self.term).await;
        match sealed {
            Err(error) if DB::is_guard(&error) => return Err(over(self.election, self.term)),
            Err(error) => return Err(uncommitted::<DB>(error)),
            // What is left of the transaction is empty.
            Ok(Sealed::Committed) => drop(self.work.commit().await),
            Ok(Sealed::Guarded) => self.work.commit().await.map_err(uncommitted::<DB>)?,
        }
        Ok(())
    }

    /// Undoes it.
    pub async fn rollback(self) -> Result<(), Error> {
        self.work.rollback().await.map_err(DB::trouble)
    }
}

/// Only a server that answered, and that went on to live, surely did not commit.
fn uncommitted<DB: Fencing>(error: sqlx::Error) -> Error {
    if matches!(error, sqlx::Error::Database(_)) && !DB::is_in_doubt(&error) {
        DB::trouble(error)
    } else {
        Error::InDoubt(error.to_string())
    }
}

fn over(election: &ElectionName, term: Term) -> Error {
    Error::Fenced { election: election.to_string(), term: term.get() }
}

impl<DB: Fencing> Deref for Fenced<'_, DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &Self::Target {
        &self.work
    }
}

impl<DB: Fencing> DerefMut for Fenced<'_, DB> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.work
    }
}

impl<DB: Fencing> fmt::Debug for Fenced<'_, DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("Fenced");
        it.field("election", &self.election).field("term", &self.term).finish_non_exhaustive()
    }
}
