//! When a node looks because somebody rang.
//!
//! Assumes: whoever is picked looks in any case, and whoever is told nothing looks with its next beat:
//! this only spares many nodes from reading the same at once.
//! Promises: the highest looks first, for whom it is most likely to be picked. After a term ended
//! everybody leaves whoever is picked the time to look before them, as one that bids.

use core::time::Duration;

use crate::time::Time;

/// How much later than the one above it a node looks, so that they do not all read from all at once.
const STAGGER: Duration = Duration::from_millis(2);

/// How long nobody looks after a term ended: whoever is picked meanwhile rings when it leads.
const NOMINATION: Duration = Duration::from_millis(25);

/// When to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookout {
    at: Option<Time>,
}

impl Lookout {
    /// Nobody rang yet.
    pub const NEVER: Lookout = Lookout { at: None };

    /// Somebody rang, because a term `ended` or for another reason; so many others are `above` this
    /// node.
    pub fn rung(&mut self, now: Time, ended: bool, above: usize) {
        let grace = if ended { NOMINATION } else { Duration::ZERO };
        let at = now + grace + STAGGER * u32::try_from(above).unwrap_or(u32::MAX);
        self.at = Some(self.at.map_or(at, |before| before.min(at)));
    }

    /// When it wants its turn.
    pub const fn wake_at(&self) -> Option<Time> {
        self.at
    }

    /// Whether it is time to look, told once.
    pub fn take(&mut self, now: Time) -> bool {
        let due = self.at.is_some_and(|at| at <= now);
        if due {
            self.at = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_looks_first_and_after_a_term_ended_everybody_later() {
        let now = Time::from_nanos(1);
        let at = |ended, above| {
            let mut lookout = Lookout::default();
            lookout.rung(now, ended, above);
            lookout.wake_at()
        };
        assert_eq!(at(false, 0), Some(now));
        assert!(at(false, 0) < at(false, 1));
        assert!(at(false, 9) < at(true, 0));
        assert!(at(true, 0) < at(true, 1));
    }

    #[test]
    fn of_several_rings_the_first_that_is_due_counts_and_is_told_once() {
        let now = Time::from_nanos(1);
        let mut lookout = Lookout::default();
        assert!(!lookout.take(now));
        lookout.rung(now, true, 3);
        assert!(!lookout.take(now), "it is left to whoever is picked");
        lookout.rung(now, false, 0);
        lookout.rung(now, true, 9);
        assert!(lookout.take(now));
        assert!(!lookout.take(now + Duration::from_secs(1)));
    }
}
