//! `cargo xtask test`: the steps that decide whether a change is good.
//!
//! Assumes a Rust toolchain and network access to a crate registry, nothing else. Promises that
//! whatever else is needed gets installed or is named in a clear error.

use crate::check;
use crate::services;
use crate::sim;
use crate::step::Step;
use crate::table::Table;
use crate::tools;

/// What the other steps need; first, so that what cannot be installed is named at once.
const NEEDS: &[Step] = &[tools::STEP, services::STEP];

/// What comes after the gate.
const STEPS: &[Step] = &[
    Step::cargo("build", "every crate builds", &["build", "--workspace", "--all-features"]),
    Step::cargo(
        "tests",
        "unit tests, integration tests and doctests pass",
        &["test", "--workspace", "--all-features"],
    ),
];

/// All steps; a quick run leaves out the gate.
pub(crate) fn table(quick: bool) -> Table {
    let gate = if quick { &[] } else { check::GATE };
    let after = STEPS.iter().chain(sim::STEPS).copied();
    let steps = NEEDS.iter().chain(gate).copied().chain(after);
    Table::new("cargo xtask test --only", steps)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_steps_share_a_name() {
        let mut names = BTreeSet::new();
        for step in NEEDS.iter().chain(check::GATE).chain(STEPS).chain(sim::STEPS) {
            assert!(names.insert(step.name), "`{}` is there twice", step.name);
        }
    }

    #[test]
    fn a_quick_run_still_builds_and_tests_but_does_not_lint() {
        assert!(table(true).only("tests").is_ok());
        assert!(table(true).only("clippy").is_err());
        assert!(table(false).only("clippy").is_ok());
    }
}
