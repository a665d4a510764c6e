//! `cargo xtask chaos`: real processes that are stopped and killed in random order, for as long as
//! one likes.
//!
//! Assumes that the tests read how long and from which seed in their environment. Promises to pass
//! their failure on, and what they have to say.

use std::path::Path;
use std::process::Command;

use crate::flags::{ChaosAction, Peers, Scheme};
use crate::process;

/// Runs one kind of chaos.
pub(crate) fn run(root: &Path, action: ChaosAction) -> anyhow::Result<()> {
    match action {
        ChaosAction::Run { rounds, seed } => {
            let mut command = test(root, "chaos", false);
            set(&mut command, &[("ROUNDS", rounds), ("SEED", seed)]);
            process::run(&mut command)
        }
        ChaosAction::Stops { stops, seed } => {
            let mut command = test(root, "stops", false);
            command.arg("--ignored");
            set(&mut command, &[("STOPS", stops), ("SEED", seed)]);
            process::run(&mut command)
        }
        ChaosAction::Peers(peers) => shake(root, peers),
        ChaosAction::Cuts { seconds, lease, scheme } => {
            let mut command = test(root, "peers_cuts", false);
            command.args(["--ignored", "--test-threads=1"]);
            set(&mut command, &[("SECONDS", seconds), ("LEASE", lease)]);
            only(&mut command, scheme);
            process::run(&mut command)
        }
    }
}

fn only(command: &mut Command, scheme: Option<Scheme>) {
    let only = scheme.map(|scheme| match scheme {
        Scheme::Ring => "ring",
        Scheme::Bully => "bully",
    });
    command.envs(only.map(|only| ("INCUMBENT_CHAOS_SCHEME", only)));
}

fn shake(root: &Path, peers: Peers) -> anyhow::Result<()> {
    let Peers { nodes, voters, kills, stops, partitions, lease, seed, scheme, release } = peers;
    let mut command = test(root, "peers_chaos", release);
    // One after the other: each needs all of the machine.
    command.arg("--test-threads=1");
    let counts = [("NODES", nodes), ("VOTERS", voters), ("KILLS", kills), ("STOPS", stops)];
    set(&mut command, &counts);
    set(&mut command, &[("PARTITIONS", partitions), ("LEASE", lease), ("SEED", seed)]);
    only(&mut command, scheme);
    process::run(&mut command)
}

/// A test of real processes, which says what it did.
fn test(root: &Path, name: &str, release: bool) -> Command {
    let mut command = process::cargo(root);
    command.args(["test", "--package", "incumbent-cli", "--test", name]);
    command.args(release.then_some("--release")).args(["--", "--nocapture"]);
    command
}

fn set(command: &mut Command, settings: &[(&str, u64)]) {
    for (name, value) in settings {
        command.env(format!("INCUMBENT_CHAOS_{name}"), value.to_string());
    }
}
