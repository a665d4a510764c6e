//! What will happen, in order.
//!
//! Assumes: nothing. Promises: earliest first; of two at one instant, the one that was queued
//! first.

use core::time::Duration;
use std::collections::BTreeMap;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::term::Term;

/// Something that will happen to a process, or to the store on behalf of one.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// An alarm that the candidacy asked for.
    Alarm(u64),
    /// A request reaches the store.
    Arrive { ticket: Ticket, request: Request, answers_in: Option<Duration> },
    /// An answer reaches the process.
    Reply { ticket: Ticket, outcome: Outcome<Done, Denied> },
    /// The process gives up waiting.
    Timeout(Ticket),
    /// The work under a term has stopped.
    WorkStopped(Term),
    /// A stopped process wakes.
    Resume,
}

/// An event, and which life of which process it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) who: usize,
    pub(crate) boot: u64,
    pub(crate) event: Event,
}

/// Events by true time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    events: BTreeMap<(Duration, u64), Due>,
    pushed: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: Duration, due: Due) {
        self.pushed += 1;
        self.events.insert((at, self.pushed), due);
    }

    /// The next event, if it comes no later than `end`.
    pub(crate) fn pop_until(&mut self, end: Duration) -> Option<(Duration, Due)> {
        let next = self.events.first_entry()?;
        let (at, _) = *next.key();
        (at <= end).then(|| (at, next.remove()))
    }

    /// When the last request that is still on its way reaches the store.
    pub(crate) fn last_arrival(&self) -> Option<Duration> {
        let mut latest_first = self.events.iter().rev();
        latest_first
            .find(|(_, due)| matches!(due.event, Event::Arrive { .. }))
            .map(|(&(at, _), _)| at)
    }
}
