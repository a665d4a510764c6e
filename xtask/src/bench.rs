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
    Step::cargo(
        "stopped",
        "how many writes of deposed leaders get through, with fencing and without",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "stopped"],
    ),
    Step::cargo(
        "failover_servers",
        "how long an election on a server is without a leader",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "failover_servers"],
    ),
    Step::cargo(
        "smallest_lease",
        "the smallest lease that holds while nobody disturbs its leader",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "smallest_lease"],
    ),
    Step::cargo(
        "many_servers",
        "what many elections of one process cost on a server",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "many_servers"],
    ),
    Step::cargo(
        "many_failover",
        "how long until all elections of a killed process are led again",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "many_failover"],
    ),
    Step::cargo(
        "fenced_orders",
        "whether orders and takeovers have their turn beside fenced writers",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "fenced_orders"],
    ),
    Step::cargo(
        "rounds_flat",
        "what a round costs a follower and a leader, with rosters from small to large",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "rounds_flat"],
    ),
    Step::cargo(
        "peers_election",
        "how long peers take to elect one of them, once they know that they have to",
        &["bench", "--package", "incumbent", "--features", "peers", "--bench", "peers_election"],
    ),
    Step::cargo(
        "peers_failover",
        "how long peers are without a leader after a SIGKILL or a SIGSTOP, beside databases",
        &["bench", "--package", "incumbent", "--all-features", "--bench", "peers_failover"],
    ),
];

/// All benchmarks.
pub(crate) fn table() -> Table {
    Table::new("cargo xtask bench", BENCHMARKS.iter().copied())
}
