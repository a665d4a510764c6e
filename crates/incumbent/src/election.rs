//! A named contest with one winner at a time.
//!
//! Assumes: the backend that it came from is open.
//! Promises: [`Election::campaign`] can be given up at any time; [`Election::run`] contends again
//! by itself after a loss, and ends the work before the lease does.

use std::ops::ControlFlow;
use std::sync::Arc;

use incumbent_protocol::candidacy::Rank;
use incumbent_protocol::identity::{CandidateName, ElectionName};
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::standing::Reason;
use tokio::sync::oneshot;

use crate::backend::{Backend, Status};
use crate::config::Config;
use crate::driver::Command;
use crate::error::Error;
use crate::leadership::Leadership;
use crate::observe::{Changes, Feed, Queue};
use crate::pulse::Pulse;
use crate::store::roster::Roster;

/// One election of a backend, seen from this process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Election {
    name: ElectionName,
    timing: Timing,
    backend: Backend,
}

impl Election {
    pub(crate) fn new(name: ElectionName, timing: Timing, backend: Backend) -> Self {
        Election { name, timing, backend }
    }

    /// Opens one election by URL with default settings. For several elections open a [`Backend`]
    /// once, so that they share a connection.
    pub async fn open(url: &str, name: &str) -> Result<Election, Error> {
        Backend::open_with(url, &Config::new()).await?.election(name).await
    }

    /// Its name.
    pub fn name(&self) -> &ElectionName {
        &self.name
    }

    /// Its timings.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Where it is agreed.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Contends until this process leads. Dropping the future stops contending.
    ///
    /// ```
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// use incumbent::Election;
    ///
    /// let election = Election::open(&url, "billing").await?;
    /// let leadership = election.campaign().await?;
    /// assert!(leadership.is_valid());
    /// println!("send this along to the ledger: {}", leadership.token());
    /// leadership.resign().await?;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn campaign(&self) -> Result<Leadership, Error> {
        let (winner, won) = oneshot::channel();
        let _withdraw = Withdraw(self);
        self.backend.send(Command::Campaign { election: self.name.clone(), winner })?;
        won.await.map_err(|_| Error::Closed)?
    }

    /// Leads and works, again and again: contends, runs `work` while leading, and gives it up
    /// (drops its future) when the leadership is lost, before the lease ends. Contends again after
    /// a loss. Returns what the work returns once it ends by itself, after resigning.
    ///
    /// When this process is asked to hand over, work that waits for [`Leadership::draining`] has until
    /// then to return, what it returns is dropped, and this contends again; work that does not is
    /// dropped at once.
    ///
    /// Work that blocks its thread cannot be given up: let it ask [`Leadership::is_valid`] between
    /// its steps, and send the token along. In a spawned task write `async move`, so that the work
    /// owns what it uses:
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// # let election = incumbent::Election::open(&url, "billing").await?;
    /// let ledger = String::from("ledger");
    /// let job = tokio::spawn(async move {
    ///     election
    ///         .run(async move |leadership| format!("{ledger} {}", leadership.token()))
    ///         .await
    /// });
    /// assert!(job.await??.starts_with("ledger "));
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    ///
    /// Elsewhere a plain `async` will do:
    ///
    /// ```
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// # let election = incumbent::Election::open(&url, "billing").await?;
    /// let total = election
    ///     .run(async |leadership| {
    ///         // Everything in here is dropped if the leadership is lost.
    ///         let token = leadership.token();
    ///         40 + if token.get() > 0 { 2 } else { 0 }
    ///     })
    ///     .await?;
    /// assert_eq!(total, 42);
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn run<T>(&self, mut work: impl AsyncFnMut(&Leadership) -> T) -> Result<T, Error> {
        loop {
            let leadership = self.campaign().await?;
            if let ControlFlow::Break(done) = attempt(&leadership, &mut work).await {
                // The work is done; if the store cannot be told, the lease runs out by itself.
                let _ = leadership.resign().await;
                return Ok(done);
            }
            let _ = leadership.resign().await;
        }
    }

    /// If this process leads, ends its work in good order and then lets go, for `to` if a candidate is
    /// named: [`Leadership::draining`] completes, the lease is renewed until the work has ended, and
    /// the term is released then. Bounded by [`Config::drain`]. Returns when the store has been told,
    /// or when the term has ended otherwise, at once if this process does not lead; dropping the future
    /// does not call it off.
    pub async fn hand_over(&self, to: Option<&str>) -> Result<(), Error> {
        let to = to.map(CandidateName::new).transpose()?;
        let (done, released) = oneshot::channel();
        let election = self.name.clone();
        self.backend.send(Command::Drain { election, to, done })?;
        released.await.map_err(|_| Error::Closed)
    }

    /// The ordered stream of what happens, beginning with who leads as far as is known.
    pub fn observe(&self) -> Result<Changes, Error> {
        let queue = Arc::new(Queue::default());
        let observe =
            Command::Observe { election: self.name.clone(), feed: Feed(Arc::clone(&queue)) };
        self.backend.send(observe)?;
        Ok(Changes::new(queue, self.backend.driver.clone()))
    }

    /// Who leads at this moment, to the best of the store's knowledge.
    pub async fn leader(&self) -> Result<Option<Leader>, Error> {
        Ok(self.status().await?.leader().cloned())
    }

    /// Everybody in line, if the election is held by rounds; read from the store at this moment.
    pub async fn members(&self) -> Result<Roster, Error> {
        self.backend.members(self.name.as_str()).await
    }

    /// Where this process is in line and how fresh that knowledge is, without asking the store;
    /// `None` if the election is not held by rounds.
    pub async fn rank(&self) -> Result<Option<Rank>, Error> {
        let (done, rank) = oneshot::channel();
        self.backend.send(Command::Rank { election: self.name.clone(), done })?;
        rank.await.map_err(|_| Error::Closed)
    }

    /// Whether this process does what it takes to lead, to be read at any time after.
    pub async fn pulse(&self) -> Result<Pulse, Error> {
        let (done, pulse) = oneshot::channel();
        self.backend.send(Command::Pulse { election: self.name.clone(), done })?;
        pulse.await.map_err(|_| Error::Closed)
    }

    /// How the election stands at this moment.
    pub async fn status(&self) -> Result<Status, Error> {
        self.backend.status(self.name.as_str()).await
    }
}

/// Works until the work ends (break) or the leadership is lost (continue, the work was dropped).
async fn attempt<T>(
    leadership: &Leadership,
    work: &mut impl AsyncFnMut(&Leadership) -> T,
) -> ControlFlow<T, Reason> {
    let _working = Working::begin(leadership);
    tokio::select! {
        biased;
        reason = leadership.lost() => ControlFlow::Continue(reason),
        () = asked_in_vain(leadership) => ControlFlow::Continue(Reason::Resigned),
        // Work that ended because it was asked to is not done, but for somebody else to do.
        done = work(leadership) => match leadership.handover() {
            Some(_) if leadership.heeds_draining() => ControlFlow::Continue(Reason::Resigned),
            _ => ControlFlow::Break(done),
        },
    }
}

/// Completes when a hand-over is asked for that the work does not listen for.
async fn asked_in_vain(leadership: &Leadership) {
    leadership.asked_to_drain().await;
    if leadership.heeds_draining() {
        std::future::pending::<()>().await;
    }
}

/// Notes in the history when work begins and when it ends, also if it is dropped from outside.
struct Working<'a>(&'a Leadership);

impl<'a> Working<'a> {
    fn begin(leadership: &'a Leadership) -> Self {
        leadership.work_began();
        Working(leadership)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.work_ended();
    }
}

/// Tells the driver, when a campaign ends in whatever way, to count who still waits.
struct Withdraw<'a>(&'a Election);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let _ = self.0.backend.send(Command::Recount);
    }
}
