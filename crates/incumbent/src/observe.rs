//! The ordered stream of what happens in an election.
//!
//! Assumes: a reader may be slow.
//! Promises: changes arrive in the order in which they happened. A slow reader may miss whole
//! leaderships that began and ended while it was not reading, but never the end of one whose
//! beginning it was told.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::term::Term;
use tokio::sync::mpsc;

use crate::driver::Command;
use crate::error::Retry;

/// Most changes that wait for a slow reader.
const WAITING_MAX: usize = 256;

/// Something that happened in an election, as this process saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Another leader, or none, is in sight.
    Leader(Option<Leader>),
    /// This process leads.
    Gained {
        /// Under which number.
        term: Term,
    },
    /// This process must not act until [`Change::Resumed`] or [`Change::Lost`].
    Unsure {
        /// Under which number it led.
        term: Term,
    },
    /// This process is sure again.
    Resumed {
        /// Under which number.
        term: Term,
    },
    /// This process does not lead any more.
    Lost {
        /// The number that ended.
        term: Term,
        /// Why.
        reason: Reason,
    },
    /// This process leads, and is asked to end its work and then to let go. It still leads.
    Draining {
        /// Under which number.
        term: Term,
        /// What it is asked.
        handover: Handover,
    },
    /// The others know of this process: [`Backend::candidates`](crate::Backend::candidates)
    /// lists it, and orders can name it. Told once for as long as it takes part.
    Listed,
    /// This process was asked to lead and does not contend, or does so again.
    Obstacle {
        /// Why it does not; `None` if it does again.
        why: Option<String>,
    },
    /// Another process that is alive has the same name. Only one of them leads, but people cannot tell
    /// them apart.
    Twin {
        /// The other.
        who: CandidateId,
    },
    /// The store holds less than was seen before; nobody here leads on it until a full lease has
    /// passed.
    WentBack {
        /// In words.
        problem: String,
    },
    /// The store does not answer, or not as it should.
    Trouble {
        /// In words.
        problem: String,
        /// Whether that may pass by itself.
        retry: Retry,
    },
    /// The store answers again.
    Well,
    /// This process has a place in the line of a roster.
    Joined {
        /// Which; lower ones go first.
        id: MemberId,
    },
    /// This process was taken off the roster, and joins it anew.
    Evicted {
        /// Which place it had.
        id: MemberId,
    },
    /// Rounds last longer or shorter than before.
    Paced {
        /// How long.
        round: Duration,
    },
    /// A candidate came to the roster. Told to whoever leads.
    Came {
        /// Which place it has.
        id: MemberId,
        /// Who.
        who: CandidateId,
    },
    /// A candidate was found dead and taken off the roster. Told once, to whoever leads.
    Died {
        /// Which place it had.
        id: MemberId,
        /// Who.
        who: CandidateId,
    },
}

/// Ordered changes of one election; ends when the backend is closed.
#[derive(Debug)]
pub struct Changes {
    queue: Arc<Queue>,
    driver: mpsc::UnboundedSender<Command>,
}

impl Changes {
    pub(crate) fn new(queue: Arc<Queue>, driver: mpsc::UnboundedSender<Command>) -> Self {
        Changes { queue, driver }
    }

    /// The next change; `None` once the backend is closed.
    pub async fn next(&mut self) -> Option<Change> {
        std::future::poll_fn(|context| self.queue.poll(context)).await
    }
}

impl Stream for Changes {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change>> {
        self.queue.poll(context)
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.queue.close();
        // So that the driver stops looking on behalf of nobody.
        let _ = self.driver.send(Command::Recount);
    }
}

/// The driver's end of a queue: when it is gone, however that happens, the reader is told.
#[derive(Debug)]
pub(crate) struct Feed(pub(crate) Arc<Queue>);

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What the driver fills and one reader empties.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<Change>,
    waker: Option<Waker>,
    closed: bool,
}

impl Queue {
    pub(crate) fn push(&self, change: Change) {
        let mut inner = self.inner();
        inner.waiting.push_back(change);
        if inner.waiting.len() > WAITING_MAX {
            thin(&mut inner.waiting);
        }
        if let Some(waker) = inner.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        if let Some(waker) = inner.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner().closed
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut inner = self.inner();
        if let Some(change) = inner.waiting.pop_front() {
            return Poll::Ready(Some(change));
        }
        if inner.closed {
            return Poll::Ready(None);
        }
        inner.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic while holding it leaves a usable queue behind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes room: of everything but losses only the last word counts; a leadership that both began and
/// ended unread is left out.
fn thin(waiting: &mut VecDeque<Change>) {
    let last_leader = waiting.iter().rposition(|c| matches!(c, Change::Leader(_)));
    let last_trouble =
        waiting.iter().rposition(|c| matches!(c, Change::Trouble { .. } | Change::Well));
    let last_doubt =
        waiting.iter().rposition(|c| matches!(c, Change::Unsure { .. } | Change::Resumed { .. }));
    let all = waiting.len();
    let last_pace = waiting.iter().rposition(|c| matches!(c, Change::Paced { .. }));
    let last_listed = waiting.iter().rposition(|c| matches!(c, Change::Listed));
    let last_obstacle = waiting.iter().rposition(|c| matches!(c, Change::Obstacle { .. }));
    let gained: Vec<Term> = of(waiting, |c| match c {
        Change::Gained { term } => Some(*term),
        _ => None,
    });
    let lost: Vec<Term> = of(waiting, |c| match c {
        Change::Lost { term, .. } => Some(*term),
        _ => None,
    });
    let unread = |term: &Term| gained.contains(term) && lost.contains(term);
    let mut at = 0;
    waiting.retain(|change| {
        let here = at;
        at += 1;
        match change {
            Change::Leader(_) => Some(here) == last_leader,
            Change::Trouble { .. } | Change::Well => Some(here) == last_trouble,
            Change::Gained { term } | Change::Lost { term, .. } | Change::Draining { term, .. } => {
                !unread(term)
            }
            Change::Unsure { .. } | Change::Resumed { .. } => Some(here) == last_doubt,
            Change::Paced { .. } => Some(here) == last_pace,
            Change::WentBack { .. } | Change::Twin { .. } => false,
            Change::Obstacle { .. } => Some(here) == last_obstacle,
            Change::Listed => Some(here) == last_listed,
            // Each is told once, and matters to whoever cleans up after the dead; but a reader that
            // never comes must not fill the memory.
            Change::Joined { .. }
            | Change::Evicted { .. }
            | Change::Came { .. }
            | Change::Died { .. } => here + WAITING_MAX / 2 >= all,
        }
    });
}

fn of(waiting: &VecDeque<Change>, pick: impl Fn(&Change) -> Option<Term>) -> Vec<Term> {
    waiting.iter().filter_map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::term::Recorded;

    fn term(raw: u64) -> Term {
        Term::recorded(raw).expect("term")
    }

    fn drain(queue: &Queue) -> Vec<Change> {
        queue.inner().waiting.drain(..).collect()
    }

    #[test]
    fn a_slow_reader_is_still_told_of_the_loss_of_what_it_knows() {
        let queue = Queue::default();
        queue.push(Change::Gained { term: term(1) });
        assert_eq!(drain(&queue), [Change::Gained { term: term(1) }]);
        let lost = Change::Lost { term: term(1), reason: Reason::Deposed };
        queue.push(lost.clone());
        for round in 2..2_000 {
            queue.push(Change::Leader(None));
            queue.push(Change::Gained { term: term(round) });
            queue.push(Change::Lost { term: term(round), reason: Reason::Expired });
        }
        queue.push(Change::Gained { term: term(9_999) });
        let seen = drain(&queue);
        assert!(seen.len() <= WAITING_MAX + 1);
        assert!(seen.contains(&lost), "the loss of term 1 was dropped");
        assert_eq!(seen.last(), Some(&Change::Gained { term: term(9_999) }));
    }

    #[test]
    fn the_queue_stays_bounded_whatever_comes() {
        let queue = Queue::default();
        queue.push(Change::Gained { term: term(1) });
        for _ in 0..5_000 {
            queue.push(Change::Unsure { term: term(1) });
            queue.push(Change::Resumed { term: term(1) });
            queue.push(Change::Trouble { problem: "down".into(), retry: Retry::Later });
            queue.push(Change::WentBack { problem: "x".into() });
        }
        assert!(queue.inner().waiting.len() <= WAITING_MAX + 1);
    }
}
