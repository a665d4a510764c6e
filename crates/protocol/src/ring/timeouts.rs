//! How long a node of a ring waits for what.
//!
//! Assumes: a bound on the time of one message that holds most of the time; where it does not, runs
//! begin anew, and nothing worse. Promises: waits that fit each other.

use core::time::Duration;

use crate::caucus::waits::{WaitError, at_least};
use crate::planted::{self, Bug};

/// The waits of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeouts {
    message: Duration,
    hop: Duration,
    repeat: Option<Duration>,
}

impl Timeouts {
    /// Checks the bound on one message's time, how long a neighbour has to acknowledge, and how often
    /// whoever was picked says so again (`None`: never).
    pub fn new(
        message: Duration,
        hop: Duration,
        repeat: Option<Duration>,
    ) -> Result<Self, WaitError> {
        at_least("message time", message, Duration::from_nanos(1), "more than nothing")?;
        at_least("hop timeout", hop, message * 2, "two message times, there and back")?;
        if let Some(repeat) = repeat {
            at_least("repeat interval", repeat, hop, "the hop timeout")?;
        }
        Ok(Timeouts { message, hop, repeat })
    }

    /// The usual proportions: there, back, and as long again as a message to see to it. Whoever was
    /// picked says so again every twenty message times.
    pub fn of_message_time(message: Duration) -> Result<Self, WaitError> {
        Timeouts::new(message, message * 3, Some(message * 20))
    }

    /// The same, and whoever was picked says so once.
    #[must_use]
    pub const fn without_repeats(self) -> Self {
        Timeouts { repeat: None, ..self }
    }

    /// The bound on one message's time.
    pub const fn message(&self) -> Duration {
        self.message
    }

    /// How long a neighbour has to acknowledge.
    pub const fn hop(&self) -> Duration {
        self.hop
    }

    /// How often whoever was picked says so again.
    pub const fn repeat(&self) -> Option<Duration> {
        self.repeat
    }

    /// How long a run may take among so many: three times round, and every neighbour tried in vain
    /// once.
    pub fn election(&self, nodes: u32) -> Duration {
        self.message * nodes.saturating_mul(3) + self.hop * nodes.saturating_add(1)
    }

    /// How long a node stays blocked if nobody unblocks it: as long as a run may take.
    pub fn block(&self, nodes: u32) -> Duration {
        if planted::is(Bug::BlockedForGood) {
            return Duration::MAX;
        }
        self.election(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_timeout_shorter_than_there_and_back_is_refused_with_both_numbers() {
        let ms = Duration::from_millis;
        let error = Timeouts::new(ms(10), ms(19), None).expect_err("too short");
        assert_eq!(
            error.to_string(),
            "hop timeout of 19ms is too short: it must be at least 20ms, two message times, there and back"
        );
        assert!(Timeouts::new(ms(10), ms(20), None).is_ok());
        assert!(Timeouts::new(ms(10), ms(20), Some(ms(19))).is_err());
        assert!(Timeouts::of_message_time(Duration::ZERO).is_err());
    }
}
