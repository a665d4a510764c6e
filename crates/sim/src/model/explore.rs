//! Visits every state of a small world, breadth first.
//!
//! Assumes: two different states do not share a 64-bit fingerprint (among ten million that is a
//! chance of one in four hundred thousand).
//! Promises: the first problem found is one of the nearest, and comes with the steps that lead to
//! it. A hope is judged once all states are known: one from which it cannot come true any more is a
//! problem too.

use core::fmt::{self, Debug};
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::VecDeque;
use std::hash::DefaultHasher;

use super::step::Step;

#[expect(
    clippy::disallowed_types,
    reason = "only asked for what it holds; its order, fixed anyway by its hasher, never shows"
)]
type Visited = std::collections::HashMap<u64, u32, BuildHasherDefault<DefaultHasher>>;

/// Something of interest: its name, and how to tell that it happened.
pub type SightOf<S> = (&'static str, fn(&S) -> bool);

/// A small world that can be explored.
pub trait Model {
    /// The world at one moment.
    type State: Hash + 'static;
    /// One thing that happens.
    type Step: Copy + Debug;

    /// The beginning.
    fn first(&self) -> Self::State;

    /// All steps that can be taken.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// The world after a step; `None` if the step turns out to change nothing.
    fn after(&self, state: &Self::State, step: Self::Step) -> Option<Self::State>;

    /// What is wrong with a state, if anything.
    fn problem(&self, state: &Self::State) -> Option<&'static str>;

    /// Things that must happen in some state, or the world was too small to be of interest.
    fn sights(&self) -> &'static [SightOf<Self::State>];

    /// What must stay possible from every state on, if anything.
    fn hope(&self) -> Option<Hope<Self>> {
        None
    }
}

/// What must stay possible, whatever happened before.
pub struct Hope<M: Model + ?Sized> {
    /// What to call a state from which it is impossible.
    pub problem: &'static str,
    /// Whether it is true in a state.
    pub is_met: fn(&M, &M::State) -> bool,
    /// Whether a step may be counted on: it happens of itself, and is no trouble.
    pub is_counted_on: fn(&M, M::Step) -> bool,
}

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReport<S = Step> {
    /// How many different states there are.
    pub states: usize,
    /// How many steps lead from one to another.
    pub steps: usize,
    /// The longest of all shortest ways to a state.
    pub depth: usize,
    /// What was wrong, and the steps that lead there.
    pub problem: Option<(&'static str, Vec<S>)>,
    /// Each thing of interest, and in how many states it was seen.
    pub sights: Vec<(&'static str, usize)>,
}

/// Visits every state, or stops at the first problem.
pub fn explore<M: Model>(model: &M) -> ModelReport<M::Step> {
    let sights = model.sights();
    let mut report = ModelReport {
        states: 0,
        steps: 0,
        depth: 0,
        problem: None,
        sights: sights.iter().map(|(name, _)| (*name, 0)).collect(),
    };
    let first = model.first();
    let mut visited = Visited::default();
    visited.insert(fingerprint(&first), 0);
    let mut map = Map { origins: vec![None], met: Vec::new(), links: Vec::new() };
    let hope = model.hope();
    let mut queue = VecDeque::from([(first, 0)]);
    while let Some((state, depth)) = queue.pop_front() {
        let here = report.states;
        report.states += 1;
        report.depth = depth;
        for ((_, seen), (_, sight)) in report.sights.iter_mut().zip(sights) {
            *seen += usize::from(sight(&state));
        }
        if let Some(problem) = model.problem(&state) {
            report.problem = Some((problem, map.way(here)));
            return report;
        }
        map.met.push(hope.as_ref().is_some_and(|hope| (hope.is_met)(model, &state)));
        for step in model.steps(&state) {
            let Some(next) = model.after(&state, step) else {
                continue;
            };
            report.steps += 1;
            let there = *visited.entry(fingerprint(&next)).or_insert_with(|| {
                queue.push_back((next, depth + 1));
                map.origins.push(Some((number(here), step)));
                number(map.origins.len() - 1)
            });
            if hope.as_ref().is_some_and(|hope| (hope.is_counted_on)(model, step)) {
                map.links.push((there, number(here)));
            }
        }
    }
    if let Some(hope) = hope {
        report.problem = map.hopeless().map(|state| (hope.problem, map.way(state)));
    }
    report
}

/// How the states hang together. They are numbered in the order of their visits.
struct Map<S> {
    /// From where, and by which step, each state was first reached.
    origins: Vec<Option<(u32, S)>>,
    /// Where the hope is true.
    met: Vec<bool>,
    /// Steps that may be counted on: to which state, from which.
    links: Vec<(u32, u32)>,
}

impl<S: Copy> Map<S> {
    /// The steps from the beginning to a state.
    fn way(&self, mut to: usize) -> Vec<S> {
        let mut steps = Vec::new();
        while let Some((from, step)) = self.origins[to] {
            steps.push(step);
            to = from as usize;
        }
        steps.reverse();
        steps
    }

    /// The nearest state from which the hope cannot come true.
    fn hopeless(&mut self) -> Option<usize> {
        self.links.sort_unstable();
        let mut open: Vec<usize> = (0..self.met.len()).filter(|&state| self.met[state]).collect();
        while let Some(state) = open.pop() {
            let first = self.links.partition_point(|&(to, _)| (to as usize) < state);
            let into = self.links[first..].iter().take_while(|&&(to, _)| to as usize == state);
            for &(_, from) in into {
                if !core::mem::replace(&mut self.met[from as usize], true) {
                    open.push(from as usize);
                }
            }
        }
        self.met.iter().position(|met| !met)
    }
}

/// There is no room for more states than that.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn fingerprint(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

impl<S: Debug> fmt::Display for ModelReport<S> {
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
