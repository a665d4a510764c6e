//! How long a bully's node waits for what.
//!
//! Assumes: a bound on the time of one message that holds most of the time; where it does not, runs
//! begin anew, and nothing worse. Promises: waits that fit each other.

use core::time::Duration;

use crate::caucus::waits::{WaitError, at_least};

/// The waits of a bully's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeouts {
    message: Duration,
    answer: Duration,
    coordinator: Duration,
    repeat: Option<Duration>,
}

impl Timeouts {
    /// Checks the bound on one message's time, how long a higher node has to answer, how long one that
    /// answered has until a coordinator is heard of, and how often the coordinator says so again
    /// (`None`: never).
    pub fn new(
        message: Duration,
        answer: Duration,
        coordinator: Duration,
        repeat: Option<Duration>,
    ) -> Result<Self, WaitError> {
        const WHOLE: &str = "the answer timeout of the higher node and a message each way";
        at_least("message time", message, Duration::from_nanos(1), "more than nothing")?;
        at_least("answer timeout", answer, message * 2, "two message times, there and back")?;
        at_least("coordinator timeout", coordinator, answer + message * 2, WHOLE)?;
        if let Some(repeat) = repeat {
            at_least("repeat interval", repeat, answer, "the answer timeout")?;
        }
        Ok(Timeouts { message, answer, coordinator, repeat })
    }

    /// The usual proportions. Answer: there, back, and as long again as a message to see to it.
    /// Coordinator: twice that. The coordinator says so again every twenty message times.
    pub fn of_message_time(message: Duration) -> Result<Self, WaitError> {
        Timeouts::new(message, message * 3, message * 6, Some(message * 20))
    }

    /// The same, and the coordinator says so once.
    #[must_use]
    pub const fn without_repeats(self) -> Self {
        Timeouts { repeat: None, ..self }
    }

    /// The bound on one message's time.
    pub const fn message(&self) -> Duration {
        self.message
    }

    /// How long a higher node has to answer.
    pub const fn answer(&self) -> Duration {
        self.answer
    }

    /// How long it then has until a coordinator is heard of.
    pub const fn coordinator(&self) -> Duration {
        self.coordinator
    }

    /// How often the coordinator says so again.
    pub const fn repeat(&self) -> Option<Duration> {
        self.repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_timeout_within_the_answer_timeout_is_refused_with_both_numbers() {
        let ms = Duration::from_millis;
        let error = Timeouts::new(ms(10), ms(30), ms(49), None).expect_err("too short");
        assert!(error.to_string().starts_with(
            "coordinator timeout of 49ms is too short: it must be at least 50ms, the answer timeout"
        ));
        assert!(Timeouts::new(ms(10), ms(30), ms(50), None).is_ok());
        assert!(Timeouts::new(ms(10), ms(19), ms(50), None).is_err());
        assert!(Timeouts::of_message_time(Duration::ZERO).is_err());
    }
}
