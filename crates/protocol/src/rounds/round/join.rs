//! Whether a newcomer gets a place, and which.
//!
//! Assumes: the exclusive lock on VARS.
//! Promises: ids grow within one life of VARS; what all agree on changes only when nobody is there who
//! keeps the old agreement.

use super::{Decided, End, Join, Write};
use crate::identity::CandidateId;
use crate::lease::request::Refusal;
use crate::planted::{self, Bug};
use crate::rounds::pace::Pace;
use crate::rounds::register::{Descriptor, MemberId, Place, Pulse, Scene, Vars};
use crate::time::StoreTime;

impl Join {
    pub(super) fn decide(&self, candidate: &CandidateId, scene: &Scene) -> Decided {
        let now = scene.election.now;
        let mut writes = Vec::new();
        let known = scene.vars.as_ref().filter(|vars| vars.pacing == self.pacing);
        if let (Some(vars), Some(mine)) = (known, &scene.mine) {
            // An answer was lost: it has joined already.
            if vars.max_id < mine.id {
                // VARS was made anew beside the roster: the ids in that are given, too.
                let max_id = scene.top.unwrap_or(mine.id).max(mine.id);
                writes.push(Write::Vars(Vars { max_id, ..vars.clone() }));
            }
            return Ok((writes, End::Joined(Place { epoch: vars.epoch, id: mine.id })));
        }
        // Whoever leads by another protocol would be waited for in a line that it does not know.
        if let Err(differ @ Refusal::RulesDiffer { .. }) = self.bid.decide(&scene.election) {
            return Err(differ);
        }
        let mut vars = match (known, &scene.vars) {
            (Some(vars), _) => vars.clone(),
            (None, None) => {
                // Whoever is still in the roster has a place in a life of VARS that is over.
                writes.push(Write::Clear);
                self.fresh(now, MemberId::NONE)
            }
            (None, Some(theirs)) => {
                self.may_replace(theirs, scene)?;
                writes.push(Write::Clear);
                self.fresh(
                    now.max(StoreTime::from_micros(theirs.epoch.as_micros() + 1)),
                    theirs.max_id,
                )
            }
        };
        let highest = vars.max_id.max(scene.top.unwrap_or(MemberId::NONE));
        let was = self.evicted.filter(|place| place.epoch == vars.epoch);
        let kept = was.filter(|_| planted::is(Bug::EvictedKeepsId)).map(|place| place.id);
        let id = kept.or_else(|| highest.next()).ok_or(Refusal::IdsSpent)?;
        vars.max_id = highest.max(id);
        // The flag goes up together with the new id, and for whoever was evicted.
        vars.evicted |= was.is_some();
        let place = Place { epoch: vars.epoch, id };
        writes.push(Write::Vars(vars));
        writes.push(Write::Enter(Descriptor {
            pulse: Pulse { id, candidate: candidate.clone(), counter: 0 },
            profile: self.profile.clone(),
            joined: now,
            beaten_at: now,
            died: false,
        }));
        Ok((writes, End::Joined(place)))
    }

    const fn fresh(&self, epoch: StoreTime, max_id: MemberId) -> Vars {
        Vars { epoch, max_id, pacing: self.pacing, pace: Pace::first(&self.pacing), evicted: false }
    }

    /// Another pacing may be brought in when nobody is there who keeps the old one: the roster is
    /// empty, or the term was seen to stand still for a lease, in which anyone alive would have
    /// claimed it, unless an operator held them all back.
    fn may_replace(&self, theirs: &Vars, scene: &Scene) -> Result<(), Refusal> {
        let lease = theirs.pacing.rules_at(theirs.pace.round).lease();
        let record = scene.election.record.as_ref();
        let patience = record.map_or(lease, |record| record.rules.lease().max(lease)) * 2;
        let stood = self.bid.suspicion.as_ref();
        let stood = stood.is_some_and(|s| s.covers(&scene.election.view(), patience));
        let paused = scene.election.controls.paused.is_some();
        if scene.shown.is_empty() || (stood && !paused) {
            return Ok(());
        }
        let (theirs, ours) = (Box::new(theirs.pacing), Box::new(self.pacing));
        Err(Refusal::PacingDiffers { theirs, ours })
    }
}
