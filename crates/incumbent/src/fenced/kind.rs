//! How each kind of database fences.
//!
//! Assumes: the schema's guard, on servers.
//! Promises: what [`Fenced`](super::Fenced) says.

use std::future::Future;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::term::Term;
use sqlx::{Database, Executor, Pool, Transaction};

use crate::error::Error;

/// Databases in which a transaction can be fenced: `sqlx::Sqlite`, `sqlx::Postgres`, `sqlx::MySql`,
/// each behind the feature of its backend. Nothing else can implement it.
pub trait Fencing: Database + inner::Inner {}

/// What became of a transaction when its guard had spoken.
#[derive(Debug)]
pub enum Sealed {
    /// It is committed already; what the driver still takes for it is empty.
    Committed,
    /// It holds a lock that keeps every other leadership away until it commits.
    Guarded,
}

/// Why a transaction was not sealed.
#[derive(Debug)]
pub enum Unsealed {
    /// The guard says that the term is over.
    Over,
    /// The guard says that the database went back, and shows a term of the past.
    Unconfirmed,
    /// The database had ended the transaction already, and nothing of it was written.
    Ended,
    /// Something else failed.
    Failed {
        /// How many statements of the last message the server had answered: the guard, the COMMIT.
        done: usize,
        /// What.
        error: sqlx::Error,
    },
}

/// A transaction, and what watches it.
type Begun<DB> = (Transaction<'static, DB>, <DB as inner::Inner>::Watch);

pub(super) mod inner {
    use super::{Begun, ElectionName, Error, Future, Pool, Sealed, Term, Unsealed};

    pub trait Inner: sqlx::Database {
        /// What notices that a transaction ends before its time.
        type Watch: std::fmt::Debug + Send + Sync;

        /// Begins, with the user's own BEGIN if there is one; nothing if the term is over. That is
        /// only to fail early: what counts is the guard at the end.
        fn begin(
            pool: &Pool<Self>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = sqlx::Result<Option<Begun<Self>>>> + Send;

        /// Whether the term stands at this moment.
        fn stands(
            work: &mut Self::Connection,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = sqlx::Result<bool>> + Send;

        /// Makes sure that it still stands when the transaction commits.
        fn seal(
            work: &mut Self::Connection,
            watch: &Self::Watch,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = Result<Sealed, Unsealed>> + Send;

        /// Makes a transaction that ended before its time fit to be rolled back.
        fn unwind(
            _work: &mut Self::Connection,
            _watch: &Self::Watch,
        ) -> impl Future<Output = ()> + Send {
            std::future::ready(())
        }

        /// Whether the server ended the session with this, whatever it had done before.
        fn is_farewell(error: &sqlx::Error) -> bool;

        /// Whether a COMMIT that failed with this surely undid everything.
        fn is_undone(error: &sqlx::Error) -> bool;

        /// What any other error means.
        fn trouble(error: sqlx::Error) -> Error;
    }
}

fn standing(election: &ElectionName, term: Term) -> sqlx::AssertSqlSafe<String> {
    // The letters of a name and the digits of a term need no care.
    sqlx::AssertSqlSafe(format!(
        "SELECT 1 FROM incumbent_election WHERE name = '{election}' AND term = {term} AND state <> 'released'"
    ))
}

/// Sends text as it stands, prepared nowhere, and counts the answers. `word` tells what the guard said.
async fn tell<DB: Database>(
    connection: &mut DB::Connection,
    sql: String,
    word: impl Fn(&sqlx::Error) -> Option<Unsealed>,
) -> Result<(), Unsealed>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut done = 0;
    let mut answers = connection.fetch_many(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)));
    loop {
        match std::future::poll_fn(|context| answers.as_mut().poll_next(context)).await {
            Some(Ok(answer)) => done += usize::from(answer.is_left()),
            Some(Err(error)) => {
                return Err(word(&error).unwrap_or(Unsealed::Failed { done, error }));
            }
            None => return Ok(()),
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{
        Begun, ElectionName, Error, Executor, Fencing, Pool, Sealed, Term, Unsealed, inner,
        standing,
    };
    use sqlx::{Sqlite, SqliteConnection};

    impl Fencing for Sqlite {}

    /// SQLite ends some transactions by itself, and then every statement commits by itself. While this
    /// lives, its connection commits nothing but what was sealed.
    #[derive(Debug, Default)]
    pub struct Watch(Arc<Seen>);

    #[derive(Debug, Default)]
    struct Seen {
        /// A commit is allowed.
        open: AtomicBool,
        /// The transaction was rolled back.
        ended: AtomicBool,
    }

    impl Watch {
        /// Replaces the hooks that the connection may have had.
        async fn over(work: &mut SqliteConnection) -> sqlx::Result<Watch> {
            let watch = Watch::default();
            let mut handle = work.lock_handle().await?;
            let seen = Arc::clone(&watch.0);
            handle.set_commit_hook(move || seen.open.load(Ordering::SeqCst));
            let seen = Arc::clone(&watch.0);
            handle.set_rollback_hook(move || seen.ended.store(true, Ordering::SeqCst));
            Ok(watch)
        }

        fn ended(&self) -> bool {
            self.0.ended.load(Ordering::SeqCst)
        }

        fn open(&self) {
            self.0.open.store(true, Ordering::SeqCst);
        }
    }

    impl Drop for Watch {
        /// The connection goes back to its pool.
        fn drop(&mut self) {
            self.open();
        }
    }

    impl inner::Inner for Sqlite {
        type Watch = Watch;

        /// The write lock of the whole file keeps everyone else away from the beginning.
        async fn begin(
            pool: &Pool<Sqlite>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Begun<Sqlite>>> {
            let mut work = pool.begin_with(begin.unwrap_or("BEGIN IMMEDIATE")).await?;
            if !Self::stands(&mut work, election, term).await? {
                return Ok(None);
            }
            let watch = Watch::over(&mut work).await?;
            Ok(Some((work, watch)))
        }

        async fn stands(
            work: &mut SqliteConnection,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<bool> {
            Ok(work.fetch_optional(sqlx::raw_sql(standing(election, term))).await?.is_some())
        }

        async fn seal(
            work: &mut SqliteConnection,
            watch: &Watch,
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            let failed = |error| Unsealed::Failed { done: 0, error };
            if watch.ended() {
                Self::unwind(work, watch).await;
                return Err(Unsealed::Ended);
            }
            if !Self::stands(work, election, term).await.map_err(failed)? {
                return Err(Unsealed::Over);
            }
            if !crate::sqlite::is_confirmed(work, election).await.map_err(failed)? {
                return Err(Unsealed::Unconfirmed);
            }
            watch.open();
            Ok(Sealed::Guarded)
        }

        /// The driver counts on a transaction being open, and would begin no other.
        async fn unwind(work: &mut SqliteConnection, watch: &Watch) {
            if watch.ended() {
                // Fails if the program has begun one of its own, which will do as well.
                let _ = work.execute(sqlx::raw_sql("BEGIN")).await;
            }
        }

        fn is_farewell(_error: &sqlx::Error) -> bool {
            false
        }

        /// What SQLite did not commit, it did not; but a disk that failed may have it all the same.
        fn is_undone(error: &sqlx::Error) -> bool {
            !crate::sqlite::is_disk_trouble(error)
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::sqlite::trouble(error)
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{
        Begun, ElectionName, Error, Executor, Fencing, Pool, Sealed, Term, Unsealed, inner,
        standing, tell,
    };
    use crate::server::dialect::Dialect;
    use sqlx::Postgres;

    impl Fencing for Postgres {}

    impl inner::Inner for Postgres {
        type Watch = ();

        async fn begin(
            pool: &Pool<Postgres>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Begun<Postgres>>> {
            let mut work = pool.begin_with(begin.unwrap_or("BEGIN")).await?;
            Ok(Self::stands(&mut work, election, term).await?.then_some((work, ())))
        }

        async fn stands(
            work: &mut sqlx::PgConnection,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<bool> {
            Ok(work.fetch_optional(sqlx::raw_sql(standing(election, term))).await?.is_some())
        }

        async fn seal(
            work: &mut sqlx::PgConnection,
            _watch: &(),
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            // The driver counts on a transaction being open, so an empty one is left behind.
            let sql = format!("SELECT incumbent_guard('{election}', {term}); COMMIT; BEGIN");
            tell::<Postgres>(work, sql, word).await.map(|()| Sealed::Committed)
        }

        fn is_farewell(error: &sqlx::Error) -> bool {
            let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
            code.is_some_and(|code| ["08", "57P", "58", "XX"].iter().any(|it| code.starts_with(it)))
        }

        fn is_undone(error: &sqlx::Error) -> bool {
            let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
            code.is_some_and(|code| says_undone(&code))
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::postgres::Pg::trouble(error)
        }
    }

    fn word(error: &sqlx::Error) -> Option<Unsealed> {
        match &*error.as_database_error()?.code()? {
            "IN001" => Some(Unsealed::Over),
            "IN002" => Some(Unsealed::Unconfirmed),
            _ => None,
        }
    }

    /// Transactions that clashed, and constraints that waited until the end. 40003 is the one code
    /// of its class that leaves open whether the COMMIT took effect.
    fn says_undone(code: &str) -> bool {
        code != "40003" && (code.starts_with("40") || code.starts_with("23"))
    }

    #[cfg(test)]
    mod tests {
        use super::says_undone;

        #[test]
        fn a_commit_of_unknown_completion_is_not_taken_for_undone() {
            assert!(["40001", "40P01", "40002", "23503"].into_iter().all(says_undone));
            assert!(!says_undone("40003"));
        }
    }
}

#[cfg(feature = "mysql")]
mod mysql {
    use super::{
        Begun, ElectionName, Error, Fencing, Pool, Sealed, Term, Unsealed, inner, standing, tell,
    };
    use crate::server::dialect::Dialect;
    use sqlx::MySql;

    impl Fencing for MySql {}

    impl inner::Inner for MySql {
        type Watch = ();

        /// Looks before it begins: in a SERIALIZABLE transaction of MySQL every read locks what it
        /// reads, and would keep a successor away for as long as the work takes.
        async fn begin(
            pool: &Pool<MySql>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Begun<MySql>>> {
            let mut connection = pool.acquire().await?;
            if !Self::stands(&mut connection, election, term).await? {
                return Ok(None);
            }
            drop(connection);
            let work = pool.begin_with(begin.unwrap_or("START TRANSACTION")).await?;
            Ok(Some((work, ())))
        }

        async fn stands(
            work: &mut sqlx::MySqlConnection,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<bool> {
            // In a transaction of its own that is over at once, whatever the session is set to.
            let sql = format!("START TRANSACTION; {}; ROLLBACK", standing(election, term).0);
            let replies = crate::mysql::My::send(work, sql).await?;
            Ok(replies.get(1).is_some_and(|reply| !reply.rows.is_empty()))
        }

        async fn seal(
            work: &mut sqlx::MySqlConnection,
            _watch: &(),
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            let sql = format!("CALL incumbent_guard('{election}', {term}); COMMIT");
            tell::<MySql>(work, sql, word).await.map(|()| Sealed::Committed)
        }

        fn is_farewell(error: &sqlx::Error) -> bool {
            matches!(number(error), Some(1053 | 1927))
        }

        /// A deadlock, and what a cluster refused to certify.
        fn is_undone(error: &sqlx::Error) -> bool {
            number(error) == Some(1213)
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::mysql::My::trouble(error)
        }
    }

    fn word(error: &sqlx::Error) -> Option<Unsealed> {
        let said = error.as_database_error()?.message();
        if said.starts_with("incumbent: term") {
            Some(Unsealed::Over)
        } else if said.starts_with("incumbent: unconfirmed") {
            Some(Unsealed::Unconfirmed)
        } else {
            None
        }
    }

    fn number(error: &sqlx::Error) -> Option<u16> {
        let error = error.as_database_error()?;
        error
            .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
            .map(sqlx::mysql::MySqlDatabaseError::number)
    }
}
