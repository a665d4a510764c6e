//! Calling the roll: who contends, leads or watches, as everybody says of itself.
//!
//! Assumes: nothing; it is for people, and decides nothing.
//! Promises: it does not wait for those who are slower than most.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::roll::Peer;

use super::Store;
use super::reach::REACH_PATIENCE;
use crate::error::Error;
use crate::peers::message::{Line, Message};
use crate::store::arbiter::Rolls;

/// How long a call of the roll waits for those who are slower than most.
const ROLL_PATIENCE: Duration = Duration::from_millis(50);

impl Store {
    /// Says what is to stand on the roll, and hears what stands there.
    pub(super) async fn call(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        let now = self.registers.now();
        let line = |(name, peer): &(&ElectionName, &Peer)| ((*name).clone(), Line::of(peer, now));
        let lines: Vec<_> = lines.iter().map(line).collect();
        let wanted: Vec<ElectionName> = elections.iter().map(|name| (*name).clone()).collect();
        let electorate = self.registers.electorate().clone();
        let voters = electorate.voters().clone();
        let mut inbox = self.node.question(voters.clone(), ROLL_PATIENCE, |id| Message::Roll {
            id,
            lines,
            elections: wanted,
        });
        let mut heard = BTreeSet::new();
        let mut found: BTreeMap<(ElectionName, CandidateId), Line> = BTreeMap::new();
        while heard.len() < voters.len() {
            let enough = if self.hints.is_some() {
                !heard.is_empty()
            } else {
                electorate.is_majority(heard.iter())
            };
            // For people: not worth waiting for the slow ones.
            let patience = if enough { ROLL_PATIENCE } else { REACH_PATIENCE };
            let Ok(answer) = tokio::time::timeout(patience, inbox.next()).await else { break };
            let (from, Message::Rolled { lines, .. }) = answer else { continue };
            heard.insert(from);
            for (election, line) in lines {
                merge(&mut found, election, line);
            }
        }
        let mut rolls: Rolls = elections.iter().map(|name| ((*name).clone(), Vec::new())).collect();
        for ((election, _), line) in found {
            rolls.entry(election).or_default().push(line.peer());
        }
        Ok(rolls)
    }
}

/// Of lines of the same candidate the newest counts, with the earliest start.
pub(in crate::peers) fn merge(
    roll: &mut BTreeMap<(ElectionName, CandidateId), Line>,
    election: ElectionName,
    line: Line,
) {
    let key = (election, line.id().clone());
    match roll.get_mut(&key) {
        Some(known) => {
            let started = known.started.min(line.started);
            if line.beaten_at >= known.beaten_at {
                *known = line;
            }
            known.started = started;
        }
        None => drop(roll.insert(key, line)),
    }
}
