//! The roll that this node keeps for everybody.
//!
//! Assumes: nothing; lines may come late, twice, or from strangers who know the secret.
//! Promises: of each candidate the newest line, for a while, and never more than so many.

use incumbent_protocol::identity::{CandidateId, ElectionName};

use super::Task;
use crate::clock;
use crate::peers::message::Line;
use crate::peers::store::merge;
use crate::store::arbiter::ROLL_KEPT;

/// Most lines of the roll that are kept.
const LINES_MAX: usize = 10_000;

impl Task {
    /// Takes lines, and gives back all of some elections.
    pub(super) fn roll(
        &mut self,
        lines: Vec<(ElectionName, Line)>,
        elections: &[ElectionName],
    ) -> Vec<(ElectionName, Line)> {
        let now = clock::wall();
        let roll = &mut self.state.roll;
        for (election, line) in lines {
            if roll.len() < LINES_MAX || roll.contains_key(&(election.clone(), line.id().clone())) {
                merge(roll, election, line);
            }
        }
        roll.retain(|_, line| now.since(line.beaten_at) < ROLL_KEPT);
        let wanted = |(key, line): (&(ElectionName, CandidateId), &Line)| {
            elections.contains(&key.0).then(|| (key.0.clone(), line.clone()))
        };
        roll.iter().filter_map(wanted).collect()
    }
}
