//! Writers in another language: the example in Python is fenced as well.
//!
//! Assumes: Python 3 with a driver for each server, which `cargo xtask services` installs.
//! Promises: the example runs as it stands, with the environment that `incumbent run` gives it, and
//! is deposed between its last write and its commit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use incumbent::{Backend, Config, Leadership, Schema};
use incumbent_testbed::{shared_mariadb, shared_postgres};
use sqlx::{MySql, Postgres, Sqlite};

use crate::trial::kind::Kind;

const ELECTION: &str = "journal";

/// The code that the example ends with when it was deposed.
const DEPOSED: i32 = 123;

/// One database, and the example that writes to it.
struct Desk {
    url: String,
    python: PathBuf,
}

impl Desk {
    /// The example, for a leader with this token.
    fn writer(&self, token: u64, flags: &[&str]) -> Command {
        let example = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(&self.python);
        command.arg(example.join("../../examples/python/fenced_writer.py"));
        command.args(["--writes", "1"]).args(flags);
        command.env("DATABASE_URL", &self.url).env("INCUMBENT_ELECTION", ELECTION);
        command.env("INCUMBENT_TOKEN", token.to_string()).env("INCUMBENT_NAME", "writer");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    async fn lead(&self, name: &str) -> anyhow::Result<Leadership> {
        let config = Config::new().name(name).lease(Duration::from_mins(2));
        let election = Backend::open_with(&self.url, &config).await?.election(ELECTION).await?;
        let won = tokio::time::timeout(Duration::from_mins(1), election.campaign()).await;
        Ok(won.context("waited in vain for a leadership")??)
    }

    /// The tokens in the journal, in the order in which they were written.
    async fn journal<K: Kind>(&self) -> anyhow::Result<Vec<i64>> {
        let mut connection = K::pool(&self.url, Duration::from_secs(10)).await?.acquire().await?;
        let tokens = "SELECT token FROM journal ORDER BY number".to_owned();
        Ok(K::rows(&mut connection, tokens).await?.concat())
    }
}

/// Writes, is deposed in the middle of it, tries again, and is succeeded.
async fn is_fenced<K: Kind>(url: String, module: &str) -> anyhow::Result<()> {
    Schema::of(&url)?.apply().await?;
    let desk = Desk { url, python: python_with(module)? };
    let first = desk.lead("first").await?;
    let old = first.token().get();
    ended(desk.writer(old, &[]).spawn()?, 0)?;

    let mut writer = desk.writer(old, &["--ask"]).spawn()?;
    let mut line = String::new();
    let output = writer.stdout.as_mut().context("no pipe")?;
    BufReader::new(output).read_line(&mut line)?;
    if !line.contains("about to commit") {
        let said = String::from_utf8_lossy(&writer.wait_with_output()?.stderr).into_owned();
        anyhow::bail!("the example does not come to its commit: {line} {said}");
    }
    first.resign().await?;
    let second = desk.lead("second").await?;
    let new = second.token().get();
    writer.stdin.as_mut().context("no pipe")?.write_all(b"\n")?;
    let said = ended(writer, DEPOSED)?;
    ensure!(said.contains(&format!("writer was deposed: term {old}")), "{said}");

    ended(desk.writer(new, &[]).spawn()?, 0)?;
    ended(desk.writer(old, &[]).spawn()?, DEPOSED)?;
    let tokens = desk.journal::<K>().await?;
    assert_eq!(tokens, [i64::try_from(old)?, i64::try_from(new)?]);
    Ok(())
}

/// What the example said, if it ended with that code.
fn ended(writer: Child, code: i32) -> anyhow::Result<String> {
    let Output { status, stdout, stderr } = writer.wait_with_output()?;
    let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    ensure!(status.code() == Some(code), "{status} instead of {code}: {said}");
    Ok(said)
}

/// The Python on the search path need not be the one that the system's packages belong to.
fn python_with(module: &str) -> anyhow::Result<PathBuf> {
    let mut pythons = ["python3", "/usr/bin/python3"].iter().map(PathBuf::from);
    let has = |python: &PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", &format!("import {module}")]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let problem =
        || format!("Python with the module {module} is missing; run: cargo xtask services");
    pythons.find(has).with_context(problem)
}

#[tokio::test]
async fn a_deposed_writer_in_python_cannot_commit_on_postgres() -> anyhow::Result<()> {
    let url = shared_postgres().await?.fresh_database().await?.url;
    is_fenced::<Postgres>(url, "psycopg2").await
}

#[tokio::test]
async fn a_deposed_writer_in_python_cannot_commit_on_mariadb() -> anyhow::Result<()> {
    let url = shared_mariadb().await?.fresh_database().await?.url;
    is_fenced::<MySql>(url, "pymysql").await
}

#[tokio::test]
async fn a_deposed_writer_in_python_cannot_commit_on_sqlite() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    is_fenced::<Sqlite>(crate::file(&folder), "sqlite3").await
}
