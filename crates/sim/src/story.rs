//! What a seed stands for: the setting of a world, and everything that will go wrong in it.
//!
//! Assumes: nothing; every seed gives a story.
//! Promises: the whole story is known before the world begins, so that it can be cut short until
//! only the faults are left that matter. Each seed draws its own few kinds of fault and its own
//! rates.

use core::time::Duration;

use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::{Expiry, Rules, Timing, TimingError};
use serde::{Deserialize, Serialize};

use crate::clock::{At, Skew, Span, WHOLE};
use crate::genre;
use crate::random::Random;

mod draw;
mod protocol;
mod sense;
mod shorter;
mod succession;

pub use protocol::{Protocol, Rounds};
pub(crate) use sense::LONGEST;
pub use succession::{Preempt, Succession};

/// How a database runs its transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// One writer at a time, for everything.
    OneWriter,
    /// A lock per election; renewals touch a row of their own and wait for nobody.
    RowLocks,
}

/// What the fenced transactions of a database see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Each statement sees the newest committed rows.
    ReadCommitted,
    /// All statements see the rows of when it began; a guard that finds the election row changed
    /// since then fails.
    Snapshot,
}

/// The setting of a world. All spans in nanoseconds.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent choices, as a person would list them"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// How many processes.
    pub candidates: usize,
    /// In how many elections each of them takes part.
    pub elections: usize,
    /// Whether the last process has the name of the first.
    pub twins: bool,
    /// The lease.
    pub lease: Span,
    /// What is cut from it.
    pub margin: Span,
    /// Time between two renewals.
    pub beat: Span,
    /// How long a request may take.
    pub timeout: Span,
    /// What is kept for stopping the work.
    pub grace: Span,
    /// Whose clock says that a lease has run out.
    pub expiry: Expiry,
    /// The rate of each process's clock.
    pub skews: Vec<Skew>,
    /// The rate of the database's clock.
    pub store_skew: Skew,
    /// The fastest that a message passes.
    pub latency_least: Span,
    /// The slowest that a message passes on a healthy link.
    pub latency_most: Span,
    /// The slowest that a healthy database commits.
    pub commit_most: Span,
    /// After how long a transaction that waits for a lock is given up.
    pub lock_timeout: Span,
    /// How late a process gets its turn at most when all is well.
    pub lateness: Span,
    /// How long after a crash the database can prove it, if it can.
    pub proof: Option<Span>,
    /// How the database runs transactions.
    pub engine: Engine,
    /// Whether a process decides in the midst of its transaction, so that it can stop there.
    pub interactive: bool,
    /// Whether resources check tokens.
    pub fenced: bool,
    /// Whether all clocks keep to the bound, so that leases are judged and not only tokens.
    pub even_clocks: bool,
    /// What the fenced transactions of leaders see, if there are any. Stories from before there were
    /// do not say.
    #[serde(default)]
    pub transactions: Option<Isolation>,
    /// How the rounds are paced, in an election with a roster. Others do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// What candidates prefer, and how they know of each other, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succession: Option<Succession>,
    /// Whether other rules are shorter ones. Stories from before there were such do not say.
    #[serde(default, skip_serializing_if = "is_not")]
    pub shorter_rules: bool,
    /// How long the whole run takes.
    pub length: Span,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

impl Setting {
    /// The timings of all candidates.
    pub fn timing(&self) -> Result<Timing, TimingError> {
        Timing::new(
            self.rules(self.lease, self.margin)?,
            span(self.beat),
            span(self.timeout),
            span(self.grace),
        )
    }

    /// The timings of a candidate that keeps other rules.
    pub fn odd_timing(&self) -> Result<Timing, TimingError> {
        let (lease, margin) = self.odd_lease();
        let rules = self.rules(lease, margin)?;
        if self.shorter_rules {
            // Rules are kept in whole microseconds, so that there may be a little less room.
            let timeout = self.timeout / 2 - 2_000;
            return Timing::new(rules, span(self.beat / 2), span(timeout), span(self.grace / 2));
        }
        Timing::new(rules, span(self.beat), span(self.timeout), span(self.grace))
    }

    fn rules(&self, lease: Span, margin: Span) -> Result<Rules, TimingError> {
        Rules::new(span(lease), span(margin), self.expiry)
    }

    /// The pacing of all candidates, if the election has a roster.
    pub fn pacing(&self) -> Result<Option<Pacing>, TimingError> {
        self.rounds.map(|rounds| rounds.pacing(self.lease, self.margin)).transpose()
    }

    /// The pacing of a candidate that keeps other rules.
    pub fn odd_pacing(&self) -> Result<Option<Pacing>, TimingError> {
        let (lease, margin) = self.odd_lease();
        self.rounds.map(|rounds| rounds.longer().pacing(lease, margin)).transpose()
    }

    /// The lease of other rules, and what is cut from it.
    const fn odd_lease(&self) -> (Span, Span) {
        if self.shorter_rules {
            return (self.lease / 2, self.margin / 2);
        }
        let share = if self.rounds.is_some() { 4 } else { 1 };
        (self.lease + self.lease / share, self.margin + self.margin / share)
    }

    /// An outage in which every lease ends, those by other rules too.
    pub fn long_outage(&self) -> Span {
        self.longest_lease() * 2
    }

    /// The longest lease that anybody may hold by the usual rules: that of the longest round.
    pub fn longest_lease(&self) -> Span {
        self.rounds.map_or(self.lease, |rounds| rounds.cap * u64::from(rounds.limit))
    }

    /// The largest skew that the margin covers: two clocks may then differ by `lease / (lease -
    /// margin)`.
    pub fn skew_bound(&self) -> Skew {
        let whole = u128::from(WHOLE.unsigned_abs());
        let bound = whole * u128::from(self.margin) / u128::from(self.lease * 2 - self.margin);
        // Two parts in a million are kept for what rounding to nanoseconds costs.
        Skew::try_from(bound).map_or(0, |bound| (bound - 2).max(0))
    }

    /// How long the end of a run takes, in which nothing goes wrong: time to elect, time to agree,
    /// time to be quiet.
    pub fn calm(&self) -> Span {
        self.longest_lease() * 16
    }

    /// When everything heals.
    pub fn heals_at(&self) -> At {
        self.length.saturating_sub(self.calm())
    }
}

/// A story of a database.
pub type Story = genre::Story<Setting>;

impl Story {
    /// The story of a seed, in a run of that length, without a roster.
    pub fn of_seed(seed: u64, length: Span) -> Story {
        Story::of(Protocol::Lease, seed, length)
    }

    /// The story of a seed for a protocol.
    pub fn of(protocol: Protocol, seed: u64, length: Span) -> Story {
        let mut random = Random::from_seed(seed ^ 0x1eca_5eed);
        let mut setting = draw::setting(&mut random, length);
        setting.transactions = draw::transactions(&mut Random::from_seed(seed ^ 0x00fe_4ced));
        if protocol == Protocol::Rounds {
            draw::rounds(&mut Random::from_seed(seed ^ 0x0000_40b1), &mut setting);
        }
        setting.shorter_rules =
            draw::shorter_rules(&mut Random::from_seed(seed ^ 0x0005_4024), &setting);
        let mut preferring = Random::from_seed(seed ^ 0x005e_edce);
        setting.succession = draw::succession(&mut preferring, &setting);
        let mut faults = draw::faults(&mut random, &setting);
        faults.extend(draw::successions(&mut preferring, &setting));
        let upon = draw::compounds(&mut Random::from_seed(seed ^ 0x0c03_9001), &setting, &faults);
        faults.extend(draw::conduct(&mut Random::from_seed(seed ^ 0x0c04_d0c7), &setting));
        faults.extend(upon);
        faults.sort_by_key(|fault| fault.at);
        Story { seed, setting, faults }
    }

    /// Which protocol it is of.
    pub const fn protocol(&self) -> Protocol {
        if self.setting.rounds.is_some() { Protocol::Rounds } else { Protocol::Lease }
    }

    /// Whether its database ever shows an older state, or none.
    pub fn goes_back(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind.goes_back())
    }

    /// The chance that the world draws from while it runs.
    pub fn random(&self) -> Random {
        Random::from_seed(self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x0077_0a1d)
    }
}

/// A span of the world as a span of a candidate's configuration.
pub const fn span(nanos: Span) -> Duration {
    Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND;

    const HOUR: Span = 3_600 * SECOND;

    #[test]
    fn every_seed_has_timings_that_work_and_faults_in_order() {
        let stories = |protocol| (0..500).map(move |seed| Story::of(protocol, seed, HOUR));
        for story in stories(Protocol::Lease).chain(stories(Protocol::Rounds)) {
            let (seed, setting) = (story.seed, &story.setting);
            assert!(setting.timing().is_ok() && setting.pacing().is_ok(), "{seed}");
            assert!(setting.odd_timing().is_ok() && setting.odd_pacing().is_ok(), "{seed}");
            assert!((2..=7).contains(&setting.candidates));
            let round_trip = setting.latency_most * 2 + setting.commit_most;
            let timing = setting.timing().expect("as above");
            assert!(timing.fits_round_trip(span(round_trip), None).is_ok(), "{seed}");
            assert!(story.faults.is_sorted_by_key(|fault| fault.at));
            assert!(story.faults.iter().all(|f| f.at < setting.heals_at()));
        }
    }

    #[test]
    fn clocks_within_the_bound_cannot_make_a_lease_outlast_a_patience() {
        for seed in 0..200 {
            let setting = Story::of_seed(seed, HOUR).setting;
            let bound = setting.skew_bound();
            let (slow, fast) = (WHOLE - bound, WHOLE + bound);
            let held = u128::from(setting.lease - setting.margin) * u128::from(fast.unsigned_abs());
            let waited = u128::from(setting.lease) * u128::from(slow.unsigned_abs());
            assert!(held <= waited, "{seed}");
        }
    }

    #[test]
    fn every_kind_of_fault_is_drawn_by_some_seed() {
        for protocol in [Protocol::Lease, Protocol::Rounds] {
            let stories: Vec<Story> =
                (0..400).map(|seed| Story::of(protocol, seed, HOUR)).collect();
            for kind in protocol.kinds() {
                assert!(stories.iter().any(|story| story.has(kind)), "{protocol}: {kind}");
            }
        }
    }

    #[test]
    fn what_operators_have_in_force_shifts_no_other_fault() {
        for seed in 0..50 {
            let setting = Story::of_seed(seed, HOUR).setting;
            let mut random = Random::from_seed(seed ^ 0x1eca_5eed);
            let _setting = draw::setting(&mut random, HOUR);
            let apart = draw::faults(&mut random, &setting);
            let mut story = Story::of_seed(seed, HOUR).faults;
            story.retain(|fault| !fault.kind.is_of_conduct() && !fault.kind.is_of_succession());
            // A candidate may be cut off while a compound fault lasts.
            let mut random = Random::from_seed(seed ^ 0x0c03_9001);
            let upon = draw::compounds(&mut random, &setting, &apart);
            story.retain(|fault| !upon.contains(fault));
            assert_eq!(story, apart, "{seed}");
        }
    }

    #[test]
    fn a_roster_changes_the_setting_of_a_seed_and_not_its_faults_kind_by_kind() {
        for seed in 0..50 {
            let (lease, rounds) =
                (Story::of_seed(seed, HOUR), Story::of(Protocol::Rounds, seed, HOUR));
            assert_eq!((lease.protocol(), rounds.protocol()), (Protocol::Lease, Protocol::Rounds));
            assert_eq!(lease.setting.candidates, rounds.setting.candidates);
            assert!(lease.faults.iter().all(|fault| !fault.kind.is_of_rounds()), "{seed}");
        }
    }
}
