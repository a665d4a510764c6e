//! Who takes part in an election, for people and for policy.
//!
//! Assumes: every candidate writes its line slowly, and others read it; nothing that must be safe
//! depends on it.
//! Promises: a line tells by itself how old it may be.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::identity::CandidateId;
use crate::rounds::register::Profile;
use crate::time::StoreTime;

/// How many of its own intervals a line may be old before its candidate counts as gone.
const MISSED: u32 = 3;

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
