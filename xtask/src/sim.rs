//! `cargo xtask sim`: simulated worlds that try to break the protocols.
//!
//! The check of determinism comes before what rests on it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::artifact;
use crate::process;
use crate::step::Step;
use crate::table::Table;

/// Simulated worlds that a change must not break.
pub(crate) struct Worlds {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// What `incumbent-sim` is given.
    pub(crate) arguments: &'static [&'static str],
}

/// First the same seed twice, then many seeds, for each protocol.
pub(crate) const WORLDS: &[Worlds] = &[
    Worlds {
        name: "sim-meta",
        about: "the same seed gives the same history, byte for byte",
        arguments: &["meta"],
    },
    Worlds {
        name: "sim-seeds",
        about: "5,000 worlds of a simulated hour break no promise",
        arguments: &["run", "--seeds", "0..5000"],
    },
    Worlds {
        name: "sim-meta-rounds",
        about: "the same seed gives the same history in worlds with a roster",
        arguments: &["meta", "--protocol", "rounds", "--seeds", "0..25"],
    },
    Worlds {
        name: "sim-seeds-rounds",
        about: "2,500 worlds with a roster break no promise",
        arguments: &["run", "--protocol", "rounds", "--seeds", "0..2500"],
    },
    Worlds {
        name: "sim-meta-peers",
        about: "the same seed gives the same history in worlds of peers",
        arguments: &["meta", "--protocol", "bully", "--seeds", "0..25"],
    },
    Worlds {
        name: "sim-seeds-ring",
        about: "200 quarter hours among peers in a ring break no promise",
        arguments: &["run", "--protocol", "ring", "--seeds", "0..200", "--hours", "0.25"],
    },
    Worlds {
        name: "sim-seeds-bully",
        about: "200 quarter hours among bullies break no promise",
        arguments: &["run", "--protocol", "bully", "--seeds", "0..200", "--hours", "0.25"],
    },
];

/// All of these worlds, one step each.
pub(crate) fn table() -> Table {
    let steps = WORLDS.iter().map(|worlds| Step::sim(worlds.name, worlds.about, worlds.arguments));
    Table::new("cargo xtask sim --only", steps)
}

/// Builds `incumbent-sim` for release and says where it is.
pub(crate) fn built(root: &Path) -> anyhow::Result<PathBuf> {
    let built = artifact::build(root, &["build", "--release", "--package", "incumbent-sim"])?;
    let program = built.into_iter().find(|artifact| artifact.kind == "bin");
    Ok(program.context("cargo does not say where incumbent-sim is")?.program)
}

/// Builds `incumbent-sim` for release and runs it with these arguments.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut command = process::cargo(root);
    command.args(["run", "--release", "--package", "incumbent-sim", "--"]).args(arguments);
    process::run(&mut command)
}
