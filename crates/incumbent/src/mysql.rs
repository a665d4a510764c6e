//! MySQL and MariaDB.
//!
//! Assumes: InnoDB, and one node that is written to at a time.
//! Promises: READ COMMITTED with explicit row locks whatever the server's default; counts of matched
//! rows, not of changed ones; limits for statements and locks as far as the server has them; a
//! replica that took over is told apart from the server that it followed.

mod fit;
mod group;
mod probe;
mod trouble;

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlQueryResult};
use sqlx::{ConnectOptions, MySql};

use crate::bell::Bell;
use crate::error::Error;
use crate::server::dialect::{self, Dialect, Limits, Reply};
use crate::server::fit::Unfit;
use crate::server::hosts::{Hosts, Role};
use crate::server::schema::Step;
use crate::store::Manner;

/// Elections in a MySQL or MariaDB database.
pub(crate) type Store = crate::server::Store<My>;

/// The dialect.
#[derive(Debug)]
pub(crate) struct My;

impl Dialect for My {
    type Db = MySql;

    const STEPS: &'static [Step] = &[
        Step { version: 1, statements: &[include_str!("mysql/tables.sql")] },
        // The guard came with it, which a later version made anew.
        Step { version: 2, statements: &[] },
        Step {
            version: 3,
            statements: &[include_str!("mysql/protocol.sql"), include_str!("mysql/rounds.sql")],
        },
        Step {
            version: 4,
            statements: &[include_str!("mysql/controls.sql"), include_str!("mysql/orders.sql")],
        },
        Step {
            version: 5,
            // Where a routine is dropped, everybody's right to call it goes as well. MariaDB can
            // replace it instead, and drops nothing here; MySQL cannot.
            statements: &[
                "DROP PROCEDURE IF EXISTS /*M! incumbent_guard_before */ /*!80000 incumbent_guard */",
                include_str!("mysql/guard.sql"),
            ],
        },
    ];
    const HOLDERS: &'static str = include_str!("mysql/holders.sql");
    const SHARE: &'static str = "LOCK IN SHARE MODE";
    const NOW: &'static str = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))";
    // The server, and when the table was made (each restore makes it anew).
    const LINEAGE: &'static str =
        "IF(@@global.read_only, 'standby', CONCAT_WS('/', @@server_id, @@hostname, @@port, /*!80000 @@server_uuid, */
        (SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = 'incumbent_election')))";
    const RENEWAL_NAMES: bool = false;
    const RING: Option<&'static str> = None;
    const TABLES: &'static str = "SELECT COUNT(*) FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = 'incumbent_meta'";

    async fn connect(
        options: &MySqlConnectOptions,
        limits: Limits,
    ) -> sqlx::Result<(MySqlConnection, Limits)> {
        let mut connection = options.connect().await?;
        Self::adopt(&mut connection, limits).await?;
        Ok((connection, limits))
    }

    async fn role(connection: &mut MySqlConnection) -> sqlx::Result<Role> {
        let asked = "SELECT @@global.read_only,
            CONCAT_WS('/', @@server_id, @@hostname, @@port, /*!80000 @@server_uuid, */ @@datadir)";
        let replies = Self::send(connection, asked.to_owned()).await?;
        let row = replies.first().and_then(|reply| reply.rows.first());
        let cell = |at: usize| row.and_then(|row| row.get(at)?.as_deref()).unwrap_or_default();
        let identity = cell(1).to_owned();
        if cell(0) == "1" {
            return Ok(Role::Standby("it is read-only, a replica perhaps".to_owned()));
        }
        // In a group a primary without a majority still looks as if it could be written to. Not every server has the
        // table, and not every user may see it.
        let lost = Self::send(connection, group::LOST_MAJORITY.to_owned()).await;
        let lost = lost.ok().and_then(|replies| Some(replies.first()?.cell()? == "1"));
        Ok(match lost {
            Some(true) => Role::Standby("it has lost the majority of its group".to_owned()),
            _ => Role::Primary { identity },
        })
    }

    async fn adopt(connection: &mut MySqlConnection, limits: Limits) -> sqlx::Result<()> {
        // MySQL counts locks in whole seconds; MariaDB bounds every statement, MySQL only reads.
        let statement = limits.statement;
        let (seconds, millis) = (statement.as_secs_f64(), statement.as_millis());
        let limit = format!(
            "SET SESSION autocommit = 1, SESSION innodb_lock_wait_timeout = 1
            /*M! , SESSION max_statement_time = {seconds:.3}, SESSION idle_transaction_timeout = 1 */
            /*!50708 , SESSION max_execution_time = {millis} */"
        );
        Self::send(connection, limit).await.map(drop)
    }

    async fn send(connection: &mut MySqlConnection, sql: String) -> sqlx::Result<Vec<Reply>> {
        dialect::send::<MySql>(connection, sql, MySqlQueryResult::rows_affected).await
    }

    fn begin(_limits: Limits) -> String {
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION".to_owned()
    }

    fn renew(held: &[(&ElectionName, &Holding)], incarnation: &str, _limits: Limits) -> String {
        // Elections that were claimed together have the same term.
        let mut terms = BTreeMap::<_, Vec<&ElectionName>>::new();
        for (name, holding) in held {
            terms.entry(holding.term).or_default().push(name);
        }
        let mine = terms.into_iter().map(|(term, names)| {
            format!("(term = {term} AND name IN ({}))", dialect::list(&names))
        });
        let (mine, now) = (mine.collect::<Vec<_>>().join(" OR "), Self::NOW);
        format!(
            "UPDATE incumbent_beat SET beat = beat + 1, beaten_us = {now}
            WHERE incarnation = '{incarnation}' AND ({mine})"
        )
    }

    fn replacing(_key: &str, columns: &[&str]) -> String {
        // MySQL would have another word for it that MariaDB does not know.
        let set = columns.iter().map(|column| format!("{column} = VALUES({column})"));
        format!("ON DUPLICATE KEY UPDATE {}", set.collect::<Vec<_>>().join(", "))
    }

    fn text(text: &str) -> String {
        format!("CONVERT(X'{}' USING utf8mb4)", dialect::hex(text))
    }

    fn trouble(error: sqlx::Error) -> Error {
        trouble::trouble(&error)
    }

    async fn unfit(connection: &mut MySqlConnection, manner: Manner) -> Result<Vec<Unfit>, Error> {
        fit::unfit(connection, manner).await
    }

    fn bell(_hosts: &Hosts<My>, poll: Duration) -> Bell {
        Bell::every(poll)
    }

    fn host(options: &MySqlConnectOptions) -> String {
        match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        }
    }

    fn place(options: &MySqlConnectOptions) -> String {
        let database = options.get_database().unwrap_or_default();
        match options.get_socket() {
            Some(socket) => format!("mysql:{}/{database}", socket.display()),
            None => format!("mysql://{}/{database}", Self::host(options)),
        }
    }
}
