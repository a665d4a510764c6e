//! Why a candidate leads or does not, in words for people.
//!
//! Assumes: what a store showed of an election, of its roll and of its line, read one after the other:
//! a cause may be a moment old.
//! Promises: nothing is decided here. Everything that keeps a candidate from leading is named, what
//! weighs most first.

mod cause;

use core::cmp::Ordering;
use core::time::Duration;

pub use cause::{Advantage, Cause};

use crate::controls::Controls;
use crate::identity::{CandidateId, CandidateName};
use crate::lease::row::{Leader, Record, Snapshot, State};
use crate::policy::{Policy, Preference};
use crate::roll::{Peer, Presence};
use crate::time::StoreTime;

/// How many better candidates are named.
const BETTER_MAX: usize = 5;

/// Why the named candidate leads or does not. `peers` is the roll; `line` is everybody in line of an
/// election with a roster, first in line first, and empty elsewhere.
pub fn explain(
    name: &CandidateName,
    snapshot: &Snapshot,
    peers: &[Peer],
    line: &[CandidateId],
) -> Vec<Cause> {
    let asked = Asked { name, snapshot, peers, line };
    if snapshot.record.is_none() && peers.is_empty() {
        return vec![Cause::NeverHeld];
    }
    let sight = snapshot.sight();
    let mut causes = match sight.leader() {
        Some(leader) if leader.id.name == *name => asked.leads(leader),
        leader => asked.follows(leader),
    };
    if causes.is_empty() {
        causes.push(Cause::Contends);
    }
    causes
}

/// The same while somebody keeps the store from changing the election: that weighs more than whatever else
/// speaks against a candidate, and is nothing to be first known of a leader.
pub fn held_up(mut causes: Vec<Cause>, by: impl IntoIterator<Item = String>) -> Vec<Cause> {
    let mut holders = by.into_iter().map(|by| Cause::HeldUp { by }).peekable();
    if holders.peek().is_some() {
        causes.retain(|cause| *cause != Cause::Contends);
    }
    let at = usize::from(matches!(causes.first(), Some(Cause::Leads { .. })));
    causes.splice(at..at, holders);
    causes
}

/// What a question is answered from.
struct Asked<'a> {
    name: &'a CandidateName,
    snapshot: &'a Snapshot,
    peers: &'a [Peer],
    line: &'a [CandidateId],
}

impl<'a> Asked<'a> {
    /// What is to be known of one that leads.
    fn leads(&self, leader: &Leader) -> Vec<Cause> {
        let span = self.ago(leader.since);
        let ending = self.record().is_some_and(|record| record.state == State::Ending);
        let mut causes = vec![Cause::Leads { term: leader.term, span, ending }];
        causes.extend(self.duplicate());
        let transfer = self.controls().transfer_of(leader.term);
        if let Some(transfer) = transfer {
            causes.push(Cause::HandsOver { to: transfer.to.clone(), by: transfer.by.clone() });
        } else if self.present().any(|peer| peer.presence == Presence::Draining) {
            causes.push(Cause::Draining);
        }
        causes.extend(self.barred());
        causes
    }

    /// What keeps one from leading.
    fn follows(&self, leader: Option<&Leader>) -> Vec<Cause> {
        let mut causes: Vec<Cause> = self.absent().into_iter().chain(self.duplicate()).collect();
        if let Some(peer) = self.present().find(|peer| peer.presence == Presence::Unfit) {
            causes.push(Cause::Unfit { why: peer.why.clone() });
        }
        if self.present().any(|peer| peer.presence == Presence::Draining) {
            causes.push(Cause::Draining);
        }
        causes.extend(self.controls().paused.as_deref().cloned().map(Cause::Paused));
        causes.extend(self.barred());
        causes.extend(self.reserved());
        if let Some(leader) = leader {
            causes.push(self.led(leader));
        }
        causes.extend(self.outranked());
        causes.extend(self.place(leader));
        causes
    }

    fn record(&self) -> Option<&'a Record> {
        self.snapshot.record.as_ref()
    }

    const fn controls(&self) -> &'a Controls {
        &self.snapshot.controls
    }

    const fn ago(&self, time: StoreTime) -> Duration {
        self.snapshot.now.since(time)
    }

    /// Its lines of the roll.
    fn lines(&self) -> impl Iterator<Item = &'a Peer> {
        self.peers.iter().filter(|peer| peer.id.name == *self.name)
    }

    /// Those that tell of a process that is there.
    fn present(&self) -> impl Iterator<Item = &'a Peer> {
        self.lines().filter(|peer| peer.is_present(self.snapshot.now))
    }

    fn mine(&self) -> Option<&'a Peer> {
        self.present().max_by_key(|peer| peer.beaten_at)
    }

    fn absent(&self) -> Option<Cause> {
        if self.present().next().is_some() {
            return None;
        }
        let held = self.record().filter(|record| record.holder.name == *self.name);
        match (self.lines().max_by_key(|peer| peer.beaten_at), held) {
            (Some(peer), _) if peer.presence == Presence::Left => {
                Some(Cause::Left { ago: self.ago(peer.beaten_at), why: peer.why.clone() })
            }
            (Some(peer), _) => Some(Cause::Silent { ago: self.ago(peer.beaten_at) }),
            (None, Some(record)) => Some(Cause::Silent { ago: self.ago(record.beaten_at) }),
            (None, None) => Some(Cause::NeverSeen),
        }
    }

    fn duplicate(&self) -> Option<Cause> {
        let lives = self.present().count();
        (lives > 1).then_some(Cause::Duplicate { lives })
    }

    fn barred(&self) -> Option<Cause> {
        let now = self.snapshot.now;
        let bar = self.controls().bar_on(self.name, now)?;
        let left = bar.until.map(|until| until.since(now));
        Some(Cause::Barred { left, by: bar.by.clone() })
    }

    /// For whom the next term is meant.
    fn reserved(&self) -> Option<Cause> {
        let record = self.record()?;
        if let Some(transfer) = self.controls().transfer_of(record.term) {
            let (to, by) = (transfer.to.clone(), transfer.by.clone());
            return Some(if to == *self.name {
                Cause::Awaited { asked: true }
            } else {
                Cause::Promised { to, by }
            });
        }
        match &record.successor {
            Some(heir) if heir == self.name => Some(Cause::Awaited { asked: false }),
            Some(heir) => Some(Cause::Reserved { heir: heir.clone() }),
            None => None,
        }
    }

    fn led(&self, leader: &Leader) -> Cause {
        let lines = self.peers.iter();
        let theirs = lines.filter(|peer| peer.id == leader.id).max_by_key(|peer| peer.beaten_at);
        let better = match (self.mine(), theirs) {
            (Some(mine), Some(theirs)) => read(&mine.prefers).compare(mine, theirs).is_gt(),
            _ => false,
        };
        Cause::Led { leader: leader.id.name.clone(), span: self.ago(leader.since), better }
    }

    /// Those that are preferred to it, best first.
    fn outranked(&self) -> Vec<Cause> {
        let Some(mine) = self.mine() else {
            return Vec::new();
        };
        let (policy, now) = (read(&mine.prefers), self.snapshot.now);
        let may_win = |peer: &&Peer| {
            peer.id.name != *self.name
                && peer.contends(now)
                && self.controls().bar_on(&peer.id.name, now).is_none()
        };
        let better = |peer: &&Peer| policy.compare(peer, mine).is_gt();
        let mut rivals: Vec<&Peer> = self.peers.iter().filter(may_win).filter(better).collect();
        rivals.sort_by(|one, other| policy.compare(other, one));
        let named = rivals.into_iter().take(BETTER_MAX);
        let cause = |peer: &Peer| {
            let by = peer.id.name.clone();
            Some(Cause::Outranked { by, because: advantage(&policy, peer, mine)? })
        };
        named.filter_map(cause).collect()
    }

    /// How many are before it in line, where there is one.
    fn place(&self, leader: Option<&Leader>) -> Option<Cause> {
        let leads = |id: &&CandidateId| leader.is_none_or(|leader| leader.id != **id);
        let mut waiting = self.line.iter().filter(leads);
        let ahead = waiting.position(|id| id.name == *self.name)?;
        Some(Cause::InLine { ahead })
    }
}

/// What makes one better than another: the first thing that tells them apart.
fn advantage(policy: &Policy, better: &Peer, worse: &Peer) -> Option<Advantage> {
    if better.priority != worse.priority {
        return Some(Advantage::Priority { theirs: better.priority, its: worse.priority });
    }
    let newer = policy.rolling.then(Preference::newer);
    let mut prefer = newer.iter().chain(&policy.prefer);
    let found = prefer.find(|it| it.compare(better, worse) == Ordering::Greater)?;
    let key = match found {
        Preference::Label { key, .. } | Preference::Newest { key } | Preference::Oldest { key } => {
            key
        }
    };
    let own = |peer: &Peer| peer.label(key).map(ToOwned::to_owned);
    let (theirs, its) = (own(better), own(worse));
    Some(Advantage::Preferred { what: found.to_string(), key: key.clone(), theirs, its })
}

/// What a candidate prefers, as far as its own words in the roll tell. A word that is no preference
/// says something else, and is passed over.
pub fn read(prefers: &str) -> Policy {
    let words = || prefers.split([',', ' ']).filter(|word| !word.is_empty());
    let other = ["preempt", "preempt-after", "hold-down", "drain"];
    let is_preference =
        |word: &&str| word.split_once('=').is_some_and(|(key, _)| !other.contains(&key));
    Policy {
        prefer: words().filter(is_preference).filter_map(|word| word.parse().ok()).collect(),
        preempt: None,
        rolling: words().any(|word| word == "rolling"),
    }
}

#[cfg(test)]
mod tests;
