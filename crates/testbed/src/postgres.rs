//! A PostgreSQL server of one's own.
//!
//! Assumes PostgreSQL 13 or newer. Promises a fresh cluster: superuser `postgres` (trusted on the
//! socket in the private folder, by password over TCP) and a role `incumbent` that owns a database
//! `incumbent`. Fresh clusters of one machine share their passwords and their system identifier,
//! because they are copies of one archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::Context as _;
use rustix::process::Signal;

use crate::daemon::{Daemon, Start, serve, with_free_port};
use crate::database::{Database, fresh_name};
use crate::folder::Folder;
use crate::user::User;
use crate::{cluster, disk, program};

/// What a server is to be like; `default()` is a quick one for tests.
#[derive(Debug, Clone, Default)]
pub struct PostgresOptions {
    /// Lines of `postgresql.conf`, which win over ours.
    pub settings: Vec<(String, String)>,
    /// Whether the server also speaks TLS, with the certificate at [`Postgres::certificate`].
    pub tls: bool,
    /// Puts the data on a disk of so many bytes (64 MiB at least), for [`Postgres::fill_disk`];
    /// needs root. Segments of the write-ahead log then have 1 MiB, so that the log soon needs room.
    pub disk: Option<u64>,
    /// Whether commits wait for the disk, as in production; for benchmarks.
    pub durable: bool,
}

/// A PostgreSQL server; killed, and its folder removed, on drop.
#[derive(Debug)]
pub struct Postgres {
    pub(crate) daemon: Daemon,
    pub(crate) programs: PathBuf,
    pub(crate) password: String,
    port: u16,
    /// Names of the standbys that every commit waits for.
    pub(crate) synchronous: Mutex<Vec<String>>,
}

serve!(Postgres, Signal::INT);

impl Postgres {
    /// Starts a fresh cluster.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(PostgresOptions::default()).await
    }

    /// Starts a fresh cluster with `options`.
    pub async fn start_with(options: PostgresOptions) -> anyhow::Result<Self> {
        let programs = program::postgres_folder()?;
        with_free_port(async |port| {
            let user = User::for_server("postgres")?;
            let folder =
                if options.durable { Folder::create(user)? } else { Folder::create_quick(user)? };
            if let Some(size) = options.disk {
                disk::mount(&folder, size).await?;
            }
            cluster::unpack(&folder, &programs).await?;
            cluster::configure(&folder, &programs, &options).await?;
            Self::launch(folder, &programs, port).await
        })
        .await
    }

    /// Starts a server on the data in `folder`.
    pub(crate) async fn launch(folder: Folder, programs: &Path, port: u16) -> anyhow::Result<Self> {
        let password = fs::read_to_string(folder.path().join("password"))
            .context("reading the password of a cluster")?;
        let arguments = vec![
            "-D".into(),
            folder.data().into(),
            "-k".into(),
            folder.path().into(),
            "-p".into(),
            port.to_string().into(),
            "-c".into(),
            "listen_addresses=127.0.0.1".into(),
        ];
        let mut daemon = Daemon::new(folder, programs.join("postgres"), arguments);
        daemon.start(&[], is_ready).await?;
        let programs = programs.to_owned();
        Ok(Self { daemon, programs, password, port, synchronous: Mutex::default() })
    }

    /// The database `incumbent` for the role `incumbent`.
    pub fn url(&self) -> String {
        self.url_for("incumbent", &self.password, "incumbent")
    }

    /// The database `incumbent` for the superuser.
    pub fn superuser_url(&self) -> String {
        self.url_for("postgres", &self.password, "incumbent")
    }

    /// Any database for any role.
    pub fn url_for(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The password of the roles `incumbent` and `postgres`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A new empty database owned by the role `incumbent`.
    pub async fn fresh_database(&self) -> anyhow::Result<Database> {
        let name = fresh_name()?;
        self.sql_on("postgres", &format!("CREATE DATABASE {name} OWNER incumbent")).await?;
        Ok(Database {
            url: self.url_for("incumbent", &self.password, &name),
            superuser_url: self.url_for("postgres", &self.password, &name),
            name,
        })
    }

    /// The certificate, which is its own authority; there if the options said `tls`.
    pub fn certificate(&self) -> PathBuf {
        self.daemon.folder().data().join("server.crt")
    }

    /// Runs a statement as superuser in the database `incumbent`; rows come one per line, their
    /// columns separated by `|`.
    pub async fn sql(&self, statement: &str) -> anyhow::Result<String> {
        self.sql_on("incumbent", statement).await
    }

    /// The same in another database.
    pub async fn sql_on(&self, database: &str, statement: &str) -> anyhow::Result<String> {
        let mut command = self.tool("psql");
        command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database]);
        command.args(["-c", statement]);
        program::run(command).await
    }

    /// Fills the server's disk to the last byte; needs `disk` in the options.
    pub fn fill_disk(&self) -> anyhow::Result<()> {
        disk::fill(self.daemon.folder())
    }

    /// Gives the room back that [`fill_disk`](Self::fill_disk) took.
    pub fn free_disk(&self) -> anyhow::Result<()> {
        disk::free(self.daemon.folder())
    }

    /// One of PostgreSQL's own client programs, connected to this server through its socket.
    pub(crate) fn tool(&self, name: &str) -> Command {
        let mut command = program::command(&self.programs.join(name));
        command.arg("-h").arg(self.folder()).args(["-p", &self.port.to_string()]);
        command
    }
}

/// Whether the postmaster says so in its own file, as `pg_ctl` reads it. After a kill the file of the
/// previous one is still there, and says so too.
fn is_ready(folder: &Folder, start: &Start) -> bool {
    let text = fs::read_to_string(folder.data().join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first().and_then(|line| line.parse().ok()) == Some(start.pid)
        && matches!(lines.get(7), Some(&"ready" | &"standby"))
}
