//! How an election is held, and how a candidate takes part in it.
//!
//! Assumes: settings that were checked together.
//! Promises: whatever differs between the protocols is told here, and nowhere else in the driver.

use std::str::FromStr;

use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::succession::Settings;

use crate::error::Error;

/// How an election is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// One row per election, beaten by whoever leads. Whoever is first to see it free takes it.
    #[default]
    Lease,
    /// Registers and a roster: every candidate beats once a round, the lowest in line leads, and the
    /// round time adapts to how many keep up.
    Rounds,
    /// Peers pick one of them by a message that goes round a ring, and a majority of them grants it
    /// the term. Needs no database.
    Ring,
    /// Peers pick the highest of them that answers, and a majority of them grants it the term. Needs
    /// no database.
    Bully,
}

impl Protocol {
    const ALL: [Protocol; 4] = [Protocol::Lease, Protocol::Rounds, Protocol::Ring, Protocol::Bully];

    /// Whether peers hold elections by it, and not a database.
    pub const fn is_of_peers(self) -> bool {
        matches!(self, Protocol::Ring | Protocol::Bully)
    }

    /// The word used in URLs, settings and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Protocol::Lease => "lease",
            Protocol::Rounds => "rounds",
            Protocol::Ring => "ring",
            Protocol::Bully => "bully",
        }
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        Protocol::ALL.into_iter().find(|protocol| protocol.as_str() == word).ok_or_else(|| {
            let problem =
                format!("{word:?} is none: use \"lease\", \"rounds\", \"ring\" or \"bully\"");
            Error::Setting { setting: "protocol", problem }
        })
    }
}

/// How a candidate takes part in an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contest {
    pub(crate) timing: Timing,
    /// In an election with a roster: what all agree on.
    pub(crate) rounds: Option<Pacing>,
    /// What the candidate is, tells and prefers.
    pub(crate) succession: Settings,
}

impl Contest {
    /// The timings with the most patience that this candidate can come to have: what a busy group
    /// makes of the store at the moment, rounds adapt to.
    pub(crate) fn at_its_slowest(&self) -> Timing {
        let Some(pacing) = &self.rounds else {
            return self.timing;
        };
        let times = pacing.cap().as_secs_f64() / pacing.round_time().as_secs_f64();
        self.timing.patient(self.timing.timeout().mul_f64(times.max(1.0)))
    }

    /// The same candidate in an election with other timings.
    pub(crate) fn with_timing(&self, timing: Timing) -> Result<Contest, Error> {
        let succession = self.succession.clone();
        let Some(pacing) = &self.rounds else {
            return Ok(Contest { timing, rounds: None, succession });
        };
        let (lease, margin) = (timing.rules().lease(), timing.rules().margin());
        let round = lease / pacing.round_limit();
        let usual = Pacing::of_round(round, pacing.round_limit())?;
        let pacing = Pacing::new(round, usual.round_limit(), margin, usual.delta(), usual.cap())?;
        let timeout = timing.timeout().min(lease / 8);
        let timing = Timing::new(pacing.rules_at(round), round, timeout, timing.grace())?;
        Ok(Contest { timing, rounds: Some(pacing), succession })
    }
}
