//! MySQL in the place of MariaDB, for whole suites of tests.
//!
//! Assumes MySQL 8.4 or newer, in the usual places. Promises that where `INCUMBENT_TESTBED_MYSQL` is set, every
//! [`MariaDb`](crate::MariaDb) is a MySQL server with the same users, databases and manners, and that one that cannot
//! start is an error all the same. `cargo xtask soak` sets it, where it has MySQL.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::database::random_word;
use crate::folder::Folder;
use crate::program;

/// Small and quick, as with MariaDB.
pub(crate) const SETTINGS: &str = "
[mysqld]
bind-address = 127.0.0.1
skip-name-resolve
mysqlx = OFF
innodb_buffer_pool_size = 32M
innodb_redo_log_capacity = 16M
key_buffer_size = 1M
max_connections = 200
sync_binlog = 0
character-set-server = utf8mb4
";

/// Arguments of the first start, which makes the data.
const INITIALIZE: &[&str] = &["--no-defaults", "--initialize-insecure", "--mysqlx=OFF"];

/// Whether MySQL is to take the place of MariaDB.
pub(crate) fn is_wanted() -> bool {
    env::var_os("INCUMBENT_TESTBED_MYSQL").is_some_and(|wanted| !wanted.is_empty())
}

/// All that the data depends on.
pub(crate) fn recipe() -> String {
    format!("{INITIALIZE:?} {}", statements("password"))
}

/// What makes the users and the database, one statement a line.
fn statements(password: &str) -> String {
    format!(
        "ALTER USER root@localhost IDENTIFIED BY '{password}';
CREATE USER root@'%' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
CREATE DATABASE incumbent;
CREATE USER incumbent@'%' IDENTIFIED BY '{password}';
GRANT ALL ON incumbent.* TO incumbent@'%';
"
    )
}

pub(crate) async fn make_data(folder: &Folder, server: &Path) -> anyhow::Result<()> {
    let password = random_word()?;
    folder.write("password", &password)?;
    let script = folder.write("users.sql", &statements(&password))?;
    let mut initialize = program::command(server);
    initialize.args(INITIALIZE).arg(format!("--init-file={}", script.display()));
    initialize.arg(format!("--datadir={}", folder.data().display())).current_dir(folder.path());
    folder.user().apply(&mut initialize);
    program::run(initialize).await?;
    // The identity of a server, which copies of one archive must not share: each makes its own at its first start.
    fs::remove_file(folder.data().join("auto.cnf")).context("forgetting the identity of a server")
}
