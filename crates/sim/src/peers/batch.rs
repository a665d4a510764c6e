//! Many worlds of peers, on many cores.
//!
//! Assumes: worlds share nothing.
//! Promises: the sum depends on the seeds alone, not on how many threads there were.

use core::ops::Range;

use incumbent_protocol::planted::Bug;

use super::story::{Algorithm, Story};
use super::tally::Tally;
use super::{PeersError, run};
use crate::clock::Span;
use crate::scribe::Keep;

/// Which worlds to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How peers pick one of them.
    pub algorithm: Algorithm,
    /// One world per seed.
    pub seeds: Range<u64>,
    /// How long each of them runs.
    pub length: Span,
    /// How many threads.
    pub jobs: usize,
    /// A mistake to make in all of them.
    pub bug: Option<Bug>,
}

/// What came of many worlds.
pub type Total = crate::run::Total<Tally>;

/// Runs all worlds of a plan. `each` is called after every one of them, with how many failed so far.
pub fn all(plan: &Plan, each: impl Fn(u64) + Sync) -> Result<Total, PeersError> {
    let one = |seed| {
        let story = Story::of(plan.algorithm, seed, plan.length);
        run(&story, plan.bug, Keep::default())
    };
    crate::run::sum(plan.seeds.clone(), plan.jobs, false, one, each)
}
