//! Both registers of one election in memory: what a simulator keeps, and what every backend must be
//! like.
//!
//! Assumes: the row of the election itself is kept by whoever uses this, and written together with
//! the registers.
//! Promises: shows and writes what the decisions of [`round`](super::round) say, and decides nothing.

use std::collections::BTreeMap;

use super::register::{Descriptor, MemberId, Scene, Shown, Vars};
use super::round::{Round, Write};
use crate::identity::CandidateId;
use crate::lease::row::Snapshot;
use crate::time::StoreTime;

/// VARS and DESCRIPTORS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registers {
    /// What all candidates share.
    pub vars: Option<Vars>,
    /// The roster.
    pub roster: BTreeMap<MemberId, Descriptor>,
}

impl Registers {
    /// What a round sees. `died` says of whom there is proof that its process is gone.
    pub fn scene(
        &self,
        round: &Round,
        election: Snapshot,
        died: impl Fn(&CandidateId) -> bool,
    ) -> Scene {
        let mine = self.roster.values().find(|row| row.pulse.candidate == round.candidate);
        let after = self.roster.values().filter(|row| row.pulse.id > round.window.after);
        let shown = after.take(round.window.most as usize).map(|row| {
            let died = died(&row.pulse.candidate);
            Shown { pulse: row.pulse.clone(), died }
        });
        let suspects = round.act.suspects().filter_map(|id| self.roster.get(&id));
        Scene {
            election,
            vars: self.vars.clone(),
            mine: mine.map(|row| row.pulse.clone()),
            shown: shown.collect(),
            suspects: suspects.map(|row| row.pulse.clone()).collect(),
            top: self.roster.keys().next_back().copied(),
        }
    }

    /// Writes what concerns the registers; what concerns the row of the election is for the caller.
    pub fn write(&mut self, candidate: &CandidateId, write: &Write, now: StoreTime) {
        match write {
            Write::Vars(vars) => self.vars = Some(vars.clone()),
            Write::Enter(row) => {
                self.roster.insert(row.pulse.id, row.clone());
            }
            Write::Pulse(id) => {
                let row = self.roster.get_mut(id).filter(|row| row.pulse.candidate == *candidate);
                if let Some(row) = row {
                    row.pulse.counter += 1;
                    row.beaten_at = now;
                }
            }
            Write::Remove(pulse) => self.roster.retain(|_, row| row.pulse != *pulse),
            Write::Clear => self.roster.clear(),
            Write::Depart => self.roster.retain(|_, row| row.pulse.candidate != *candidate),
            Write::Beat | Write::Patience(_) | Write::Claim(_) | Write::Release { .. } => {}
        }
    }
}
