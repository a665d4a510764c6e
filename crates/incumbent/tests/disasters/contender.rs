//! What a candidate does all the time: contend, and write under a fence while it leads.
//!
//! Assumes: nothing about the server; any call may fail or hang.
//! Promises: it never gives up. A leader that lost goes on writing for a lease, as one does that
//! did not hear of it, so that the fence has something to hold off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use incumbent::{Change, Election, Error, Leadership};
use sqlx::Pool;
use tokio::sync::watch;

use crate::log::{Attempt, Fate, Log};
use crate::server::{Server, work};

/// What a story wants of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// To neither lead nor contend.
    pub(crate) rest: bool,
    /// To go home.
    pub(crate) end: bool,
    /// Grows whenever it shall let go of what it leads.
    pub(crate) resignations: u64,
}

/// Between two pieces of work, and after a failed campaign.
const PAUSE: Duration = Duration::from_millis(25);

/// One candidate in one election.
pub(crate) struct Contender<S: Server> {
    pub(crate) place: usize,
    pub(crate) election: Election,
    pub(crate) pool: Pool<S::Db>,
    pub(crate) log: Arc<Log>,
    pub(crate) wish: watch::Receiver<Wish>,
}

impl<S: Server> Contender<S> {
    /// Contends and works until the story ends.
    pub(crate) async fn live(mut self) {
        loop {
            let wish = *self.wish.borrow_and_update();
            if wish.end {
                return;
            }
            let election = self.election.clone();
            tokio::select! {
                won = election.campaign(), if !wish.rest => match won {
                    Ok(leadership) => self.lead(leadership, wish).await,
                    Err(error) => {
                        self.log.troubles().push(error.to_string());
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                changed = self.wish.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Writes down whatever the store is in trouble with.
    pub(crate) async fn listen(election: Election, log: Arc<Log>) {
        let Ok(mut changes) = election.observe() else { return };
        while let Some(change) = changes.next().await {
            match change {
                Change::Trouble { problem, .. } | Change::WentBack { problem } => {
                    log.troubles().push(problem);
                }
                _ => {}
            }
        }
    }

    async fn lead(&mut self, leadership: Leadership, wish: Wish) {
        let lease = self.election.timing().rules().lease();
        let mut lost: Option<Instant> = None;
        for number in 1.. {
            if *self.wish.borrow() != wish {
                // If the store cannot be told, the lease runs out by itself.
                let _ = leadership.resign().await;
                return;
            }
            let fate = self.write(&leadership, number, lease).await;
            if leadership.reason().is_some() {
                lost.get_or_insert_with(Instant::now);
            }
            if fate == Fate::Fenced || lost.is_some_and(|lost| lost.elapsed() > lease) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Tries one piece of work, and notes what became of it.
    async fn write(&self, leadership: &Leadership, number: u64, limit: Duration) -> Fate {
        let (election, term) = (leadership.election().to_string(), leadership.term().get());
        let fate = self.attempt(leadership, work::<S>(&election, term, number), limit).await;
        let valid = leadership.is_valid();
        let candidate = self.place;
        self.log.attempts().push(Attempt { candidate, election, term, number, fate, valid });
        fate
    }

    async fn attempt(&self, leadership: &Leadership, work: String, limit: Duration) -> Fate {
        let begun = async {
            let mut fenced = leadership.transaction(&self.pool).await?;
            let done = S::tell(&mut fenced, work).await;
            done.map_err(|error| Error::Store(error.to_string()))?;
            Ok(fenced)
        };
        let fenced = match tokio::time::timeout(limit, begun).await {
            Ok(Ok(fenced)) => fenced,
            Ok(Err(Error::Fenced { .. })) => return Fate::Fenced,
            Ok(Err(_)) | Err(_) => return Fate::Undone,
        };
        match tokio::time::timeout(limit, fenced.commit()).await {
            Ok(Ok(())) => Fate::Kept,
            Ok(Err(Error::Fenced { .. })) => Fate::Fenced,
            Ok(Err(Error::Conflict(_))) => Fate::Undone,
            Ok(Err(_)) | Err(_) => Fate::Doubt,
        }
    }
}
