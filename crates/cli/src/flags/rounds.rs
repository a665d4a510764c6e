//! The flags of the protocol `rounds`, which protocol it is, and what `members` takes.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: whether timings fit together is for the library to say.

use std::time::Duration;

use clap::{Args, ValueEnum};
use incumbent::Protocol;

use super::ElectionArg;
use crate::span;

/// Flags that every subcommand takes, for those who choose the protocol.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Protocol options")]
pub(crate) struct RoundFlags {
    /// How the election is held; all candidates must agree. A URL may say it too, with
    /// ?protocol=rounds, and ring:// and bully:// do.
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
}

/// The protocols, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolName(pub(crate) Protocol);

impl ValueEnum for ProtocolName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            ProtocolName(Protocol::Lease),
            ProtocolName(Protocol::Rounds),
            ProtocolName(Protocol::Ring),
            ProtocolName(Protocol::Bully),
        ]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self.0 {
            Protocol::Rounds => {
                "a roster: every candidate beats, the first in line leads, the pace adapts"
            }
            Protocol::Ring => "peers pick one of them in a ring, and a majority of them says yes",
            Protocol::Bully => "peers pick the highest of them, and a majority of them says yes",
            _ => "whoever is first to see that nobody leads takes the term",
        };
        Some(clap::builder::PossibleValue::new(self.0.as_str()).help(help))
    }
}

/// What `members` takes.
#[derive(Debug, Args)]
pub(crate) struct MembersArgs {
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    /// Also those who left, or were not heard of lately, within a day.
    #[arg(long)]
    pub(crate) gone: bool,
}
