//! The same for programs without async: every call blocks its thread.
//!
//! Assumes: it is not called from inside an async runtime.
//! Promises: one background thread per [`Backend`] drives all its elections; what the async types
//! promise holds here too.

use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::lease::order::{Decree, Order};
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::term::{Term, Token};
use tokio::runtime::Runtime;

use crate::backend::Status;
use crate::config::Config;
use crate::error::Error;
use crate::health::{HealthRules, Probe};
use crate::store::office::{OrderRecord, TermRecord};

/// A database in which elections are agreed, for programs without async.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/elections.db", folder.path().display());
/// use incumbent::{Config, blocking::Backend};
///
/// let backend = Backend::open(&url, &Config::new())?;
/// let election = backend.election("billing")?;
/// let leadership = election.campaign()?;
/// while leadership.is_valid() {
///     // one step of the work, with leadership.token()
/// #   break;
/// }
/// leadership.resign()?;
/// # Ok::<(), incumbent::Error>(())
/// ```
#[derive(Debug)]
pub struct Backend {
    inner: crate::Backend,
    runtime: Arc<Runtime>,
}

impl Backend {
    /// Opens a store by URL, making it if it does not exist.
    pub fn open(url: &str, config: &Config) -> Result<Backend, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("incumbent")
            .enable_all()
            .build()
            .map_err(|error| Error::Store(format!("cannot start a thread: {error}")))?;
        let inner = runtime.block_on(crate::Backend::open_with(url, config))?;
        Ok(Backend { inner, runtime: Arc::new(runtime) })
    }

    /// Opens an election.
    pub fn election(&self, name: &str) -> Result<Election, Error> {
        let inner = self.runtime.block_on(self.inner.election(name))?;
        Ok(Election { inner, runtime: Arc::clone(&self.runtime) })
    }

    /// How an election stands in the store at this moment.
    pub fn status(&self, election: &str) -> Result<Status, Error> {
        self.runtime.block_on(self.inner.status(election))
    }

    /// The newest terms of an election, newest first.
    pub fn terms(&self, election: &str, most: u32) -> Result<Vec<TermRecord>, Error> {
        self.runtime.block_on(self.inner.terms(election, most))
    }

    /// Everybody who takes part in an election, or did within a day.
    pub fn candidates(&self, election: &str) -> Result<Vec<Peer>, Error> {
        self.runtime.block_on(self.inner.candidates(election))
    }

    /// What operators ordered in an election, newest first.
    pub fn orders(&self, election: &str, most: u32) -> Result<Vec<OrderRecord>, Error> {
        self.runtime.block_on(self.inner.orders(election, most))
    }

    /// Carries out an operator's order, if the protocol allows it. A refused order changes nothing.
    pub fn order(
        &self,
        election: &str,
        order: Order,
        term: Option<u64>,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Decree, Error> {
        self.runtime.block_on(self.inner.order(election, order, term, actor, reason))
    }

    /// Binds leadership to health, in all elections of this backend.
    pub fn bind_health(&self, probe: Probe, rules: HealthRules) -> Result<(), Error> {
        let _inside = self.runtime.enter();
        self.inner.bind_health(probe, rules)
    }

    /// Says whether this process is well enough to lead; if not, why.
    pub fn set_fit(&self, fit: Result<(), String>) -> Result<(), Error> {
        self.inner.set_fit(fit)
    }

    /// Lets go of every leadership and closes the store.
    pub fn close(self) {
        self.runtime.block_on(self.inner.close());
    }
}

/// One election, for programs without async.
#[derive(Debug)]
pub struct Election {
    inner: crate::Election,
    runtime: Arc<Runtime>,
}

impl Election {
    /// Contends until this process leads.
    pub fn campaign(&self) -> Result<Leadership, Error> {
        self.runtime.block_on(self.inner.campaign()).map(|inner| self.led(inner))
    }

    /// Contends for at most so long; `None` if somebody else led all the while.
    pub fn campaign_for(&self, limit: Duration) -> Result<Option<Leadership>, Error> {
        let campaign = async { tokio::time::timeout(limit, self.inner.campaign()).await };
        match self.runtime.block_on(campaign) {
            Ok(won) => won.map(|inner| Some(self.led(inner))),
            Err(_) => Ok(None),
        }
    }

    /// Who leads at this moment, to the best of the store's knowledge.
    pub fn leader(&self) -> Result<Option<Leader>, Error> {
        self.runtime.block_on(self.inner.leader())
    }

    /// If this process leads, asks for the end of its work and blocks until the leadership was let go
    /// of, for `to` if a candidate is named. Whoever works learns of it from
    /// [`Leadership::draining_within`], on another thread than this one.
    pub fn hand_over(&self, to: Option<&str>) -> Result<(), Error> {
        self.runtime.block_on(self.inner.hand_over(to))
    }

    fn led(&self, inner: crate::Leadership) -> Leadership {
        Leadership { inner, runtime: Arc::clone(&self.runtime) }
    }
}

/// Proof of leading, for programs without async. Dropping it lets go.
#[derive(Debug)]
#[must_use = "dropping a leadership resigns it"]
pub struct Leadership {
    inner: crate::Leadership,
    runtime: Arc<Runtime>,
}

impl Leadership {
    /// The number of this leadership.
    pub fn term(&self) -> Term {
        self.inner.term()
    }

    /// The number to send along to every resource.
    pub fn token(&self) -> Token {
        self.inner.token()
    }

    /// Whether this candidate leads at this very instant.
    pub fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }

    /// What is left of the lease, if no further renewal comes.
    pub fn remaining(&self) -> Duration {
        self.inner.remaining()
    }

    /// Blocks until the leadership is lost, or for at most so long; `None` if it still holds then.
    pub fn lost_within(&self, limit: Duration) -> Option<Reason> {
        let lost = async { tokio::time::timeout(limit, self.inner.lost()).await };
        self.runtime.block_on(lost).ok()
    }

    /// Blocks until this leader is asked to hand over, or for at most so long; `None` if it was not
    /// asked by then.
    pub fn draining_within(&self, limit: Duration) -> Option<Handover> {
        let asked = async { tokio::time::timeout(limit, self.inner.draining()).await };
        self.runtime.block_on(asked).ok()
    }

    /// What this leader is asked, if it is asked to hand over.
    pub fn handover(&self) -> Option<Handover> {
        self.inner.handover()
    }

    /// Lets go, and returns once the store has been told.
    pub fn resign(self) -> Result<(), Error> {
        self.runtime.block_on(self.inner.resign())
    }
}
