//! Elections among peers, by ring or bully and ratified by a quorum, in simulated worlds.
//!
//! Assumes: the pure parts ship as they are: group, detector, voter, quorum client, candidacy. What
//! stands between them in `incumbent`, as tasks, is rebuilt here as plain steps.
//! Promises: the judges are those of every other history. A fault that never did anything over many
//! worlds is told.
//!
//! | file | noun |
//! |---|---|
//! | [`story`], [`fault`] | what a seed stands for, and the menu of what can go wrong |
//! | `world` | nodes, links, disks and everything between them, one event after the other |
//! | `node`, `booth`, `store` | a process: its voter, and its way to the registers of all voters |
//! | `words`, `wire` | what is said, and how it travels |
//! | [`tally`], [`batch`] | what happened, counted; many worlds on many cores |

use incumbent_protocol::caucus::WaitError;
use incumbent_protocol::identity::NameError;
use incumbent_protocol::planted::{self, Bug};
use incumbent_protocol::rules::TimingError;
use thiserror::Error;

pub mod batch;
mod booth;
pub mod fault;
mod node;
mod store;
pub mod story;
pub mod tally;
mod wire;
mod words;
mod world;

use crate::plant::Plant;
use crate::scribe::Keep;

pub use story::{Algorithm, Story};
pub use world::Run;

/// Changes whenever the same seed may give another history.
pub const VERSION: u32 = 5;

/// Why a world of peers could not begin. *Retry:* with another story.
#[derive(Debug, Error)]
pub enum PeersError {
    /// Timings that do not work.
    #[error("the story's timings do not work: {0}")]
    Timing(#[from] TimingError),
    /// Waits that do not work.
    #[error("the story's waits do not work: {0}")]
    Wait(#[from] WaitError),
    /// A name that cannot be one.
    #[error("the story's names do not work: {0}")]
    Name(#[from] NameError),
    /// Numbers that do not fit together.
    #[error("the story does not work: {0}")]
    Story(String),
    /// A mistake that no peer can make.
    #[error("the mistake {0} belongs to databases, and peers have none")]
    Plant(Plant),
}

/// Runs a story to its end; with a mistake, if one is given.
pub fn run(story: &Story, bug: Option<Bug>, keep: Keep) -> Result<Run, PeersError> {
    match bug {
        Some(bug) => planted::while_planted(bug, || world::run(story, keep)),
        None => world::run(story, keep),
    }
}
