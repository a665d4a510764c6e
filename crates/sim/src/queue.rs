//! What is going to happen, in order.
//!
//! Assumes: nothing is scheduled in the past.
//! Promises: events come out by time, and those of one instant in the order in which they were
//! scheduled.

use core::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::clock::At;
use crate::mail::MailId;
use crate::transaction::SessionId;

/// What happens. Small enough to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A timer of a process fires.
    Wake { process: u8, turn: u32 },
    /// A process sends what it had stamped before it was stopped.
    Depart { mail: MailId },
    /// A request reaches the database.
    Arrive { mail: MailId },
    /// A transaction comes to its end.
    Commit { mail: MailId },
    /// A transaction has waited long enough for a lock.
    LockTimeout { mail: MailId },
    /// An answer reaches a process.
    Answer { mail: MailId },
    /// A hint reaches a process.
    Bell { process: u8, life: u32 },
    /// Supervised work takes its next step.
    Work { process: u8, seat: u8, life: u32, serial: u32 },
    /// Supervised work has stopped.
    Stopped { process: u8, seat: u8, life: u32, serial: u32 },
    /// A user wants to lead again.
    Wish { process: u8, seat: u8, life: u32 },
    /// A write reaches a resource.
    Write { process: u8, seat: u8, life: u32, term: u64 },
    /// The work of a fenced transaction comes to its next statement.
    Next { process: u8, seat: u8, life: u32, session: SessionId },
    /// A statement has not been answered for too long.
    Unanswered { process: u8, seat: u8, life: u32, session: SessionId, step: u8 },
    /// A fenced transaction comes to its end.
    Settle { session: SessionId },
    /// A fenced transaction has waited long enough for a lock.
    LockTimeoutOf { session: SessionId },
    /// The database hears that a client is gone.
    HangUp { session: SessionId },
    /// The database looks whether a client still says something.
    Idle { session: SessionId },
    /// A fault begins.
    Fault { index: u32 },
    /// A fault ends, or turns over.
    Over { index: u32 },
    /// A stopped process goes on.
    Resume { process: u8, life: u32 },
    /// A process starts.
    Start { process: u8 },
    /// A process is replaced by a newer version: it hands over, or it stops.
    Replace { process: u8, life: u32, stops: bool },
    /// The database can prove that a process is gone.
    Proof { process: u8, life: u32 },
    /// The database is there again.
    StoreUp,
    /// Everything heals.
    Heal,
    /// Nothing may change from here on.
    Quiet,
    /// The run ends.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry<E> {
    at: At,
    sequence: u64,
    event: E,
}

impl<E: Eq> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl<E: Eq> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The events to come.
#[derive(Debug)]
pub(crate) struct Queue<E: Eq = Event> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
}

impl<E: Eq> Default for Queue<E> {
    fn default() -> Self {
        Queue { heap: BinaryHeap::new(), scheduled: 0 }
    }
}

impl<E: Eq> Queue<E> {
    /// Lets something happen at that instant.
    pub(crate) fn push(&mut self, at: At, event: E) {
        let sequence = self.scheduled;
        self.scheduled += 1;
        self.heap.push(Reverse(Entry { at, sequence, event }));
    }

    /// The next thing to happen.
    pub(crate) fn pop(&mut self) -> Option<(At, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_instant_keep_their_order() {
        let mut queue: Queue = Queue::default();
        queue.push(5, Event::Quiet);
        queue.push(5, Event::End);
        queue.push(3, Event::Heal);
        let order: Vec<Event> = core::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
        assert_eq!(order, [Event::Heal, Event::Quiet, Event::End]);
    }
}
