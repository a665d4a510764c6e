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
    /// claimed it, unless an operator held them all back. In a store that went back even an empty
    /// roster proves nothing: a leader that it has lost may hold the longest lease of the old pacing,
    /// which nobody would know any more.
    fn may_replace(&self, theirs: &Vars, scene: &Scene) -> Result<(), Refusal> {
        let (election, newest) = (&scene.election, self.bid.newest);
        let stood = |patience| {
            self.bid.suspicion.as_ref().is_some_and(|s| s.covers(&election.view(), patience))
        };
        let lease = theirs.pacing.rules_at(theirs.pace.round).lease();
        let record = election.record.as_ref();
        let shown = record.map_or(lease, |record| record.rules.lease().max(lease));
        let longest = theirs.pacing.rules_at(theirs.pacing.cap()).lease();
        let longest = longest.max(shown).max(self.bid.longest);
        if election.went_back(newest, longest) && !stood(longest) {
            return Err(Refusal::WentBack { newest, found: record.map(|record| record.term) });
        }
        let stood = stood(shown * 2);
        let paused = election.controls.paused.is_some();
        if scene.shown.is_empty() || (stood && !paused) {
            return Ok(());
        }
        let (theirs, ours) = (Box::new(theirs.pacing), Box::new(self.pacing));
        Err(Refusal::PacingDiffers { theirs, ours })
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::controls::Controls;
    use crate::identity::{CandidateName, Incarnation};
    use crate::lease::request::Bid;
    use crate::lease::row::Snapshot;
    use crate::observation::Observation;
    use crate::rounds::pace::Pacing;
    use crate::rounds::register::Profile;
    use crate::time::{HeardAt, Time};

    const ROUND: Duration = Duration::from_secs(1);

    fn pacing(limit: u32) -> Pacing {
        Pacing::new(ROUND, limit, ROUND / 4, ROUND, ROUND * 20).expect("pacing")
    }

    /// Nobody is in line, and nobody ever led. The store was replaced at that second.
    fn scene(theirs: &Pacing, replaced: Option<u64>) -> Scene {
        let at = |seconds: u64| StoreTime::from_micros(seconds * 1_000_000);
        let election = Snapshot {
            record: None,
            now: at(101),
            holder_died: false,
            replaced: replaced.map(at),
            controls: Controls::default(),
        };
        let (epoch, max_id) = (at(1), MemberId::new(3));
        let pace = Pace::first(theirs);
        let vars = Some(Vars { epoch, max_id, pacing: *theirs, pace, evicted: false });
        Scene { election, vars, mine: None, shown: Vec::new(), suspects: Vec::new(), top: None }
    }

    fn join(scene: &Scene, stood: Duration) -> Result<(), Refusal> {
        let name = CandidateName::new("bob").expect("a name");
        let candidate = CandidateId::new(name, Incarnation::from_random(2));
        let pacing = pacing(3);
        let rules = pacing.rules_at(pacing.round_time());
        let seen = Observation::first(scene.election.view(), HeardAt::after_answer(Time::ZERO));
        let suspicion = seen.suspect(Time::ZERO + stood, stood);
        let longest = rules.lease();
        let bid = Bid { candidate: candidate.clone(), rules, suspicion, newest: None, longest };
        let join = Join { profile: Profile::default(), pacing, evicted: None, bid };
        join.decide(&candidate, scene).map(drop)
    }

    #[test]
    fn another_pacing_is_brought_in_at_once_where_nobody_is_in_line() {
        assert!(join(&scene(&pacing(2), None), Duration::ZERO).is_ok());
    }

    #[test]
    fn in_a_store_that_went_back_another_pacing_waits_for_the_longest_lease_of_the_old_one() {
        let theirs = pacing(2);
        let longest = theirs.rules_at(theirs.cap()).lease();
        let scene = scene(&theirs, Some(100));
        let refused = join(&scene, longest.mul_f64(0.99));
        assert!(matches!(refused, Err(Refusal::WentBack { .. })), "{refused:?}");
        assert!(join(&scene, longest).is_ok());
    }
}
