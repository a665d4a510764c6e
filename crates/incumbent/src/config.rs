//! The settings of a backend: who this process is, and how fast its elections run.
//!
//! Assumes: nothing; every value comes from a person.
//! Promises: what is not set follows from the lease in fixed proportions, and everything is checked
//! together before anything is opened.

use std::path::PathBuf;
use std::time::Duration;

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::rules::{Expiry, Rules, Timing};

use crate::error::Error;

/// The lease that is used unless another one is set.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(3);

/// Settings of a [`Backend`](crate::Backend). Anything left out has a sound default.
///
/// ```
/// use incumbent::Config;
/// use std::time::Duration;
///
/// let config = Config::new().name("host-1").lease(Duration::from_secs(5));
/// assert_eq!(config.timing()?.beat(), Duration::from_millis(1250));
///
/// // A margin of zero would assume that two clocks run at exactly the same rate.
/// assert!(Config::new().margin(Duration::ZERO).timing().is_err());
/// # Ok::<(), incumbent::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Config {
    pub(crate) name: Option<String>,
    lease: Option<Duration>,
    margin: Option<Duration>,
    beat: Option<Duration>,
    timeout: Option<Duration>,
    grace: Option<Duration>,
    expiry: Expiry,
    pub(crate) single_writer: bool,
    pub(crate) history: Option<PathBuf>,
}

impl Config {
    /// All defaults: this host's name, a lease of three seconds.
    pub fn new() -> Self {
        Config::default()
    }

    /// What people call this candidate. Default: the host's name. It need not be unique: each
    /// process also draws an incarnation of its own.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The span in which nobody else may lead. Default: 3 s. All candidates of an election must
    /// agree.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// What is cut from the lease for clocks that run at different rates. Default: a tenth of the
    /// lease. All candidates of an election must agree.
    pub fn margin(mut self, margin: Duration) -> Self {
        self.margin = Some(margin);
        self
    }

    /// Time between two renewals. Default: a quarter of the lease.
    pub fn beat(mut self, beat: Duration) -> Self {
        self.beat = Some(beat);
        self
    }

    /// How long the store may take to answer. Default: a sixth of the lease.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The end of the lease that is kept free for stopping work. Default: a tenth of the lease.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = Some(grace);
        self
    }

    /// Whose clock says that a lease has run out. Default: the challenger's own
    /// ([`Expiry::Observed`]).
    pub fn expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = expiry;
        self
    }

    /// Vouches that all candidates write through one node of a Galera cluster at a time; without it
    /// such a cluster is refused. Other stores do not care.
    pub fn single_writer(mut self) -> Self {
        self.single_writer = true;
        self
    }

    /// Append what happens to this file, one JSON object a line, for `incumbent audit`.
    pub fn history(mut self, path: impl Into<PathBuf>) -> Self {
        self.history = Some(path.into());
        self
    }

    /// The timings that follow from these settings, checked together.
    pub fn timing(&self) -> Result<Timing, Error> {
        let lease = self.lease.unwrap_or(DEFAULT_LEASE);
        let rules = Rules::new(lease, self.margin.unwrap_or(lease / 10), self.expiry)?;
        Ok(Timing::new(
            rules,
            self.beat.unwrap_or(lease / 4),
            self.timeout.unwrap_or(lease / 6),
            self.grace.unwrap_or(lease / 10),
        )?)
    }

    /// The name that follows from these settings.
    pub fn candidate_name(&self) -> Result<CandidateName, Error> {
        let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(CandidateName::new(self.name.clone().unwrap_or_else(host))?)
    }
}
