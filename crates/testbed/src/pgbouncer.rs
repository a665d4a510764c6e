//! PgBouncer before a PostgreSQL server.
//!
//! Assumes that the server outlives it. Promises a small pool in the mode asked for, without support
//! for prepared statements across transactions: the hardest case that users meet.

use std::path::Path;

use rustix::process::Signal;

use crate::daemon::{Daemon, Start, serve, with_free_port};
use crate::folder::Folder;
use crate::postgres::Postgres;
use crate::program;
use crate::user::User;

/// When a server connection goes back to the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolMode {
    /// After each transaction: session features are lost.
    Transaction,
    /// The same; and what clients say about their session when they connect is taken and dropped.
    Forgetful,
    /// When the client disconnects.
    Session,
    /// After each statement: there are no transactions of several statements.
    Statement,
}

impl PoolMode {
    fn name(self) -> &'static str {
        match self {
            Self::Transaction | Self::Forgetful => "transaction",
            Self::Session => "session",
            Self::Statement => "statement",
        }
    }
}

/// A pooler; killed, and its folder removed, on drop.
#[derive(Debug)]
pub struct PgBouncer {
    daemon: Daemon,
    password: String,
    port: u16,
}

serve!(PgBouncer, Signal::TERM);

impl PgBouncer {
    /// Starts a pooler before `server`, with four server connections per database and role.
    pub async fn start(server: &Postgres, mode: PoolMode) -> anyhow::Result<Self> {
        let program = program::find("pgbouncer")?;
        let version = program::version(&program).await?;
        with_free_port(async |port| {
            let folder = Folder::create(User::for_server("postgres")?)?;
            let password = server.password().to_owned();
            let users = format!("\"incumbent\" \"{password}\"\n\"postgres\" \"{password}\"\n");
            folder.write("users", &users)?;
            let text = settings(folder.path(), server.port(), port, mode, &version);
            let settings = folder.write("pgbouncer.ini", &text)?;
            let mut daemon = Daemon::new(folder, program.clone(), vec![settings.into()]);
            daemon.start(&[], is_ready).await?;
            Ok(Self { daemon, password, port })
        })
        .await
    }

    /// The database `incumbent` for the role `incumbent`, through the pooler.
    pub fn url(&self) -> String {
        self.url_for("incumbent")
    }

    /// Another database for the role `incumbent`, through the pooler.
    pub fn url_for(&self, database: &str) -> String {
        format!("postgres://incumbent:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }
}

/// Whether the pooler says so in this start's part of its log.
fn is_ready(folder: &Folder, start: &Start) -> bool {
    folder.log_since(start.log).contains("process up")
}

fn settings(folder: &Path, server: u16, port: u16, mode: PoolMode, version: &str) -> String {
    let folder = folder.display();
    // Clients set it in their first message; a pooler that does not know it refuses them.
    let ignored = match mode {
        PoolMode::Forgetful => "extra_float_digits, options",
        _ => "extra_float_digits",
    };
    let mode = mode.name();
    let mut text = format!(
        "[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir = {folder}
auth_type = scram-sha-256
auth_file = {folder}/users
admin_users = postgres
pool_mode = {mode}
default_pool_size = 4
max_client_conn = 500
ignore_startup_parameters = {ignored}
"
    );
    if knows_prepared_statements(version) {
        text.push_str("max_prepared_statements = 0\n");
    }
    text
}

/// Whether this release, as in `PgBouncer-1.18.0`, has the option at all: 1.21 brought it.
fn knows_prepared_statements(version: &str) -> bool {
    let number = version.rsplit('-').next().unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (1_u32, 21_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_release_is_not_given_an_option_that_it_refuses() {
        let with = |version| settings(Path::new("/x"), 1, 2, PoolMode::Session, version);
        assert!(!with("PgBouncer-1.18.0").contains("max_prepared_statements"));
        assert!(with("PgBouncer-1.21.0").contains("max_prepared_statements = 0"));
        assert!(with("PgBouncer-2.0.1").contains("max_prepared_statements = 0"));
    }
}
