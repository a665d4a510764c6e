//! What cargo builds: programs, and where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::process;

/// A program that cargo built.
#[derive(Debug)]
pub(crate) struct Artifact {
    pub(crate) program: PathBuf,
    /// The package, and the folder of its manifest.
    pub(crate) package: String,
    pub(crate) folder: PathBuf,
    /// `lib`, `bin`, `test`, ...
    pub(crate) kind: String,
    pub(crate) target: String,
    /// Whether it is a program of tests.
    pub(crate) is_test: bool,
}

/// Runs `cargo` with `arguments`, which have to build something, and says which programs there are.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> anyhow::Result<Vec<Artifact>> {
    let mut command = process::cargo(root);
    command.args(arguments).arg("--message-format=json-render-diagnostics");
    command.stderr(Stdio::inherit());
    let line = format!("cargo {}", arguments.join(" "));
    let output = command.output().with_context(|| format!("`{line}` could not be started"))?;
    ensure!(output.status.success(), "`{line}` ended with {}", output.status);
    let text = String::from_utf8(output.stdout).context("reading what cargo built")?;
    text.lines().filter_map(|line| read(line).transpose()).collect()
}

/// A line of what cargo says about what it built, as far as it concerns us.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The program that a line names, if it names one.
fn read(line: &str) -> anyhow::Result<Option<Artifact>> {
    let message: Message = serde_json::from_str(line).context("reading what cargo built")?;
    let Message { executable: Some(program), manifest_path: Some(manifest), .. } = message else {
        return Ok(None);
    };
    let (Some(target), Some(profile)) = (message.target, message.profile) else {
        return Ok(None);
    };
    let folder = manifest.parent().context("a manifest has no folder")?.to_owned();
    let text =
        fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
    let table: toml::Table = text.parse().context("reading a manifest")?;
    let name = table.get("package").and_then(|package| package.get("name"));
    let package = name.and_then(toml::Value::as_str).context("a package has no name")?.to_owned();
    let kind = target.kind.into_iter().next().unwrap_or_default();
    let is_test = profile.test;
    Ok(Some(Artifact { program, package, folder, kind, target: target.name, is_test }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_from_what_cargo_says() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let line = format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"{manifest}","executable":"/t/x-12",
                "target":{{"name":"x","kind":["test"]}},"profile":{{"test":true}}}}"#
        );
        let artifact = read(&line).expect("it is read").expect("it is a program");
        assert_eq!((artifact.package.as_str(), artifact.target.as_str()), ("xtask", "x"));
        assert_eq!((artifact.kind.as_str(), artifact.is_test), ("test", true));
        assert_eq!(artifact.folder, Path::new(env!("CARGO_MANIFEST_DIR")));
    }

    #[test]
    fn what_is_no_program_is_passed_over() {
        let line = r#"{"reason":"build-finished","success":true}"#;
        assert!(read(line).expect("it is read").is_none());
        assert!(read("no json").is_err());
    }
}
