//! `cargo xtask demo`: the demonstration, from a release build.
//!
//! Assumes that `incumbent demo` explains itself. Promises to start it and to pass its failure on.

use std::path::Path;

use crate::process;

/// Builds and runs the demonstration, with `arguments` behind `demo`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut command = process::cargo(root);
    command.args(["run", "--release", "--package", "incumbent-cli", "--", "demo"]).args(arguments);
    process::run(&mut command)
}
