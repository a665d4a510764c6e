//! A MariaDB server of one's own.
//!
//! Assumes MariaDB 10.6 or newer. Promises a fresh server: superuser `root` and a user `incumbent`,
//! both by password, and a database `incumbent` that the latter may do everything in.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::process::Signal;

use crate::daemon::{Daemon, Start, serve, with_free_port};
use crate::database::{Database, fresh_name, random_word};
use crate::folder::Folder;
use crate::template::Template;
use crate::user::User;
use crate::{certificate, disk, mysql, program};

/// Small and quick. Names are never looked up: a user is known by its address.
const SETTINGS: &str = "
[mysqld]
bind-address = 127.0.0.1
skip-name-resolve
innodb_buffer_pool_size = 32M
innodb_log_file_size = 8M
key_buffer_size = 1M
max_connections = 200
performance_schema = OFF
character-set-server = utf8mb4
";

/// Arguments of `mariadb-install-db`.
const INSTALL: &[&str] = &[
    "--no-defaults",
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--innodb-log-file-size=8M",
    "--innodb-buffer-pool-size=32M",
];

/// What a server is to be like; `default()` is a quick one for tests.
#[derive(Debug, Clone, Default)]
pub struct MariaDbOptions {
    /// Lines of the configuration file, which win over ours.
    pub settings: Vec<(String, String)>,
    /// Whether the server also speaks TLS, with the certificate at [`MariaDb::certificate`].
    pub tls: bool,
    /// Puts the data on a disk of so many bytes (128 MiB at least), for [`MariaDb::fill_disk`];
    /// needs root.
    pub disk: Option<u64>,
    /// Whether commits wait for the disk, as in production; for benchmarks.
    pub durable: bool,
}

/// A MariaDB server; killed, and its folder removed, on drop.
#[derive(Debug)]
pub struct MariaDb {
    daemon: Daemon,
    client: PathBuf,
    password: String,
    port: u16,
}

serve!(MariaDb, Signal::TERM);

impl MariaDb {
    /// Starts a fresh server.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(MariaDbOptions::default()).await
    }

    /// Starts a fresh server with `options`.
    pub async fn start_with(options: MariaDbOptions) -> anyhow::Result<Self> {
        with_free_port(async |port| Self::start_at(port, &options, &[]).await).await
    }

    /// Starts a fresh server on `port`, with `extra` arguments for this first start only.
    pub(crate) async fn start_at(
        port: u16,
        options: &MariaDbOptions,
        extra: &[&str],
    ) -> anyhow::Result<Self> {
        let (server, client) =
            if mysql::is_wanted() { ("mysqld", "mysql") } else { ("mariadbd", "mariadb") };
        let (server, client) = (program::find(server)?, program::find(client)?);
        let folder = Folder::create(User::for_server("mysql")?)?;
        if let Some(size) = options.disk {
            disk::mount(&folder, size).await?;
        }
        unpack(&folder, &server).await?;
        configure(&folder, port, options).await?;
        let password = fs::read_to_string(folder.path().join("password"))
            .context("reading the password of a server")?;
        let defaults = format!("--defaults-file={}", folder.path().join("my.cnf").display());
        let mut daemon = Daemon::new(folder, server, vec![defaults.into()]);
        daemon.start(extra, is_ready).await?;
        Ok(Self { daemon, client, password, port })
    }

    /// The database `incumbent` for the user `incumbent`.
    pub fn url(&self) -> String {
        self.url_for("incumbent", &self.password, "incumbent")
    }

    /// The database `incumbent` for the superuser.
    pub fn superuser_url(&self) -> String {
        self.url_for("root", &self.password, "incumbent")
    }

    /// Any database for any user.
    pub fn url_for(&self, user: &str, password: &str, database: &str) -> String {
        format!("mysql://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The password of the users `incumbent` and `root`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A new empty database that the user `incumbent` may do everything in.
    pub async fn fresh_database(&self) -> anyhow::Result<Database> {
        let name = fresh_name()?;
        self.sql(&format!("CREATE DATABASE {name}; GRANT ALL ON {name}.* TO incumbent@'%'"))
            .await?;
        Ok(Database {
            url: self.url_for("incumbent", &self.password, &name),
            superuser_url: self.url_for("root", &self.password, &name),
            name,
        })
    }

    /// The certificate, which is its own authority; there if the options said `tls`.
    pub fn certificate(&self) -> PathBuf {
        self.folder().join("server.crt")
    }

    /// Runs statements as superuser in the database `incumbent`; rows come one per line, their
    /// columns separated by tabs.
    pub async fn sql(&self, statement: &str) -> anyhow::Result<String> {
        self.sql_on("incumbent", statement).await
    }

    /// The same in another database.
    pub async fn sql_on(&self, database: &str, statement: &str) -> anyhow::Result<String> {
        let mut command = program::command(&self.client);
        command.args(["--no-defaults", "--batch", "--skip-column-names", "--user=root"]);
        command.arg(format!("--socket={}", self.folder().join("socket").display()));
        command.args(["--execute", statement, database]).env("MYSQL_PWD", &self.password);
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

    /// The end of the log, for error texts.
    pub(crate) fn log_tail(&self) -> String {
        self.daemon.folder().log_tail()
    }
}

/// Whether the server says so in this start's part of its log.
fn is_ready(folder: &Folder, start: &Start) -> bool {
    folder.log_since(start.log).contains("ready for connections")
}

/// Puts an empty data folder and its password into `folder`.
async fn unpack(folder: &Folder, server: &Path) -> anyhow::Result<()> {
    let version = program::version(server).await?;
    let recipe = if mysql::is_wanted() {
        mysql::recipe()
    } else {
        format!("{INSTALL:?} {}", statements("password"))
    };
    let template = Template { version: &version, recipe, user: folder.user() };
    template.unpack(folder, async |folder| make_data(folder, server).await).await
}

/// What makes the users and the database. Both users exist for sockets and for any address.
fn statements(password: &str) -> String {
    format!(
        "FLUSH PRIVILEGES;
DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');
FLUSH PRIVILEGES;
ALTER USER root@localhost IDENTIFIED BY '{password}';
CREATE USER root@'%' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
CREATE DATABASE incumbent;
CREATE USER incumbent@'%' IDENTIFIED BY '{password}';
GRANT ALL ON incumbent.* TO incumbent@'%';
"
    )
}

async fn make_data(folder: &Folder, server: &Path) -> anyhow::Result<()> {
    if mysql::is_wanted() {
        return mysql::make_data(folder, server).await;
    }
    let password = random_word()?;
    folder.write("password", &password)?;
    let mut install = program::command(&program::find("mariadb-install-db")?);
    install.args(INSTALL).arg(format!("--datadir={}", folder.data().display()));
    install.current_dir(folder.path());
    folder.user().apply(&mut install);
    program::run(install).await?;
    let mut bootstrap = program::command(server);
    bootstrap.args(["--no-defaults", "--bootstrap", "--innodb-log-file-size=8M"]);
    bootstrap.arg(format!("--datadir={}", folder.data().display())).current_dir(folder.path());
    folder.user().apply(&mut bootstrap);
    program::run_with_input(bootstrap, &statements(&password)).await?;
    Ok(())
}

/// Writes the configuration file.
async fn configure(folder: &Folder, port: u16, options: &MariaDbOptions) -> anyhow::Result<()> {
    let path = folder.path().display();
    // 2 leaves each commit with the operating system, where it survives the server.
    let flush = if options.durable { 1 } else { 2 };
    let mut lines = vec![
        if mysql::is_wanted() { mysql::SETTINGS } else { SETTINGS }.to_owned(),
        format!("datadir = {path}/data"),
        format!("socket = {path}/socket"),
        format!("port = {port}"),
        format!("pid-file = {path}/pid"),
        format!("tmpdir = {path}"),
        format!("innodb_flush_log_at_trx_commit = {flush}"),
    ];
    if options.tls {
        certificate::make(folder, folder.path(), "server").await?;
        lines.push(format!("ssl-cert = {path}/server.crt"));
        lines.push(format!("ssl-key = {path}/server.key"));
    }
    lines.extend(options.settings.iter().map(|(name, value)| format!("{name} = {value}")));
    folder.write("my.cnf", &(lines.join("\n") + "\n"))?;
    Ok(())
}
