//! The flags of elections among peers, and what `voters` takes.
//!
//! Assumes: nothing; everything comes from people.
//! Promises: a secret is never a flag, which everyone could see: it comes from a file or from the
//! environment.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where the secret may stand instead of in a file.
pub(crate) const SECRET: &str = "INCUMBENT_SECRET";

/// Where the URL may stand instead of in a flag.
const URL: &str = "INCUMBENT_URL";

/// The variables of this process that no command gets: they hold a secret or a password.
pub(crate) fn private_variables() -> impl Iterator<Item = &'static str> {
    let has_password = |url: OsString| url != *incumbent::redacted(&url.to_string_lossy());
    let url = std::env::var_os(URL).is_some_and(has_password).then_some(URL);
    std::iter::once(SECRET).chain(url)
}

/// Flags that every subcommand takes, for `ring://` and `bully://`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of peers")]
pub(crate) struct PeerFlags {
    /// With ring:// and bully://, the file that holds the secret of all peers, as `incumbent secret`
    /// makes it. The secret itself may stand in `INCUMBENT_SECRET` instead.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_SECRET_FILE",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "FILE"
    )]
    pub(crate) secret_file: Option<PathBuf>,
    /// With ring:// and bully://, the folder in which this process keeps its promises as a voter; a
    /// folder below your state folder unless given.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_DATA",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "FOLDER"
    )]
    pub(crate) data: Option<PathBuf>,
    /// With ring:// and bully://, under which address of the list the others know this process; the
    /// first that this host has and that is free unless given.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_ME",
        hide_env_values = true,
        hide_short_help = true,
        value_name = "HOST:PORT"
    )]
    pub(crate) me: Option<String>,
    /// With ring:// and bully://, the textbook algorithm without a vote: there may be several leaders
    /// at once, and nothing is promised.
    #[arg(
        long,
        global = true,
        env = "INCUMBENT_UNRATIFIED",
        hide_env_values = true,
        hide_short_help = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(crate) unratified: Option<bool>,
}

impl PeerFlags {
    /// A flag that was given, if one was.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.secret_file.is_some(), "--secret-file"),
            (self.data.is_some(), "--data"),
            (self.me.is_some(), "--me"),
            (self.unratified == Some(true), "--unratified"),
        ];
        flags.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
    }
}

/// What `voters` takes.
#[derive(Debug, Args)]
pub(crate) struct VotersArgs {
    /// What to do; `list` unless given.
    #[command(subcommand)]
    pub(crate) what: Option<VotersCommand>,
}

/// What can be done with voters.
#[derive(Debug, Subcommand)]
pub(crate) enum VotersCommand {
    /// Show who votes and who of them can be reached.
    List,
    /// Let one more vote.
    Add(VoterArgs),
    /// Take the vote of one.
    Remove(VoterArgs),
}

/// Who is meant.
#[derive(Debug, Args)]
pub(crate) struct VoterArgs {
    /// Its address, as in the URL, or its number, as `voters` shows it.
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
}
