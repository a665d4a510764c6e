//! The step `deny`: dependencies keep to `deny.toml`.
//!
//! Assumes nothing about the machine: cargo-deny is installed if it is missing. Promises that
//! licences, bans and sources are always judged, and that advisories are judged whenever their
//! database can be fetched; where it cannot, a warning says that they were not.

use std::path::Path;

use crate::{printer, process};

/// The release of cargo-deny that reads our `deny.toml` and builds with the toolchain we use.
const VERSION: &str = "0.20.2";

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    install(root)?;
    let offline = ["bans", "licenses", "sources"];
    let options = ["deny", "check", "--hide-inclusion-graph"];
    process::run(process::cargo(root).args(options).args(offline))?;
    // A database out of reach says nothing about the dependencies, so it must not fail the gate.
    if process::succeeds(process::cargo(root).args(["deny", "fetch", "db"])) {
        process::run(process::cargo(root).args(options).arg("advisories"))
    } else {
        printer::warning(
            "the advisory database cannot be fetched: dependencies were NOT checked for known \
             vulnerabilities; run `cargo deny check advisories` where there is network access",
        );
        Ok(())
    }
}

/// Installs cargo-deny unless some release of it is there.
fn install(root: &Path) -> anyhow::Result<()> {
    if process::succeeds(process::cargo(root).args(["deny", "--version"])) {
        return Ok(());
    }
    printer::progress(&format!("installing cargo-deny {VERSION}: takes some minutes, once"));
    let arguments = ["install", "cargo-deny", "--locked", "--version", VERSION];
    process::run(process::cargo(root).args(arguments))
}
