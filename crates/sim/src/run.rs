//! Many worlds, on many cores.
//!
//! Assumes: worlds share nothing.
//! Promises: the sum depends on the seeds alone, not on how many threads there were nor on which
//! came first.

use core::ops::{AddAssign, Range};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

use serde::Serialize;

use crate::clock::Span;
use crate::genre::Run;
use crate::plant::Plant;
use crate::scribe::Keep;
use crate::story::{Protocol, Story};
use crate::tally::Tally;
use crate::world::{self, WorldError};
use incumbent_audit::Violation;

/// Which worlds to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which protocol they run.
    pub protocol: Protocol,
    /// One world per seed.
    pub seeds: Range<u64>,
    /// How long each of them runs.
    pub length: Span,
    /// How many threads.
    pub jobs: usize,
    /// A mistake to make in all of them.
    pub plant: Plant,
    /// Whether resources check tokens.
    pub fenced: bool,
    /// Whether to stop after the first world in which a promise was broken.
    pub stop_early: bool,
}

/// A world in which a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// What was broken, oldest first.
    pub violations: Vec<Violation>,
}

/// What came of many worlds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total<T = Tally> {
    /// What happened, counted.
    pub tally: T,
    /// The worlds in which a promise was broken, by seed.
    pub failures: Vec<Failure>,
}

/// Runs all worlds of a plan. `each` is called after every one of them, with how many failed so
/// far.
pub fn run(plan: &Plan, each: impl Fn(u64) + Sync) -> Result<Total, WorldError> {
    let one = |seed| {
        let mut story = Story::of(plan.protocol, seed, plan.length);
        story.setting.fenced = plan.fenced;
        world::run(&story, plan.plant, Keep::default())
    };
    sum(plan.seeds.clone(), plan.jobs, plan.stop_early, one, each)
}

/// Runs one world for each seed, on so many threads.
pub(crate) fn sum<T: AddAssign + Default + Send, E: Send>(
    seeds: Range<u64>,
    jobs: usize,
    stop_early: bool,
    one: impl Fn(u64) -> Result<Run<T>, E> + Sync,
    each: impl Fn(u64) + Sync,
) -> Result<Total<T>, E> {
    let next = AtomicU64::new(seeds.start);
    let stop = AtomicBool::new(false);
    let sum: Mutex<Result<Total<T>, E>> = Mutex::new(Ok(Total::default()));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let one = one(seed);
            let mut sum = sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let failed = match (sum.as_mut(), one) {
                (Ok(total), Ok(one)) => total.take(seed, one),
                (Ok(_), Err(problem)) => {
                    *sum = Err(problem);
                    return stop.store(true, Ordering::Relaxed);
                }
                (Err(_), _) => return,
            };
            drop(sum);
            if failed > 0 && stop_early {
                stop.store(true, Ordering::Relaxed);
            }
            each(failed);
        }
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "each world runs in one thread from beginning to end; only their sums meet"
    )]
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut total = sum.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
    total.failures.sort_by_key(|failure| failure.seed);
    Ok(total)
}

impl<T: AddAssign> Total<T> {
    /// Adds what came of one world. How many failed so far.
    fn take(&mut self, seed: u64, run: Run<T>) -> u64 {
        self.tally += run.tally;
        let violations = run.report.violations;
        if !violations.is_empty() {
            self.failures.push(Failure { seed, violations });
        }
        self.failures.len() as u64
    }
}
