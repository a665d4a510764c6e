//! The locks of a database: one holder each or several that share, and those who wait, in order.
//!
//! Assumes: the world says when a transaction ends or is given up.
//! Promises: first come, first served, so that a stream of those who share keeps nobody out; nobody
//! who gave up is ever let in.

use std::collections::VecDeque;

use crate::mail::MailId;
use crate::transaction::SessionId;

/// Which lock.
pub(crate) type Key = usize;

/// Who holds a lock or waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A request, which is a transaction of its own.
    Mail(MailId),
    /// A transaction of several statements.
    Session(SessionId),
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Together with others who share it.
    Shared,
    /// Alone.
    Exclusive,
}

#[derive(Debug, Default, Clone)]
struct Lock {
    holders: Vec<(Owner, Mode)>,
    waiting: VecDeque<(Owner, Mode)>,
}

impl Lock {
    fn admits(&self, mode: Mode) -> bool {
        let shares = self.holders.iter().all(|&(_, held)| held == Mode::Shared);
        self.holders.is_empty() || (mode == Mode::Shared && shares)
    }

    /// Lets in who is first in line, and the next, for as long as they get on with each other.
    fn let_in(&mut self) -> Vec<Owner> {
        let mut entered = Vec::new();
        while let Some(&(owner, mode)) = self.waiting.front()
            && self.admits(mode)
        {
            self.waiting.pop_front();
            self.holders.push((owner, mode));
            entered.push(owner);
        }
        entered
    }
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
    pub(crate) fn take(&mut self, key: Key, who: Owner, mode: Mode) -> bool {
        let lock = &mut self.locks[key];
        if lock.waiting.is_empty() && lock.admits(mode) {
            lock.holders.push((who, mode));
            return true;
        }
        lock.waiting.push_back((who, mode));
        false
    }

    /// Lets go of the lock. The next ones in line hold it from then on.
    pub(crate) fn release(&mut self, key: Key, who: Owner) -> Vec<Owner> {
        let lock = &mut self.locks[key];
        lock.holders.retain(|&(it, _)| it != who);
        lock.let_in()
    }

    /// Stops waiting; says who can come in for that. `None` if it did not wait.
    pub(crate) fn give_up(&mut self, key: Key, who: Owner) -> Option<Vec<Owner>> {
        let lock = &mut self.locks[key];
        let place = lock.waiting.iter().position(|&(it, _)| it == who)?;
        lock.waiting.remove(place);
        Some(lock.let_in())
    }

    /// Forgets everything; returns who held or waited.
    pub(crate) fn clear(&mut self) -> Vec<Owner> {
        let mut all = Vec::new();
        for lock in &mut self.locks {
            all.extend(lock.holders.drain(..).map(|(owner, _)| owner));
            all.extend(lock.waiting.drain(..).map(|(owner, _)| owner));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn who(number: SessionId) -> Owner {
        Owner::Session(number)
    }

    #[test]
    fn those_who_share_come_in_together_and_wait_behind_one_who_does_not() {
        let mut locks = Locks::new(1);
        assert!(locks.take(0, who(1), Mode::Shared));
        assert!(locks.take(0, who(2), Mode::Shared));
        assert!(!locks.take(0, who(3), Mode::Exclusive));
        assert!(!locks.take(0, who(4), Mode::Shared), "first come, first served");
        assert_eq!(locks.release(0, who(1)), []);
        assert_eq!(locks.release(0, who(2)), [who(3)]);
        assert_eq!(locks.release(0, who(3)), [who(4)]);
    }

    #[test]
    fn who_gives_up_lets_those_behind_come_in_and_never_comes_in_itself() {
        let mut locks = Locks::new(1);
        assert!(locks.take(0, who(1), Mode::Shared));
        assert!(!locks.take(0, who(2), Mode::Exclusive));
        assert!(!locks.take(0, who(3), Mode::Shared));
        assert_eq!(locks.give_up(0, who(2)), Some(vec![who(3)]));
        assert_eq!(locks.give_up(0, who(2)), None);
        assert_eq!(locks.release(0, who(1)), []);
        assert_eq!(locks.clear(), [who(3)]);
    }
}
