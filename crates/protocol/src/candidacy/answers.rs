//! What a candidacy makes of the answers of a store.
//!
//! Assumes: an answer belongs to the request that was under way, and says whether the clock jumped
//! since that was sent.
//! Promises: an unknown outcome changes nothing but when to ask again; an answer in doubt earns no
//! lease and proves no death.

use super::{Candidacy, Notice, Stage, UnderWay, Wish};
use crate::lease::Lease;
use crate::lease::request::{Claim, Denied, Done, Refusal};
use crate::lease::row::{Leader, Record, Snapshot, State};
use crate::observation::Observation;
use crate::outcome::Outcome;
use crate::planted::{self, Bug};
use crate::rules::Rules;
use crate::standing::Reason;
use crate::time::{AskedAt, HeardAt, Time};

impl Candidacy {
    pub(super) fn answered(
        &mut self,
        now: Time,
        asked: &UnderWay,
        asked_at: AskedAt,
        heard_at: HeardAt,
        outcome: Outcome<Done, Denied>,
    ) {
        // What was heard may have been stamped before the clock jumped; it was heard by now.
        let heard_at = if asked.doubted { HeardAt::after_answer(now) } else { heard_at };
        let anew = planted::is(Bug::RenewedFromAnswer)
            && self.cadence.failures() > 0
            && matches!(self.stage, Stage::Leading { .. });
        let asked_at = if anew { AskedAt::before_sending(now) } else { asked_at };
        match outcome {
            Outcome::Committed(Done::Claimed(claim)) if asked.doubted => {
                // Even the suspicion behind it is in doubt: whoever led may still do so for a lease,
                // and what is let go of can be claimed at once.
                let patience = self.patience();
                self.owe(now, &claim);
                self.cadence.retry_at(now + patience);
            }
            // Neither sure nor refused: the next renewal, due at once, counts from after the jump.
            Outcome::Committed(Done::Renewed) if asked.doubted => self.cadence.answered(now),
            Outcome::Committed(Done::Looked(snapshot)) => {
                self.cadence.answered(now);
                self.see(&snapshot, heard_at);
                self.look_ahead(now);
            }
            Outcome::Committed(Done::Claimed(claim)) => self.claimed(now, asked_at, &claim),
            Outcome::Committed(Done::Renewed) => self.renewed(now, asked_at),
            Outcome::Committed(Done::Resigned) => {
                self.cadence.answered(now);
                self.owed = None;
                self.cadence.back_off(now);
            }
            Outcome::Committed(Done::Rounded(report)) => {
                self.rounded(now, asked, asked_at, heard_at, *report);
            }
            Outcome::Refused(denied) => self.denied(now, asked.resigns, heard_at, denied),
            // Neither yes nor no: keep what we had, believe nothing new, and look again soon.
            Outcome::Unknown if planted::is(Bug::UnknownAsCommitted) => self.renewed(now, asked_at),
            Outcome::Unknown if planted::is(Bug::UnknownAsRefused) => {
                let refusal = Refusal::Over;
                let snapshot = None;
                self.denied(now, asked.resigns, heard_at, Denied { refusal, snapshot });
            }
            Outcome::Unknown => {
                self.cadence.failed(now);
                if let Some(membership) = &mut self.membership {
                    membership.unheard(asked.joins);
                }
            }
        }
    }

    pub(super) fn claimed(&mut self, now: Time, asked_at: AskedAt, claim: &Claim) {
        let &Claim { term, rules, opening, since, .. } = claim;
        let uncut = AskedAt::before_sending(asked_at.time() + rules.margin());
        let asked_at = if planted::is(Bug::FirstUncut) { uncut } else { asked_at };
        let lease = Lease::granted(asked_at, &rules);
        self.owe(now, claim);
        let ends = self.ends(lease);
        if self.wish != Wish::Lead || now >= ends {
            // Too late to be of use, or not wanted any more.
            if planted::is(Bug::LateClaimKept) {
                self.owed = None;
            }
            return;
        }
        self.owed = None;
        self.stage = Stage::Leading { term, lease, sure: true };
        self.notices.push_back(Notice::Gained { term, lease, opening });
        self.follow(Some(Leader { id: self.me.clone(), term, since }));
    }

    /// Takes note of a term that began, to give it back.
    pub(super) fn owe(&mut self, now: Time, claim: &Claim) {
        self.newest = self.newest.max(Some(claim.term));
        self.observation = None;
        self.went_back = false;
        self.owed = Some(claim.term);
        self.cadence.answered(now);
    }

    pub(super) fn renewed(&mut self, now: Time, asked_at: AskedAt) {
        let rules = *self.timing.rules();
        self.prolonged(now, asked_at, &rules);
    }

    /// The store prolonged the term, by these rules.
    pub(super) fn prolonged(&mut self, now: Time, asked_at: AskedAt, rules: &Rules) {
        self.cadence.answered(now);
        if let Stage::Draining { term } = self.stage
            && planted::is(Bug::LeaseRevived)
        {
            let lease = Lease::granted(asked_at, rules);
            let sure = true;
            self.stage = Stage::Leading { term, lease, sure };
        }
        let Stage::Leading { term, lease, sure } = &mut self.stage else {
            return;
        };
        *lease = lease.or_later(Lease::granted(asked_at, rules));
        *sure = true;
        self.notices.push_back(Notice::Renewed { term: *term, lease: *lease });
    }

    pub(super) fn denied(&mut self, now: Time, resigned: bool, heard_at: HeardAt, denied: Denied) {
        self.cadence.answered(now);
        let stood = self.stood(&denied);
        if let Some(snapshot) = &denied.snapshot {
            self.see(snapshot, heard_at);
        }
        match denied.refusal {
            Refusal::Over => {
                if resigned {
                    self.owed = None;
                }
                if let Stage::Leading { term, .. } = self.stage {
                    self.deposed(denied.snapshot.as_ref());
                    self.lose(now, term, Reason::Deposed);
                } else {
                    self.cadence.look_at(now);
                }
            }
            // A leader that was not seen to beat may be dead: watch it before giving up for good.
            Refusal::RulesDiffer { .. } | Refusal::PacingDiffers { .. } if stood => self.balk(),
            refusal @ (Refusal::RulesDiffer { .. }
            | Refusal::PacingDiffers { .. }
            | Refusal::IdsSpent) => {
                self.wish = Wish::Nothing;
                self.observation = None;
                self.notices.push_back(Notice::Rejected(refusal));
            }
            refusal @ Refusal::WentBack { .. } => {
                self.balk();
                if !core::mem::replace(&mut self.went_back, true) {
                    self.notices.push_back(Notice::WentBack(refusal));
                }
            }
            // A term of our own that we do not know how we came by: now that it was seen, a bid may
            // name it.
            Refusal::Held { leader } if leader.id == self.me => self.cadence.look_at(now),
            Refusal::Held { .. }
            | Refusal::Reserved { .. }
            | Refusal::Behind { .. }
            | Refusal::Paused { .. }
            | Refusal::Barred(_) => self.balk(),
            Refusal::Evicted => self.evicted(now),
        }
    }

    /// Whether a refusal shows nothing but what was known: no leader is proved alive by it.
    fn stood(&self, denied: &Denied) -> bool {
        denied.snapshot.as_ref().is_some_and(|snapshot| {
            let known = self.observation.as_ref().map(|seen| seen.view().mark);
            known.is_none_or(|mark| mark == snapshot.mark())
        })
    }

    /// Takes what a store showed.
    pub(super) fn see(&mut self, snapshot: &Snapshot, heard_at: HeardAt) {
        let mark = snapshot.mark();
        match &mut self.observation {
            Some(observation) => observation.hear(snapshot.view(), heard_at),
            None => self.observation = Some(Observation::first(snapshot.view(), heard_at)),
        }
        let free = |record: &Record| {
            record.state == State::Released && !record.reserved_from(&self.me.name)
        };
        let open = snapshot.holder_died || snapshot.record.as_ref().is_none_or(free);
        // Whoever lets nobody go first needs no account of it.
        let counts = open && (!self.deference.is_zero() || !self.nominated);
        self.open_since = counts.then(|| self.open_since.unwrap_or(heard_at.time()));
        let term = mark.map(|(term, _)| term);
        self.newest = self.newest.max(term);
        let lease = snapshot.record.as_ref().map(|record| record.rules.lease());
        self.longest = self.longest.max(lease.unwrap_or_default());
        self.behind = snapshot.went_back(self.newest, self.longest).then_some(self.longest);
        self.went_back &= self.behind.is_some();
        self.record.clone_from(&snapshot.record);
        if self.membership.is_some() {
            self.seen = Some(Box::new(snapshot.clone()));
        }
        if !matches!(self.stage, Stage::Leading { .. }) {
            // Whether we lead ourselves we know better than the store, which may still show a term
            // that we lost.
            let sight = snapshot.sight();
            self.follow(sight.leader().filter(|leader| leader.id != self.me).cloned());
        }
    }

    pub(super) fn follow(&mut self, leader: Option<Leader>) {
        let first = !core::mem::replace(&mut self.looked, true);
        if first || self.leader != leader {
            self.leader.clone_from(&leader);
            self.notices.push_back(Notice::Leader(leader));
        }
    }
}
