//! What a candidate asks of a store in one round, each with the pure decision that the store runs.
//!
//! Assumes: the store shows a [`Scene`] and writes what `decide` says in one atomic step: with a
//! shared lock on VARS for a beat, with an exclusive one for everything else. A store may mirror a
//! decision by statements with the same guards.
//! Promises: nothing is evicted, and nobody passed over, without evidence; a term begins only as the
//! `lease` protocol allows; ids grow.

use core::time::Duration;

use super::pace::{Pace, Pacing};
use super::register::{Descriptor, MemberId, Place, Profile, Pulse, Scene, Vars, Window};
use crate::identity::CandidateId;
use crate::lease::request::{Bid, Claim, Denied, Done, Holding, Refusal};
use crate::lease::row::Snapshot;
use crate::observation::Suspicion;
use crate::outcome::Outcome;
use crate::planted::{self, Bug};
use crate::rules::Rules;
use crate::time::StoreTime;

/// Evidence that a row of the roster stood still.
pub type Evidence = Suspicion<Pulse>;

/// One round of one candidate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Round {
    /// Who.
    pub candidate: CandidateId,
    /// Which rows of the roster it wants to see.
    pub window: Window,
    /// What it wants done.
    pub act: Act,
}

/// What a candidate wants done in a round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Give me a place at the end of the line.
    Join(Join),
    /// I am here.
    Beat {
        /// Its place.
        place: Place,
    },
    /// I still lead; evict these; change the pace.
    Lead(Lead),
    /// Make me the leader if it is my turn.
    Contend(Contend),
    /// Take me off the roster.
    Leave,
    /// End my term, and take me off the roster.
    Resign(Holding),
}

impl Act {
    /// Whom it wants to evict.
    pub fn suspects(&self) -> impl Iterator<Item = MemberId> {
        let evict = match self {
            Act::Lead(lead) => lead.evict.as_slice(),
            _ => &[],
        };
        evict.iter().map(|evidence| evidence.view().id)
    }
}

/// A newcomer, or one that was evicted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// What it tells of itself.
    pub profile: Profile,
    /// What it wants to agree on.
    pub pacing: Pacing,
    /// The place that was taken from it, if one was.
    pub evicted: Option<Place>,
    /// What it knows of the term.
    pub bid: Bid,
}

/// A leader's round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lead {
    /// Its place.
    pub place: Place,
    /// Its term.
    pub holding: Holding,
    /// The number of the pace that it knows: a store that went back to an earlier one shows shorter
    /// leases than this leader may hold.
    pub pace: u64,
    /// Who stood still for too long.
    pub evict: Vec<Evidence>,
    /// How the pace is to change.
    pub shift: Option<Shift>,
}

/// A change of pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shift {
    /// The number of the pace that it was decided on.
    pub from: u64,
    /// The pace to have.
    pub to: Pace,
    /// What challengers must be patient by from now on.
    pub rules: Rules,
    /// Whether it answers the flag of somebody evicted.
    pub answers: bool,
}

/// A contender's round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contend {
    /// Its place.
    pub place: Place,
    /// Its bid for the term.
    pub bid: Bid,
    /// The number of the last pace that it ever saw here.
    pub pace: u64,
    /// Its evidence about those ahead of it in line.
    pub ahead: Vec<Evidence>,
}

/// What a round did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    /// What the store showed, with VARS as it is now.
    pub scene: Scene,
    /// What became of the round.
    pub end: End,
}

/// What became of a round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// It has this place.
    Joined(Place),
    /// It beat.
    Beaten,
    /// It has no place any more, and did not beat.
    Evicted,
    /// It leads on; these were evicted.
    Led(Vec<Pulse>),
    /// It leads; these were ahead of it in line, and evicted.
    Claimed(Claim, Vec<Pulse>),
    /// It is off the roster.
    Left,
    /// Its term is over, and it is off the roster.
    Resigned,
}

/// One write that a decision asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// Make VARS this.
    Vars(Vars),
    /// Add a row to the roster.
    Enter(Descriptor),
    /// Count one beat of the candidate's own row.
    Pulse(MemberId),
    /// Take this row off, if it still is so.
    Remove(Pulse),
    /// Take all rows off.
    Clear,
    /// Take the candidate's own row off.
    Depart,
    /// Prolong the term.
    Beat,
    /// Challengers must be patient by these rules from now on.
    Patience(Rules),
    /// Begin a term.
    Claim(Claim),
    /// End the term.
    Release(StoreTime),
}

impl Round {
    /// What to write and what to answer, given what the store shows. A refusal writes nothing.
    pub fn decide(&self, scene: Scene) -> (Vec<Write>, Outcome<Done, Denied>) {
        let decided = match &self.act {
            Act::Join(join) => join.decide(&self.candidate, &scene),
            Act::Beat { place } if scene.keeps(*place) => {
                Ok((vec![Write::Pulse(place.id)], End::Beaten))
            }
            Act::Beat { .. } => Ok((Vec::new(), End::Evicted)),
            Act::Lead(lead) => lead.decide(&scene),
            Act::Contend(contend) => contend.decide(self.window, &scene),
            Act::Leave => Ok((depart(&scene), End::Left)),
            Act::Resign(holding) => {
                let mut writes = depart(&scene);
                if holding.may_resign(&scene.election) {
                    writes.push(Write::Release(scene.election.now));
                }
                Ok((writes, End::Resigned))
            }
        };
        match decided {
            Ok((writes, end)) => {
                let vars = writes.iter().find_map(|write| match write {
                    Write::Vars(vars) => Some(vars.clone()),
                    _ => None,
                });
                let scene = Scene { vars: vars.or(scene.vars), ..scene };
                (writes, Outcome::Committed(Done::Rounded(Box::new(Report { scene, end }))))
            }
            Err(refusal) => {
                let snapshot = Some(scene.election);
                (Vec::new(), Outcome::Refused(Denied { refusal, snapshot }))
            }
        }
    }
}

fn depart(scene: &Scene) -> Vec<Write> {
    scene.mine.iter().map(|_| Write::Depart).collect()
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

type Decided = Result<(Vec<Write>, End), Refusal>;

impl Join {
    fn decide(&self, candidate: &CandidateId, scene: &Scene) -> Decided {
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
    /// claimed it.
    fn may_replace(&self, theirs: &Vars, scene: &Scene) -> Result<(), Refusal> {
        let lease = theirs.pacing.rules_at(theirs.pace.round).lease();
        let record = scene.election.record.as_ref();
        let patience = record.map_or(lease, |record| record.rules.lease().max(lease)) * 2;
        let stood = self.bid.suspicion.as_ref();
        let stood = stood.is_some_and(|s| s.covers(&scene.election.view(), patience));
        if scene.shown.is_empty() || stood {
            return Ok(());
        }
        let (theirs, ours) = (Box::new(theirs.pacing), Box::new(self.pacing));
        Err(Refusal::PacingDiffers { theirs, ours })
    }
}

impl Lead {
    fn decide(&self, scene: &Scene) -> Decided {
        let Some(vars) = scene.vars.as_ref().filter(|_| scene.keeps(self.place)) else {
            return Err(Refusal::Over);
        };
        if vars.pace.number < self.pace || !self.holding.may_renew(&scene.election) {
            return Err(Refusal::Over);
        }
        let mut writes = Vec::new();
        let mut vars = vars.clone();
        if let Some(shift) = self.shift.filter(|shift| shift.from == vars.pace.number) {
            writes.push(Write::Patience(shift.rules));
            vars.pace = shift.to;
            vars.evicted &= !shift.answers;
        }
        writes.push(Write::Beat);
        writes.push(Write::Pulse(self.place.id));
        let evicted: Vec<Pulse> = self.evicted(scene).cloned().collect();
        writes.extend(evicted.iter().cloned().map(Write::Remove));
        // Always written, so that an engine that only compares what was written sees a conflict too.
        writes.push(Write::Vars(vars));
        Ok((writes, End::Led(evicted)))
    }

    /// Those who stand still as they did, or are proved to be gone.
    fn evicted<'a>(&'a self, scene: &'a Scene) -> impl Iterator<Item = &'a Pulse> {
        let still = |pulse: &&Pulse| self.evict.iter().any(|e| e.covers(pulse, Duration::ZERO));
        let died = scene.shown.iter().filter(|shown| shown.died).map(|shown| &shown.pulse);
        let alone = |pulse: &&Pulse| !scene.suspects.contains(pulse);
        let all = scene.suspects.iter().filter(still).chain(died.filter(alone));
        all.filter(|pulse| pulse.id != self.place.id)
    }
}

impl Contend {
    fn decide(&self, window: Window, scene: &Scene) -> Decided {
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
        let found = election.record.as_ref().map(|record| record.term);
        let longest = vars.pacing.rules_at(vars.pacing.cap()).lease();
        let stood = self.bid.suspicion.as_ref();
        let stood = stood.is_some_and(|s| s.covers(&election.view(), longest));
        let earlier = vars.pace.number < self.pace;
        if (election.replaced.is_some() || newest > found || earlier) && !stood {
            return Err(Refusal::WentBack { newest, found });
        }
        Ok(())
    }

    /// Those ahead in line who are passed over, or the first who must not be.
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
            if !gone {
                let (id, who) = (pulse.id, pulse.candidate.name.clone());
                return Err(Refusal::Behind { id, who });
            }
            passed.push(pulse.clone());
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
