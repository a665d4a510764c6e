//! `cargo xtask check`: the gate.
//!
//! Assumes that the tools are there (its first step sees to it). Promises to change no source:
//! repairing is the business of `cargo xtask fix`. Steps that take a second come first.

use crate::step::Step;
use crate::table::Table;
use crate::{deny, links, msrv, tools};

/// The steps of the gate, cheap ones first.
pub(crate) const GATE: &[Step] = &[
    Step::cargo("fmt", "the code is formatted", &["fmt", "--all", "--check"]),
    Step::call("links", "links between Markdown files lead somewhere", links::check),
    Step::call("msrv", "every page names the same oldest Rust version", msrv::check),
    Step::cargo(
        "clippy",
        "no lint fires",
        &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"],
    ),
    Step::cargo(
        "features",
        "the library builds with its default features",
        &["check", "--package", "incumbent"],
    )
    .with_variable("RUSTFLAGS", "-Dwarnings"),
    Step::cargo(
        "fuzz",
        "the fuzz targets build, which are outside of the workspace",
        &["check", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--no-default-features"],
    )
    // As `cargo fuzz` has it.
    .with_variable("RUSTFLAGS", "--cfg=fuzzing"),
    Step::cargo(
        "doc",
        "the documentation builds without warnings",
        &["doc", "--workspace", "--no-deps", "--all-features"],
    )
    .with_variable("RUSTDOCFLAGS", "-Dwarnings"),
    Step::call("deny", "dependencies keep to deny.toml", deny::check),
];

/// The gate behind the step that installs its tools.
pub(crate) fn table() -> Table {
    let steps = [tools::STEP].into_iter().chain(GATE.iter().copied());
    Table::new("cargo xtask check --only", steps)
}
