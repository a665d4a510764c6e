//! Whether it is a contender's turn, and whether the term is open.
//!
//! Assumes: the exclusive lock on VARS.
//! Promises: nobody ahead in line is passed over without evidence, but for those who may not win, who
//! keep their places; the term itself is claimed only as the `lease` protocol allows, by the longest
//! lease that anything here speaks of.

use super::{Contend, Decided, End, Write};
use crate::lease::request::{Bid, Refusal};
use crate::lease::row::Snapshot;
use crate::planted::{self, Bug};
use crate::rounds::pace::Pace;
use crate::rounds::register::{Pulse, Scene, Vars, Window};
use crate::rules::Rules;

impl Contend {
    pub(super) fn decide(&self, window: Window, scene: &Scene) -> Decided {
        let Some(vars) = scene.vars.as_ref().filter(|_| scene.keeps(self.place)) else {
            return Err(Refusal::Evicted);
        };
        let record = scene.election.record.as_ref();
        let chosen = record.and_then(|record| record.successor.as_ref());
        let passed = match self.passes(window, scene, vars) {
            Ok(passed) => passed,
            Err(_) if chosen == Some(&self.bid.candidate.name) => Vec::new(),
            Err(behind) => return Err(behind),
        };
        self.outwaits(scene, vars)?;
        let pace = vars.pace.without_announcement();
        // Whoever saw a later one must not take this one for a step back for ever.
        let pace = Pace { number: pace.number.max(self.pace), ..pace };
        let bid = Bid { rules: vars.pacing.rules_at(pace.round), ..self.bid.clone() };
        let claim = bid.decide(&patient(&scene.election, vars))?;
        let mut writes = vec![Write::Claim(claim.clone()), Write::Pulse(self.place.id)];
        writes.extend(passed.iter().cloned().map(Write::Remove));
        writes.push(Write::Vars(Vars { pace, ..vars.clone() }));
        Ok((writes, End::Claimed(claim, passed)))
    }

    /// A store that lost writes may have lost how long rounds had become: whoever led then may hold
    /// the longest lease that there can be.
    fn outwaits(&self, scene: &Scene, vars: &Vars) -> Result<(), Refusal> {
        let (election, newest) = (&scene.election, self.bid.newest);
        let longest = vars.pacing.rules_at(vars.pacing.cap()).lease();
        let longest = longest.max(self.bid.longest);
        let stood = self.bid.suspicion.as_ref();
        let stood = stood.is_some_and(|s| s.covers(&election.view(), longest));
        let earlier = vars.pace.number < self.pace && !planted::is(Bug::EarlierPaceClaimed);
        if (election.went_back(newest, longest) || earlier) && !stood {
            let found = election.record.as_ref().map(|record| record.term);
            return Err(Refusal::WentBack { newest, found });
        }
        Ok(())
    }

    /// Those ahead in line who are gone, or the first who must not be passed over.
    fn passes(&self, window: Window, scene: &Scene, vars: &Vars) -> Result<Vec<Pulse>, Refusal> {
        let record = scene.election.record.as_ref();
        let lease = vars.pacing.rules_at(vars.pace.round).lease();
        let patience = record.map_or(lease, |record| record.rules.lease().max(lease));
        let holder = record.map(|record| &record.holder);
        let mut passed = Vec::new();
        for shown in scene.shown.iter().filter(|shown| shown.pulse.id < self.place.id) {
            let pulse = &shown.pulse;
            let gone = shown.died
                // Whether its holder is gone, the term itself says.
                || holder == Some(&pulse.candidate)
                || self.ahead.iter().any(|evidence| evidence.covers(pulse, patience));
            if gone {
                passed.push(pulse.clone());
            } else if !scene.election.bars(&pulse.candidate.name) {
                let (id, who) = (pulse.id, pulse.candidate.name.clone());
                return Err(Refusal::Behind { id, who });
            }
        }
        let last = scene.shown.last().map(|shown| &shown.pulse);
        match last
            .filter(|last| scene.shown.len() >= window.most as usize && last.id < self.place.id)
        {
            // There may be others between those that were shown and this one.
            Some(last) => Err(Refusal::Behind { id: last.id, who: last.candidate.name.clone() }),
            None => Ok(passed),
        }
    }
}

/// The row of the election with the longer of the two leases that speak of it: the row's own, and the
/// one that VARS gives. They differ only if somebody edited one of them.
fn patient(election: &Snapshot, vars: &Vars) -> Snapshot {
    let mut election = election.clone();
    let paced = vars.pacing.rules_at(vars.pace.round);
    let record = election.record.as_mut();
    if let Some(record) = record.filter(|r| r.rules.agree_with(&paced)) {
        record.rules = [record.rules, paced].into_iter().max_by_key(Rules::lease).unwrap_or(paced);
    }
    election
}
