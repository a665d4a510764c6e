//! The step `tools`: what the other steps need and a fresh machine may lack.
//!
//! Assumes a Rust toolchain. Promises to install only what is missing, and where it may not
//! install, to fail with the command that a person has to run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::step::Step;
use crate::{apt, printer, process};

/// Runs before all other steps.
pub(crate) const STEP: Step = Step::call("tools", "what the other steps need is there", install);

/// Parts of the Rust toolchain: the cargo subcommand and the rustup component that brings it.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Programs: the name to look for and the Debian packages that bring it. `cc` links every crate
/// and compiles the embedded SQLite.
const PROGRAMS: &[(&str, &[&str])] = &[("cc", &["gcc", "libc6-dev"])];

fn install(root: &Path) -> anyhow::Result<()> {
    for (subcommand, component) in COMPONENTS {
        if !process::succeeds(process::cargo(root).args([subcommand, "--version"])) {
            add_component(component)?;
        }
    }
    for (program, packages) in PROGRAMS {
        if !process::succeeds(Command::new(program).arg("--version")) {
            add_packages(program, packages)?;
        }
    }
    Ok(())
}

fn add_component(component: &str) -> anyhow::Result<()> {
    printer::progress(&format!("installing the Rust component {component}"));
    process::run(Command::new("rustup").args(["component", "add", component]))
        .with_context(|| format!("{component} is missing; add it to the Rust toolchain"))
}

fn add_packages(program: &str, packages: &[&str]) -> anyhow::Result<()> {
    let names = packages.join(" ");
    let by_hand = format!("`{program}` is missing; install it (Debian and Ubuntu: {names})");
    ensure!(apt::may_install(), by_hand);
    printer::progress(&format!("installing {names} for `{program}`"));
    apt::install(packages).context(by_hand)
}
