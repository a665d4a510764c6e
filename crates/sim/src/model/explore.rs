//! Visits every state of a small world, breadth first.
//!
//! Assumes: two different states do not share a 64-bit fingerprint (among ten million that is a
//! chance of one in four hundred thousand).
//! Promises: the first problem found is one of the nearest, and comes with the steps that lead to
//! it.

use core::fmt;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::VecDeque;
use std::hash::DefaultHasher;

use super::setup::Setup;
use super::state::State;
use super::step::Step;

#[expect(
    clippy::disallowed_types,
    reason = "only asked for what it holds; its order, fixed anyway by its hasher, never shows"
)]
type Visited =
    std::collections::HashMap<u64, Option<(u64, Step)>, BuildHasherDefault<DefaultHasher>>;

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReport {
    /// How many different states there are.
    pub states: usize,
    /// How many steps lead from one to another.
    pub steps: usize,
    /// The longest of all shortest ways to a state.
    pub depth: usize,
    /// What was wrong, and the steps that lead there.
    pub problem: Option<(&'static str, Vec<Step>)>,
    /// Each thing of interest, and in how many states it was seen.
    pub sights: Vec<(&'static str, usize)>,
}

/// Visits every state, or stops at the first problem.
pub fn explore(setup: &Setup) -> ModelReport {
    let first = State::first(setup);
    let mut report = ModelReport {
        states: 0,
        steps: 0,
        depth: 0,
        problem: None,
        sights: State::SIGHTS.map(|(name, _)| (name, 0)).to_vec(),
    };
    let mut visited = Visited::default();
    visited.insert(fingerprint(&first), None);
    let mut queue = VecDeque::from([(first, 0)]);
    while let Some((state, depth)) = queue.pop_front() {
        report.states += 1;
        report.depth = depth;
        for ((_, seen), (_, sight)) in report.sights.iter_mut().zip(State::SIGHTS) {
            *seen += usize::from(sight(&state));
        }
        let here = fingerprint(&state);
        if let Some(problem) = state.problem(setup) {
            report.problem = Some((problem, way(&visited, here)));
            return report;
        }
        for step in state.steps(setup) {
            let Some(next) = state.after(step, setup) else {
                continue;
            };
            report.steps += 1;
            visited.entry(fingerprint(&next)).or_insert_with(|| {
                queue.push_back((next, depth + 1));
                Some((here, step))
            });
        }
    }
    report
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// The steps from the beginning to a state.
fn way(visited: &Visited, mut to: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(Some((from, step))) = visited.get(&to) {
        steps.push(*step);
        to = *from;
    }
    steps.reverse();
    steps
}

impl fmt::Display for ModelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelReport { states, steps, depth, .. } = self;
        writeln!(f, "{states} states, {steps} steps, depth {depth}")?;
        for (name, seen) in &self.sights {
            writeln!(f, "  {name:<54} {seen}")?;
        }
        match &self.problem {
            None => write!(f, "no problem in any of them"),
            Some((problem, way)) => write!(f, "{problem}, after {way:?}"),
        }
    }
}
