//! What the flags, the environment and the configuration file mean together.
//!
//! Assumes: clap has already let a flag win over its environment variable.
//! Promises: flag, then environment, then file, then default; every value is checked before
//! anything is opened.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use incumbent::{Backend, Config, ElectionName, Expiry, Protocol, Rules};
use thiserror::Error;

use self::file::File;
use self::peers::Said;
pub(crate) use self::peers::Variables;
use crate::flags::{Command, Flags, RoundFlags, Shared};

mod file;
mod folder;
mod peers;
mod policy;

/// The election that is meant unless another one is named.
const DEFAULT_ELECTION: &str = "default";

/// Everything that all subcommands need to know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where elections are agreed.
    pub(crate) url: String,
    /// Which election.
    pub(crate) election: String,
    /// Name, timings, protocol and history, for the library.
    pub(crate) config: Config,
    /// The same without the history, for those who only look.
    pub(crate) onlooker: Config,
    /// Where to append what happens.
    pub(crate) history: Option<PathBuf>,
    /// What all candidates agree on.
    rules: Rules,
    /// What other processes of this program need to find the same peers, as variables.
    pub(crate) inherited: Variables,
    /// Whether whoever peers pick leads without a vote.
    pub(crate) unratified: bool,
    /// How elections are held, if peers hold them.
    of_peers: Option<Protocol>,
    /// How long work may take to end when its leader is asked to hand over.
    pub(crate) drain: Duration,
    /// How long a command gets between TERM and KILL when the leadership is lost, if it was said.
    grace: Option<Duration>,
    /// How long a command gets between TERM and KILL while the lease is renewed.
    pub(crate) stop_timeout: Duration,
    /// Where to serve metrics.
    pub(crate) metrics: Option<SocketAddr>,
    /// The folder of the default database, to be made before it is first used.
    home: Option<PathBuf>,
}

/// What is wrong with the settings.
#[derive(Debug, Error)]
pub(crate) enum SettingsError {
    /// The configuration file cannot be read.
    #[error("cannot read the configuration {}: {problem}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The configuration file has something odd in it.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Nobody said where elections are, and there is no home folder.
    #[error("there is no home folder to keep elections in ({0}): say where they are with --url")]
    Homeless(String),
    /// Terms are protected from a preemption that nobody asked for.
    #[error("a hold-down is for preemption: say --preempt-after too")]
    HoldDown,
    /// A flag of peers, and a store that is none.
    #[error("{0} is for peers, whose URL begins with ring:// or bully://")]
    OfPeers(&'static str),
    /// What only peers have, and a store that is none.
    #[error(
        "a database has no voters: they are for peers, whose URL begins with ring:// or bully://"
    )]
    NoVoters,
    /// The secret in the environment is no text.
    #[error("INCUMBENT_SECRET is no text: make one with `incumbent secret`")]
    SecretText,
}

impl Settings {
    /// Puts everything together.
    pub(crate) fn new(flags: &Flags) -> anyhow::Result<Settings> {
        let shared = flags.shared.clone();
        let mut file = file::read(shared.config.clone())?;
        let (url, home) = match shared.url.clone().or(file.url.take()) {
            Some(url) => (url, None),
            None => folder::default_store()?,
        };
        let election =
            flags.command.election().cloned().or(shared.election.clone()).or(file.election.take());
        let election = election.unwrap_or_else(|| DEFAULT_ELECTION.to_owned());
        ElectionName::new(&election).map_err(incumbent::Error::from)?;
        let grace = match &flags.command {
            Command::Run(args) => args.grace.or(file.grace),
            _ => file.grace,
        };
        let stop_timeout = match &flags.command {
            Command::Run(args) => args.stop_timeout.or(file.stop_timeout),
            _ => file.stop_timeout,
        };
        let metrics = match &flags.command {
            Command::Run(args) => args.report.metrics.or(file.metrics),
            _ => None,
        };
        let history = shared.history.clone().or(file.history.take());
        let mut policy = policy::merge(flags.policy.clone(), &mut file);
        policy.drain = policy.drain.or(stop_timeout);
        let drain = policy.drain.unwrap_or(incumbent::DEFAULT_DRAIN);
        let stop_timeout = stop_timeout.unwrap_or(incumbent::DEFAULT_DRAIN);
        let named = flags.rounds.protocol.map(|name| name.0).filter(|name| name.is_of_peers());
        // The demo has a store of its own, for which this URL has no say; so has a benchmark among
        // peers that nobody named.
        let benches = home.is_some() && matches!(flags.command, Command::Bench(_));
        let plays = matches!(flags.command, Command::Demo(_)) || (benches && named.is_some());
        let of_peers = if plays { named } else { peers::protocol(&url) };
        let said = if of_peers.is_some() && !plays {
            Said::merge(&flags.peers, &mut file)
        } else {
            peers::refuse(&flags.peers)?;
            Said::default()
        };
        let unratified = of_peers.is_some() && (said.unratified || peers::is_unratified(&url));
        let inherited = said.variables();
        let config = said.configured(Config::new())?;
        let config = configured(config, shared, &flags.rounds, file);
        let onlooker = with(policy::configured(config, policy)?, grace, Config::grace);
        let onlooker = if plays { onlooker } else { onlooker.for_url(&url)? };
        let rules = *onlooker.timing()?.rules();
        onlooker.candidate_name()?;
        let config = with(onlooker.clone(), history.as_ref(), Config::history);
        Ok(Settings {
            url,
            election,
            config,
            onlooker,
            history,
            rules,
            inherited,
            unratified,
            of_peers,
            drain,
            grace,
            stop_timeout,
            metrics,
            home,
        })
    }

    /// How the election is held.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol_by(&self.rules)
    }

    /// By which protocol an election of this store with these rules is held.
    pub(crate) fn protocol_by(&self, rules: &Rules) -> Protocol {
        match (self.of_peers, rules.expiry()) {
            (Some(protocol), _) => protocol,
            (None, Expiry::Rounds) => Protocol::Rounds,
            (None, Expiry::Observed | Expiry::Database) => Protocol::Lease,
        }
    }

    /// Whether peers hold the elections, and not a database.
    pub(crate) const fn is_of_peers(&self) -> bool {
        self.of_peers.is_some()
    }

    /// How long a command gets between TERM and KILL when the leadership is lost. By rounds a beat
    /// takes half of a lease, and less is left for stopping.
    pub(crate) fn grace(&self) -> Duration {
        let usual = match self.protocol() {
            Protocol::Rounds => self.rules.lease() / 10,
            _ => self.rules.lease() / 5,
        };
        self.grace.unwrap_or(usual)
    }

    /// Whether nobody said where elections are.
    pub(crate) const fn is_default_store(&self) -> bool {
        self.home.is_some()
    }

    /// Opens the store as a candidate with [`Settings::config`] or a variant of it, making the
    /// store if it does not exist.
    pub(crate) async fn open(&self, config: &Config) -> anyhow::Result<Backend> {
        self.make_home()?;
        Ok(Backend::open_with(&self.url, config).await?)
    }

    /// Makes the folder of the default database, if that is what is used.
    pub(crate) fn make_home(&self) -> anyhow::Result<()> {
        self.home.as_deref().map_or(Ok(()), |home| Ok(folder::make(home)?))
    }

    /// Opens the store for looking and for orders, if it exists. No history is written.
    pub(crate) async fn open_existing(&self) -> anyhow::Result<Backend> {
        Ok(Backend::open_existing(&self.url, &self.onlooker).await?)
    }
}

/// What flags and file say about candidates.
fn configured(config: Config, shared: Shared, rounds: &RoundFlags, file: File) -> Config {
    let config = with(config, shared.name.or(file.name), Config::name);
    let config = with(config, shared.lease.or(file.lease), Config::lease);
    let config = with(config, shared.margin.or(file.margin), Config::margin);
    let expiry = shared.expiry.map(|rule| rule.0).or(file.expiry);
    let config = with(config, expiry, Config::expiry);
    let protocol = rounds.protocol.map(|name| name.0).or(file.protocol);
    let config = with(config, protocol, Config::protocol);
    let config = with(config, rounds.round_time.or(file.round_time), Config::round_time);
    let config = with(config, rounds.round_limit.or(file.round_limit), Config::round_limit);
    let config = with(config, rounds.round_delta.or(file.round_delta), Config::round_delta);
    with(config, rounds.round_cap.or(file.round_cap), Config::round_cap)
}

/// Sets what was said.
fn with<T>(config: Config, said: Option<T>, set: impl FnOnce(Config, T) -> Config) -> Config {
    match said {
        Some(value) => set(config, value),
        None => config,
    }
}
