//! The same for programs without async: every call blocks its thread.
//!
//! Assumes: it is not called from inside an async runtime.
//! Promises: one background thread per [`Backend`] drives all its elections; what the async types
//! promise holds here too.

use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::{Term, Token};
use tokio::runtime::Runtime;

use crate::config::Config;
use crate::error::Error;

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

    /// Lets go, and returns once the store has been told.
    pub fn resign(self) -> Result<(), Error> {
        self.runtime.block_on(self.inner.resign())
    }
}
