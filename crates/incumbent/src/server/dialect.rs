//! What differs between database servers.
//!
//! Assumes: every name and number in a statement is safe as it stands, which the types of
//! `incumbent-protocol` promise; any other text goes through [`Dialect::text`].
//! Promises: statements go out as plain text, several to a message where that saves a round trip.
//! Nothing is prepared and nothing is left behind in a session, so that a pooler may give every
//! transaction another session.

use std::fmt::{Debug, Write};
use std::time::Duration;

use futures_util::TryStreamExt;
use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::rules::{Expiry, Timing};
use sqlx::{AssertSqlSafe, ColumnIndex, Connection, Database, Decode, Executor, Row};

use super::fit::Unfit;
use super::hosts::{Hosts, Role};
use super::schema::Step;
use crate::bell::Bell;
use crate::error::Error;
use crate::store::Manner;

/// One kind of database server.
pub(crate) trait Dialect: Debug + Sized + Send + 'static {
    /// The driver.
    type Db: Database;

    /// The steps that make the schema, oldest first.
    const STEPS: &'static [Step];
    /// What a SELECT ends with that shares its rows with others who only read.
    const SHARE: &'static str;
    /// The server's clock in microseconds since 1970, at the moment it is asked.
    const NOW: &'static str;
    /// Which server this is, and which of its lives: whatever changes when another one takes its
    /// place.
    const LINEAGE: &'static str;
    /// Whether a renewal tells which rows it changed, and not only how many.
    const RENEWAL_NAMES: bool;
    /// Who has locks that orders and claims wait for: the election or NULL, who, what, for how many
    /// seconds or NULL, what ends it, and what changes when it takes the lock anew.
    const HOLDERS: &'static str;
    /// Says to whoever listens that something changed.
    const RING: Option<&'static str>;

    /// Connects, and makes the session ready.
    fn connect(
        options: &Options<Self>,
        limits: Limits,
    ) -> impl Future<Output = sqlx::Result<(<Self::Db as Database>::Connection, Limits)>> + Send;

    /// What the server at the other end says of itself.
    fn role(
        connection: &mut <Self::Db as Database>::Connection,
    ) -> impl Future<Output = sqlx::Result<Role>> + Send;

    /// Makes a session of somebody else's pool ready.
    fn adopt(
        connection: &mut <Self::Db as Database>::Connection,
        limits: Limits,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Sends one message and takes all that comes back.
    async fn send(
        connection: &mut <Self::Db as Database>::Connection,
        sql: String,
    ) -> sqlx::Result<Vec<Reply>>;

    /// Begins a transaction in which the lock comes first and every statement sees what is committed.
    fn begin(limits: Limits) -> String;

    /// What whoever changes these elections asks for before it locks their rows, where the server lets
    /// the guard of a fenced transaction pass those who wait for a row.
    fn queue(_names: &[&ElectionName]) -> Option<String> {
        None
    }

    /// Prolongs these terms. The last reply to it tells of them.
    fn renew(held: &[(&ElectionName, &Holding)], incarnation: &str, limits: Limits) -> String;

    /// What an INSERT ends with that puts these columns in the place of what has the same key.
    fn replacing(key: &str, columns: &[&str]) -> String;

    /// Any text as a literal.
    fn text(text: &str) -> String;

    /// What an error means here.
    fn trouble(error: sqlx::Error) -> Error;

    /// Whether the tables can be seen.
    const TABLES: &'static str;

    /// Every reason to refuse this database, gravest first. What is asked here is asked at every
    /// start, so it must be cheap.
    async fn unfit(
        connection: &mut <Self::Db as Database>::Connection,
        manner: Manner,
    ) -> Result<Vec<Unfit>, Error>;

    /// Refuses, with the reason, a database on which no election can be safe.
    async fn fit(
        connection: &mut <Self::Db as Database>::Connection,
        manner: Manner,
    ) -> Result<(), Error> {
        let unfit = Self::unfit(connection, manner).await?;
        unfit.into_iter().next().map_or(Ok(()), |unfit| Err(unfit.into()))
    }

    /// What wakes candidates.
    fn bell(hosts: &Hosts<Self>, poll: Duration) -> Bell;

    /// Its host and port, or its socket.
    fn host(options: &Options<Self>) -> String;

    /// Where it is, for errors, without secrets.
    fn place(options: &Options<Self>) -> String;
}

/// How to connect.
pub(crate) type Options<D> = <<<D as Dialect>::Db as Database>::Connection as Connection>::Options;

/// How long the server itself may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For one statement. Below both the timeout and the margin, so that no statement of a lost
    /// leader is still at work when its successor comes; but never so short that a server under
    /// load keeps it for no round at all: what comes late is of no use, and of no harm.
    pub(crate) statement: Duration,
    /// For a lock.
    pub(crate) lock: Duration,
    /// For a transaction whose client says nothing.
    pub(crate) idle: Duration,
    /// Whether each transaction must say so itself, because the session cannot keep it.
    pub(crate) each: bool,
}

impl Limits {
    pub(crate) fn of(timing: &Timing) -> Limits {
        let millis = Duration::from_millis;
        let least = timing.timeout().min(timing.rules().margin());
        let statement = (least * 9 / 10).max(millis(20));
        let idle = statement.max(millis(100));
        // Every statement of a round is guarded by what it was decided on: what comes late does no
        // harm, and to be cut short under load would only bring more of it.
        let paced = timing.rules().expiry() == Expiry::Rounds;
        let statement = if paced { statement.max(timing.beat() / 2) } else { statement };
        Limits { statement, lock: statement / 2, idle, each: true }
    }

    /// For work that no lease depends on.
    pub(crate) const fn generous() -> Limits {
        let (statement, lock) = (Duration::from_secs(30), Duration::from_secs(10));
        Limits { statement, lock, idle: statement, each: true }
    }
}

/// What one statement gave back, as text.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) rows: Vec<Vec<Option<String>>>,
    pub(crate) affected: u64,
}

impl Reply {
    /// The first cell of the first row.
    pub(crate) fn cell(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// Sends one message of one or more statements.
pub(crate) async fn send<DB>(
    connection: &mut DB::Connection,
    sql: String,
    affected: fn(&DB::QueryResult) -> u64,
) -> sqlx::Result<Vec<Reply>>
where
    DB: Database,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'r> Option<String>: Decode<'r, DB>,
    usize: ColumnIndex<DB::Row>,
{
    let mut replies = Vec::new();
    let mut open = Reply::default();
    let mut stream = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(sql)));
    while let Some(item) = stream.try_next().await? {
        if let Some(row) = item.as_ref().right() {
            let cells = (0..row.len()).map(|at| row.try_get_unchecked(at));
            open.rows.push(cells.collect::<sqlx::Result<_>>()?);
        } else if let Some(result) = item.as_ref().left() {
            open.affected = affected(result);
            replies.push(std::mem::take(&mut open));
        }
    }
    Ok(replies)
}

/// Text as hexadecimal digits, which no server can take for anything else.
pub(crate) fn hex(text: &str) -> String {
    let mut digits = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Names as literals: their type promises that nothing in them needs care.
pub(crate) fn list(names: &[&ElectionName]) -> String {
    let mut list = String::with_capacity(names.len() * 24);
    for (at, name) in names.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(list, "{comma}'{name}'");
    }
    list
}

/// What to say of a server that did not answer at all.
pub(crate) fn unheard(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(inner) if inner.kind() == std::io::ErrorKind::ConnectionRefused => {
            format!("{error}: check that the server runs, and the host and the port of the URL")
        }
        _ => error.to_string(),
    }
}
