//! What a candidate asks of a store in one round, each with the pure decision that the store runs.
//!
//! Assumes: the store shows a [`Scene`] and writes what `decide` says in one atomic step: with a
//! shared lock on VARS for a beat, with an exclusive one for everything else. A store may mirror a
//! decision by statements with the same guards.
//! Promises: nothing is evicted, and nobody passed over, without evidence; a term begins only as the
//! `lease` protocol allows; ids grow.

mod contend;
mod join;
mod lead;

use super::pace::{Pace, Pacing};
use super::register::{Descriptor, MemberId, Place, Profile, Pulse, Scene, Vars, Window};
use crate::identity::{CandidateId, CandidateName};
use crate::lease::request::{Bid, Claim, Denied, Done, Holding, Refusal, Resignation};
use crate::observation::Suspicion;
use crate::outcome::Outcome;
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
    Resign(Resignation),
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
    Release {
        /// The store's clock.
        now: StoreTime,
        /// For whom the next term is reserved.
        successor: Option<CandidateName>,
    },
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
            Act::Resign(resignation) => {
                let mut writes = depart(&scene);
                let record = scene.election.record.as_ref();
                if let Some(record) =
                    record.filter(|_| resignation.holding.may_resign(&scene.election))
                {
                    let (now, successor) = (scene.election.now, resignation.successor(record));
                    writes.push(Write::Release { now, successor });
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

type Decided = Result<(Vec<Write>, End), Refusal>;
