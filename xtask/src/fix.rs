//! `cargo xtask fix`: repairs what a tool can repair.
//!
//! Assumes that the sources are under version control: it changes them, committed or not. Promises
//! nothing about expected transcripts: tests rewrite those themselves when run with `UPDATE=1`.

use crate::step::Step;
use crate::table::Table;

/// Lints first, because their fixes are not formatted.
const STEPS: &[Step] = &[
    Step::cargo(
        "clippy",
        "lints with a known fix are fixed",
        &[
            "clippy",
            "--fix",
            "--allow-dirty",
            "--allow-staged",
            "--workspace",
            "--all-targets",
            "--all-features",
        ],
    ),
    Step::cargo("fmt", "the code is formatted", &["fmt", "--all"]),
];

/// All repairs.
pub(crate) fn table() -> Table {
    Table::new("cargo xtask fix --only", STEPS.iter().copied())
}
