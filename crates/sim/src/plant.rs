//! Mistakes on purpose, to see whether the judges notice.
//!
//! Assumes: a test or a ledger asks for them; no ordinary run does.
//! Promises: at most one at a time. Mistakes of the protocol live there, behind its feature
//! `planted`; those of a driver, a database or a resource live in this crate.

use core::fmt;
use core::str::FromStr;

use incumbent_protocol::planted::Bug;

use crate::story::Protocol;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// None.
    Nothing,
    /// One in the protocol itself.
    Protocol(Bug),
    /// The driver counts a lease from the answer instead of from before the request.
    LeaseFromAnswer,
    /// The driver counts an observation from a stamp that was left over from the request before.
    HeardBeforeAsking,
    /// The driver's timer catches up on missed ticks in a burst, and takes their nominal time for
    /// the time.
    BurstingTimer,
    /// The driver counts leases on a clock that stands still while the host sleeps.
    MonotonicClock,
    /// The database writes a takeover without comparing the beat that it was decided on.
    UnguardedClaim,
    /// The resource trusts a name that it knows instead of comparing tokens.
    FenceByName,
    /// The supervisor cancels work when the lease ends instead of before.
    CancelLate,
    /// The supervisor misses the notice of a loss.
    NoticeDropped,
    /// The database commits fenced transactions without looking at the term.
    UnguardedCommit,
    /// The database looks at the term when a fenced transaction begins, and not again.
    GuardAtBegin,
    /// The guard of a fenced transaction reads the term without locking it.
    UnlockedGuard,
    /// The client takes a fenced transaction of unknown outcome for committed.
    LostCommitAsDone,
    /// The database decides an exclusive round on what it saw before it waited for the lock, and
    /// writes without comparing: a snapshot that was taken too early.
    StaleRoster,
}

impl Plant {
    /// All that can be made in the worlds of a protocol, those of the protocol itself first.
    pub fn of(protocol: Protocol) -> impl Iterator<Item = Plant> {
        Plant::all().filter(move |plant| plant.fits(protocol))
    }

    /// Whether it makes a difference in the worlds of a protocol.
    pub fn fits(self, protocol: Protocol) -> bool {
        if matches!(self, Plant::Protocol(bug) if Bug::OF_OWN_WORLDS.contains(&bug)) {
            return false;
        }
        match protocol {
            // Only a roster can have these.
            Protocol::Lease => !matches!(
                self,
                Plant::StaleRoster
                    | Plant::Protocol(
                        Bug::EvictedKeepsId
                            | Bug::ShrunkAtOnce
                            | Bug::ShorterOutwaited
                            | Bug::RoundOutwaited
                    )
            ),
            // A roster's claims are no bids of their own, and are compared as a whole; and they wait
            // for a lease at the cap, whatever the row says.
            Protocol::Rounds => !matches!(
                self,
                Plant::UnguardedClaim
                    | Plant::Protocol(Bug::LongestForgotten | Bug::ReleasedAtOnce)
            ),
        }
    }

    /// All that only peers can make.
    pub fn of_peers() -> impl Iterator<Item = Plant> {
        Bug::OF_PEERS.iter().map(|&bug| Plant::Protocol(bug))
    }

    /// All of them but those that only peers can make, those of the protocol first.
    pub fn all() -> impl Iterator<Item = Plant> {
        let here = [
            Plant::LeaseFromAnswer,
            Plant::HeardBeforeAsking,
            Plant::BurstingTimer,
            Plant::MonotonicClock,
            Plant::UnguardedClaim,
            Plant::FenceByName,
            Plant::CancelLate,
            Plant::NoticeDropped,
            Plant::UnguardedCommit,
            Plant::GuardAtBegin,
            Plant::UnlockedGuard,
            Plant::LostCommitAsDone,
            Plant::StaleRoster,
        ];
        Bug::ALL.iter().map(|&bug| Plant::Protocol(bug)).chain(here)
    }

    /// The word used in commands and ledgers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Plant::Nothing => "nothing",
            Plant::Protocol(bug) => bug.as_str(),
            Plant::LeaseFromAnswer => "lease_from_answer",
            Plant::HeardBeforeAsking => "heard_before_asking",
            Plant::BurstingTimer => "bursting_timer",
            Plant::MonotonicClock => "monotonic_clock",
            Plant::UnguardedClaim => "unguarded_claim",
            Plant::FenceByName => "fence_by_name",
            Plant::CancelLate => "cancel_late",
            Plant::NoticeDropped => "notice_dropped",
            Plant::UnguardedCommit => "unguarded_commit",
            Plant::GuardAtBegin => "guard_at_begin",
            Plant::UnlockedGuard => "unlocked_guard",
            Plant::LostCommitAsDone => "lost_commit_as_done",
            Plant::StaleRoster => "stale_roster",
        }
    }

    /// Whether this build can make the mistake.
    pub fn is_available(self) -> bool {
        match self {
            Plant::Protocol(_) => incumbent_protocol::planted::AVAILABLE,
            _ => true,
        }
    }

    /// Makes the mistake, in this thread, while `run` runs.
    pub fn while_planted<T>(self, run: impl FnOnce() -> T) -> T {
        match self {
            Plant::Protocol(bug) => incumbent_protocol::planted::while_planted(bug, run),
            _ => run(),
        }
    }
}

impl fmt::Display for Plant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Plant {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if word == Plant::Nothing.as_str() {
            return Ok(Plant::Nothing);
        }
        let known = || Plant::all().chain(Plant::of_peers());
        known().find(|plant| plant.as_str() == word).ok_or_else(|| {
            let words: Vec<&str> = known().map(Plant::as_str).collect();
            format!("no mistake is called {word:?}: use one of {}", words.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_found_by_its_word() {
        for plant in Plant::all().chain(Plant::of_peers()) {
            assert_eq!(plant.as_str().parse(), Ok(plant));
        }
        assert_eq!("nothing".parse(), Ok(Plant::Nothing));
        assert!("everything".parse::<Plant>().is_err());
    }
}
