//! The flags of the protocol `rounds`, which protocol it is, and what `members` takes.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a label is a key and a value; whether it can be used is for the library to say.

use std::time::Duration;

use clap::{Args, ValueEnum};
use incumbent::Protocol;

use crate::span;

/// Flags that every subcommand takes, for those who choose the protocol.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Protocol options")]
pub(crate) struct RoundFlags {
    /// How the election is held; all candidates must agree. A URL may say it too, with
    /// ?protocol=rounds.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_PROTOCOL",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) protocol: Option<ProtocolName>,
    /// With rounds, how long a round is at first; the lease divided by the round limit unless given.
    /// All candidates must agree.
    #[arg(long, global = true, env = "INCUMBENT_ROUND_TIME", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) round_time: Option<Duration>,
    /// With rounds, how many rounds a lease lasts; 2 unless given. All candidates must agree.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ROUND_LIMIT",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "N"
    )]
    pub(crate) round_limit: Option<u32>,
    /// With rounds, by how much a round grows when one is evicted that was not dead; a fortieth of
    /// the round time unless given. All candidates must agree.
    #[arg(long, global = true, env = "INCUMBENT_ROUND_DELTA", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) round_delta: Option<Duration>,
    /// With rounds, how long a round becomes at most; ten times the round time unless given. All
    /// candidates must agree.
    #[arg(long, global = true, env = "INCUMBENT_ROUND_CAP", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) round_cap: Option<Duration>,
    /// With rounds, where others reach this candidate, for `incumbent members`.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ADDRESS",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub(crate) address: Option<String>,
    /// With rounds, what this candidate says about itself, for `incumbent members`; may be given
    /// several times, or as a list with commas.
    #[arg(long, global = true, env = "INCUMBENT_LABEL", hide_env_values = true, hide_short_help = true, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    pub(crate) label: Vec<Label>,
}

/// The key and the value of a label.
pub(crate) type Label = (String, String);

/// The protocols, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolName(pub(crate) Protocol);

impl ValueEnum for ProtocolName {
    fn value_variants<'a>() -> &'a [Self] {
        &[ProtocolName(Protocol::Lease), ProtocolName(Protocol::Rounds)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self.0 {
            Protocol::Rounds => {
                "a roster: every candidate beats, the first in line leads, the pace adapts"
            }
            _ => "whoever is first to see that nobody leads takes the term",
        };
        Some(clap::builder::PossibleValue::new(self.0.as_str()).help(help))
    }
}

/// What `members` takes.
#[derive(Debug, Args)]
pub(crate) struct MembersArgs {
    /// Which election; the same as --election.
    #[arg(value_name = "ELECTION")]
    pub(crate) named: Option<String>,
}

/// Reads a label.
pub(crate) fn label(text: &str) -> Result<Label, String> {
    let pair = text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    pair.ok_or_else(|| format!("{text:?} is no label: write it like zone=a"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_split_at_its_first_sign() {
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(label("zone=a"), pair("zone", "a"));
        assert_eq!(label("query=a=b"), pair("query", "a=b"));
        let error = label("nonsense").expect_err("no sign");
        assert_eq!(error, "\"nonsense\" is no label: write it like zone=a");
    }
}
