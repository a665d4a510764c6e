//! When to ask a command to stop, and when to make it.
//!
//! Assumes: all times are nanoseconds of the host's lease clock.
//! Promises: the last rung is climbed before the lease ends, whatever was heard before; once the
//! first rung is climbed, a longer lease does not bring the command back.

use std::time::Duration;

/// However long the grace is, no more of it is kept back.
const SPARE_MAX: Duration = Duration::from_millis(250);

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
    spare: u64,
    asked_at: Option<u64>,
    /// Ask at once; then it may take until then to stop, while the lease is renewed.
    drain: Option<u64>,
    is_abrupt: bool,
}

impl Ladder {
    /// A command that may run until the lease ends at `until`, less `grace` for stopping it.
    pub(crate) fn new(until: u64, grace: Duration) -> Self {
        let spare = nanos(spare(grace));
        Ladder { until, grace: nanos(grace), spare, asked_at: None, drain: None, is_abrupt: false }
    }

    /// The same, but at the end of the lease it is not asked first.
    pub(crate) fn abrupt(self, is_abrupt: bool) -> Self {
        Ladder { is_abrupt, ..self }
    }

    /// The lease was renewed.
    pub(crate) fn extend(&mut self, until: u64) {
        self.until = self.until.max(until);
    }

    /// Stop now, whatever the lease says; ask first.
    pub(crate) fn stop(&mut self, now: u64) {
        let end = now.saturating_add(self.grace);
        self.is_abrupt = false;
        self.until = self.until.min(end);
        // A renewal that comes later brings back neither a longer drain nor an unasked command.
        self.drain = match self.drain {
            Some(drain) => Some(drain.min(end)),
            None => self.asked_at.is_none().then_some(end),
        };
    }

    /// Ask now, and be patient until then, as long as the lease goes on. A second time can only
    /// shorten it.
    pub(crate) fn drain(&mut self, until: u64) {
        self.is_abrupt = false;
        self.drain = Some(self.drain.map_or(until, |drain| drain.min(until)));
    }

    /// The next rung and its time.
    pub(crate) fn next(&self) -> (u64, Rung) {
        match self.asked_at {
            None if self.drain.is_some() => (0, Rung::Term),
            None => {
                let rung = if self.is_abrupt { Rung::Kill } else { Rung::Term };
                (self.until.saturating_sub(self.grace), rung)
            }
            Some(asked_at) => {
                let patience = self.drain.unwrap_or(asked_at.saturating_add(self.grace));
                (patience.min(self.until).saturating_sub(self.spare), Rung::Kill)
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

/// What is kept of the grace for the kernel to end a killed command, and for a machine that is busy.
pub(crate) fn spare(grace: Duration) -> Duration {
    (grace / 4).min(SPARE_MAX)
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
        assert_eq!(ladder.climb(979), None);
        assert_eq!(ladder.climb(980), Some(Rung::Kill));
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
        assert_eq!(ladder.next(), (1_010, Rung::Kill));
    }

    #[test]
    fn stopping_early_still_gives_the_grace_but_never_beyond_the_lease() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.stop(100);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
        assert_eq!(ladder.next(), (160, Rung::Kill));
        let mut late = Ladder::new(1_000, GRACE);
        late.stop(970);
        assert_eq!(late.climb(970), Some(Rung::Term));
        assert_eq!(late.next(), (980, Rung::Kill));
    }

    #[test]
    fn a_drain_asks_at_once_and_waits_for_as_long_as_the_lease_goes_on() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.drain(5_000);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
        assert_eq!(ladder.next(), (980, Rung::Kill), "the lease goes first");
        ladder.extend(9_000);
        assert_eq!(ladder.next(), (4_980, Rung::Kill), "then the drain");
        ladder.stop(200);
        assert_eq!(ladder.next(), (260, Rung::Kill), "a loss cuts it short");
    }

    #[test]
    fn a_drain_may_be_shorter_than_the_grace_and_a_second_one_does_not_lengthen_it() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.drain(150);
        ladder.drain(5_000);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
        assert_eq!(ladder.next(), (130, Rung::Kill));
    }

    #[test]
    fn a_renewal_after_a_stop_does_not_bring_the_drain_back() {
        let mut ladder = Ladder::new(1_000, GRACE);
        ladder.drain(5_000);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
        ladder.stop(200);
        ladder.extend(9_000);
        assert_eq!(ladder.next(), (260, Rung::Kill));
    }

    #[test]
    fn a_renewal_between_a_stop_and_the_first_rung_does_not_put_it_off() {
        for drain in [None, Some(5_000)] {
            let mut ladder = Ladder::new(1_000, GRACE);
            if let Some(until) = drain {
                ladder.drain(until);
            }
            ladder.stop(200);
            ladder.extend(9_000);
            assert_eq!(ladder.climb(200), Some(Rung::Term));
            assert_eq!(ladder.next(), (260, Rung::Kill));
        }
    }

    #[test]
    fn an_abrupt_end_skips_the_first_rung_but_a_stop_does_not() {
        let mut ladder = Ladder::new(1_000, GRACE).abrupt(true);
        assert_eq!(ladder.climb(919), None);
        assert_eq!(ladder.clone().climb(920), Some(Rung::Kill));
        ladder.stop(100);
        assert_eq!(ladder.climb(100), Some(Rung::Term));
    }

    #[test]
    fn a_process_that_slept_through_it_all_goes_straight_to_the_end() {
        let mut ladder = Ladder::new(1_000, GRACE);
        assert_eq!(ladder.climb(50_000), Some(Rung::Term));
        assert_eq!(ladder.climb(50_000), Some(Rung::Kill));
    }
}
