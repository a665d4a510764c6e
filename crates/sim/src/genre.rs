//! A sort of world: what its stories are made of, how one of them is told, and how one gets shorter.
//!
//! Assumes: nothing.
//! Promises: whatever is done with stories as such (running many, keeping, shrinking, comparing their
//! histories) is written once, for databases and for peers.

use core::error::Error;
use core::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock::{At, Span};
use crate::fault::{Fault, Menu};
use crate::plant::Plant;
use crate::scribe::Keep;
use incumbent_audit::Report;

/// A setting and its faults, in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story<S: Genre> {
    /// The number that all chance in the world comes from.
    pub seed: u64,
    /// The setting.
    pub setting: S,
    /// What goes wrong.
    pub faults: Vec<Fault<S::Kind>>,
}

impl<S: Genre> Story<S> {
    /// Whether any of the faults is of that kind.
    pub fn has(&self, kind: S::Kind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }
}

/// What became of a world.
#[derive(Clone, Debug)]
pub struct Run<T> {
    /// What the judges say.
    pub report: Report,
    /// What happened, counted.
    pub tally: T,
    /// The history, if it was kept.
    pub history: String,
    /// The trace, if it was kept.
    pub trace: String,
}

/// The setting of one sort of world.
pub trait Genre: Clone + Debug + Display + Eq + Serialize + DeserializeOwned {
    /// What can go wrong in it.
    type Kind: Menu;
    /// What is counted in it.
    type Tally;
    /// Why such a world could not begin.
    type Error: Error + Send + Sync + 'static;

    /// The first line of files that keep its stories.
    const HEADER: &'static str;
    /// Changes whenever the same story may give another history.
    const VERSION: u32;

    /// Tells a story to its end; with a mistake, if one is given.
    fn run(story: &Story<Self>, plant: Plant, keep: Keep) -> Result<Run<Self::Tally>, Self::Error>;

    /// The longest lease that anybody may hold.
    fn longest_lease(&self) -> Span;

    /// How long the whole run takes.
    fn length(&mut self) -> &mut Span;

    /// When everything heals.
    fn heals_at(&self) -> At;

    /// The length of the shortest run that does not heal before this.
    fn ends_after(&self, at: At) -> Span;

    /// How many take part.
    fn members(&self) -> usize;

    /// The story without one of those who take part.
    fn without(story: &Story<Self>, member: usize) -> Story<Self>;

    /// Stories that are easier to follow than this one, each in one respect; this one, where there is
    /// nothing to make easier.
    fn easier(story: &Story<Self>) -> Vec<Story<Self>>;
}
