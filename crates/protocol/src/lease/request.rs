//! What a candidate asks of a store, each with the pure decision that the store runs inside its
//! transaction.
//!
//! Assumes: the store reads a [`Snapshot`], calls `decide` and writes what it says in one atomic
//! step; the write itself is guarded by the mark in it, so that even a store with a weak notion of
//! a transaction cannot let a renewal and a takeover both succeed.
//! Promises: nothing is done by name alone; every request names an incarnation and a term.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::row::{Leader, Record, Snapshot, State};
use crate::controls::{Bar, Mandate};
use crate::identity::{CandidateId, CandidateName};
use crate::observation::{Mark, Suspicion, View};
use crate::planted::{self, Bug};
use crate::rounds::pace::Pacing;
use crate::rounds::register::MemberId;
use crate::rounds::round::{Report, Round};
use crate::rules::Rules;
use crate::term::Term;
use crate::time::StoreTime;

/// One thing that a candidate asks of a store about one election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Show me the row.
    Look,
    /// Make me the leader if that is allowed; else show me the row.
    Bid(Bid),
    /// Prolong my term.
    Renew(Holding),
    /// End my term.
    Resign(Resignation),
    /// Do a round of an election with a roster.
    Round(Box<Round>),
}

/// Why a term could begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opening {
    /// The election never had a leader.
    First,
    /// The leader before let go.
    Released,
    /// The leader before was proved dead.
    Died,
    /// The leader before did not renew for a full lease.
    Expired,
    /// The candidate itself held a term that it no longer uses.
    Own,
}

impl Opening {
    /// The word used in the store and by every face of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Opening::First => "first",
            Opening::Released => "released",
            Opening::Died => "died",
            Opening::Expired => "expired",
            Opening::Own => "own",
        }
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A candidate's wish to lead, with the evidence it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bid {
    /// Who wants to lead.
    pub candidate: CandidateId,
    /// The rules that it keeps.
    pub rules: Rules,
    /// Its evidence that the present holder is gone, if it has any.
    pub suspicion: Option<Suspicion>,
    /// The newest term that it ever saw in this election.
    pub newest: Option<Term>,
    /// The longest lease that it knows of: its own, or one that it saw in this election.
    pub longest: Duration,
}

/// A new term, as the store must write it if the mark is still `expected`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The mark that the decision was based on.
    pub expected: Mark,
    /// Who leads.
    pub candidate: CandidateId,
    /// Under which number.
    pub term: Term,
    /// Under which rules.
    pub rules: Rules,
    /// Since when, by the store's clock.
    pub since: StoreTime,
    /// Why it could begin.
    pub opening: Opening,
}

impl Claim {
    /// The row as it stands once the claim is written.
    pub fn record(&self) -> Record {
        Record {
            state: State::Held,
            holder: self.candidate.clone(),
            term: self.term,
            beat: 0,
            rules: self.rules,
            since: self.since,
            beaten_at: self.since,
            successor: None,
        }
    }
}

impl Bid {
    /// Whether this bid may become a term, given what the store holds.
    pub fn decide(&self, snapshot: &Snapshot) -> Result<Claim, Refusal> {
        let chosen = snapshot.record.as_ref().and_then(|record| record.successor.as_ref());
        let unbarred = planted::is(Bug::ChosenUnbarred) && chosen == Some(&self.candidate.name);
        if !planted::is(Bug::ControlsIgnored) && !unbarred {
            snapshot.controls.permit(&self.candidate.name, snapshot.now)?;
        }
        let opening = self.opening(snapshot)?;
        let previous = snapshot.record.as_ref().map(|record| record.term);
        let reused = previous.filter(|_| planted::is(Bug::TermReused) && chosen.is_some());
        let term = Term::succeeding(previous, self.newest, snapshot.now);
        Ok(Claim {
            expected: snapshot.mark(),
            candidate: self.candidate.clone(),
            term: reused.unwrap_or(term),
            rules: self.rules,
            since: snapshot.now,
            opening,
        })
    }

    fn opening(&self, snapshot: &Snapshot) -> Result<Opening, Refusal> {
        let stood = |patience| {
            let covers = |s: &Suspicion| s.covers(&Self::compared(s, snapshot), patience);
            self.suspicion.as_ref().is_some_and(covers)
        };
        let found = snapshot.record.as_ref();
        // A candidate that bids at once has seen no lease but its own: the row's counts as well.
        let longest = found.map_or(self.longest, |r| r.rules.lease().max(self.longest));
        let went_back = snapshot.went_back(self.newest, longest);
        let longest = went_back.then_some(longest);
        let suspected = stood(patience(found, &self.candidate.name, &self.rules, longest));
        let Some(record) = found else {
            // A missing row means a first election, unless there is a sign that a row was lost.
            let known = went_back && !planted::is(Bug::MissingAsFirst);
            return if known && !suspected {
                Err(Refusal::WentBack { newest: self.newest, found: None })
            } else {
                Ok(Opening::First)
            };
        };
        if suspected {
            return Ok(match record.state {
                State::Released => Opening::Released,
                State::Held | State::Ending => Opening::Expired,
            });
        }
        if went_back {
            return Err(Refusal::WentBack { newest: self.newest, found: Some(record.term) });
        }
        if snapshot.expired_by_database(record, record.patience(&self.candidate.name)) {
            return Ok(Opening::Expired);
        }
        self.opening_at_once(snapshot, record)
    }

    /// What a suspicion must speak of.
    fn compared(suspicion: &Suspicion, snapshot: &Snapshot) -> View {
        let (seen, found) = (suspicion.view(), snapshot.view());
        let term = |view: &View| view.mark.map(|(term, _)| term);
        let same = planted::is(Bug::TermCovered) && term(seen) == term(&found);
        if same { *seen } else { found }
    }

    /// Openings that need no waiting.
    fn opening_at_once(&self, snapshot: &Snapshot, record: &Record) -> Result<Opening, Refusal> {
        if record.reserved_from(&self.candidate.name) {
            return Err(Refusal::Reserved { successor: record.successor.clone() });
        }
        match record.state {
            State::Released => Ok(Opening::Released),
            State::Held | State::Ending if self.holds(record) => Ok(Opening::Own),
            State::Held | State::Ending if snapshot.holder_died => Ok(Opening::Died),
            State::Held if !self.rules.agree_with(&record.rules) => {
                Err(Refusal::RulesDiffer { theirs: record.rules, ours: self.rules })
            }
            State::Held | State::Ending => Err(Refusal::Held {
                leader: Leader {
                    id: record.holder.clone(),
                    term: record.term,
                    since: record.since,
                },
            }),
        }
    }

    /// Whether the row shows a term of the candidate's own, which it has seen and does not use. A
    /// bid that was sent before it saw that term, and comes late, must not end it: the candidate
    /// may be leading in it by now.
    fn holds(&self, record: &Record) -> bool {
        is_same(&record.holder, &self.candidate) && self.newest == Some(record.term)
    }
}

/// How long `who` must have watched what a store shows before it may claim, without any other
/// evidence.
///
/// What a store that went back has lost may name a longer lease than what it shows: then `longest`
/// counts too, and even a released row must be seen to stand still.
pub(crate) fn patience(
    found: Option<&Record>,
    who: &CandidateName,
    own: &Rules,
    longest: Option<Duration>,
) -> Duration {
    let own = own.lease();
    let shown = found.map_or(own, |record| record.patience(who).max(record.rules.lease()));
    if planted::is(Bug::ShorterLease) {
        return shown.min(own);
    }
    let released = found.is_some_and(|record| record.state == State::Released);
    if planted::is(Bug::ReleasedAtOnce) && released {
        return found.map_or(own, |record| record.patience(who));
    }
    if planted::is(Bug::LongestForgotten) {
        return shown;
    }
    shown.max(longest.unwrap_or_default())
}

/// A term that a candidate believes to hold: what renewals and resignations name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holding {
    /// Who.
    pub candidate: CandidateId,
    /// Which term.
    pub term: Term,
}

impl Holding {
    /// Whether the store may prolong this term. Mirrors the guard of the statement that backends
    /// run.
    pub fn may_renew(&self, snapshot: &Snapshot) -> bool {
        let revived = planted::is(Bug::EndingRenewed);
        self.is_in(snapshot, |state| state == State::Held || (revived && state == State::Ending))
    }

    /// Whether the store may mark this term released.
    pub fn may_resign(&self, snapshot: &Snapshot) -> bool {
        if planted::is(Bug::NewerResigned) {
            let found = snapshot.record.as_ref().map_or(self.term, |record| record.term);
            let newer = Holding { term: found.max(self.term), ..self.clone() };
            return newer.is_in(snapshot, |state| state != State::Released);
        }
        self.is_in(snapshot, |state| state != State::Released)
    }

    /// Whether a transaction of this term's work may commit, given the row as it stands while the
    /// transaction keeps it from changing. Mirrors the guard that backends run in one message with
    /// the COMMIT. A term that an operator is ending may still finish its work: nobody else can
    /// lead yet. After the store took the place of another, the term of the row may be one of the past
    /// until its leader renews.
    pub fn may_commit(&self, snapshot: &Snapshot) -> bool {
        self.is_in(snapshot, |state| state != State::Released) && snapshot.is_confirmed()
    }

    fn is_in(&self, snapshot: &Snapshot, state: impl Fn(State) -> bool) -> bool {
        snapshot.record.as_ref().is_some_and(|record| {
            let mine = record.term == self.term || planted::is(Bug::SameName);
            mine && is_same(&record.holder, &self.candidate) && state(record.state)
        })
    }
}

/// The end of a term at its holder's wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resignation {
    /// Which term.
    pub holding: Holding,
    /// For whom the next one is reserved: that candidate has it to itself for a lease.
    pub heir: Option<CandidateName>,
}

impl Resignation {
    /// For whom the next term is reserved once this one is let go of: for the heir, unless an
    /// operator is ending the term. Then what that order said stands, also if it named nobody.
    pub fn successor(&self, record: &Record) -> Option<CandidateName> {
        match record.state {
            State::Held => self.heir.clone(),
            State::Ending | State::Released => record.successor.clone(),
        }
    }
}

/// Names come back with every restart; incarnations never do.
fn is_same(one: &CandidateId, other: &CandidateId) -> bool {
    if planted::is(Bug::SameName) {
        return one.name == other.name;
    }
    one == other
}

/// What a store did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// Showed the row.
    Looked(Snapshot),
    /// Began a term.
    Claimed(Claim),
    /// Prolonged the term.
    Renewed,
    /// Ended the term.
    Resigned,
    /// Did a round.
    Rounded(Box<Report>),
}

/// A request that had no effect, and what was seen instead where the store could tell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Denied {
    /// Why.
    pub refusal: Refusal,
    /// The row, if it was read.
    pub snapshot: Option<Snapshot>,
}

/// Why a request had no effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// Somebody leads. *Standing:* following. *Retry:* by itself.
    #[error("{leader} leads")]
    Held {
        /// Who.
        leader: Leader,
    },
    /// An operator reserved the next term. *Standing:* following. *Retry:* by itself, after a
    /// lease.
    #[error("the next term is reserved for {}", successor.as_ref().map_or("another", CandidateName::as_str))]
    Reserved {
        /// For whom.
        successor: Option<CandidateName>,
    },
    /// An operator paused the election. *Standing:* following. *Retry:* by itself, once it is
    /// resumed.
    #[error("the election is paused: {by}")]
    Paused {
        /// By whose order.
        by: Box<Mandate>,
    },
    /// An operator keeps this candidate from winning. *Standing:* following. *Retry:* by itself,
    /// once the bar is lifted or has run out.
    #[error("{} may not win: {}", .0.name, .0.by)]
    Barred(Box<Bar>),
    /// The leader keeps other rules. *Standing:* out. *Retry:* with the same rules.
    #[error(
        "the election runs with {theirs}, this candidate asked for {ours}: use the same, or stop all candidates first"
    )]
    RulesDiffer {
        /// As stored.
        theirs: Rules,
        /// As configured.
        ours: Rules,
    },
    /// The store shows less than was seen before, so it was restored or replaced. *Standing:*
    /// unsure. *Retry:* by itself, after a full lease.
    #[error(
        "the store went back ({}): was a backup restored, or a standby promoted? Waiting a full lease",
        match (found, newest) {
            (Some(found), Some(newest)) if found == newest =>
                format!("it still holds term {found}, but forgot later renewals of it"),
            (Some(found), Some(newest)) => format!("it holds term {found}, after term {newest} was seen"),
            (Some(found), None) => format!("it holds term {found} of another life of it"),
            (None, Some(newest)) => format!("it holds no term, after term {newest} was seen"),
            (None, None) => "it holds no term, although candidates are at work".to_owned(),
        }
    )]
    WentBack {
        /// The newest term seen.
        newest: Option<Term>,
        /// What the store holds.
        found: Option<Term>,
    },
    /// Somebody ahead in line is not known to be gone. *Standing:* following. *Retry:* by itself.
    #[error("{who} is ahead in line, with id {id}")]
    Behind {
        /// Which place.
        id: MemberId,
        /// Whose.
        who: CandidateName,
    },
    /// The candidate has no place in line any more. *Standing:* following. *Retry:* by itself, after
    /// joining anew.
    #[error("the candidate was taken off the roster")]
    Evicted,
    /// The roster keeps another pace. *Standing:* out. *Retry:* with the same settings.
    #[error(
        "the election runs with {theirs}; this candidate asked for {ours}: use the same, or stop all candidates first"
    )]
    PacingDiffers {
        /// As stored.
        theirs: Box<Pacing>,
        /// As configured.
        ours: Box<Pacing>,
    },
    /// No id is left to give. *Standing:* out. *Retry:* after all candidates were stopped and the
    /// election's rows were removed from `incumbent_vars` and `incumbent_descriptor`.
    #[error(
        "the election has given its last id, {}: stop all candidates and remove its rows from incumbent_vars and incumbent_descriptor",
        MemberId::MAX
    )]
    IdsSpent,
    /// The term to renew or resign is not held any more. *Standing:* lost. *Retry:* never with this
    /// term.
    #[error("the term is over")]
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::Controls;
    use crate::identity::Incarnation;
    use crate::observation::{Observation, View};
    use crate::rules::Expiry;
    use crate::term::Recorded;
    use crate::time::{HeardAt, Time};

    const SECOND: Duration = Duration::from_secs(1);

    fn rules(lease: Duration) -> Rules {
        Rules::new(lease, lease / 10, Expiry::Observed).expect("good rules")
    }

    fn candidate(name: &str, bits: u128) -> CandidateId {
        let name = CandidateName::new(name).expect("a good name");
        CandidateId::new(name, Incarnation::from_random(bits))
    }

    fn term(number: u64) -> Term {
        Term::recorded(number).expect("a term")
    }

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros(seconds * 1_000_000)
    }

    /// The term 7, under a lease of a second, last beaten at 100 s; the store was replaced at 110 s.
    fn went_back(state: State) -> Snapshot {
        let record = Record {
            state,
            holder: candidate("ann", 1),
            term: term(7),
            beat: 275,
            rules: rules(SECOND),
            since: at(90),
            beaten_at: at(100),
            successor: None,
        };
        let (record, replaced) = (Some(record), Some(at(110)));
        let controls = Controls::default();
        Snapshot { record, now: at(120), holder_died: false, replaced, controls }
    }

    fn stood(view: View, span: Duration) -> Option<Suspicion> {
        Observation::first(view, HeardAt::after_answer(Time::ZERO)).suspect(Time::ZERO + span, span)
    }

    fn bid(lease: Duration, longest: Duration, newest: Option<Term>) -> Bid {
        let (candidate, rules) = (candidate("bob", 2), rules(lease));
        Bid { candidate, rules, suspicion: None, newest, longest }
    }

    /// Whether a bid is refused until what the store shows stood for `patience`.
    fn assert_waits(bid: &Bid, snapshot: &Snapshot, patience: Duration) {
        for (span, allowed) in [(patience.mul_f64(0.99), false), (patience, true)] {
            let suspicion = stood(snapshot.view(), span);
            let decided = Bid { suspicion, ..bid.clone() }.decide(snapshot);
            let went_back = matches!(decided, Err(Refusal::WentBack { .. }));
            assert_eq!((went_back, decided.is_ok()), (!allowed, allowed), "after {span:?}");
        }
    }

    #[test]
    fn a_claim_in_a_replaced_store_waits_for_the_longest_lease_that_is_known_of() {
        for state in [State::Held, State::Ending, State::Released] {
            let snapshot = went_back(state);
            assert_waits(&bid(SECOND, SECOND, None), &snapshot, SECOND);
            assert_waits(&bid(SECOND * 40, SECOND * 40, None), &snapshot, SECOND * 40);
            assert_waits(&bid(SECOND, SECOND * 40, None), &snapshot, SECOND * 40);
        }
    }

    #[test]
    fn so_does_one_by_a_candidate_that_saw_what_the_store_lost() {
        let newest = Some(term(8));
        let shown = Snapshot { replaced: None, ..went_back(State::Released) };
        let empty = Snapshot { record: None, ..shown.clone() };
        for snapshot in [shown, empty] {
            assert_waits(&bid(SECOND * 40, SECOND * 40, newest), &snapshot, SECOND * 40);
            assert_waits(&bid(SECOND, SECOND * 40, newest), &snapshot, SECOND * 40);
        }
    }

    #[test]
    fn a_replaced_store_that_is_empty_is_waited_for_too() {
        let empty = Snapshot { record: None, ..went_back(State::Held) };
        assert_waits(&bid(SECOND * 40, SECOND * 40, None), &empty, SECOND * 40);
    }

    #[test]
    fn in_a_store_that_went_back_fenced_work_commits_only_once_its_term_was_renewed() {
        let mut snapshot = went_back(State::Held);
        let holding = Holding { candidate: candidate("ann", 1), term: term(7) };
        assert!(!holding.may_commit(&snapshot), "the term may be one of the past");
        if let Some(record) = &mut snapshot.record {
            record.beaten_at = at(111);
        }
        assert!(holding.may_commit(&snapshot));
    }

    #[test]
    fn a_beat_soon_after_the_store_went_back_proves_nothing() {
        let mut snapshot = went_back(State::Released);
        if let Some(record) = &mut snapshot.record {
            record.beaten_at = at(119);
        }
        assert_waits(&bid(SECOND * 11, SECOND * 11, None), &snapshot, SECOND * 11);
        assert_waits(&bid(SECOND, SECOND * 11, None), &snapshot, SECOND * 11);
        let over = bid(SECOND * 10, SECOND * 10, None);
        assert!(over.decide(&snapshot).is_ok(), "all leases that it knows of are over");
    }

    #[test]
    fn the_lease_that_the_row_names_counts_for_a_candidate_that_never_saw_it_before() {
        let mut snapshot = went_back(State::Released);
        if let Some(record) = &mut snapshot.record {
            record.rules = rules(SECOND * 60);
            record.beaten_at = at(119);
        }
        assert_waits(&bid(SECOND * 3, SECOND * 3, None), &snapshot, SECOND * 60);
    }

    #[test]
    fn a_mark_that_repeats_in_two_stores_with_one_stamp_was_not_observed_before() {
        let mut snapshot = went_back(State::Held);
        if let Some(record) = &mut snapshot.record {
            record.beaten_at = at(111);
        }
        let before = View { beaten_at: Some(at(110)), ..snapshot.view() };
        let mut bid = bid(SECOND, SECOND, Some(term(7)));
        bid.suspicion = stood(before, SECOND * 100);
        assert!(bid.decide(&snapshot).is_err(), "the leader beat since");
    }

    #[test]
    fn what_was_observed_before_the_store_went_back_does_not_count_once_its_leader_beat_again() {
        let mut snapshot = went_back(State::Held);
        if let Some(record) = &mut snapshot.record {
            record.beaten_at = at(115);
        }
        let before = View { replaced: None, ..snapshot.view() };
        let mut bid = bid(SECOND, SECOND, Some(term(7)));
        bid.suspicion = stood(before, SECOND * 10);
        assert!(matches!(bid.decide(&snapshot), Err(Refusal::Held { .. })));
        bid.suspicion = stood(snapshot.view(), SECOND);
        assert!(bid.decide(&snapshot).is_ok());
    }
}
