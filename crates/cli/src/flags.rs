//! The command line, as it is written: low-level flags, which
//! [`Settings`](crate::settings::Settings) turns into meaning.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a flag that was not given is `None` here, so that the configuration file can have its
//! say.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use incumbent::Expiry;

use crate::exit::CODES;
use crate::span;

mod bench;
mod examples;
mod health;
mod orders;
mod peers;
mod policy;
mod report;
mod rounds;
mod run;

pub(crate) use bench::{BenchArgs, BenchCommand, FailoverArgs, HostArgs};
pub(crate) use health::{HealthFlags, HealthUsage};
pub(crate) use orders::{
    ControlArgs, CordonArgs, DemoteArgs, ExplainArgs, ForgetArgs, Papers, ReachArgs, TakeoverArgs,
    TransferArgs, WaitArgs,
};
pub(crate) use peers::{PeerFlags, SECRET, VotersArgs, VotersCommand, private_variables};
pub(crate) use policy::{Label, PolicyFlags, label};
pub(crate) use report::{LogFormat, ReportFlags};
pub(crate) use rounds::{MembersArgs, RoundFlags};
pub(crate) use run::{EnterArgs, GuardArgs, OnLoss, RestartPolicy, RunArgs};

/// Leader election on the infrastructure you already run.
///
/// Several copies of a program contend; one of them leads. Without any flags, candidates of one
/// user on one host meet in a database in that user's state folder, in the election `default`.
#[derive(Debug, Parser)]
#[command(name = "incumbent", version, after_help = examples::ALL, after_long_help = format!("{}\n\n{CODES}", examples::ALL))]
#[command(max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Flags {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(flatten)]
    pub(crate) rounds: RoundFlags,
    #[command(flatten)]
    pub(crate) policy: PolicyFlags,
    #[command(flatten)]
    pub(crate) peers: PeerFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands that have nothing to do with a store, so that most shared options mean nothing to them.
const STORELESS: [&str; 3] = ["secret", "audit", "completions"];

/// The shared options that mean something to every command.
const OF_ALL: [&str; 2] = ["json", "verbose"];

impl Flags {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Flags, clap::Error> {
        let mut parser = Flags::parser();
        let matches = parser.try_get_matches_from_mut(std::env::args_os())?;
        Flags::from_arg_matches(&matches).map_err(|error| error.format(&mut parser))
    }

    /// The parser, whose help pages show options only where they mean something.
    fn parser() -> clap::Command {
        let mut parser = Flags::command();
        // Only then the commands have the shared options.
        parser.build();
        for command in parser.get_subcommands_mut() {
            if STORELESS.contains(&command.get_name()) {
                *command = std::mem::take(command).mut_args(|option| {
                    let hides =
                        option.is_global_set() && !OF_ALL.contains(&option.get_id().as_str());
                    option.hide(hides)
                });
            }
        }
        parser
    }

    /// The variables of the environment that say something, as a flag would.
    pub(crate) fn variables() -> Vec<String> {
        let mut parser = Flags::command();
        parser.build();
        let own = parser.get_arguments();
        let all = own.chain(parser.get_subcommands().flat_map(clap::Command::get_arguments));
        let named = all.filter_map(|option| option.get_env()?.to_str());
        let all: std::collections::BTreeSet<&str> = named.collect();
        all.into_iter().map(str::to_owned).collect()
    }
}

/// Flags that every subcommand takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Shared options")]
pub(crate) struct Shared {
    /// Where elections are agreed: `sqlite:///var/lib/app/elections.db`,
    /// `postgres://user@host/database`, `mysql://user@host/database`, or without a database
    /// `ring://host1:7600,host2:7600,host3:7600` or `bully://...`. A URL with a password is better put
    /// into the variable or the file, because everyone can see the flags of a process.
    #[arg(long, global = true, env = "INCUMBENT_URL", hide_env_values = true)]
    pub(crate) url: Option<String>,
    /// Which election.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ELECTION",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) election: Option<String>,
    /// What to call this candidate; the host's name unless given.
    #[arg(long, global = true, env = "INCUMBENT_NAME", hide_env_values = true)]
    pub(crate) name: Option<String>,
    /// The span in which nobody else may lead, for example 3s; all candidates must agree.
    #[arg(long, global = true, env = "INCUMBENT_LEASE", hide_env_values = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) lease: Option<Duration>,
    /// What is cut from the lease for clocks that run at different rates; a tenth of it unless
    /// given.
    #[arg(long, global = true, env = "INCUMBENT_MARGIN", hide_env_values = true, hide_short_help = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) margin: Option<Duration>,
    /// Whose clock says that a lease has run out.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_EXPIRY",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "RULE"
    )]
    pub(crate) expiry: Option<ExpiryRule>,
    /// Append what happens to this file, for `incumbent audit`.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_HISTORY",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "FILE"
    )]
    pub(crate) history: Option<PathBuf>,
    /// Read settings from this file; else incumbent.toml in your configuration folder, if there is
    /// one.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_CONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Tell more on standard error; twice for even more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The two rules of expiry, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpiryRule(pub(crate) Expiry);

impl ValueEnum for ExpiryRule {
    fn value_variants<'a>() -> &'a [Self] {
        &[ExpiryRule(Expiry::Observed), ExpiryRule(Expiry::Database)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.as_str()).help(self.0.trusts()))
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command while leading, and only then.
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    /// Show who leads.
    #[command(after_help = examples::STATUS)]
    Status(StatusArgs),
    /// Show who takes part, and who would be next.
    #[command(after_help = examples::MEMBERS)]
    Members(MembersArgs),
    /// Show changes as they happen.
    #[command(after_help = examples::WATCH)]
    Watch(ElectionArg),
    /// Show past terms and orders: who led, from when to when, and why it changed.
    #[command(after_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Say why a candidate leads or does not.
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Ask the leader to end its work and to hand over to a named candidate.
    #[command(after_help = examples::TRANSFER)]
    Transfer(TransferArgs),
    /// End the present term, so that a new election follows.
    #[command(after_help = examples::DEMOTE)]
    Demote(DemoteArgs),
    /// End the present term and reserve the next one for a named candidate.
    #[command(after_help = examples::TAKEOVER)]
    Takeover(TakeoverArgs),
    /// Let no new term begin; whoever leads goes on.
    #[command(after_help = examples::PAUSE)]
    Pause(ControlArgs),
    /// Let terms begin again.
    #[command(after_help = examples::RESUME)]
    Resume(ControlArgs),
    /// Keep a candidate from winning; if it leads, it goes on.
    #[command(after_help = examples::CORDON)]
    Cordon(CordonArgs),
    /// Let a candidate win again.
    #[command(after_help = examples::UNCORDON)]
    Uncordon(CordonArgs),
    /// Remove an election that nobody holds any more.
    #[command(after_help = examples::FORGET)]
    Forget(ForgetArgs),
    /// Show who votes among peers, let one more vote, or take the vote of one.
    #[command(after_help = examples::VOTERS)]
    Voters(VotersArgs),
    /// Print a new secret for peers.
    #[command(after_help = examples::SECRET)]
    Secret,
    /// Print the tables that a database needs, or make them.
    #[command(after_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// Examine a store: can elections be held there, how fast, and what is promised?
    #[command(after_help = examples::DOCTOR)]
    Doctor,
    /// Watch three candidates on this machine fail over and hand over.
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Measure elections with many candidates.
    #[command(after_help = examples::BENCH)]
    Bench(BenchArgs),
    /// Judge histories: was a promise ever broken?
    #[command(after_help = examples::AUDIT)]
    Audit(AuditArgs),
    /// Print a completion script for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Outlive the supervisor and end the command in its stead.
    #[command(hide = true)]
    Guard(GuardArgs),
    /// Become the command, bound to its guard.
    #[command(hide = true)]
    Enter(EnterArgs),
    /// Put the process group of this process into the foreground of its terminal.
    #[command(hide = true)]
    Foreground,
    /// Hold candidates of a benchmark.
    #[command(hide = true)]
    BenchHost(HostArgs),
    /// Work of the demo: sleep until killed.
    #[command(hide = true)]
    DemoWork,
}

impl Command {
    /// Whether people call it, and not this program itself.
    pub(crate) fn is_for_people(&self) -> bool {
        !matches!(
            self,
            Command::Guard(_)
                | Command::Enter(_)
                | Command::Foreground
                | Command::BenchHost(_)
                | Command::DemoWork
        )
    }

    /// The election that is named as an argument.
    pub(crate) fn election(&self) -> Option<&String> {
        let argument = match self {
            Command::Status(args) => &args.election,
            Command::Members(args) => &args.election,
            Command::Watch(election) => election,
            Command::History(args) => &args.election,
            Command::Explain(args) => &args.election,
            Command::Transfer(args) => &args.election,
            Command::Demote(args) => &args.election,
            Command::Takeover(args) => &args.election,
            Command::Pause(args) | Command::Resume(args) => &args.election,
            Command::Cordon(args) | Command::Uncordon(args) => &args.election,
            Command::Forget(args) => return Some(&args.election.named),
            _ => return None,
        };
        argument.named.as_ref()
    }
}

/// The election as an argument.
#[derive(Clone, Debug, Args)]
pub(crate) struct ElectionArg {
    /// Which election; the same as --election.
    #[arg(value_name = "ELECTION")]
    pub(crate) named: Option<String>,
}

/// The election as an argument that must be given.
#[derive(Clone, Debug, Args)]
pub(crate) struct NamedElectionArg {
    /// Which election.
    #[arg(value_name = "ELECTION")]
    pub(crate) named: String,
}

/// What `status` takes.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    /// Show every election of the store.
    #[arg(long, conflicts_with = "named")]
    pub(crate) all: bool,
}

/// What `history` takes.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) election: ElectionArg,
    /// At most so many terms, newest first, and the orders that came between them.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

/// What `schema` takes.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Make the tables in the database of --url, or bring them up to date.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Print what gives this user of the database the rights of a candidate, and no more.
    #[arg(long, value_name = "USER", conflicts_with = "apply")]
    pub(crate) grants: Option<String>,
}

/// What `demo` takes.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// End after this long, whatever happens.
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = span::parse)]
    pub(crate) limit: Duration,
}

/// What `audit` takes.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Histories, as --history writes them; several of one election are judged together.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// What `completions` takes.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For which shell.
    pub(crate) shell: clap_complete::Shell,
}
