//! What can be asked of the program.

use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use incumbent_sim::clock::{SECOND, Span};
use incumbent_sim::peers::Algorithm;
use incumbent_sim::plant::Plant;
use incumbent_sim::story::Protocol;

use crate::lab::{self, LabAsk};

/// Breaks leader election on purpose, in simulated worlds, and says whether it kept its promises.
#[derive(Debug, Parser)]
#[command(
    name = "incumbent-sim",
    version,
    after_help = "Exit codes: 0 every promise was kept, 1 one was broken, 2 the question made no sense."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run many worlds and count
    Run(RunAsk),
    /// Run one world and tell what happened
    Replay(ReplayAsk),
    /// Make a story that breaks a promise as short as it goes
    Shrink(ShrinkAsk),
    /// Check that the same seed gives the same history, byte for byte
    Meta(MetaAsk),
    /// Print a number for the history of each seed
    #[command(hide = true)]
    Digest(MetaAsk),
    /// Make mistakes on purpose and see who catches them
    Planted(PlantedAsk),
    /// Run many worlds and write the page for a release
    Ledger(LedgerAsk),
    /// Play with elections among peers: ring and bully, message by message
    #[command(after_help = lab::EXAMPLES)]
    Lab(LabAsk),
}

/// Whose worlds to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worlds {
    /// Those of a protocol on a database.
    Database(Protocol),
    /// Those of peers.
    Peers(Algorithm),
}

impl fmt::Display for Worlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Worlds::Database(protocol) => protocol.fmt(f),
            Worlds::Peers(algorithm) => algorithm.fmt(f),
        }
    }
}

impl FromStr for Worlds {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let peers = [Algorithm::Ring, Algorithm::Bully];
        match peers.into_iter().find(|algorithm| algorithm.as_str() == word) {
            Some(algorithm) => Ok(Worlds::Peers(algorithm)),
            None => word
                .parse()
                .map(Worlds::Database)
                .map_err(|problem: String| format!("{problem}, or ring or bully")),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunAsk {
    /// Which seeds: FROM..TO, without TO, or how many from 0 on
    #[arg(long, value_parser = seeds, default_value = "0..1000")]
    pub(crate) seeds: Range<u64>,
    /// How long each world runs, in simulated hours
    #[arg(long, value_parser = hours, default_value = "1")]
    pub(crate) hours: Span,
    /// How many threads; all cores if left out
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Which worlds: lease or rounds on a database, ring or bully among peers
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Worlds,
    /// Let resources accept everything, to see what the token prevents
    #[arg(long)]
    pub(crate) unfenced: bool,
    /// Make this mistake on purpose
    #[arg(long, default_value = "nothing")]
    pub(crate) plant: Plant,
    /// Print the totals as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayAsk {
    /// A seed's number, or a seed file
    pub(crate) seed: String,
    /// How long the world runs, in simulated hours; a seed file knows that itself
    #[arg(long, value_parser = hours, default_value = "1")]
    pub(crate) hours: Span,
    /// Which worlds: lease or rounds on a database, ring or bully among peers; a seed file knows that
    /// itself
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Worlds,
    /// Tell everything that happened
    #[arg(long)]
    pub(crate) trace: bool,
    /// Write the history to this file, for `incumbent audit`
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Write the whole story to this seed file, so that it outlives other ways of drawing stories
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// Make this mistake on purpose
    #[arg(long)]
    pub(crate) plant: Option<Plant>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShrinkAsk {
    /// A seed's number, or a seed file
    pub(crate) seed: String,
    /// How long the world runs, in simulated hours; a seed file knows that itself
    #[arg(long, value_parser = hours, default_value = "1")]
    pub(crate) hours: Span,
    /// Which worlds: lease or rounds on a database, ring or bully among peers; a seed file knows that
    /// itself
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Worlds,
    /// Make this mistake on purpose
    #[arg(long)]
    pub(crate) plant: Option<Plant>,
    /// Write the seed file here instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MetaAsk {
    /// Which seeds: FROM..TO, without TO, or how many from 0 on
    #[arg(long, value_parser = seeds, default_value = "0..50")]
    pub(crate) seeds: Range<u64>,
    /// How long each world runs, in simulated hours
    #[arg(long, value_parser = hours, default_value = "0.25")]
    pub(crate) hours: Span,
    /// Which worlds: lease or rounds on a database, ring or bully among peers
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Worlds,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlantedAsk {
    /// How many seeds to try for each mistake
    #[arg(long, default_value_t = 1_000)]
    pub(crate) most: u64,
    /// How long each world runs, in simulated hours
    #[arg(long, value_parser = hours, default_value = "0.5")]
    pub(crate) hours: Span,
    /// Which protocol: lease or rounds
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Protocol,
    /// Only this mistake
    #[arg(long)]
    pub(crate) plant: Option<Plant>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LedgerAsk {
    /// Which seeds: FROM..TO, without TO, or how many from 0 on
    #[arg(long, value_parser = seeds, default_value = "0..5000")]
    pub(crate) seeds: Range<u64>,
    /// How long each world runs, in simulated hours
    #[arg(long, value_parser = hours, default_value = "1")]
    pub(crate) hours: Span,
    /// Which protocol: lease or rounds
    #[arg(long, default_value = "lease")]
    pub(crate) protocol: Protocol,
    /// How many threads; all cores if left out
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Where to write the page
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Which commit this is; asks git if left out
    #[arg(long)]
    pub(crate) commit: Option<String>,
    /// What day this is; asks git for that of the commit if left out
    #[arg(long)]
    pub(crate) date: Option<String>,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| {
        text.replace('_', "")
            .parse::<u64>()
            .map_err(|_| format!("{text:?} is not a seed: use a number"))
    };
    let range = match text.split_once("..") {
        Some((from, to)) => number(from)?..number(to)?,
        None => 0..number(text)?,
    };
    if range.is_empty() {
        return Err(format!("{text:?} holds no seed: use FROM..TO with FROM below TO"));
    }
    Ok(range)
}

/// Simulated hours as nanoseconds, without floating point: at most three digits behind the point.
fn hours(text: &str) -> Result<Span, String> {
    let problem = || {
        format!("{text:?} is not a number of hours: use for example 1 or 0.25, from 0.01 to 1000")
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.is_empty() || part.len() > 3 {
        return Err(problem());
    }
    let whole: u64 = whole.parse().map_err(|_| problem())?;
    let part: u64 = format!("{part:0<3}").parse().map_err(|_| problem())?;
    let thousandths = whole.checked_mul(1_000).and_then(|whole| whole.checked_add(part));
    let thousandths = thousandths.filter(|it| (10..=1_000_000).contains(it)).ok_or_else(problem)?;
    Ok(thousandths * 3_600 * (SECOND / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_or_a_count() {
        assert_eq!(seeds("3..9"), Ok(3..9));
        assert_eq!(seeds("1_000"), Ok(0..1_000));
        for bad in ["", "x", "5..5", "9..3", "0", "-1", "1..=3"] {
            assert!(seeds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hours_have_up_to_three_digits_behind_the_point() {
        assert_eq!(hours("1"), Ok(3_600 * SECOND));
        assert_eq!(hours("0.25"), Ok(900 * SECOND));
        for bad in ["", "0", "0.001", "-1", "1e3", "1.2345", "1.", "1001", "99999999999999999999"] {
            assert!(hours(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_arguments_are_well_formed() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }
}
