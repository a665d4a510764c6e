//! What a story may do to either kind of server, and how work is written to it.
//!
//! Assumes: a server of the testbed that belongs to the story alone.
//! Promises: `ledger` makes each piece of work take its number from a row that it locks until it
//! commits, so that the numbers tell the order of the commits, without gaps.

use std::net::SocketAddr;
use std::time::Duration;

use incumbent::Fencing;
use incumbent_testbed::{MariaDb, Postgres};
use sqlx::{AssertSqlSafe, Database, Executor, Pool};

/// A kind of server.
pub(crate) trait Server: Sized + Send + Sync + 'static {
    /// Its driver.
    type Db: Fencing;

    /// What a writer says first in a transaction, so that none holds its locks for long.
    const HASTE: &'static str;

    /// A COMMIT by itself in its message, as it travels: unlike in `READ COMMITTED`
    /// and at the end of a round.
    const COMMIT: &'static [u8];

    /// Starts one.
    async fn begin() -> Self;
    /// How to reach its database.
    fn url(&self) -> String;
    /// Where it listens.
    fn address(&self) -> SocketAddr;
    /// SIGKILL.
    fn kill(&mut self);
    /// Starts it again.
    async fn restart(&mut self);
    /// SIGSTOP.
    fn freeze(&self);
    /// SIGCONT.
    fn thaw(&self);
    /// Runs a statement as superuser. Rows come one per line, columns separated by `|`.
    async fn sql(&self, statement: &str) -> String;
    /// Connections for work.
    fn pool(url: &str) -> Pool<Self::Db>;
    /// Sends text as it stands.
    fn tell(
        connection: &mut <Self::Db as Database>::Connection,
        sql: String,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;
}

/// How many connections a writer may have, and how long it waits for one.
const CONNECTIONS: u32 = 8;
const WAIT: Duration = Duration::from_secs(1);

macro_rules! server {
    ($server:ident, $db:ident, $haste:expr, $commit:expr) => {
        impl Server for $server {
            type Db = sqlx::$db;

            const HASTE: &'static str = $haste;
            const COMMIT: &'static [u8] = $commit;

            async fn begin() -> Self {
                $server::start().await.expect("the server starts")
            }

            fn url(&self) -> String {
                $server::url(self)
            }

            fn address(&self) -> SocketAddr {
                $server::address(self)
            }

            fn kill(&mut self) {
                $server::kill(self);
            }

            async fn restart(&mut self) {
                $server::restart(self).await.expect("the server starts again");
            }

            fn freeze(&self) {
                $server::freeze(self);
            }

            fn thaw(&self) {
                $server::thaw(self);
            }

            async fn sql(&self, statement: &str) -> String {
                let answer = $server::sql(self, statement).await;
                answer.expect("the statement runs").replace('\t', "|")
            }

            fn pool(url: &str) -> Pool<sqlx::$db> {
                let options = sqlx::pool::PoolOptions::new().max_connections(CONNECTIONS);
                options.acquire_timeout(WAIT).connect_lazy(url).expect("a URL")
            }

            async fn tell(
                connection: &mut <sqlx::$db as Database>::Connection,
                sql: String,
            ) -> sqlx::Result<()> {
                connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(drop)
            }
        }
    };
}

server!(
    Postgres,
    Postgres,
    "SET LOCAL lock_timeout = 500; SET LOCAL idle_in_transaction_session_timeout = 2000",
    b"Q\0\0\0\x0bCOMMIT\0"
);
server!(
    MariaDb,
    MySql,
    "SET SESSION innodb_lock_wait_timeout = 1, SESSION idle_transaction_timeout = 2",
    b"\x03COMMIT"
);

/// The guard as a program in any language calls it.
pub(crate) async fn guarded<S: Server>(
    server: &S,
    election: &str,
    token: u64,
) -> Result<(), String> {
    let pool = S::pool(&server.url());
    let mut connection = pool.acquire().await.map_err(|error| error.to_string())?;
    let call = if server.url().starts_with("postgres") { "SELECT" } else { "CALL" };
    let sql = format!("BEGIN; {call} incumbent_guard('{election}', {token}); COMMIT");
    let said = S::tell(&mut connection, sql).await;
    connection.close_on_drop();
    said.map_err(|error| error.to_string())
}

/// The tables that hold the work; made once.
pub(crate) fn ledger(elections: &[&str]) -> String {
    let rows: Vec<_> = elections.iter().map(|election| format!("('{election}', 0)")).collect();
    format!(
        "CREATE TABLE work (election VARCHAR(64) NOT NULL, seq BIGINT NOT NULL, term BIGINT NOT NULL,
            number BIGINT NOT NULL, PRIMARY KEY (election, seq));
        CREATE TABLE last_work (election VARCHAR(64) NOT NULL PRIMARY KEY, seq BIGINT NOT NULL);
        INSERT INTO last_work VALUES {}",
        rows.join(", ")
    )
}

/// One piece of work.
pub(crate) fn work<S: Server>(election: &str, term: u64, number: u64) -> String {
    format!(
        "{}; UPDATE last_work SET seq = seq + 1 WHERE election = '{election}';
        INSERT INTO work (election, seq, term, number)
            SELECT election, seq, {term}, {number} FROM last_work WHERE election = '{election}'",
        S::HASTE
    )
}
