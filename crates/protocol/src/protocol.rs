//! The five methods that every protocol has, so that production, simulator and model checker run
//! the same code.
//!
//! Assumes: a driver that calls [`Protocol::handle`] with a `now` that never goes back, does every
//! effect, and calls again no later than [`Protocol::wake_at`] (a late call is safe, only slow).
//! Promises: same state, same input, same `now`: same outputs.

use crate::time::Time;

/// A protocol as a value: it receives inputs and the time, and gives out effects and notices.
pub trait Protocol {
    /// What reaches it.
    type Input;
    /// What it wants done.
    type Effect;
    /// What it wants known.
    type Notice;

    /// Starts it. Called once, before anything else.
    fn begin(&mut self, now: Time);

    /// Takes one input.
    fn handle(&mut self, now: Time, input: Self::Input);

    /// When it wants [`Protocol::handle`] to be called again at the latest, if nothing else
    /// happens.
    fn wake_at(&self) -> Option<Time>;

    /// The next thing to do, oldest first.
    fn poll_effect(&mut self) -> Option<Self::Effect>;

    /// The next thing to know, oldest first.
    fn poll_notice(&mut self) -> Option<Self::Notice>;
}
