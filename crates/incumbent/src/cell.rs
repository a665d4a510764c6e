//! What a leadership and its driver share: until when the lease is valid, and whether it was lost.
//!
//! Assumes: only the driver makes it longer; the leadership itself may end it.
//! Promises: reading costs one atomic load and one look at the clock; no lock, no allocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use incumbent_protocol::standing::Reason;
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::time::Time;
use tokio::sync::watch;

use crate::clock;
use crate::lock::Lock;

/// One leadership, as both sides see it.
#[derive(Debug)]
pub(crate) struct Cell {
    /// Nanoseconds on the lease clock; zero when there is nothing to rely on.
    valid_until: AtomicU64,
    lost: watch::Sender<Option<Reason>>,
    extended: watch::Sender<()>,
    /// What whoever leads was asked, if it was asked to hand over.
    handover: watch::Sender<Option<Handover>>,
    /// Whether whoever works under it wants to know of that.
    listens: AtomicBool,
    /// Held for as long as anyone may act under this leadership: while it is held, nobody can take
    /// the process for dead.
    pub(crate) lock: Option<Arc<Lock>>,
}

impl Cell {
    pub(crate) fn new(valid_until: Time, lock: Option<Arc<Lock>>) -> Self {
        let (lost, _) = watch::channel(None);
        let valid_until = AtomicU64::new(valid_until.as_nanos());
        let (handover, _) = watch::channel(None);
        let (extended, _) = watch::channel(());
        let listens = AtomicBool::new(false);
        Cell { valid_until, lost, extended, handover, listens, lock }
    }

    pub(crate) fn is_valid(&self) -> bool {
        clock::now().as_nanos() < self.valid_until.load(Ordering::Acquire)
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.valid_until().since(clock::now())
    }

    pub(crate) fn valid_until(&self) -> Time {
        Time::from_nanos(self.valid_until.load(Ordering::Acquire))
    }

    /// Completes at the next extension.
    pub(crate) async fn extended(&self) {
        if self.extended.subscribe().changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Completes as soon as it is valid for longer than until then, and tells until when.
    pub(crate) async fn extended_beyond(&self, until: Time) -> Time {
        let mut extended = self.extended.subscribe();
        loop {
            let valid_until = self.valid_until();
            if valid_until > until {
                return valid_until;
            }
            if extended.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(crate) fn extend(&self, valid_until: Time) {
        self.valid_until.store(valid_until.as_nanos(), Ordering::Release);
        // Whoever lost it in between wrote before or after: either way the loss has the last word.
        if self.reason().is_some_and(|reason| !reason.lease_still_runs()) {
            self.suspend();
        }
        self.extended.send_replace(());
    }

    /// Nothing to rely on until the next [`Cell::extend`].
    pub(crate) fn suspend(&self) {
        self.valid_until.store(0, Ordering::Release);
    }

    /// Lost for good. What is left of the lease may be used up only if the reason says so.
    pub(crate) fn lose(&self, reason: Reason) {
        self.lost.send_if_modified(|lost| {
            // Before anybody can be told, and under the lock that an extension looks behind.
            if !reason.lease_still_runs() {
                self.suspend();
            }
            lost.is_none().then(|| *lost = Some(reason)).is_some()
        });
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        *self.lost.borrow()
    }

    /// Whoever leads is asked to hand over.
    pub(crate) fn drain(&self, handover: Handover) {
        self.handover.send_replace(Some(handover));
    }

    pub(crate) fn handover(&self) -> Option<Handover> {
        self.handover.borrow().clone()
    }

    /// Whether anybody ever waited to be asked.
    pub(crate) fn listens(&self) -> bool {
        self.listens.load(Ordering::Relaxed)
    }

    pub(crate) fn listen(&self) {
        self.listens.store(true, Ordering::Relaxed);
    }

    /// Completes when it is asked to hand over.
    pub(crate) async fn draining(&self) -> Handover {
        let mut handover = self.handover.subscribe();
        loop {
            if let Some(asked) = handover.borrow_and_update().clone() {
                return asked;
            }
            if handover.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Completes when it is lost.
    pub(crate) async fn lost(&self) -> Reason {
        let mut lost = self.lost.subscribe();
        loop {
            if let Some(reason) = *lost.borrow_and_update() {
                return reason;
            }
            if lost.changed().await.is_err() {
                return Reason::Ending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_extension_between_two_looks_is_not_missed() {
        let cell = Cell::new(Time::from_nanos(1), None);
        assert_eq!(cell.extended_beyond(Time::ZERO).await, Time::from_nanos(1));
        // Nobody waits at this moment.
        cell.extend(Time::from_nanos(2));
        assert_eq!(cell.extended_beyond(Time::from_nanos(1)).await, Time::from_nanos(2));
        let next = cell.extended_beyond(Time::from_nanos(2));
        let extend = async { cell.extend(Time::from_nanos(3)) };
        assert_eq!(tokio::join!(next, extend).0, Time::from_nanos(3));
    }
}
