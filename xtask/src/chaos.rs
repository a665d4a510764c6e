//! `cargo xtask chaos`: real processes that are stopped and killed in random order, for as long as
//! one likes.
//!
//! Assumes that the tests read how long and from which seed in their environment. Promises to pass
//! their failure on, and what they have to say.

use std::path::Path;

use crate::flags::ChaosAction;
use crate::process;

/// Runs one kind of chaos.
pub(crate) fn run(root: &Path, action: ChaosAction) -> anyhow::Result<()> {
    let ChaosAction::Run { rounds, seed } = action;
    let mut command = process::cargo(root);
    command
        .args(["test", "--package", "incumbent-cli", "--test", "chaos", "--", "--nocapture"])
        .env("INCUMBENT_CHAOS_ROUNDS", rounds.to_string())
        .env("INCUMBENT_CHAOS_SEED", seed.to_string());
    process::run(&mut command)
}
