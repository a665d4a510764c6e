//! Many worlds of peers, on many cores.
//!
//! Assumes: worlds share nothing.
//! Promises: the sum depends on the seeds alone, not on how many threads there were.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use incumbent_protocol::planted::Bug;
use serde::Serialize;

use super::story::{Algorithm, Story};
use super::tally::Tally;
use super::{PeersError, run};
use crate::clock::Span;
use crate::run::Failure;
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// What happened, counted.
    pub tally: Tally,
    /// The worlds in which a promise was broken, by seed.
    pub failures: Vec<Failure>,
}

/// Runs all worlds of a plan. `each` is called after every one of them, with how many failed so far.
pub fn all(plan: &Plan, each: impl Fn(u64) + Sync) -> Result<Total, PeersError> {
    let next = AtomicU64::new(plan.seeds.start);
    let sum: Mutex<Result<Total, PeersError>> = Mutex::new(Ok(Total::default()));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= plan.seeds.end {
            return;
        }
        let story = Story::of(plan.algorithm, seed, plan.length);
        let one = run(&story, plan.bug, Keep::default());
        let mut sum = sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed = match (sum.as_mut(), one) {
            (Ok(total), Ok(one)) => {
                total.tally.add(&one.tally);
                let violations = one.report.violations;
                if !violations.is_empty() {
                    total.failures.push(Failure { seed, violations });
                }
                total.failures.len() as u64
            }
            (Ok(_), Err(problem)) => {
                *sum = Err(problem);
                return;
            }
            (Err(_), _) => return,
        };
        drop(sum);
        each(failed);
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "each world runs in one thread from beginning to end; only their sums meet"
    )]
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut total = sum.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
    total.failures.sort_by_key(|failure| failure.seed);
    Ok(total)
}
