//! The value that proves leading.
//!
//! Assumes: work done under it is given up when it is lost; a resource that must never see a
//! deposed leader checks the token.
//! Promises: [`Leadership::is_valid`] reads the clock at every call, so a process that was stopped
//! finds out by itself. It cannot be cloned. Dropping it lets go of the leadership.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::term::{Term, Token};
use incumbent_protocol::time::Time;
use tokio::sync::{mpsc, oneshot};

use crate::cell::Cell;
use crate::clock;
use crate::driver::Command;
use crate::error::Error;

/// Proof of leading an election. Hang the work below it.
///
/// At most one candidate's leadership is valid at any instant while clocks run within the margin of
/// each other. Whatever clocks do, a resource that refuses lower tokens than it has seen never
/// accepts a deposed leader after its successor.
#[derive(Debug)]
#[must_use = "dropping a leadership resigns it"]
pub struct Leadership {
    election: ElectionName,
    term: Term,
    cell: Arc<Cell>,
    driver: mpsc::UnboundedSender<Command>,
    /// How long the store may take to be told of a resignation.
    patience: Duration,
    over: bool,
}

impl Leadership {
    pub(crate) fn new(
        election: ElectionName,
        term: Term,
        cell: Arc<Cell>,
        driver: mpsc::UnboundedSender<Command>,
        patience: Duration,
    ) -> Self {
        Leadership { election, term, cell, driver, patience, over: false }
    }

    /// The election that is led.
    pub fn election(&self) -> &ElectionName {
        &self.election
    }

    /// The number of this leadership.
    pub fn term(&self) -> Term {
        self.term
    }

    /// The number to send along to every resource that must not obey a deposed leader.
    pub fn token(&self) -> Token {
        self.term.token()
    }

    /// Whether this candidate leads at this very instant. Costs nanoseconds; ask before each step
    /// of the work, and do not keep the answer.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.cell.is_valid()
    }

    /// What is left of the lease, if no further renewal comes.
    pub fn remaining(&self) -> Duration {
        self.cell.remaining()
    }

    /// When the lease ends unless it is renewed: nanoseconds of the host's boot-time clock.
    pub fn valid_until_nanos(&self) -> u64 {
        self.cell.valid_until().as_nanos()
    }

    /// Completes when the lease is renewed the next time. A renewal while nobody waits here is not
    /// heard of: whoever must know of each uses [`extended_beyond`](Leadership::extended_beyond).
    pub async fn extended(&self) {
        self.cell.extended().await;
    }

    /// Completes as soon as the lease ends later than that, at once if it does already, and tells when
    /// it ends. Both are as [`valid_until_nanos`](Leadership::valid_until_nanos) tells. Whoever asks
    /// with what was told last misses no renewal, also if others come while it does something else.
    pub async fn extended_beyond(&self, until_nanos: u64) -> u64 {
        self.cell.extended_beyond(Time::from_nanos(until_nanos)).await.as_nanos()
    }

    /// Completes when this leader is asked to hand over: by an operator's transfer, by a candidate
    /// that is preferred, by its own health, or by [`Election::hand_over`](crate::Election::hand_over).
    ///
    /// The lease is renewed all the while: end the work in good order, within
    /// [`Handover::within`](crate::Handover::within), and then [`resign`](Leadership::resign) or drop
    /// this. The next term is reserved for whoever was named. If the work takes longer, the term is
    /// ended by order, and [`lost`](Leadership::lost) completes.
    ///
    /// ```
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// # let election = incumbent::Election::open(&url, "billing").await?;
    /// # let leadership = election.campaign().await?;
    /// let asked = election.clone();
    /// tokio::spawn(async move { asked.hand_over(None).await });
    /// let handover = leadership.draining().await;
    /// assert!(leadership.is_valid(), "still renewed");
    /// println!("asked {}; stopping within {:?}", handover.by, handover.within);
    /// leadership.resign().await?;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn draining(&self) -> Handover {
        self.cell.listen();
        self.cell.draining().await
    }

    /// What this leader is asked, if it is asked to hand over.
    pub fn handover(&self) -> Option<Handover> {
        self.cell.handover()
    }

    /// Whether anybody ever waited for [`Leadership::draining`].
    pub(crate) fn heeds_draining(&self) -> bool {
        self.cell.listens()
    }

    /// The same without saying that anybody heeds it.
    pub(crate) async fn asked_to_drain(&self) -> Handover {
        self.cell.draining().await
    }

    /// Completes when the leadership is lost, early enough to stop work before the lease ends.
    pub async fn lost(&self) -> Reason {
        self.cell.lost().await
    }

    /// Why it was lost, if it was.
    pub fn reason(&self) -> Option<Reason> {
        self.cell.reason()
    }

    /// A handle on this process's proof of life, to be handed to a child process: the process then
    /// counts as alive until the child is gone too. `None` where the backend has no such proof.
    ///
    /// A child inherits only what it is handed, with the crate `command-fds` for example, so that
    /// nothing else that is started at the same moment keeps the proof.
    pub fn share_lock(&self) -> Option<std::io::Result<OwnedFd>> {
        self.cell.lock.as_ref().map(|lock| lock.share())
    }

    /// Lets go, and returns once the store has been told (or could not be reached in time; then the
    /// lease runs out by itself).
    pub async fn resign(mut self) -> Result<(), Error> {
        self.over = true;
        self.cell.lose(Reason::Resigned);
        let (done, told) = oneshot::channel();
        let resign =
            Command::Resign { election: self.election.clone(), term: self.term, done: Some(done) };
        self.driver.send(resign).map_err(|_| Error::Closed)?;
        match tokio::time::timeout(self.patience, told).await {
            Ok(told) => told.map_err(|_| Error::Closed),
            Err(_) => Err(Error::Timeout(self.patience)),
        }
    }

    /// Notes in the history, if one is written, that supervised work began under this leadership.
    pub fn work_began(&self) {
        self.note_work(true);
    }

    /// Notes in the history, if one is written, that supervised work ended.
    pub fn work_ended(&self) {
        self.note_work(false);
    }

    fn note_work(&self, began: bool) {
        let at = clock::now();
        let work = Command::Work { election: self.election.clone(), term: self.term, began, at };
        let _ = self.driver.send(work);
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        if !self.over {
            self.cell.lose(Reason::Resigned);
            let election = self.election.clone();
            let resign = Command::Resign { election, term: self.term, done: None };
            // If the driver is gone, so are the renewals; the lease runs out by itself.
            let _ = self.driver.send(resign);
        }
    }
}
