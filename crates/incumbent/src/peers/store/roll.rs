//! Calling the roll: who contends, leads or watches, as everybody says of itself.
//!
//! Assumes: nothing; it is for people, and decides nothing.
//! Promises: it does not wait for those who are slower than most.

use std::collections::BTreeSet;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::roll::{Peer, sift};

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
        let now = self.quorum.now();
        let line = |(name, peer): &(&ElectionName, &Peer)| {
            let peer = Peer { started: now, beaten_at: now, ..(*peer).clone() };
            ((*name).clone(), Line::of(peer))
        };
        let lines: Vec<_> = lines.iter().map(line).collect();
        let wanted: Vec<ElectionName> = elections.iter().map(|name| (*name).clone()).collect();
        let electorate = self.quorum.client().electorate().clone();
        let voters = electorate.voters().clone();
        let mut inbox = self.node.question(voters.clone(), ROLL_PATIENCE, |id| Message::Roll {
            id,
            lines,
            elections: wanted,
        });
        let mut heard = BTreeSet::new();
        let mut found: Rolls = elections.iter().map(|name| ((*name).clone(), Vec::new())).collect();
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
                merge(found.entry(election).or_default(), line.peer());
            }
        }
        // One node may show what another has taken off.
        let now = self.quorum.now().max(now);
        for lines in found.values_mut() {
            *lines = sift(std::mem::take(lines), now).kept;
        }
        Ok(found)
    }
}

/// Of lines of the same candidate the newest counts, with the earliest start.
pub(in crate::peers) fn merge(lines: &mut Vec<Peer>, peer: Peer) {
    match lines.iter_mut().find(|known| known.id == peer.id) {
        Some(known) => {
            let started = known.started.min(peer.started);
            if peer.beaten_at >= known.beaten_at {
                *known = peer;
            }
            known.started = started;
        }
        None => lines.push(peer),
    }
}
