//! The data of a PostgreSQL server that has never run.
//!
//! Assumes PostgreSQL's own programs. Promises the roles, the database and the settings that
//! [`Postgres`](crate::Postgres) speaks of, before the first start.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::database::random_word;
use crate::folder::Folder;
use crate::postgres::PostgresOptions;
use crate::template::Template;
use crate::{certificate, program};

/// Small, quick, and ready to feed standbys, with room for 500 candidates, each of which has two
/// connections. Shared memory is in files of the data folder, where a killed server cannot leave it
/// behind for ever. Tests survive SIGKILL without `fsync`: what a killed process wrote stays with the
/// operating system.
const SETTINGS: &str = "
shared_buffers = 32MB
max_connections = 1200
wal_level = replica
max_wal_senders = 10
wal_keep_size = 64MB
hot_standby = on
dynamic_shared_memory_type = mmap
logging_collector = off
log_destination = stderr
";

/// Arguments of `initdb`.
const INITDB: &[&str] = &[
    "--username=postgres",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
];

/// Puts an empty cluster and its password into `folder`.
pub(crate) async fn unpack(folder: &Folder, programs: &Path) -> anyhow::Result<()> {
    let version = program::version(&programs.join("postgres")).await?;
    let recipe = format!("{INITDB:?} {}", statements("password").join(" "));
    let template = Template { version: &version, recipe, user: folder.user() };
    template.unpack(folder, async |folder| make_cluster(folder, programs).await).await
}

/// What makes the role and the database; each line is one statement for a server without clients.
fn statements(password: &str) -> [String; 3] {
    [
        format!("ALTER ROLE postgres PASSWORD '{password}'"),
        format!("CREATE ROLE incumbent LOGIN PASSWORD '{password}'"),
        "CREATE DATABASE incumbent OWNER incumbent".to_owned(),
    ]
}

async fn make_cluster(folder: &Folder, programs: &Path) -> anyhow::Result<()> {
    let password = random_word()?;
    folder.write("password", &password)?;
    let mut initdb = program::command(&programs.join("initdb"));
    initdb.args(INITDB).arg("-D").arg(folder.data()).current_dir(folder.path());
    folder.user().apply(&mut initdb);
    program::run(initdb).await?;
    let mut single = program::command(&programs.join("postgres"));
    single.args(["--single", "-F", "-D"]).arg(folder.data()).arg("postgres");
    single.current_dir(folder.path());
    folder.user().apply(&mut single);
    let script = statements(&password).join("\n") + "\n";
    program::run_with_input(single, &script).await?;
    Ok(())
}

/// Adds settings, and what the options ask for, to a cluster that has never run.
pub(crate) async fn configure(
    folder: &Folder,
    programs: &Path,
    options: &PostgresOptions,
) -> anyhow::Result<()> {
    if options.disk.is_some() {
        let mut command = program::command(&programs.join("pg_resetwal"));
        command.args(["--wal-segsize=1", "-D"]).arg(folder.data()).current_dir(folder.path());
        folder.user().apply(&mut command);
        program::run(command).await?;
    }
    let fsync = if options.durable { "on" } else { "off" };
    let mut lines = vec![SETTINGS.to_owned(), format!("fsync = {fsync}")];
    if options.disk.is_some() {
        lines.push("min_wal_size = 2MB\nmax_wal_size = 8MB\nwal_keep_size = 0".to_owned());
    }
    if options.tls {
        certificate::make(folder, &folder.data(), "server").await?;
        lines.push("ssl = on".to_owned());
    }
    for (name, value) in &options.settings {
        lines.push(format!("{name} = '{}'", value.replace('\'', "''")));
    }
    let text = lines.join("\n") + "\n";
    let path = folder.data().join("postgresql.conf");
    let mut file =
        fs::File::options().append(true).open(path).context("opening postgresql.conf")?;
    file.write_all(text.as_bytes()).context("writing postgresql.conf")
}
