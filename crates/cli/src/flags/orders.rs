//! What the orders of operators take: transfer, demote, takeover, pause, resume, cordon, uncordon, forget.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a name is only text here; whether there is such a candidate is for the store to say.

use std::time::Duration;

use clap::Args;

use super::{ElectionArg, NamedElectionArg};
use crate::span;

/// What every order comes with.
#[derive(Clone, Debug, Args)]
pub(crate) struct Papers {
    /// Why; kept in the history of the election.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Who orders it; you, as user@host, unless given.
    #[arg(long, value_name = "TEXT")]
    pub(crate) actor: Option<String>,
    /// Only if this is the present term, so that the order cannot hit a successor.
    #[arg(long, value_name = "N")]
    pub(crate) term: Option<u64>,
}

/// What an order after which somebody else leads takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct WaitArgs {
    /// Wait until somebody leads in a later term; exit with code 1 if nobody does by then, or not the
    /// one who was named.
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) wait_for: Option<Duration>,
}

/// What `transfer` takes.
#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// The candidate that is to lead next.
    #[arg(long, value_name = "CANDIDATE")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    #[command(flatten)]
    pub(crate) papers: Papers,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

/// What `demote` takes.
#[derive(Debug, Args)]
pub(crate) struct DemoteArgs {
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    /// Keep whoever led from winning again for so long; one lease unless given.
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) hold_off: Option<Duration>,
    #[command(flatten)]
    pub(crate) papers: Papers,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

/// What `takeover` takes.
#[derive(Debug, Args)]
pub(crate) struct TakeoverArgs {
    /// The candidate that is to lead next.
    #[arg(value_name = "CANDIDATE")]
    pub(crate) successor: String,
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    /// Do it without asking; needed where there is no terminal to ask on.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Show what would happen, and change nothing.
    #[arg(long, conflicts_with = "wait_for")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) papers: Papers,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

/// What `pause` and `resume` take.
#[derive(Debug, Args)]
pub(crate) struct ControlArgs {
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// How far an order reaches that stays in force, and what it comes with.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// In every election of the store, each reported.
    #[arg(long, conflicts_with_all = ["term", "named"])]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) papers: Papers,
}

/// What `cordon` and `uncordon` take.
#[derive(Debug, Args)]
pub(crate) struct CordonArgs {
    /// Which candidate.
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: String,
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// What `forget` takes.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) election: NamedElectionArg,
    /// Do it without asking; needed where there is no terminal to ask on.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) papers: Papers,
}

/// What `explain` takes.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Which candidate; everybody in short unless given.
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: Option<String>,
    #[command(flatten)]
    pub(crate) election: ElectionArg,
}
