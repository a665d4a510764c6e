//! The flags of `incumbent run` and of the processes that it starts.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a number that makes no sense is refused in words, before anything is started.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{HealthFlags, ReportFlags};
use crate::span;

/// What `run` takes.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// How long the command gets between TERM and KILL when the leadership is lost, taken from the end
    /// of the lease; a fifth of the lease unless given, with rounds a tenth.
    #[arg(long, env = "INCUMBENT_GRACE", hide_env_values = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) grace: Option<Duration>,
    /// How long the command gets between TERM and KILL when this program is asked to stop and the lease
    /// is renewed meanwhile; 10s unless given. Also what --drain is unless given.
    #[arg(long, env = "INCUMBENT_STOP_TIMEOUT", hide_env_values = true, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) stop_timeout: Option<Duration>,
    /// What to do when the leadership is lost.
    #[arg(long, value_name = "WHAT", default_value = "contend")]
    pub(crate) on_loss: OnLoss,
    /// Exit with code 123 after the first loss instead of contending again; the same as --on-loss
    /// exit, and can be added to --on-loss kill.
    #[arg(long)]
    pub(crate) once: bool,
    /// Give up with code 124 if this candidate does not lead by then.
    #[arg(long, value_name = "DURATION", value_parser = span::parse)]
    pub(crate) wait: Option<Duration>,
    /// Whether to run the command again when it ends by itself, under the same leadership and token.
    #[arg(long, value_name = "WHEN", default_value = "never")]
    pub(crate) restart: RestartPolicy,
    /// How long to wait before the command is run again. Doubles with every failure in a row, up to
    /// 30s or the delay itself; begins anew when the command ran for a minute or ended with code 0.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = span::parse)]
    pub(crate) restart_delay: Duration,
    /// After so many restarts in a row, each after a failure, resign and exit with the code of the
    /// command.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) restart_limit: u32,
    /// Let N candidates lead at once instead of one: they contend for the elections NAME.1 to NAME.N,
    /// and each keeps the first that it wins. 1 to 64; all candidates must agree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) slots: Option<u8>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) report: ReportFlags,
    #[command(flatten)]
    pub(crate) health: HealthFlags,
}

impl RunArgs {
    /// Whether a loss is the end of the program.
    pub(crate) fn ends_with_a_loss(&self) -> bool {
        self.once || self.on_loss == OnLoss::Exit
    }
}

/// What becomes of the command and of this program when the leadership is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLoss {
    /// Ask the command to stop, make it after the grace, contend again
    Contend,
    /// The same, but exit with code 123 instead of contending again
    Exit,
    /// Kill the command at once, without asking; contend again
    Kill,
}

/// When a command that ended by itself is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestartPolicy {
    /// Its end is the end: resign, and exit with its code
    Never,
    /// If it ended with another code than 0, or by a signal
    OnFailure,
    /// However it ended
    Always,
}

/// What the hidden `guard` takes.
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// The file descriptor on which the supervisor speaks.
    #[arg(long = "control-fd")]
    pub(crate) control: u32,
    /// Milliseconds between TERM and KILL.
    #[arg(long)]
    pub(crate) grace_ms: u64,
    /// Kill the command at the end of the lease without asking it first.
    #[arg(long)]
    pub(crate) abrupt: bool,
    /// How many files the command may have open.
    #[arg(long, value_name = "N")]
    pub(crate) open_files: Option<u64>,
    /// What to write into the history when the command is dead.
    #[arg(long, value_name = "JSON")]
    pub(crate) epitaph: Option<String>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// What the hidden `enter` takes.
#[derive(Debug, Args)]
pub(crate) struct EnterArgs {
    /// The process that must outlive the command.
    #[arg(long)]
    pub(crate) guard: i32,
    /// How many files the command may have open.
    #[arg(long, value_name = "N")]
    pub(crate) open_files: Option<u64>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}
