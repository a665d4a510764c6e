//! Finding and running the programs that come with the servers.
//!
//! Assumes the usual places of Debian, Fedora and the search path. Promises that a missing program
//! is an error that says how to get it, and that a failing one is an error with its own words.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use tokio::io::AsyncWriteExt as _;

/// What to do about a missing program.
pub(crate) const MISSING: &str = "run: cargo xtask services";

/// Folders that hold servers and are often not on the search path of a plain user.
const FOLDERS: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];

/// Finds `name` on the search path or in the usual folders.
pub(crate) fn find(name: &str) -> anyhow::Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(FOLDERS.iter().map(PathBuf::from));
    let mut candidates = folders.map(|folder| folder.join(name));
    candidates
        .find(|candidate| candidate.is_file())
        .with_context(|| format!("the program `{name}` is missing; {MISSING}"))
}

/// The folder of PostgreSQL's programs: the one of `postgres` on the search path, or else the
/// newest version that Debian's or Fedora's packages brought.
pub(crate) fn postgres_folder() -> anyhow::Result<PathBuf> {
    let complete = |folder: &Path| {
        ["postgres", "initdb", "psql", "pg_basebackup"]
            .iter()
            .all(|name| folder.join(name).exists())
    };
    if let Ok(program) = find("postgres").and_then(|path| Ok(fs::canonicalize(path)?))
        && let Some(folder) = program.parent()
        && complete(folder)
    {
        return Ok(folder.to_owned());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .chain((13..30).map(|version| (version, format!("/usr/pgsql-{version}/bin").into())))
        .filter(|(_, folder)| complete(folder))
        .collect();
    folders.sort();
    let newest = folders.pop();
    newest.map(|(_, folder)| folder).with_context(|| format!("PostgreSQL is missing; {MISSING}"))
}

/// A command that sees nothing of our environment but the search path and the folder of temporary
/// files: settings such as PGPASSWORD must not leak into a test.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").env("LC_ALL", "C");
    for name in ["PATH", "TMPDIR", "HOME", "LD_LIBRARY_PATH"] {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    command
}

/// Runs `command` to its end and returns what it wrote, without the last line break.
pub(crate) async fn run(command: Command) -> anyhow::Result<String> {
    run_with_input(command, "").await
}

/// The same, with `input` on its standard input.
pub(crate) async fn run_with_input(command: Command, input: &str) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().with_context(|| format!("`{name}` could not be started"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input closes the pipe; its status tells more.
        let _ = pipe.write_all(input.as_bytes()).await;
    }
    let output = child.wait_with_output().await.with_context(|| format!("waiting for `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{name}` ended with {}: {}", output.status, said.trim());
    }
    let text =
        String::from_utf8(output.stdout).with_context(|| format!("`{name}` wrote no text"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// The version that `program` prints, as one word fit for a file name.
pub(crate) async fn version(program: &Path) -> anyhow::Result<String> {
    let mut command = command(program);
    command.arg("--version");
    let text = run(command).await?;
    let line = text.lines().next().unwrap_or_default();
    ensure!(!line.is_empty(), "`{} --version` says nothing", program.display());
    let fit =
        |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    let word: String = line.chars().map(fit).collect();
    Ok(word.trim_matches('-').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_the_command_that_brings_it() {
        let error = find("incumbent-no-such-program").expect_err("is not there").to_string();
        assert!(error.contains("`incumbent-no-such-program`"), "{error}");
        assert!(error.contains("run: cargo xtask services"), "{error}");
    }

    #[tokio::test]
    async fn a_failing_program_is_an_error_with_its_own_words() {
        let mut failing = command(Path::new("/bin/sh"));
        failing.args(["-c", "echo no luck >&2; exit 7"]);
        let error = run(failing).await.expect_err("exits with 7").to_string();
        assert!(error.contains("no luck"), "{error}");
    }
}
