//! What can go wrong, and when it does.
//!
//! Assumes: the world knows how to bring each kind about.
//! Promises: a fault is a few plain numbers, so that a story of them can be written down, cut short
//! and told again.

use core::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::{At, Span};

/// The kinds of fault that one sort of world knows.
pub trait Menu:
    Copy + Ord + fmt::Debug + fmt::Display + Serialize + DeserializeOwned + 'static
{
    /// All of them, in the order of the menu.
    const ALL: &'static [Self];
}

/// Declares a menu: each kind with its word.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)+) => {
        /// A way in which a world can go wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// All of them, in the order of the menu.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)+];

            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The word used in stories, totals and ledgers.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)+
                }
            }
        }

        impl $crate::fault::Menu for Kind {
            const ALL: &'static [Kind] = Kind::ALL;
        }

        impl core::fmt::Display for Kind {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl core::str::FromStr for Kind {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                let found = Kind::ALL.iter().find(|kind| kind.as_str() == word);
                found.copied().ok_or_else(|| format!("no fault is called {word:?}"))
            }
        }
    };
}

pub(crate) use kinds;

kinds! {
    /// A process is killed and comes back later under the same name.
    Crash = "crash",
    /// All processes are killed at once.
    CrashAll = "crash_all",
    /// A process is stopped and goes on later.
    Pause = "pause",
    /// A process gets its turn late.
    SlowCpu = "slow_cpu",
    /// A host sleeps: its monotonic clock stands still, its boot-time clock does not.
    Suspend = "suspend",
    /// A host's wall clock is set.
    WallStep = "wall_step",
    /// A host's lease clock leaps ahead of its wall clock.
    ClockLeap = "clock_leap",
    /// A host's clock runs at another rate, within the bound.
    Skew = "skew",
    /// The database's wall clock is set.
    StoreStep = "store_step",
    /// Messages between a process and the database are lost.
    Loss = "loss",
    /// Messages arrive twice.
    Duplicate = "duplicate",
    /// Messages take up to ten leases longer.
    Delay = "delay",
    /// Messages overtake each other.
    Reorder = "reorder",
    /// A process and the database do not reach each other.
    Cut = "cut",
    /// Requests of a process do not arrive.
    CutRequests = "cut_requests",
    /// Answers to a process do not arrive.
    CutAnswers = "cut_answers",
    /// Some processes do not reach the database, the others do.
    CutPartial = "cut_partial",
    /// A process loses and finds the database again and again.
    Flap = "flap",
    /// The database is killed and comes back with what it had committed.
    StoreRestart = "store_restart",
    /// Transactions are aborted, as by deadlocks and failed serialization.
    Abort = "abort",
    /// Another transaction keeps the row locked.
    Hog = "hog",
    /// Commits take long.
    Stall = "stall",
    /// The database takes no writes.
    ReadOnly = "read_only",
    /// Writes fail when they are to be kept.
    DiskFull = "disk_full",
    /// A change is committed and its answer lost.
    AnswerLost = "answer_lost",
    /// A change is committed, its answer comes late, and the process is cut off after that.
    AnswerLate = "answer_late",
    /// A connection is reset under a request.
    Reset = "reset",
    /// The database comes back in an older state, as after the promotion of a replica that missed
    /// the last writes.
    Rollback = "rollback",
    /// The database is deleted and made anew under running candidates.
    Delete = "delete",
    /// An operator ends a term.
    Demote = "demote",
    /// An operator reserves the next term for a live candidate.
    TakeoverLive = "takeover_live",
    /// An operator reserves the next term for a name that nobody has.
    TakeoverDead = "takeover_dead",
    /// A leader lets go.
    Resign = "resign",
    /// A candidate does not want to lead for a while.
    Withdraw = "withdraw",
    /// Hints come in bursts, without a cause.
    Bells = "bells",
    /// A process comes back with other rules than the rest.
    OddRules = "odd_rules",
    /// A host's clock runs at a rate far beyond the bound. Only tokens are promised.
    SkewBeyond = "skew_beyond",
    /// All clocks of a host stood still and nothing shows it, as after the restoration of a virtual
    /// machine. Only tokens are promised.
    ClockLoss = "clock_loss",
    /// A leader is stopped between two statements of a fenced transaction.
    PauseInTransaction = "pause_in_transaction",
    /// A fenced transaction is committed and its answer lost.
    CommitLost = "commit_lost",
    /// The database is killed between the guard and the commit of a fenced transaction.
    GuardCrash = "guard_crash",
    /// All connections to the database are lost at once.
    ConnectionsLost = "connections_lost",
    /// Somebody deletes the register VARS of an election, or makes it anew, under running candidates.
    VarsReset = "vars_reset",
    /// Somebody deletes a row of a roster by hand.
    RowRemoved = "row_removed",
    /// An operator pauses an election, and resumes it later.
    PauseElection = "pause_election",
    /// An operator cordons a candidate, and lets it in again later.
    Cordon = "cordon",
    /// An operator ends a term, and keeps whoever led from winning for a while.
    HoldOff = "hold_off",
    /// A leader lets go for an heir: a live one, one that is gone, or itself.
    ResignTo = "resign_to",
    /// A candidate lets others go first, for up to a lease.
    Defer = "defer",
    /// A candidate gives up its place in line for one at the end of it.
    StepBack = "step_back",
    /// All candidates are stopped and come back with other rules: with a longer lease or a shorter one,
    /// or with the usual one again.
    NewRules = "new_rules",
    /// An operator asks the leader to hand over to a live candidate.
    Transfer = "transfer",
    /// A process is not well enough to lead for a while.
    Unfit = "unfit",
    /// Candidates are replaced by a newer version, one by one: each hands over, stops and comes back.
    Deploy = "deploy",
    /// A replica that missed the last writes is promoted, and its clock shows another time.
    Promotion = "promotion",
    /// All candidates are stopped and come back with other rules, and the database is deleted and made
    /// anew soon after.
    RulesThenDelete = "rules_then_delete",
    /// A process is killed at every beat for a while, and comes back at once.
    CrashLoop = "crash_loop",
}

impl Kind {
    /// Whether its target is an election and not a process.
    pub const fn is_of_election(self) -> bool {
        matches!(
            self,
            Kind::Hog
                | Kind::Demote
                | Kind::TakeoverLive
                | Kind::TakeoverDead
                | Kind::Resign
                | Kind::VarsReset
                | Kind::RowRemoved
                | Kind::PauseElection
                | Kind::Cordon
                | Kind::HoldOff
                | Kind::ResignTo
                | Kind::Transfer
        )
    }

    /// Whether it takes presence rows to do something. Such kinds are drawn from chance of their own.
    pub const fn is_of_succession(self) -> bool {
        matches!(self, Kind::Transfer | Kind::Unfit | Kind::Deploy)
    }

    /// Whether it is made of others, one upon the other. Such kinds are drawn from chance of their own,
    /// so that all else is as in a world without them.
    pub const fn is_compound(self) -> bool {
        matches!(self, Kind::Promotion | Kind::RulesThenDelete | Kind::CrashLoop)
    }

    /// Whether the database then shows an older state, or none.
    pub const fn goes_back(self) -> bool {
        matches!(self, Kind::Rollback | Kind::Delete | Kind::Promotion | Kind::RulesThenDelete)
    }

    /// Whether it takes a roster to do something.
    pub const fn is_of_rounds(self) -> bool {
        matches!(self, Kind::VarsReset | Kind::RowRemoved | Kind::StepBack)
    }

    /// Whether it comes of what operators have in force or of what candidates prefer. Such kinds are
    /// drawn from chance of their own, so that all else is as in a world without them.
    pub const fn is_of_conduct(self) -> bool {
        matches!(
            self,
            Kind::PauseElection
                | Kind::Cordon
                | Kind::HoldOff
                | Kind::ResignTo
                | Kind::Defer
                | Kind::StepBack
        )
    }

    /// Whether it takes fenced transactions to do something.
    pub const fn is_of_transactions(self) -> bool {
        matches!(self, Kind::PauseInTransaction | Kind::CommitLost | Kind::GuardCrash)
    }

    /// Whether it breaks what leases rest on, so that only tokens are promised.
    pub const fn is_beyond(self) -> bool {
        matches!(self, Kind::SkewBeyond | Kind::ClockLoss)
    }
}

/// Something that goes wrong at one instant, or from then on for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault<K = Kind> {
    /// When it begins, in the world's time.
    pub at: At,
    /// What.
    pub kind: K,
    /// Which process or node, or which election for faults of rows and orders.
    pub target: usize,
    /// For how long, or by how much time.
    pub span: Span,
    /// How bad: a chance in a million, a span, a skew, a mask or a choice, as the kind needs it.
    pub level: i64,
}

impl<K> Fault<K> {
    /// The same fault once a process is gone, if it does not go with it.
    #[must_use]
    pub fn without(self, number: usize) -> Option<Self> {
        let target = self.target.checked_sub(usize::from(self.target > number))?;
        (self.target != number).then_some(Fault { target, ..self })
    }
}

impl<K: fmt::Display> fmt::Display for Fault<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { kind, target, span, level, .. } = self;
        let millis = span / 1_000_000;
        write!(f, "{kind} of {target} for {millis} ms, level {level}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_word() {
        for &kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("earthquake".parse::<Kind>().is_err());
    }
}
