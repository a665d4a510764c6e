//! Who takes part in an election, for people and for policy.
//!
//! Assumes: every candidate writes its line slowly, and others read it; nothing that must be safe
//! depends on it.
//! Promises: a line tells by itself how old it may be. How many lines are kept depends on how many
//! processes live, not on how often they were started.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::identity::CandidateId;
use crate::rounds::register::Profile;
use crate::time::StoreTime;

/// How many of its own intervals a line may be old before its candidate counts as gone.
pub const MISSED: u32 = 3;

/// Of how many names an election keeps a line although their processes are gone.
pub const GONE_MAX: usize = 32;

/// How long the line of a process that is gone is kept after its last stamp.
pub const GONE_KEPT: Duration = Duration::from_hours(24);

/// What a candidate says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// It contends.
    Ready,
    /// It leads.
    Leading,
    /// It leads, and is ending its work.
    Draining,
    /// It is not well, and does not contend.
    Unfit,
    /// It stopped in good order.
    Left,
}

impl Presence {
    /// The word used in the store and by every face of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Presence::Ready => "ready",
            Presence::Leading => "leading",
            Presence::Draining => "draining",
            Presence::Unfit => "unfit",
            Presence::Left => "left",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Presence> {
        let all = [
            Presence::Ready,
            Presence::Leading,
            Presence::Draining,
            Presence::Unfit,
            Presence::Left,
        ];
        all.into_iter().find(|presence| presence.as_str() == word)
    }
}

/// One candidate's line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Who.
    pub id: CandidateId,
    /// What it tells of itself.
    pub profile: Profile,
    /// Higher ones go first.
    pub priority: i32,
    /// What it says it does.
    pub presence: Presence,
    /// Why it does not contend, or what else is to be known.
    pub why: Option<String>,
    /// What it prefers, as its policy is written.
    pub prefers: String,
    /// When its first line was written, by the store's clock.
    pub started: StoreTime,
    /// When its last line was written, by the store's clock.
    pub beaten_at: StoreTime,
    /// How often it writes one.
    pub every: Duration,
}

impl Peer {
    /// Whether it is there, as far as its line tells.
    pub fn is_present(&self, now: StoreTime) -> bool {
        let most = self.every.saturating_mul(MISSED);
        self.presence != Presence::Left && now.since(self.beaten_at) < most
    }

    /// Whether it would take a term if one were open.
    pub fn contends(&self, now: StoreTime) -> bool {
        self.is_present(now) && matches!(self.presence, Presence::Ready | Presence::Leading)
    }

    /// What it says under this label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let labels = self.profile.labels.iter();
        labels.into_iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// The lines of one election, sorted out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sifted {
    /// Every process that is there, and the last ones that are gone; first started first.
    pub kept: Vec<Peer>,
    /// The lines that are taken off. A process that is there after all writes a new one.
    pub surplus: Vec<Peer>,
}

/// Says which lines of one election are kept: those of every process that is there, so that two of
/// one name are found; and of names without such a process the newest line, of at most [`GONE_MAX`]
/// names, for at most [`GONE_KEPT`].
pub fn sift(mut lines: Vec<Peer>, now: StoreTime) -> Sifted {
    lines.sort_by_key(|peer| (!peer.is_present(now), Reverse(peer.beaten_at)));
    let (mut names, mut gone) = (BTreeSet::new(), 0);
    let (mut kept, surplus): (Vec<_>, Vec<_>) = lines.into_iter().partition(|peer| {
        let newest = names.insert(peer.id.name.clone());
        if peer.is_present(now) {
            return true;
        }
        let keep = newest && gone < GONE_MAX && now.since(peer.beaten_at) < GONE_KEPT;
        gone += usize::from(keep);
        keep
    });
    kept.sort_by_key(|peer| (peer.started, peer.id.incarnation));
    Sifted { kept, surplus }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{CandidateName, Incarnation};

    const EVERY: Duration = Duration::from_secs(3);

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros((1_000_000 + seconds) * 1_000_000)
    }

    fn peer(name: &str, start: u64, seconds: u64, presence: Presence) -> Peer {
        let name = CandidateName::new(name).expect("a name");
        Peer {
            id: CandidateId::new(name, Incarnation::from_random(u128::from(start) + 1)),
            profile: Profile::default(),
            priority: 0,
            presence,
            why: None,
            prefers: String::new(),
            started: at(seconds),
            beaten_at: at(seconds),
            every: EVERY,
        }
    }

    #[test]
    fn a_day_of_a_crash_loop_leaves_one_line_of_its_name() {
        let starts = 0..24 * 60 * 60;
        let lines = starts.map(|at| peer("loop", at, at, Presence::Left));
        let lines = lines.chain([peer("bob", 1 << 40, 86_399, Presence::Ready)]).collect();
        let Sifted { kept, surplus } = sift(lines, at(86_400));
        let names: Vec<_> = kept.iter().map(|peer| peer.id.name.as_str()).collect();
        assert_eq!(names, ["loop", "bob"], "first started first");
        assert_eq!(kept[0].beaten_at, at(86_399), "the newest is kept");
        assert_eq!(surplus.len(), 86_399);
    }

    #[test]
    fn names_that_never_come_back_do_not_add_up() {
        let pods = (0..5_000).map(|at| peer(&format!("pod-{at}"), at, at, Presence::Ready));
        let now = at(5_000);
        let Sifted { kept, .. } = sift(pods.collect(), now);
        let (there, gone): (Vec<_>, Vec<_>) = kept.iter().partition(|peer| peer.is_present(now));
        assert_eq!((there.len(), gone.len()), (8, GONE_MAX));
        assert!(gone.iter().all(|peer| peer.beaten_at > at(4_900)), "the longest silent go first");
    }

    #[test]
    fn two_live_processes_of_one_name_are_both_kept() {
        let lines = vec![
            peer("bob", 1, 100, Presence::Ready),
            peer("bob", 2, 101, Presence::Ready),
            peer("bob", 3, 101, Presence::Left),
            peer("bob", 4, 10, Presence::Ready),
        ];
        let Sifted { kept, surplus } = sift(lines, at(102));
        assert_eq!((kept.len(), surplus.len()), (2, 2));
        assert!(kept.iter().all(|peer| peer.is_present(at(102))));
    }

    #[test]
    fn a_candidate_that_is_away_is_known_for_a_day() {
        let day = 24 * 60 * 60;
        let lines = || vec![peer("bob", 1, 0, Presence::Ready)];
        assert_eq!(sift(lines(), at(day - 1)).kept.len(), 1);
        assert_eq!(sift(lines(), at(day)).surplus.len(), 1);
    }
}
