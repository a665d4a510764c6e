//! Whether and when a command that ended by itself is run again.
//!
//! Assumes: it is asked after every end, in order.
//! Promises: no more restarts in a row than the limit allows, each after at least the delay; a
//! command that ran well for long enough has its failures forgotten.

use std::time::Duration;

use crate::flags::RestartPolicy;

/// The longest delay that doubling leads to.
const DELAY_MAX: Duration = Duration::from_secs(30);

/// Whoever ran for so long was well.
const WELL_AFTER: Duration = Duration::from_mins(1);

/// What is wanted, and the failures in a row so far.
#[derive(Clone, Debug)]
pub(crate) struct Restarts {
    policy: RestartPolicy,
    delay: Duration,
    limit: u32,
    row: u32,
}

/// What to do about an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Run it again after this long.
    Again(Duration),
    /// That was it.
    Enough,
    /// It failed too often in a row.
    GiveUp,
}

impl Restarts {
    pub(crate) fn new(policy: RestartPolicy, delay: Duration, limit: u32) -> Self {
        Restarts { policy, delay, limit, row: 0 }
    }

    /// The command ended with this code after it ran for so long.
    pub(crate) fn judge(&mut self, code: u8, ran: Duration) -> Verdict {
        let is_wanted = match self.policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => code != 0,
            RestartPolicy::Always => true,
        };
        if !is_wanted {
            return Verdict::Enough;
        }
        if code == 0 || ran >= WELL_AFTER {
            self.row = 0;
        }
        if code == 0 {
            return Verdict::Again(self.delay);
        }
        if self.row >= self.limit {
            return Verdict::GiveUp;
        }
        let doubled = self.delay.saturating_mul(2_u32.saturating_pow(self.row));
        self.row += 1;
        Verdict::Again(doubled.min(DELAY_MAX.max(self.delay)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn verdicts(mut restarts: Restarts, ends: &[(u8, u64)]) -> Vec<Verdict> {
        let judge = |&(code, ran)| restarts.judge(code, Duration::from_secs(ran));
        ends.iter().map(judge).collect()
    }

    fn again(seconds: u64) -> Verdict {
        Verdict::Again(Duration::from_secs(seconds))
    }

    #[test]
    fn a_command_is_never_run_again_unless_that_was_asked_for() {
        let never = Restarts::new(RestartPolicy::Never, SECOND, 5);
        assert_eq!(verdicts(never, &[(1, 0)]), [Verdict::Enough]);
        let on_failure = Restarts::new(RestartPolicy::OnFailure, SECOND, 5);
        assert_eq!(verdicts(on_failure, &[(1, 0), (0, 0)]), [again(1), Verdict::Enough]);
    }

    #[test]
    fn the_delay_doubles_up_to_its_most() {
        let restarts = Restarts::new(RestartPolicy::OnFailure, SECOND, 100);
        let expected = [1, 2, 4, 8, 16, 30, 30].map(again);
        assert_eq!(verdicts(restarts, &[(1, 0); 7]), expected);
        let slow = Restarts::new(RestartPolicy::OnFailure, SECOND * 45, 100);
        assert_eq!(verdicts(slow, &[(1, 0); 2]), [again(45), again(45)]);
        let endless = Restarts::new(RestartPolicy::Always, SECOND, u32::MAX);
        assert_eq!(verdicts(endless, &[(1, 0); 99]).last(), Some(&again(30)));
    }

    #[test]
    fn too_many_failures_in_a_row_are_the_end() {
        let restarts = Restarts::new(RestartPolicy::Always, SECOND, 2);
        assert_eq!(verdicts(restarts, &[(1, 0); 3]), [again(1), again(2), Verdict::GiveUp]);
        let none = Restarts::new(RestartPolicy::Always, SECOND, 0);
        assert_eq!(verdicts(none, &[(1, 0)]), [Verdict::GiveUp]);
    }

    #[test]
    fn a_minute_of_work_or_a_good_end_makes_up_for_failures() {
        let restarts = Restarts::new(RestartPolicy::Always, SECOND, 2);
        let ends = [(1, 0), (1, 0), (1, 60), (1, 59), (0, 0), (1, 0)];
        let expected = [again(1), again(2), again(1), again(2), again(1), again(1)];
        assert_eq!(verdicts(restarts, &ends), expected);
    }
}
