//! When to ask a command to stop, and when to make it.
//!
//! Assumes: all times are nanoseconds of the host's lease clock.
//! Promises: the last rung is climbed before the lease ends, whatever was heard before; once the
//! first rung is climbed, a longer lease does not bring the command back.

use std::time::Duration;

/// What to do to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// Ask it to stop.
    Term,
    /// Make it stop.
    Kill,
}

/// The way from a running command to a dead one.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    until: u64,
    grace: u64,
    asked_at: Option<u64>,
}

impl Ladder {
    /// A command that may run until the lease ends at `until`, less `grace` for stopping it.
    pub(crate) fn new(until: u64, grace: Duration) -> Self {
        Ladder { until, grace: nanos(grace), asked_at: None }
    }

    /// The lease was renewed.
    pub(crate) fn extend(&mut self, until: u64) {
        self.until = self.until.max(until);
    }

    /// Stop now, whatever the lease says.
    pub(crate) fn stop(&mut self, now: u64) {
        self.until = self.until.min(now.saturating_add(self.grace));
    }

    /// The next rung and its time.
    pub(crate) fn next(&self) -> (u64, Rung) {
        match self.asked_at {
            None => (self.until.saturating_sub(self.grace), Rung::Term),
            // A little is kept for the kernel to do it.
            Some(asked_at) => {
                let patience = asked_at.saturating_add(self.grace);
                (patience.min(self.until).saturating_sub(self.grace / 8), Rung::Kill)
            }
        }
    }

    /// The rung to climb, if its time has come.
    pub(crate) fn climb(&mut self, now: u64) -> Option<Rung> {
        let (at, rung) = self.next();
        if now < at {
            return None;
        }
        self.asked_at.get_or_insert(now);
        Some(rung)
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_nanos(80);

    #[test]
    fn the_ladder_ends_before_the_lease() {
        let mut ladder = Ladder::new(1_000, GRACE);
        assert_eq!(ladder.climb(919), None);
        assert_eq!(ladder.climb(920), Some(Rung::Term));
        assert_eq!(ladder.climb(989), None);
        assert_eq!(ladder.climb(990), Some(Rung::Kill));
    }

    #[test]
    fn a_renewal_moves_the_ladder() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.extend(2_000);
        ladder.extend(1_500);
        assert_eq!(ladder.next(), (1_920, Rung::Term));
    }

    #[test]
    fn a_renewal_after_the_first_rung_changes_nothing() {
        let mut ladder = Ladder::new(1_000, GRACE);
        assert_eq!(ladder.climb(950), Some(Rung::Term));
        ladder.extend(9_000);
        assert_eq!(ladder.next(), (1_020, Rung::Kill));
    }

    #[test]
    fn stopping_early_still_gives_the_grace_but_never_beyond_the_lease() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.stop(100);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
        assert_eq!(ladder.next(), (170, Rung::Kill));
        let mut late = Ladder::new(1_000, GRACE);
        late.stop(980);
        assert_eq!(late.climb(980), Some(Rung::Term));
        assert_eq!(late.next(), (990, Rung::Kill));
    }

    #[test]
    fn a_process_that_slept_through_it_all_goes_straight_to_the_end() {
        let mut ladder = Ladder::new(1_000, GRACE);
        assert_eq!(ladder.climb(50_000), Some(Rung::Term));
        assert_eq!(ladder.climb(50_000), Some(Rung::Kill));
    }
}
