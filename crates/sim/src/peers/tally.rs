//! What happened in worlds of peers, counted.
//!
//! Assumes: nothing. Promises: the tallies of several runs add up in any order.

use serde::Serialize;

use super::fault::Kind;
use crate::tally::tally;

tally! {
    /// How many worlds were run.
    runs,
    /// How much time passed in them, in nanoseconds.
    simulated,
    /// How many events there were.
    events,
    /// How many messages were sent.
    messages,
    /// How many leaderships began.
    gained,
    /// How many of them began with another candidate than the one before.
    followed,
    /// How many leaderships ended because no majority renewed them in time.
    unheard,
    /// How many requests had an outcome that nobody could tell.
    unknown,
    /// How often a node heard of a run of an election.
    began,
    /// How many writes resources accepted.
    accepted,
    /// How many writes under an old token resources refused.
    refused,
    /// How many orders were carried out.
    ordered,
    /// How many terms were handed over because an operator asked for it.
    handed_over,
    /// How often the voters changed.
    amended,
}

impl Tally {
    /// The kinds of fault that never did anything.
    pub fn missing(&self) -> Vec<Kind> {
        Kind::ALL.iter().copied().filter(|kind| self.fired(*kind) == 0).collect()
    }
}
