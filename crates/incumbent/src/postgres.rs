//! PostgreSQL.
//!
//! Assumes: a primary, PostgreSQL 12 or later, tables that are written to the log; one session for
//! a transaction at least.
//! Promises: READ COMMITTED with explicit row locks whatever the server's default; limits for
//! statements, locks and idle transactions on the server's side too; a promoted standby is told
//! apart from the primary that it followed, by its timeline.

mod bell;
mod fit;
mod probe;
mod trouble;

use std::fmt::Write;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgQueryResult};
use sqlx::{ConnectOptions, Postgres};

use crate::bell::Bell;
use crate::error::Error;
use crate::server::dialect::{self, Dialect, Limits, Reply};
use crate::server::fit::Unfit;
use crate::server::hosts::{Hosts, Role};
use crate::server::schema::Step;
use crate::store::Manner;

/// Elections in a PostgreSQL database.
pub(crate) type Store = crate::server::Store<Pg>;

/// The setting by which a session is known to be this connection's own.
const MARK: &str = "incumbent.session";

/// The first number of the advisory locks that the guard shares: 'incu' in ASCII. The second is the
/// election's hash; two elections of one hash wait for each other, and no more.
const QUEUE: i32 = 0x696e_6375;

/// The dialect.
#[derive(Debug)]
pub(crate) struct Pg;

impl Dialect for Pg {
    type Db = Postgres;

    const STEPS: &'static [Step] = &[
        Step { version: 1, statements: &[include_str!("postgres/tables.sql")] },
        // The guard came with it, which a later version made anew.
        Step { version: 2, statements: &[] },
        Step { version: 3, statements: &[include_str!("postgres/rounds.sql")] },
        Step { version: 4, statements: &[include_str!("postgres/orders.sql")] },
        // As did this one.
        Step { version: 5, statements: &[] },
        Step { version: 6, statements: &[include_str!("postgres/guard.sql")] },
    ];
    const HOLDERS: &'static str = include_str!("postgres/holders.sql");
    const SHARE: &'static str = "FOR SHARE";
    const NOW: &'static str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    // The cluster, its timeline (each promotion begins another), and the file of the table (each
    // restore makes another).
    const LINEAGE: &'static str = "(CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE concat(
        (SELECT system_identifier FROM pg_control_system()), '/',
        substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), '/',
        pg_relation_filenode('incumbent_election')) END)";
    const RENEWAL_NAMES: bool = true;
    const RING: Option<&'static str> = Some("SELECT pg_notify('incumbent', '')");
    const TABLES: &'static str =
        "SELECT CASE WHEN to_regclass('incumbent_meta') IS NULL THEN 0 ELSE 1 END";

    async fn connect(
        options: &PgConnectOptions,
        limits: Limits,
    ) -> sqlx::Result<(PgConnection, Limits)> {
        // A pooler would not take what it does not know.
        let plain = options.clone().extra_float_digits(None).application_name("incumbent");
        let millis = |span: Duration| span.as_millis().to_string();
        let limited = plain.clone().options([
            (MARK, "direct".to_owned()),
            // A beat that a crash of the server could undo is no beat.
            ("synchronous_commit", "on".to_owned()),
            ("statement_timeout", millis(limits.statement)),
            ("lock_timeout", millis(limits.lock)),
            ("idle_in_transaction_session_timeout", millis(limits.idle)),
        ]);
        match limited.connect().await {
            Ok(mut connection) => {
                // A pooler may also take what it does not know, and forget it.
                let asked = format!("SELECT current_setting('{MARK}', true)");
                let said = Self::send(&mut connection, asked).await?;
                let each = said.first().and_then(Reply::cell) != Some("direct");
                Ok((connection, Limits { each, ..limits }))
            }
            Err(error) if trouble::is_pooler(&error) => {
                Ok((plain.connect().await?, Limits { each: true, ..limits }))
            }
            Err(error) => Err(error),
        }
    }

    async fn role(connection: &mut PgConnection) -> sqlx::Result<Role> {
        let asked = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), pg_postmaster_start_time()";
        let replies = Self::send(connection, asked.to_owned()).await?;
        let row = replies.first().and_then(|reply| reply.rows.first());
        let cell = |at: usize| row.and_then(|row| row.get(at)?.as_deref()).unwrap_or_default();
        Ok(match (cell(0), cell(1)) {
            ("t", _) => Role::Standby("it is a read-only standby".to_owned()),
            (_, "on") => Role::Standby("its transactions are read-only".to_owned()),
            _ => Role::Primary { identity: cell(2).to_owned() },
        })
    }

    async fn adopt(connection: &mut PgConnection, limits: Limits) -> sqlx::Result<()> {
        if limits.each {
            // Whatever is set in a session may be another's the next moment.
            return Ok(());
        }
        Self::send(connection, settings("SET", limits)).await.map(drop)
    }

    async fn send(connection: &mut PgConnection, sql: String) -> sqlx::Result<Vec<Reply>> {
        dialect::send::<Postgres>(connection, sql, PgQueryResult::rows_affected).await
    }

    fn begin(limits: Limits) -> String {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        if !limits.each {
            return begin.to_owned();
        }
        format!("{begin}; SET LOCAL synchronous_commit = on; {}", settings("SET LOCAL", limits))
    }

    /// All in the order of their keys, or two who want several could wait for each other.
    fn queue(names: &[&ElectionName]) -> Option<String> {
        let names = names.iter().map(|name| format!("('{name}')")).collect::<Vec<_>>().join(", ");
        Some(format!(
            "SELECT pg_advisory_xact_lock({QUEUE}, k.key) FROM (SELECT DISTINCT hashtext(n.name COLLATE \"C\") AS key
                FROM (VALUES {names}) AS n (name) ORDER BY key) AS k"
        ))
    }

    fn renew(held: &[(&ElectionName, &Holding)], incarnation: &str, limits: Limits) -> String {
        let mut mine = String::with_capacity(held.len() * 48);
        for (at, (name, holding)) in held.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(mine, "{comma}('{name}', {}::bigint)", holding.term);
        }
        let now = Self::NOW;
        // Holds for this message only, for it is one transaction.
        let first = if limits.each { "SET LOCAL synchronous_commit = on; " } else { "" };
        format!(
            "{first}UPDATE incumbent_beat AS b SET beat = b.beat + 1, beaten_us = {now}
            FROM (VALUES {mine}) AS mine (name, term)
            WHERE b.name = mine.name AND b.term = mine.term AND b.incarnation = '{incarnation}'
            RETURNING b.name"
        )
    }

    fn replacing(key: &str, columns: &[&str]) -> String {
        let set = columns.iter().map(|column| format!("{column} = excluded.{column}"));
        format!("ON CONFLICT ({key}) DO UPDATE SET {}", set.collect::<Vec<_>>().join(", "))
    }

    fn text(text: &str) -> String {
        format!("convert_from(decode('{}', 'hex'), 'UTF8')", dialect::hex(text))
    }

    fn trouble(error: sqlx::Error) -> Error {
        trouble::trouble(&error)
    }

    async fn unfit(connection: &mut PgConnection, manner: Manner) -> Result<Vec<Unfit>, Error> {
        fit::unfit(connection, manner).await
    }

    fn bell(hosts: &Hosts<Pg>, poll: Duration) -> Bell {
        bell::listen(hosts, poll)
    }

    fn host(options: &PgConnectOptions) -> String {
        match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        }
    }

    fn place(options: &PgConnectOptions) -> String {
        let database = options.get_database().unwrap_or(options.get_username());
        match options.get_socket() {
            Some(socket) => format!("postgres:{}/{database}", socket.display()),
            None => format!("postgres://{}/{database}", Self::host(options)),
        }
    }
}

/// The statements that set the limits.
fn settings(set: &str, limits: Limits) -> String {
    let millis = |span: Duration| span.as_millis();
    let (statement, lock, idle) =
        (millis(limits.statement), millis(limits.lock), millis(limits.idle));
    format!(
        "{set} statement_timeout = {statement}; {set} lock_timeout = {lock}; \
         {set} idle_in_transaction_session_timeout = {idle}"
    )
}
