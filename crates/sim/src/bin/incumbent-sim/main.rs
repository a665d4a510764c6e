//! `incumbent-sim`: breaks the protocols on purpose, in simulated worlds, and says whether they
//! kept their promises.
//!
//! Assumes: nothing about the machine; a run depends on its seeds alone.
//! Promises: exit code 0 if every promise was kept, 1 if one was broken, 2 if the question made no
//! sense.
//!
//! - `args`: what can be asked
//! - `run`, `replay`, `shrink`, `meta`, `ledger`: the commands
//! - `lab`: ring and bully, message by message
//! - `peers`: `run` for worlds of peers
//! - `progress`, `printer`: writing to the terminal

use std::process::ExitCode;

use clap::Parser as _;

mod args;
mod lab;
mod ledger;
mod meta;
mod peers;
mod printer;
mod progress;
mod replay;
mod run;
mod shrink;

use args::{Args, Command};

/// How a command ended, if it could be carried out at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every promise was kept.
    Kept,
    /// A promise was broken, the run was not worth its name, or nodes of a lab do not agree.
    Broken,
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Run(ask) => run::run(&ask),
        Command::Replay(ask) => replay::replay(&ask),
        Command::Shrink(ask) => shrink::shrink(&ask),
        Command::Meta(ask) => meta::meta(&ask),
        Command::Digest(ask) => meta::digest(&ask),
        Command::Planted(ask) => ledger::planted(&ask),
        Command::Ledger(ask) => ledger::ledger(&ask),
        Command::Lab(ask) => lab::lab(&ask),
    };
    match done {
        Ok(Verdict::Kept) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::FAILURE,
        Err(error) => {
            printer::error(&error);
            ExitCode::from(2)
        }
    }
}
