//! What can go wrong among peers.
//!
//! Assumes: the world knows how to bring each kind about.
//! Promises: a fault is a few plain numbers, so that a story of them can be written down and cut short.

use serde::{Deserialize, Serialize};

use crate::fault::kinds;

/// Something that goes wrong among peers.
pub type Fault = crate::fault::Fault<Kind>;

kinds! {
    /// A process is killed and comes back later with its disk.
    Crash = "crash",
    /// Whoever leads is killed.
    CrashLeader = "crash_leader",
    /// Whoever was picked and does not lead yet is killed: a second failure during an election.
    CrashNominee = "crash_nominee",
    /// A voter is killed after it kept a promise and before it answered.
    CrashKept = "crash_kept",
    /// All processes are killed at once.
    CrashAll = "crash_all",
    /// A process is stopped and goes on later.
    Pause = "pause",
    /// Whoever leads is stopped and goes on later.
    PauseLeader = "pause_leader",
    /// A host's clock runs at another rate, within the bound.
    Skew = "skew",
    /// A host's wall clock is set.
    WallStep = "wall_step",
    /// A host's lease clock leaps ahead of its wall clock.
    ClockLeap = "clock_leap",
    /// Messages of a node are lost.
    Loss = "loss",
    /// Messages of a node arrive twice.
    Duplicate = "duplicate",
    /// Messages of a node take longer, up to several leases.
    Delay = "delay",
    /// Messages of a node overtake each other.
    Reorder = "reorder",
    /// A node is cut off from all others.
    Cut = "cut",
    /// Nothing that a node says arrives.
    CutOut = "cut_out",
    /// Nothing arrives at a node.
    CutIn = "cut_in",
    /// Two nodes do not reach each other, though both reach the rest.
    CutPair = "cut_pair",
    /// The nodes fall into two parts that do not reach each other.
    Split = "split",
    /// A node is cut off and comes back, again and again.
    Flap = "flap",
    /// All links of a node end, and are made anew.
    LinksLost = "links_lost",
    /// A voter's disk is slow.
    DiskSlow = "disk_slow",
    /// A voter's disk refuses to write.
    DiskFull = "disk_full",
    /// A process is killed and comes back with an empty disk. Only a minority does.
    DiskLost = "disk_lost",
    /// A leader lets go.
    Resign = "resign",
    /// A leader lets go for an heir: a live one, one that is gone, or itself.
    ResignTo = "resign_to",
    /// A candidate is not well enough to lead, for a while.
    Unfit = "unfit",
    /// An operator ends a term.
    Demote = "demote",
    /// An operator ends a term, and keeps whoever led from winning for a while.
    HoldOff = "hold_off",
    /// An operator reserves the next term for a candidate.
    Takeover = "takeover",
    /// An operator reserves the next term for a name that nobody has.
    TakeoverDead = "takeover_dead",
    /// An operator makes a node vote.
    AddVoter = "add_voter",
    /// An operator lets a node vote no longer.
    RemoveVoter = "remove_voter",
    /// An operator pauses the election, and resumes it later.
    PauseElection = "pause_election",
    /// An operator cordons a candidate, and lets it in again later.
    Cordon = "cordon",
    /// An operator asks whoever leads to end its work and to let go for a candidate.
    Transfer = "transfer",
}

impl Kind {
    /// Whether it comes of what operators have in force. Such kinds are drawn from chance of their own,
    /// so that all else is as in a world without them.
    pub const fn is_of_conduct(self) -> bool {
        matches!(self, Kind::PauseElection | Kind::Cordon | Kind::Transfer)
    }
}
