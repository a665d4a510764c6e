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
use self::kind::{Sealed, Unsealed};
use crate::error::Error;
use crate::leadership::Leadership;

/// Why a term that the row shows does not count.
const WENT_BACK: &str =
    "the database was restored, replaced or promoted, and the leader has not renewed there since";

/// What became of a transaction that SQLite ended by itself.
const ENDED: &str = "SQLite ended the transaction before its COMMIT and nothing was written: a statement failed with \
    ROLLBACK as its conflict resolution, or the disk is full, or the program sent a COMMIT or ROLLBACK of its own";

/// A fenced transaction. Use it as the connection that it wraps (`&mut *fenced`), then
/// [`commit`](Fenced::commit) it. Dropping it undoes it.
///
/// # What it does not cover
///
/// Only what the database itself would undo with the transaction is fenced:
///
/// - On MySQL and MariaDB, CREATE, ALTER, DROP, TRUNCATE and the like commit whatever came before
///   them, at once and without the guard. So does a COMMIT that you send yourself, except on SQLite,
///   where it is refused.
/// - Tables without transactions (MyISAM, Aria) keep what was written to them.
/// - Files, messages and other services need the [`token`](Leadership::token) and a
///   [`Fence`](crate::Fence).
pub struct Fenced<'a, DB: Fencing> {
    // Before `work`, which goes back to its pool when it is dropped: others may use it then.
    watch: DB::Watch,
    work: Transaction<'static, DB>,
    election: &'a ElectionName,
    term: Term,
}

impl Leadership {
    /// Begins a transaction in your own database, if it is the one that holds this election. It
    /// commits only if this leadership still stands then: a deposed leader cannot write. What that
    /// does not cover is said at [`Fenced`].
    ///
    /// The pool must see the same tables of ours as the elections do: the same database, on
    /// PostgreSQL also the same schema first in its search path. Its user needs SELECT on
    /// `incumbent_election` and EXECUTE on `incumbent_guard`, besides what the work itself needs. It
    /// is a pool of sqlx 0.9, which `incumbent::sqlx` re-exports.
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
        self.is_sure()?;
        let (election, term) = (self.election(), self.term());
        let begun = DB::begin(pool, begin, election, term).await;
        let begun = begun.map_err(|error| strange::<DB>(error, election))?;
        let (work, watch) = begun.ok_or_else(|| over(election, term))?;
        Ok(Fenced { watch, work, election, term })
    }

    /// The row may stand though the leadership is over: nobody may have claimed the next one yet, and
    /// a database that went back shows leaderships of the past.
    fn is_sure(&self) -> Result<(), Error> {
        if self.is_valid() {
            return Ok(());
        }
        if self.reason().is_none() && self.valid_until_nanos() == 0 {
            let problem = "this process cannot tell how much of its lease is left";
            return Err(unconfirmed(self.election(), self.term(), problem));
        }
        Err(over(self.election(), self.term()))
    }
}

impl<DB: Fencing> Fenced<'_, DB> {
    /// Commits, if the leadership still stands. [`Error::Fenced`], [`Error::Unconfirmed`] and
    /// [`Error::Conflict`] mean that nothing was written; [`Error::InDoubt`] that the answer was lost.
    pub async fn commit(mut self) -> Result<(), Error> {
        let (election, term) = (self.election, self.term);
        match DB::seal(&mut self.work, &self.watch, election, term).await {
            Ok(Sealed::Guarded) => {
                let committed = self.work.commit().await;
                committed.map_err(|error| uncommitted::<DB>(error, election, false))
            }
            Ok(Sealed::Committed) => {
                // What is left of the transaction is empty.
                drop(self.work.commit().await);
                Ok(())
            }
            Err(Unsealed::Over) => Err(over(election, term)),
            Err(Unsealed::Unconfirmed) => Err(unconfirmed(election, term, WENT_BACK)),
            Err(Unsealed::Ended) => Err(Error::Store(ENDED.to_owned())),
            // Whatever went wrong came after the COMMIT.
            Err(Unsealed::Failed { done: 2.., .. }) => Ok(()),
            Err(Unsealed::Failed { done, error }) => {
                Err(uncommitted::<DB>(error, election, done == 0))
            }
        }
    }

    /// Undoes it.
    pub async fn rollback(mut self) -> Result<(), Error> {
        DB::unwind(&mut self.work, &self.watch).await;
        self.work.rollback().await.map_err(DB::trouble)
    }
}

/// What a failed commit means. A server that answered the guard with an error surely did not commit;
/// one that answered the COMMIT with an error did not if the error says so.
fn uncommitted<DB: Fencing>(error: sqlx::Error, election: &ElectionName, guarding: bool) -> Error {
    match &error {
        // A constraint of the user's own that waits until the end: no other try will do better.
        sqlx::Error::Database(inner) if inner.is_unique_violation() => {
            Error::Store(inner.message().to_owned())
        }
        sqlx::Error::Database(_)
            if guarding && !DB::is_farewell(&error) || DB::is_undone(&error) =>
        {
            strange::<DB>(error, election)
        }
        _ => Error::InDoubt(error.to_string()),
    }
}

/// What is missing in a database of the user's own choice is not damaged.
fn strange<DB: Fencing>(error: sqlx::Error, election: &ElectionName) -> Error {
    match DB::trouble(error) {
        Error::Corrupt { problem, .. } => Error::Open {
            place: "the database of this pool".to_owned(),
            problem: format!(
                "it does not hold the election {:?} ({problem}): use a pool of the database that the elections are in",
                election.as_str()
            ),
        },
        other => other,
    }
}

fn unconfirmed(election: &ElectionName, term: Term, problem: &str) -> Error {
    let problem = problem.to_owned();
    Error::Unconfirmed { election: election.to_string(), term: term.get(), problem }
}

fn over(election: &ElectionName, term: Term) -> Error {
    crate::reporter::fenced(election, term);
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
