//! When to try again to connect, after it failed.
//!
//! Assumes: whoever asks between two attempts can do with the last error.
//! Promises: pauses double up to half a beat, so that every beat tries at least once.

use std::time::Duration;

use incumbent_protocol::time::Time;

use crate::error::Error;

/// The pause after the first failure.
const FIRST: Duration = Duration::from_millis(20);

/// The last failure in a row, if any.
#[derive(Debug)]
pub(super) struct Backoff {
    longest: Duration,
    last: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    until: Time,
    pause: Duration,
    problem: String,
}

impl Backoff {
    pub(super) fn new(beat: Duration) -> Self {
        Backoff { longest: beat / 2, last: None }
    }

    /// The last error, while it is too early to try again.
    pub(super) fn check(&self, now: Time) -> Result<(), Error> {
        match &self.last {
            Some(last) if now < last.until => Err(Error::Store(last.problem.clone())),
            _ => Ok(()),
        }
    }

    pub(super) fn failed(&mut self, now: Time, error: &Error) {
        let pause = self.last.as_ref().map_or(FIRST, |last| last.pause * 2).min(self.longest);
        let problem = match error {
            Error::Store(problem) => problem.clone(),
            other => other.to_string(),
        };
        self.last = Some(Failure { until: now + pause, pause, problem });
    }

    pub(super) fn worked(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAT: Duration = Duration::from_millis(100);

    #[test]
    fn pauses_double_up_to_half_a_beat_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::new(BEAT);
        let mut now = crate::clock::now();
        let refused = Error::Store("refused".to_owned());
        for pause in [20, 40, 50, 50] {
            assert!(backoff.check(now).is_ok());
            backoff.failed(now, &refused);
            let early = backoff.check(now + Duration::from_millis(pause - 1));
            assert_eq!(early.expect_err("too early").to_string(), refused.to_string());
            now = now + Duration::from_millis(pause);
        }
        backoff.worked();
        backoff.failed(now, &refused);
        assert!(backoff.check(now + FIRST).is_ok());
    }
}
