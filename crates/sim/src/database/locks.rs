//! The locks of a database: one holder each, and those who wait, in order.
//!
//! Assumes: the world says when a transaction ends or is given up.
//! Promises: first come, first served; nobody who gave up is ever let in.

use std::collections::VecDeque;

use crate::mail::MailId;

/// Which lock.
pub(crate) type Key = usize;

#[derive(Debug, Default, Clone)]
struct Lock {
    holder: Option<MailId>,
    waiting: VecDeque<MailId>,
}

/// All locks of a database.
#[derive(Debug)]
pub(crate) struct Locks {
    locks: Vec<Lock>,
}

impl Locks {
    pub(crate) fn new(keys: usize) -> Self {
        Locks { locks: vec![Lock::default(); keys] }
    }

    /// Takes the lock, or waits for it: then false.
    pub(crate) fn take(&mut self, key: Key, who: MailId) -> bool {
        let lock = &mut self.locks[key];
        if lock.holder.is_none() {
            lock.holder = Some(who);
            return true;
        }
        lock.waiting.push_back(who);
        false
    }

    /// Lets go of the lock. The next one in line holds it from then on.
    pub(crate) fn release(&mut self, key: Key, who: MailId) -> Option<MailId> {
        let lock = &mut self.locks[key];
        if lock.holder != Some(who) {
            return None;
        }
        lock.holder = lock.waiting.pop_front();
        lock.holder
    }

    /// Stops waiting.
    pub(crate) fn give_up(&mut self, key: Key, who: MailId) -> bool {
        let waiting = &mut self.locks[key].waiting;
        let place = waiting.iter().position(|&it| it == who);
        place.is_some_and(|place| waiting.remove(place).is_some())
    }

    /// Forgets everything; returns who held or waited.
    pub(crate) fn clear(&mut self) -> Vec<MailId> {
        let mut all = Vec::new();
        for lock in &mut self.locks {
            all.extend(lock.holder.take());
            all.extend(lock.waiting.drain(..));
        }
        all
    }
}
