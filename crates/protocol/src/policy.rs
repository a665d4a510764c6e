//! Who is preferred, and what follows from that.
//!
//! Assumes: what a roll showed may be old; candidates of one election are given the same policy.
//! Promises: a preference only ever makes somebody wait, for a bounded time, or makes a leader hand
//! over in good order. Nobody leads because of it who could not lead without it, and whoever leads
//! stays (it is sticky) unless preemption was asked for.

mod preference;

use core::cmp::Ordering;
use core::time::Duration;

pub use preference::{Preference, PreferenceError};

use crate::controls::Controls;
use crate::identity::{CandidateId, CandidateName};
use crate::roll::Peer;
use crate::time::StoreTime;

/// How many better candidates are waited for, one step each.
const STEPS_MAX: u32 = 4;

/// What a candidate prefers. All candidates of an election should be given the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// After priority, what counts, the weightiest first.
    pub prefer: Vec<Preference>,
    /// Whether a better candidate asks a worse leader to hand over.
    pub preempt: Option<Preempt>,
    /// Candidates are being replaced one by one: hand over once, to one that is new already.
    pub rolling: bool,
}

/// When a better candidate asks a worse leader to hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Preempt {
    /// It must have been the better one for so long.
    pub after: Duration,
    /// No term is cut short that is younger than this.
    pub hold_down: Duration,
}

/// An election as a candidate's last roll showed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field<'a> {
    /// Who asks.
    pub me: &'a CandidateId,
    /// Everybody, with itself.
    pub peers: &'a [Peer],
    /// Who holds the term, or held it last. Nobody waits for it: if a term is open, it let go or is
    /// gone.
    pub holder: Option<&'a CandidateId>,
    /// What operators ordered.
    pub controls: &'a Controls,
    /// The store's clock then.
    pub now: StoreTime,
}

impl Field<'_> {
    /// The asker's own line.
    pub fn mine(&self) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.id == *self.me)
    }

    /// Others who may win and would.
    fn rivals(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().filter(|peer| {
            peer.id != *self.me
                && peer.contends(self.now)
                && self.controls.bar_on(&peer.id.name, self.now).is_none()
        })
    }
}

impl Policy {
    /// Whether it says anything, so that it matters who else is there.
    pub fn is_blank(&self) -> bool {
        self.prefer.is_empty() && !self.rolling
    }

    /// Which of two is preferred; greater is better.
    pub fn compare(&self, one: &Peer, other: &Peer) -> Ordering {
        let newer = self.rolling.then(Preference::newer);
        let prefer = newer.iter().chain(&self.prefer);
        let by_labels = prefer.map(|preference| preference.compare(one, other));
        one.priority.cmp(&other.priority).then(by_labels.fold(Ordering::Equal, Ordering::then))
    }

    /// How long to let better ones go first once a term is open: a step for each of them.
    pub fn deference(&self, field: &Field<'_>, step: Duration) -> Duration {
        let better = self.better(field, field.holder);
        step * u32::try_from(better).unwrap_or(STEPS_MAX).min(STEPS_MAX)
    }

    /// How many rivals are better than the asker, apart from one of them.
    pub fn better(&self, field: &Field<'_>, apart: Option<&CandidateId>) -> usize {
        let Some(mine) = field.mine() else {
            return 0;
        };
        let rivals = field.rivals().filter(|peer| Some(&peer.id) != apart);
        rivals.filter(|peer| self.compare(peer, mine).is_gt()).count()
    }

    /// For whom a leader that lets go reserves the next term; nobody if it makes no difference.
    pub fn heir(&self, field: &Field<'_>) -> Option<CandidateName> {
        let mine = field.mine()?;
        if self.rolling && !field.rivals().any(|peer| is_newer(peer, mine)) {
            // Nobody is new yet. Whoever is restarted comes back as the first that is.
            return Some(field.me.name.clone());
        }
        let best = field.rivals().max_by(|one, other| self.compare(one, other))?;
        let matters = field.rivals().any(|peer| self.compare(peer, best).is_lt());
        matters.then(|| best.id.name.clone())
    }

    /// Whether the asker is better than whoever leads, so that it may ask for a hand-over.
    pub fn outranks(&self, field: &Field<'_>, leader: &CandidateId) -> bool {
        let leader = field.peers.iter().find(|peer| peer.id == *leader);
        let (Some(mine), Some(leader)) = (field.mine(), leader) else {
            return false;
        };
        let best = !field.rivals().any(|peer| self.compare(peer, mine).is_gt());
        let barred = field.controls.permit(&field.me.name, field.now).is_err();
        best && !barred && mine.contends(field.now) && self.compare(mine, leader).is_gt()
    }
}

fn is_newer(one: &Peer, other: &Peer) -> bool {
    Preference::newer().compare(one, other).is_gt()
}

#[cfg(test)]
mod tests;
