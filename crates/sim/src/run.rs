//! Many worlds, on many cores.
//!
//! Assumes: worlds share nothing.
//! Promises: the sum depends on the seeds alone, not on how many threads there were nor on which
//! came first.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

use serde::Serialize;

use crate::check::Violation;
use crate::clock::Span;
use crate::plant::Plant;
use crate::scribe::Keep;
use crate::story::{Protocol, Story};
use crate::tally::Tally;
use crate::world::{self, WorldError};

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
pub struct Total {
    /// What happened, counted.
    pub tally: Tally,
    /// The worlds in which a promise was broken, by seed.
    pub failures: Vec<Failure>,
}

/// Runs all worlds of a plan. `each` is called after every one of them, with how many failed so
/// far.
pub fn run(plan: &Plan, each: impl Fn(u64) + Sync) -> Result<Total, WorldError> {
    let next = AtomicU64::new(plan.seeds.start);
    let failed = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let sum: Mutex<Result<Total, WorldError>> = Mutex::new(Ok(Total::default()));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= plan.seeds.end {
                return;
            }
            let one = run_one(plan, seed);
            let broken = one.as_ref().map_or(true, |total| !total.failures.is_empty());
            failed.fetch_add(u64::from(broken), Ordering::Relaxed);
            if one.is_err() || (broken && plan.stop_early) {
                stop.store(true, Ordering::Relaxed);
            }
            let mut sum = sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match (sum.as_mut(), one) {
                (Ok(total), Ok(one)) => total.add(one),
                (Ok(_), Err(problem)) => *sum = Err(problem),
                (Err(_), _) => {}
            }
            drop(sum);
            each(failed.load(Ordering::Relaxed));
        }
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

fn run_one(plan: &Plan, seed: u64) -> Result<Total, WorldError> {
    let mut story = Story::of(plan.protocol, seed, plan.length);
    story.setting.fenced = plan.fenced;
    let run = world::run(&story, plan.plant, Keep::default())?;
    let violations = run.report.violations;
    let failure = (!violations.is_empty()).then_some(Failure { seed, violations });
    Ok(Total { tally: run.tally, failures: failure.into_iter().collect() })
}

impl Total {
    fn add(&mut self, other: Total) {
        self.tally.add(&other.tally);
        self.failures.extend(other.failures);
    }
}
