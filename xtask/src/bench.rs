//! `cargo xtask bench`: the benchmarks, by name.
//!
//! Assumes a machine that is otherwise idle; figures from a busy one mean little. Promises nothing
//! about the figures: a benchmark reports, it does not judge.

use crate::step::Step;
use crate::table::Table;

const BENCHMARKS: &[Step] = &[
    Step::cargo(
        "is_valid",
        "what it costs to ask a leadership whether it still stands",
        &["bench", "--package", "incumbent", "--bench", "is_valid"],
    ),
    Step::cargo(
        "many",
        "what many elections of one process cost",
        &["bench", "--package", "incumbent", "--bench", "many"],
    ),
    Step::cargo(
        "failover",
        "how long an election is without a leader after a crash",
        &["bench", "--package", "incumbent-cli", "--bench", "failover"],
    ),
];

/// All benchmarks.
pub(crate) fn table() -> Table {
    Table::new("cargo xtask bench", BENCHMARKS.iter().copied())
}
