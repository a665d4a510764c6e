//! What the flags, the environment and the configuration file mean together.
//!
//! Assumes: clap has already let a flag win over its environment variable.
//! Promises: flag, then environment, then file, then default; every value is checked before
//! anything is opened.

use std::path::PathBuf;
use std::time::Duration;

use incumbent::{Backend, Config, DEFAULT_LEASE, ElectionName};
use thiserror::Error;

use crate::flags::{Command, Flags};

mod file;
mod folder;

/// The election that is meant unless another one is named.
const DEFAULT_ELECTION: &str = "default";

/// Everything that all subcommands need to know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where elections are agreed.
    pub(crate) url: String,
    /// Which election.
    pub(crate) election: String,
    /// Name, lease, margin, expiry and history, for the library.
    pub(crate) config: Config,
    /// The same without the history, for those who only look.
    pub(crate) onlooker: Config,
    /// Where to append what happens.
    pub(crate) history: Option<PathBuf>,
    /// The span in which nobody else may lead.
    pub(crate) lease: Duration,
    /// How long a command gets between TERM and KILL, if it was said.
    pub(crate) grace: Option<Duration>,
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
}

impl Settings {
    /// Puts everything together.
    pub(crate) fn new(flags: &Flags) -> anyhow::Result<Settings> {
        let shared = flags.shared.clone();
        let file = file::read(shared.config)?;
        let (url, home) = match shared.url.or(file.url) {
            Some(url) => (url, None),
            None => folder::default_store()?,
        };
        let named = match &flags.command {
            Command::Status(args) => args.named.clone(),
            _ => None,
        };
        let election = named.or(shared.election).or(file.election);
        let election = election.unwrap_or_else(|| DEFAULT_ELECTION.to_owned());
        ElectionName::new(&election).map_err(incumbent::Error::from)?;
        let lease = shared.lease.or(file.lease).unwrap_or(DEFAULT_LEASE);
        let mut config = Config::new().lease(lease);
        if let Some(name) = shared.name.or(file.name) {
            config = config.name(name);
        }
        if let Some(margin) = shared.margin.or(file.margin) {
            config = config.margin(margin);
        }
        if let Some(expiry) = shared.expiry.map(|rule| rule.0).or(file.expiry) {
            config = config.expiry(expiry);
        }
        let grace = match &flags.command {
            Command::Run(args) => args.grace.or(file.grace),
            _ => file.grace,
        };
        if let Some(grace) = grace {
            config = config.grace(grace);
        }
        config.timing()?;
        config.candidate_name()?;
        let onlooker = config.clone();
        let history = shared.history.or(file.history);
        if let Some(history) = &history {
            config = config.history(history);
        }
        Ok(Settings { url, election, config, onlooker, history, lease, grace, home })
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
