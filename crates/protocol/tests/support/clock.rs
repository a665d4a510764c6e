//! The lease clock of one process, as a function of true time.
//!
//! Assumes: nothing. Promises: it never runs backwards, whatever is done to it.

use core::time::Duration;

use incumbent_protocol::time::Time;

/// One million parts: a clock at this rate runs true.
pub(crate) const TRUE_RATE: u64 = 1_000_000;

/// A clock with an origin and a rate of its own.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// From this true instant on it runs; before that it stood still.
    runs_from: Duration,
    reading: u64,
    /// Millionths of true speed.
    rate: u64,
}

impl Clock {
    /// A clock that shows `offset` when the world begins.
    pub(crate) fn new(offset: Duration, rate: u64) -> Self {
        Clock { runs_from: Duration::ZERO, reading: nanos(offset), rate }
    }

    /// What it shows at a true instant.
    pub(crate) fn read(&self, at: Duration) -> Time {
        let ran = at.saturating_sub(self.runs_from).as_nanos() * u128::from(self.rate)
            / u128::from(TRUE_RATE);
        Time::from_nanos(self.reading + u64::try_from(ran).expect("a short play"))
    }

    /// The first true instant at which it shows `reading` or more, if nothing is done to it until
    /// then.
    pub(crate) fn reaches(&self, reading: Time) -> Duration {
        let ahead = u128::from(reading.as_nanos().saturating_sub(self.reading));
        let wait = (ahead * u128::from(TRUE_RATE)).div_ceil(u128::from(self.rate));
        self.runs_from + Duration::from_nanos(u64::try_from(wait).expect("a short play"))
    }

    /// From now on it runs at another speed.
    pub(crate) fn set_rate(&mut self, at: Duration, rate: u64) {
        self.rebase(at);
        self.rate = rate;
    }

    /// It leaps ahead.
    pub(crate) fn skip(&mut self, at: Duration, span: Duration) {
        self.rebase(at);
        self.reading += nanos(span);
    }

    /// It stands still for a while, as on a machine that is frozen and thawed.
    pub(crate) fn stall(&mut self, at: Duration, span: Duration) {
        self.rebase(at);
        self.runs_from = self.runs_from.max(at + span);
    }

    /// It runs again, if it stood still.
    pub(crate) fn thaw(&mut self, at: Duration) {
        self.rebase(at);
        self.runs_from = at;
    }

    fn rebase(&mut self, at: Duration) {
        self.reading = self.read(at).as_nanos();
        self.runs_from = self.runs_from.max(at);
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a short play")
}
