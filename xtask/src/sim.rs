//! `cargo xtask sim`: simulated worlds that try to break the protocols.
//!
//! Assumes that `incumbent-sim` explains itself. Promises that the check of its determinism comes
//! before anything that rests on it.

use std::path::Path;

use crate::process;
use crate::step::Step;
use crate::table::Table;

/// What a change must pass: first the same seed twice, then many seeds, for each protocol.
pub(crate) const STEPS: &[Step] = &[
    Step::cargo(
        "sim-meta",
        "the same seed gives the same history, byte for byte",
        &["run", "--release", "--package", "incumbent-sim", "--", "meta"],
    ),
    Step::cargo(
        "sim-seeds",
        "5,000 worlds of a simulated hour break no promise",
        &["run", "--release", "--package", "incumbent-sim", "--", "run", "--seeds", "0..5000"],
    ),
    Step::cargo(
        "sim-meta-rounds",
        "the same for worlds with a roster",
        &[
            "run",
            "--release",
            "--package",
            "incumbent-sim",
            "--",
            "meta",
            "--protocol",
            "rounds",
            "--seeds",
            "0..25",
        ],
    ),
    Step::cargo(
        "sim-seeds-rounds",
        "2,500 worlds with a roster break no promise either",
        &[
            "run",
            "--release",
            "--package",
            "incumbent-sim",
            "--",
            "run",
            "--protocol",
            "rounds",
            "--seeds",
            "0..2500",
        ],
    ),
    Step::cargo(
        "sim-meta-peers",
        "the same for worlds of peers",
        &[
            "run",
            "--release",
            "--package",
            "incumbent-sim",
            "--",
            "meta",
            "--protocol",
            "bully",
            "--seeds",
            "0..25",
        ],
    ),
    Step::cargo(
        "sim-seeds-ring",
        "200 quarter hours among peers in a ring break no promise",
        &[
            "run",
            "--release",
            "--package",
            "incumbent-sim",
            "--",
            "run",
            "--protocol",
            "ring",
            "--seeds",
            "0..200",
            "--hours",
            "0.25",
        ],
    ),
    Step::cargo(
        "sim-seeds-bully",
        "and 200 among bullies",
        &[
            "run",
            "--release",
            "--package",
            "incumbent-sim",
            "--",
            "run",
            "--protocol",
            "bully",
            "--seeds",
            "0..200",
            "--hours",
            "0.25",
        ],
    ),
];

/// All of these steps.
pub(crate) fn table() -> Table {
    Table::new("cargo xtask test --only", STEPS.iter().copied())
}

/// Builds `incumbent-sim` for release and runs it with these arguments.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut command = process::cargo(root);
    command.args(["run", "--release", "--package", "incumbent-sim", "--"]).args(arguments);
    process::run(&mut command)
}
