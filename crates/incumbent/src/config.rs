//! The settings of a backend: who this process is, and how fast its elections run.
//!
//! Assumes: nothing; every value comes from a person.
//! Promises: what is not set follows from the lease in fixed proportions, and everything is checked
//! together before anything is opened.

#[cfg(feature = "peers")]
mod peers;
mod preferences;

use std::path::PathBuf;
use std::time::Duration;

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::policy::Policy;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::{Expiry, Rules, Timing, TimingError};

use crate::contest::{Contest, Protocol};
use crate::error::Error;
use crate::url::Target;

#[cfg(feature = "peers")]
pub(crate) use peers::PeersConfig;
#[cfg(feature = "peers")]
pub use peers::Secret;
pub use preferences::DEFAULT_DRAIN;

/// The lease that is used unless another one is set.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(3);

/// How many rounds a lease lasts unless another number is set.
pub const DEFAULT_ROUND_LIMIT: u32 = 2;

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
    protocol: Option<Protocol>,
    round_time: Option<Duration>,
    round_limit: Option<u32>,
    round_delta: Option<Duration>,
    round_cap: Option<Duration>,
    profile: Profile,
    priority: i32,
    policy: Policy,
    drain: Option<Duration>,
    roll_every: Option<Duration>,
    #[cfg(feature = "peers")]
    pub(crate) peers: PeersConfig,
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

    /// How elections are held. Default: what the URL says (`?protocol=rounds`), else
    /// [`Protocol::Lease`]. All candidates of an election must agree.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// With [`Protocol::Rounds`], how long a round is at first. Default: the lease divided by the
    /// round limit. All candidates of an election must agree.
    pub fn round_time(mut self, round_time: Duration) -> Self {
        self.round_time = Some(round_time);
        self
    }

    /// With [`Protocol::Rounds`], how many rounds a lease lasts. Default: 2. All candidates of an
    /// election must agree.
    pub fn round_limit(mut self, round_limit: u32) -> Self {
        self.round_limit = Some(round_limit);
        self
    }

    /// With [`Protocol::Rounds`], by how much a round grows when a candidate was evicted that was not
    /// dead. Default: a fortieth of the round time. All candidates of an election must agree.
    pub fn round_delta(mut self, delta: Duration) -> Self {
        self.round_delta = Some(delta);
        self
    }

    /// With [`Protocol::Rounds`], how long a round becomes at most. Default: ten times the round time.
    /// All candidates of an election must agree.
    pub fn round_cap(mut self, cap: Duration) -> Self {
        self.round_cap = Some(cap);
        self
    }

    /// Where others reach this candidate, for the roster.
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.profile.address = Some(address.into());
        self
    }

    /// Something that this candidate says about itself, for the roster.
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.profile.labels.push((key.into(), value.into()));
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

    /// The timings that follow from these settings, checked together. In an election with a roster
    /// these are the ones it begins with.
    pub fn timing(&self) -> Result<Timing, Error> {
        self.contest().map(|contest| contest.timing)
    }

    /// What all candidates of an election with a roster agree on, as it follows from these settings.
    pub fn pacing(&self) -> Result<Pacing, Error> {
        let limit = self.round_limit.unwrap_or(DEFAULT_ROUND_LIMIT);
        let lease = self.lease.unwrap_or(DEFAULT_LEASE);
        let round = self.round_time.unwrap_or(lease / limit.max(1));
        if let (Some(lease), Some(round)) = (self.lease, self.round_time)
            && round.saturating_mul(limit) != lease
        {
            return Err(TimingError::RoundLease { lease, round, limit }.into());
        }
        let usual = Pacing::of_round(round, limit)?;
        Ok(Pacing::new(
            round,
            limit,
            self.margin.unwrap_or(usual.margin()),
            self.round_delta.unwrap_or(usual.delta()),
            self.round_cap.unwrap_or(usual.cap()),
        )?)
    }

    /// How a candidate with these settings takes part.
    pub(crate) fn contest(&self) -> Result<Contest, Error> {
        check_profile(&self.profile)?;
        if self.protocol.unwrap_or_default() != Protocol::Rounds {
            if let Some(setting) = self.of_rounds() {
                let of_peers = self.protocol.is_some_and(Protocol::is_of_peers);
                let problem = if of_peers {
                    "it is for the protocol rounds, which peers do not hold"
                } else {
                    "it is for the protocol rounds only: set that too"
                };
                return Err(Error::Setting { setting, problem: problem.to_owned() });
            }
            if self.protocol.is_some_and(Protocol::is_of_peers) && self.expiry != Expiry::Observed {
                let problem = "peers have no clock in common: it is always observed".to_owned();
                return Err(Error::Setting { setting: "expiry", problem });
            }
            let timing = self.lease_timing()?;
            let succession = self.succession(timing.rules().lease())?;
            return Ok(Contest { timing, rounds: None, succession });
        }
        if self.expiry != Expiry::Observed {
            let problem = "with the protocol rounds it is always observed".to_owned();
            return Err(Error::Setting { setting: "expiry", problem });
        }
        let pacing = self.pacing()?;
        let rules = pacing.rules_at(pacing.round_time());
        let (lease, round) = (rules.lease(), pacing.round_time());
        let timing = Timing::new(
            rules,
            self.beat.unwrap_or(round),
            self.timeout.unwrap_or(lease / 8),
            self.grace.unwrap_or(lease / 10),
        )?;
        if timing.beat() != round {
            let problem = "with the protocol rounds it is the round time: set that".to_owned();
            return Err(Error::Setting { setting: "beat", problem });
        }
        Ok(Contest { timing, rounds: Some(pacing), succession: self.succession(lease)? })
    }

    /// The protocol that was set, if one was.
    pub(crate) const fn protocol_set(&self) -> Option<Protocol> {
        self.protocol
    }

    /// A setting that only elections with a roster have, if one was set.
    fn of_rounds(&self) -> Option<&'static str> {
        let set = [
            (self.round_time.is_some(), "round time"),
            (self.round_limit.is_some(), "round limit"),
            (self.round_delta.is_some(), "round delta"),
            (self.round_cap.is_some(), "round cap"),
        ];
        set.into_iter().find(|(set, _)| *set).map(|(_, what)| what)
    }

    /// These settings together with what a URL says about them: its `protocol`. Opening a store by
    /// URL does it by itself.
    pub fn for_url(&self, url: &str) -> Result<Config, Error> {
        let (_, protocol) = Target::with_protocol(url)?;
        self.agreeing_with(protocol)
    }

    /// Takes over what a URL says about the protocol.
    pub(crate) fn agreeing_with(&self, url: Option<Protocol>) -> Result<Config, Error> {
        let mut config = self.clone();
        match (self.protocol, url) {
            (Some(set), Some(url)) if set != url => {
                let (set, url) = (set.as_str(), url.as_str());
                let problem = format!("it is set to {set}, but the URL says {url}");
                Err(Error::Setting { setting: "protocol", problem })
            }
            (_, Some(url)) => {
                config.protocol = Some(url);
                Ok(config)
            }
            _ => Ok(config),
        }
    }

    fn lease_timing(&self) -> Result<Timing, Error> {
        if self.expiry == Expiry::Rounds {
            return Err(TimingError::Expiry("rounds".to_owned()).into());
        }
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

/// Longest address, key or value of a label that is accepted, in bytes.
const WORD_MAX: usize = 256;

/// Most labels that are accepted.
const LABELS_MAX: usize = 32;

/// What a candidate tells of itself must fit into a line of the roster.
fn check_profile(profile: &Profile) -> Result<(), Error> {
    let wrong = |setting: &'static str, text: &str, problem: &str| {
        Err(Error::Setting { setting, problem: format!("{text:?}: {problem}") })
    };
    let word = |what: &'static str, text: &str| {
        if text.is_empty() {
            return wrong(what, text, "it must not be empty");
        }
        if text.len() > WORD_MAX {
            return wrong(what, text, "it must not be longer than 256 bytes");
        }
        if text.chars().any(char::is_control) {
            return wrong(what, text, "it must be one line, without control characters");
        }
        Ok(())
    };
    if let Some(address) = &profile.address {
        word("address", address)?;
    }
    if profile.labels.len() > LABELS_MAX {
        return wrong("label", "", "there must not be more than 32 of them");
    }
    for (key, value) in &profile.labels {
        word("label", key)?;
        word("label", value)?;
        if key.contains('=') {
            return wrong("label", key, "its name must not contain =");
        }
        if profile.labels.iter().filter(|(other, _)| other == key).count() > 1 {
            return wrong("label", key, "it is given twice");
        }
    }
    Ok(())
}
