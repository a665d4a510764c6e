//! `cargo xtask test`: the steps that decide whether a change is good.
//!
//! Needs a Rust toolchain and network access to a crate registry, nothing else: it installs the rest
//! or names it in a clear error.

use crate::step::Step;
use crate::table::Table;
use crate::{check, services, suites, tools};

/// What the other steps need; first, so that what cannot be installed is named at once.
const NEEDS: &[Step] = &[tools::STEP, services::STEP];

const ALL: Step = Step::call(
    "tests",
    "unit tests, integration tests, doctests and simulated worlds pass, side by side",
    suites::all,
);

const QUICK: Step = Step::call("tests", "the quick suites pass, side by side", suites::quick);

/// All steps; a quick run leaves out the gate and the suites that take minutes.
pub(crate) fn table(quick: bool) -> Table {
    let (gate, tests) = if quick { (&[][..], QUICK) } else { (check::GATE, ALL) };
    let steps = NEEDS.iter().chain(gate).copied().chain([tests]);
    Table::new("cargo xtask test --only", steps)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_steps_share_a_name() {
        let mut names = BTreeSet::new();
        for step in NEEDS.iter().chain(check::GATE).chain([&ALL]) {
            assert!(names.insert(step.name), "`{}` is there twice", step.name);
        }
    }

    #[test]
    fn a_quick_run_still_tests_but_does_not_lint() {
        assert!(table(true).only("tests").is_ok());
        assert!(table(true).only("clippy").is_err());
        assert!(table(false).only("clippy").is_ok());
    }
}
