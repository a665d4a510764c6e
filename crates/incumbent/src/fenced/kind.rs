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

/// A transaction that was not sealed.
#[derive(Debug)]
pub struct Unsealed {
    /// How many statements of the last message the server had answered: the guard, the COMMIT.
    pub(super) done: usize,
    pub(super) error: sqlx::Error,
}

pub(super) mod inner {
    use super::{ElectionName, Error, Future, Pool, Sealed, Term, Transaction, Unsealed};

    pub trait Inner: sqlx::Database {
        /// Begins, with the user's own BEGIN if there is one; nothing if the term is over. That is
        /// only to fail early: what counts is the guard at the end.
        fn begin(
            pool: &Pool<Self>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = sqlx::Result<Option<Transaction<'static, Self>>>> + Send;

        /// Whether the term stands at this moment.
        fn stands(
            work: &mut Self::Connection,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = sqlx::Result<bool>> + Send;

        /// Makes sure that it still stands when the transaction commits.
        fn seal(
            work: &mut Self::Connection,
            election: &ElectionName,
            term: Term,
        ) -> impl Future<Output = Result<Sealed, Unsealed>> + Send;

        /// Whether the server ended the session with this, whatever it had done before.
        fn is_farewell(error: &sqlx::Error) -> bool;

        /// Whether a COMMIT that failed with this surely undid everything.
        fn is_undone(error: &sqlx::Error) -> bool;

        /// Whether this error is the guard's word that the term is over.
        fn is_guard(error: &sqlx::Error) -> bool;

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

/// Sends text as it stands, prepared nowhere, and counts the answers.
async fn tell<DB: Database>(connection: &mut DB::Connection, sql: String) -> Result<(), Unsealed>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut done = 0;
    let mut answers = connection.fetch_many(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)));
    loop {
        match std::future::poll_fn(|context| answers.as_mut().poll_next(context)).await {
            Some(Ok(answer)) => done += usize::from(answer.is_left()),
            Some(Err(error)) => return Err(Unsealed { done, error }),
            None => return Ok(()),
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{
        ElectionName, Error, Executor, Fencing, Pool, Sealed, Term, Transaction, Unsealed, inner,
        standing,
    };
    use sqlx::Sqlite;

    impl Fencing for Sqlite {}

    impl inner::Inner for Sqlite {
        /// The write lock of the whole file keeps everyone else away from the beginning.
        async fn begin(
            pool: &Pool<Sqlite>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Transaction<'static, Sqlite>>> {
            let mut work = pool.begin_with(begin.unwrap_or("BEGIN IMMEDIATE")).await?;
            Ok(Self::stands(&mut work, election, term).await?.then_some(work))
        }

        async fn stands(
            work: &mut sqlx::SqliteConnection,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<bool> {
            Ok(work.fetch_optional(sqlx::raw_sql(standing(election, term))).await?.is_some())
        }

        async fn seal(
            work: &mut sqlx::SqliteConnection,
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            match Self::stands(work, election, term).await {
                Ok(true) => Ok(Sealed::Guarded),
                Ok(false) => Err(Unsealed { done: 0, error: sqlx::Error::RowNotFound }),
                Err(error) => Err(Unsealed { done: 0, error }),
            }
        }

        fn is_farewell(_error: &sqlx::Error) -> bool {
            false
        }

        /// What SQLite did not commit, it did not.
        fn is_undone(_error: &sqlx::Error) -> bool {
            true
        }

        fn is_guard(error: &sqlx::Error) -> bool {
            matches!(error, sqlx::Error::RowNotFound)
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::sqlite::trouble(error)
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{
        ElectionName, Error, Executor, Fencing, Pool, Sealed, Term, Transaction, Unsealed, inner,
        standing, tell,
    };
    use crate::server::dialect::Dialect;
    use sqlx::Postgres;

    impl Fencing for Postgres {}

    impl inner::Inner for Postgres {
        async fn begin(
            pool: &Pool<Postgres>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Transaction<'static, Postgres>>> {
            let mut work = pool.begin_with(begin.unwrap_or("BEGIN")).await?;
            Ok(Self::stands(&mut work, election, term).await?.then_some(work))
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
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            // The driver counts on a transaction being open, so an empty one is left behind.
            let sql = format!("SELECT incumbent_guard('{election}', {term}); COMMIT; BEGIN");
            tell::<Postgres>(work, sql).await.map(|()| Sealed::Committed)
        }

        fn is_farewell(error: &sqlx::Error) -> bool {
            let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
            code.is_some_and(|code| ["08", "57P", "58", "XX"].iter().any(|it| code.starts_with(it)))
        }

        fn is_undone(error: &sqlx::Error) -> bool {
            let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
            code.is_some_and(|code| says_undone(&code))
        }

        fn is_guard(error: &sqlx::Error) -> bool {
            let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
            code.is_some_and(|code| code == "IN001")
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::postgres::Pg::trouble(error)
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
        ElectionName, Error, Fencing, Pool, Sealed, Term, Transaction, Unsealed, inner, standing,
        tell,
    };
    use crate::server::dialect::Dialect;
    use sqlx::MySql;

    impl Fencing for MySql {}

    impl inner::Inner for MySql {
        /// Looks before it begins: in a SERIALIZABLE transaction of MySQL every read locks what it
        /// reads, and would keep a successor away for as long as the work takes.
        async fn begin(
            pool: &Pool<MySql>,
            begin: Option<&'static str>,
            election: &ElectionName,
            term: Term,
        ) -> sqlx::Result<Option<Transaction<'static, MySql>>> {
            let mut connection = pool.acquire().await?;
            if !Self::stands(&mut connection, election, term).await? {
                return Ok(None);
            }
            drop(connection);
            pool.begin_with(begin.unwrap_or("START TRANSACTION")).await.map(Some)
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
            election: &ElectionName,
            term: Term,
        ) -> Result<Sealed, Unsealed> {
            let sql = format!("CALL incumbent_guard('{election}', {term}); COMMIT");
            tell::<MySql>(work, sql).await.map(|()| Sealed::Committed)
        }

        fn is_farewell(error: &sqlx::Error) -> bool {
            matches!(number(error), Some(1053 | 1927))
        }

        /// A deadlock, and what a cluster refused to certify.
        fn is_undone(error: &sqlx::Error) -> bool {
            number(error) == Some(1213)
        }

        fn is_guard(error: &sqlx::Error) -> bool {
            error
                .as_database_error()
                .is_some_and(|error| error.message().starts_with("incumbent: term"))
        }

        fn trouble(error: sqlx::Error) -> Error {
            crate::mysql::My::trouble(error)
        }
    }

    fn number(error: &sqlx::Error) -> Option<u16> {
        let error = error.as_database_error()?;
        error
            .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
            .map(sqlx::mysql::MySqlDatabaseError::number)
    }
}
