//! The command line of `cargo xtask`.
//!
//! Assumes nothing. Promises that every subcommand explains itself and shows an example, and that
//! no name of a step is written here: `--list` reads the tables.

use clap::{Args, Parser};

/// Everything a contributor can do with this repository.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
#[command(
    after_help = "Before a commit:  cargo xtask test\nWhile working:    cargo xtask test --quick"
)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) subcommand: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// Install what is missing, pass the gate, build everything, run every test.
    ///
    /// This is the command that decides whether a change is good. It stops at the first step that
    /// fails, and says how to run that step alone.
    #[command(after_help = "Examples:\n  cargo xtask test\n  cargo xtask test --quick\n  \
                            cargo xtask test --only clippy")]
    Test {
        /// Skip the gate (what `check` does); build and test only
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        selection: Selection,
    },

    /// The gate: formatting, lints, documentation, links, licences, advisories. Read-only.
    #[command(after_help = "Examples:\n  cargo xtask check\n  cargo xtask check --only links")]
    Check {
        #[command(flatten)]
        selection: Selection,
    },

    /// Repair what a tool can repair: lints with a known fix, then formatting. Changes sources.
    #[command(after_help = "Examples:\n  cargo xtask fix\n  cargo xtask fix --only fmt")]
    Fix {
        #[command(flatten)]
        selection: Selection,
    },

    /// Run one benchmark, or all of them.
    #[command(after_help = "Examples:\n  cargo xtask bench\n  cargo xtask bench is_valid\n  \
                            cargo xtask bench many -- --sample-count 20")]
    Bench {
        /// The benchmark to run; all of them if left out
        name: Option<String>,
        /// List the benchmarks, run none
        #[arg(long)]
        list: bool,
        /// Passed to the benchmark itself
        #[arg(last = true)]
        arguments: Vec<String>,
    },

    /// Run simulated worlds that try to break the protocols: those that a change must pass, or any.
    #[command(
        after_help = "Examples:\n  cargo xtask sim\n  cargo xtask sim -- run --seeds 0..100000\n  \
                            cargo xtask sim -- replay 42 --trace\n  cargo xtask sim -- --help"
    )]
    Sim {
        #[command(flatten)]
        selection: Selection,
        /// Passed to `incumbent-sim`; the worlds that a change must pass if left out
        #[arg(last = true)]
        arguments: Vec<String>,
    },

    /// Stop and kill real processes in random order, and prove that no promise was broken.
    #[command(after_help = "Examples:\n  cargo xtask chaos run\n  \
                            cargo xtask chaos run --rounds 1000 --seed 42\n  \
                            cargo xtask chaos peers --nodes 7 --kills 20")]
    Chaos {
        #[command(subcommand)]
        action: ChaosAction,
    },

    /// Install the database servers and the pooler that tests run against, and say which are there.
    ///
    /// Tests start and end their own, so nothing runs afterwards. `up` starts one of each, to try
    /// things by hand.
    #[command(after_help = "Examples:\n  cargo xtask services\n  cargo xtask services up")]
    Services {
        /// Install what is missing through `sudo`, without being root
        #[arg(long)]
        install: bool,
        #[command(subcommand)]
        action: Option<ServicesAction>,
    },

    /// Run the suites on servers that this system does not package: MySQL, its Group Replication, the newest
    /// PostgreSQL. Needs root on Debian or a relative of it.
    ///
    /// The servers come from Debian's unstable branch into a folder of their own (`target/soak`, or
    /// `INCUMBENT_SOAK_ROOT`),
    /// once; nothing of this system changes. Each step says how to run it alone.
    #[command(after_help = "Examples:\n  cargo xtask soak\n  cargo xtask soak --only mysql-group")]
    Soak {
        #[command(flatten)]
        selection: Selection,
    },

    /// Build the program `incumbent` for release and run its demonstration.
    #[command(after_help = "Example:\n  cargo xtask demo")]
    Demo {
        /// Passed to `incumbent demo`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

/// What to shake.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
pub(crate) enum ChaosAction {
    /// `incumbent run`: supervisors, guards and commands; never are two commands alive at once.
    Run {
        /// How many rounds; each takes about a second and a half
        #[arg(long, value_name = "N", default_value_t = 200)]
        rounds: u64,
        /// What the order is drawn from
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },

    /// Leaders on SQLite are stopped while others load the disk: each has a successor.
    Stops {
        /// How many stops, on six elections side by side
        #[arg(long, value_name = "N", default_value_t = 500)]
        stops: u64,
        /// What the moments are drawn from
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },

    /// `ring://` and `bully://`: peers are killed, stopped and parted; never do two lead at once.
    Peers(Peers),

    /// `ring://` and `bully://`: two of three peers lose each other in namespaces of the kernel; the
    /// leader keeps its term, because it reaches a majority. As root, with `ip`
    Cuts {
        /// How long each of the six partial cuts lasts
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        seconds: u64,
        /// The lease, in milliseconds
        #[arg(long, value_name = "MS", default_value_t = 3000)]
        lease: u64,
        /// Only peers of this kind
        #[arg(long)]
        scheme: Option<Scheme>,
    },
}

/// How peers are shaken.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Peers {
    /// How many peers
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) nodes: u64,
    /// How many of them vote, the first ones; all if it is 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) voters: u64,
    /// How often a process is killed, mostly the leader's; each kind of blow takes about two leases
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) kills: u64,
    /// How often one is stopped for around a lease, mostly the leader's
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) stops: u64,
    /// How often the network is parted: in two, in one direction, or between two peers
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) partitions: u64,
    /// The lease, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub(crate) lease: u64,
    /// What the order is drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only peers of this kind
    #[arg(long)]
    pub(crate) scheme: Option<Scheme>,
    /// Processes of a release build: 25 that all vote are too many of a debug build for two cores
    #[arg(long)]
    pub(crate) release: bool,
}

/// How peers pick one of them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Scheme {
    Ring,
    Bully,
}

/// What else to do with services.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
pub(crate) enum ServicesAction {
    /// Start the servers and the pooler, print their URLs, and stop them all at Ctrl-C.
    Up,
}

/// Which steps of a table to run.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Run this one step
    #[arg(long, value_name = "STEP")]
    pub(crate) only: Option<String>,
    /// List the steps, run none
    #[arg(long)]
    pub(crate) list: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Flags::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_help_and_an_example() {
        for subcommand in Flags::command().get_subcommands() {
            let name = subcommand.get_name();
            assert!(subcommand.get_about().is_some(), "{name} has no help");
            let example = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.contains(&format!("cargo xtask {name}")), "{name} has no example");
        }
    }
}
