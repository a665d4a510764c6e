//! The bounds of a small world.

use core::time::Duration;

use incumbent_protocol::candidacy::Candidacy;
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{MemberId, Profile, Vars};
use incumbent_protocol::rules::{Expiry, Rules, Timing};
use incumbent_protocol::time::{StoreTime, Time};

/// How long a tick is. With `lease`, the lease is five of them, the margin one, a beat two, the grace
/// one; with `rounds`, a round is three at first and four at most, and a lease two rounds.
const TICK: Duration = Duration::from_millis(10);

/// What a world may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Which protocol the candidates run.
    pub protocol: Protocol,
    /// How fast the clock of each candidate runs, in thousandths; there are as many candidates.
    pub rates: Vec<u64>,
    /// How many ticks it lasts.
    pub horizon: u64,
    /// For how many ticks from the beginning nothing goes wrong and nothing is late.
    pub calm: u64,
    /// How often what may go wrong at most.
    pub budget: Budget,
    /// Whether the store has proof of a holder's death.
    pub proof: bool,
    /// What is wrong with the drivers, if anything: the model must find out.
    pub flaw: Option<Flaw>,
}

/// Which protocol the candidates of a world run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// One row.
    Lease,
    /// Registers and a roster.
    Rounds,
    /// The same, in an election whose rounds have become longer than they were at first.
    GrownRounds,
}

/// How often each kind of trouble may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Ticks that pass while a request or an answer is under way, summed over all of them.
    pub delays: u8,
    /// Outcomes that stay unknown: the answer is lost, or the request is, or it comes late.
    pub unknown: u8,
    /// Processes that crash.
    pub crashes: u8,
    /// Processes that stop for a while.
    pub pauses: u8,
    /// Orders of an operator to end a term.
    pub demotions: u8,
    /// Leaders that let go of their own accord.
    pub resignations: u8,
    /// Clocks that are found to have jumped.
    pub jumps: u8,
    /// Stores that lose their row, and know that they are new.
    pub losses: u8,
    /// Rows of a roster that somebody removes, whoever lives.
    pub evictions: u8,
    /// Operators who remove VARS under running candidates.
    pub resets: u8,
    /// Rows that somebody removes, which nothing notes.
    pub removals: u8,
    /// Stores that go back to before the round grew, which nothing notes.
    pub rewinds: u8,
}

/// Mistakes of a driver or a store that would break the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// A lease counts from when the answer came.
    LeaseStampedLate,
    /// An observation counts from when the question was sent.
    ObservationStampedEarly,
    /// A renewal whose outcome is unknown counts as done.
    UnknownTakenForCommitted,
    /// The store claims to have proof of death as soon as a process is paused.
    PauseTakenForDeath,
}

impl Setup {
    /// A world without trouble, of candidates with even clocks.
    pub fn calm(candidates: usize, horizon: u64) -> Setup {
        Setup {
            protocol: Protocol::Lease,
            rates: vec![1_000; candidates],
            horizon,
            calm: 0,
            budget: Budget::default(),
            proof: false,
            flaw: None,
        }
    }

    /// The same world with another protocol.
    #[must_use]
    pub fn with(self, protocol: Protocol) -> Setup {
        Setup { protocol, ..self }
    }

    /// The candidate in a seat, before it begins.
    pub fn candidacy(&self, seat: usize) -> Candidacy {
        let me = Self::candidate(seat);
        match self.protocol {
            Protocol::Lease => Candidacy::new(me, Self::timing()),
            Protocol::Rounds | Protocol::GrownRounds => {
                let (pacing, profile) = (Self::pacing(), Profile::default());
                Candidacy::in_rounds(me, Self::timing_in_rounds(), pacing, profile)
            }
        }
    }

    /// VARS as the world begins.
    pub fn vars(&self) -> Option<Vars> {
        let pacing = Self::pacing();
        let pace = Pace::first(&pacing).longer(&pacing)?;
        let (epoch, max_id) = (StoreTime::from_micros(1), MemberId::NONE);
        let vars = Vars { epoch, max_id, pacing, pace, evicted: false };
        (self.protocol == Protocol::GrownRounds).then_some(vars)
    }

    /// The timings of everyone: a lease of five ticks that its holder may use for four.
    ///
    /// # Panics
    /// Never: the numbers are constants, and a test makes them.
    pub fn timing() -> Timing {
        let rules = Rules::new(TICK * 5, TICK, Expiry::Observed);
        let timing = rules.and_then(|r| Timing::new(r, TICK * 2, Duration::from_millis(1), TICK));
        timing.expect("constants that fit each other")
    }

    /// What everyone agrees on about rounds: the proportions of the paper, with a margin that small
    /// worlds can tell from nothing.
    ///
    /// # Panics
    /// Never: the numbers are constants, and a test makes them.
    pub fn pacing() -> Pacing {
        Pacing::new(TICK * 3, 2, TICK, TICK, TICK * 4).expect("constants that fit each other")
    }

    /// The timings of everyone in rounds: a lease of six ticks that its holder may use for five.
    fn timing_in_rounds() -> Timing {
        let pacing = Self::pacing();
        let rules = pacing.rules_at(pacing.round_time());
        let timing = Timing::new(rules, pacing.round_time(), Duration::from_millis(1), TICK);
        timing.expect("constants that fit each other")
    }

    /// Who the candidate in a seat is.
    ///
    /// # Panics
    /// Never: a number is a good name.
    pub fn candidate(seat: usize) -> CandidateId {
        let name = CandidateName::new(format!("c{seat}")).expect("a good name");
        CandidateId::new(name, Incarnation::from_random(seat as u128 + 1))
    }

    /// What the clock in a seat shows after so many ticks. Each has an offset of its own.
    pub fn local(&self, seat: usize, tick: u64) -> Time {
        let origin = TICK * 100 * (u32::try_from(seat).unwrap_or(0) + 1);
        let rate = self.rates.get(seat).copied().unwrap_or(1_000);
        let nanos = u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
        Time::ZERO + origin + Duration::from_nanos(tick * nanos / 1_000 * rate)
    }
}
