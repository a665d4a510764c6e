//! The flags of `incumbent bench` and of the processes that it starts.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a number that makes no sense is refused in words, before anything is started.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::examples;
use crate::span;

/// What `bench` takes.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: BenchCommand,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Kill the leader again and again, and measure how long it takes until another one leads.
    #[command(after_help = examples::BENCH_FAILOVER)]
    Failover(FailoverArgs),
}

/// What `bench failover` takes.
#[derive(Debug, Args)]
pub(crate) struct FailoverArgs {
    /// How many candidates contend; several numbers, with commas between them, are measured in turn.
    #[arg(long, value_name = "N", default_value = "3", value_delimiter = ',', value_parser = candidates)]
    pub(crate) candidates: Vec<u32>,
    /// How often the leader is killed.
    #[arg(long, value_name = "K", default_value = "10", value_parser = at_least_one)]
    pub(crate) kills: u32,
    /// How many candidates share a process, for more of them than a machine has room for.
    #[arg(long, value_name = "M", default_value = "1", value_parser = at_least_one)]
    pub(crate) per_process: u32,
    /// How long the round time must not have changed before the first kill; three round times unless
    /// given.
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) stable_for: Option<Duration>,
    /// Longest wait for everybody to join, for the round time to rest, and for a leader, each.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = span::parse)]
    pub(crate) timeout: Duration,
    /// Draw the figures into this file: failover time and round time against the number of
    /// candidates.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

/// What the hidden `bench-host` takes.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    /// The process that this one must not outlive.
    #[arg(long)]
    pub(crate) parent: i32,
}

fn candidates(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if number >= 2 => Ok(number),
        Ok(_) => Err("a failover needs 2 candidates at least".to_owned()),
        Err(_) => Err(format!("{text:?} is no number of candidates: write it like 3 or 3,50,200")),
    }
}

fn at_least_one(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if number >= 1 => Ok(number),
        Ok(_) => Err("it must be 1 at least".to_owned()),
        Err(_) => Err(format!("{text:?} is no number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_makes_no_sense_is_refused_in_words() {
        assert_eq!(candidates("2"), Ok(2));
        assert_eq!(candidates("1"), Err("a failover needs 2 candidates at least".to_owned()));
        assert!(candidates("many").is_err_and(|words| words.contains("3,50,200")));
        assert_eq!(at_least_one("1"), Ok(1));
        assert_eq!(at_least_one("0"), Err("it must be 1 at least".to_owned()));
        assert!(at_least_one("-1").is_err());
    }
}
