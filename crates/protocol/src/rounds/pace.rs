//! How long a round is, and what all candidates agree on about it.
//!
//! Assumes: nothing; every number comes from a person or from a store.
//! Promises: a [`Pacing`] that exists can work at every pace that it allows: a lease is always so
//! many rounds, and its margin the same share of it.

use core::fmt;
use core::time::Duration;

use serde::Serialize;

use crate::planted::{self, Bug};
use crate::rules::{Expiry, Rules, TimingError, whole_micros};

/// What all candidates of an election agree on about its rounds. Kept in VARS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Pacing {
    round_time: Duration,
    round_limit: u32,
    margin: Duration,
    delta: Duration,
    cap: Duration,
}

impl Pacing {
    /// Fewest rounds in a lease: with one, a single late round would end it.
    pub const LIMIT_MIN: u32 = 2;
    /// Most rounds in a lease.
    pub const LIMIT_MAX: u32 = 100;

    /// Checks the round time with which an election begins, how many rounds make a lease, the margin
    /// of that lease, by how much a round grows under pressure, and how long it may become.
    pub fn new(
        round_time: Duration,
        round_limit: u32,
        margin: Duration,
        delta: Duration,
        cap: Duration,
    ) -> Result<Self, TimingError> {
        let [round_time, margin, delta, cap] = [round_time, margin, delta, cap].map(whole_micros);
        let (least, most) = (Self::LIMIT_MIN, Self::LIMIT_MAX);
        if !(least..=most).contains(&round_limit) {
            return Err(TimingError::RoundLimit { limit: round_limit, least, most });
        }
        for (what, span) in [("round time", round_time), ("delta", delta)] {
            if span < Duration::from_millis(1) {
                return Err(TimingError::Zero { what, span });
            }
        }
        if cap < round_time {
            return Err(TimingError::RoundCap { cap, round_time });
        }
        Rules::new(cap.saturating_mul(round_limit), cap * round_limit / 10, Expiry::Rounds)?;
        Rules::new(round_time * round_limit, margin, Expiry::Rounds)?;
        Ok(Pacing { round_time, round_limit, margin, delta, cap })
    }

    /// The usual proportions of a lease of so many rounds: margin a tenth of the lease, growth a
    /// fortieth of a round, at most ten times the round.
    pub fn of_round(round_time: Duration, round_limit: u32) -> Result<Self, TimingError> {
        let lease = round_time.saturating_mul(round_limit);
        let delta = (round_time / 40).max(Duration::from_millis(1));
        let cap = round_time.saturating_mul(10).min(Rules::LEASE_MAX / round_limit.max(1));
        Pacing::new(round_time, round_limit, lease / 10, delta, cap.max(round_time))
    }

    /// The round time with which an election begins, and below which it never goes.
    pub const fn round_time(&self) -> Duration {
        self.round_time
    }

    /// How many rounds a lease lasts.
    pub const fn round_limit(&self) -> u32 {
        self.round_limit
    }

    /// What the leader cuts from a lease at the first round time.
    pub const fn margin(&self) -> Duration {
        self.margin
    }

    /// By how much a round grows at a time.
    pub const fn delta(&self) -> Duration {
        self.delta
    }

    /// How long a round becomes at most.
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// The rules of an election whose rounds last so long.
    pub fn rules_at(&self, round: Duration) -> Rules {
        let round = round.clamp(self.round_time, self.cap);
        let lease = round * self.round_limit;
        let share = self.margin.as_micros() * round.as_micros() / self.round_time.as_micros();
        // Whole microseconds must not carry a margin over the edge of what is allowed.
        let share = share.clamp(lease.as_micros().div_ceil(50), lease.as_micros() / 2);
        let margin = Duration::from_micros(u64::try_from(share).unwrap_or(u64::MAX));
        Rules::paced(lease, margin)
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pacing { round_time, round_limit, margin, delta, cap } = self;
        write!(
            f,
            "round time {round_time:?}, round limit {round_limit}, margin {margin:?}, delta {delta:?}, cap {cap:?}"
        )
    }
}

/// How long a round is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Pace {
    /// The round time in force: challengers are patient for so many of these.
    pub round: Duration,
    /// A shorter one that was announced: leaders hold no longer leases than this gives.
    pub next: Option<Duration>,
    /// Changes with every change, so that no old decision fits by chance.
    pub number: u64,
}

impl Pace {
    /// The pace with which an election begins.
    pub const fn first(pacing: &Pacing) -> Pace {
        Pace { round: pacing.round_time, next: None, number: 0 }
    }

    /// The pace as a store holds it. What no leader wrote is brought within bounds, and everybody
    /// does so alike.
    pub fn recorded(pacing: &Pacing, round: Duration, next: Option<Duration>, number: u64) -> Pace {
        let round = round.clamp(pacing.round_time, pacing.cap);
        let next = next.filter(|next| (pacing.round_time..round).contains(next));
        Pace { round, next, number }
    }

    /// What everybody beats by, and what a leader's lease is made of.
    pub fn shortest(&self) -> Duration {
        self.next.map_or(self.round, |next| next.min(self.round))
    }

    /// The pace after a growth, if it can grow.
    pub fn longer(&self, pacing: &Pacing) -> Option<Pace> {
        let round = (self.round + pacing.delta).min(pacing.cap);
        (round > self.round).then_some(Pace { round, next: None, number: self.number + 1 })
    }

    /// The pace after the announcement of a shorter round, if it can be shorter and none is
    /// announced.
    pub fn announced(&self, pacing: &Pacing) -> Option<Pace> {
        let next = self.round.saturating_sub(pacing.delta).max(pacing.round_time);
        let number = self.number + 1;
        if planted::is(Bug::ShrunkAtOnce) {
            // Half of it, so that whoever still holds an old lease is outlived by a challenger.
            let round = (self.round / 2).max(pacing.round_time);
            return (round < self.round).then_some(Pace { round, next: None, number });
        }
        (self.next.is_none() && next < self.round).then_some(Pace {
            next: Some(next),
            number,
            ..*self
        })
    }

    /// The pace once an announced round is in force.
    pub fn settled(&self) -> Option<Pace> {
        let round = self.next?;
        Some(Pace { round, next: None, number: self.number + 1 })
    }

    /// The pace under a new leader, which announces anew if it wants to.
    #[must_use]
    pub const fn without_announcement(&self) -> Pace {
        if self.next.is_none() {
            return *self;
        }
        Pace { round: self.round, next: None, number: self.number + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn papers() -> Pacing {
        Pacing::new(ms(2_000), 2, ms(400), ms(50), ms(20_000)).expect("the paper's settings")
    }

    #[test]
    fn a_lease_is_so_many_rounds_and_its_margin_keeps_its_share() {
        let rules = papers().rules_at(ms(3_000));
        assert_eq!((rules.lease(), rules.margin()), (ms(6_000), ms(600)));
        assert_eq!(rules.span(), ms(5_400));
    }

    #[test]
    fn the_least_and_the_largest_margin_stay_allowed_at_every_pace() {
        let micros = Duration::from_micros;
        // A fiftieth of the lease, and half of it.
        for margin in [ms(8), ms(200)] {
            let pacing = Pacing::new(ms(100), 4, margin, micros(1_003), ms(200)).expect("pacing");
            for round in (100_000..200_000).step_by(997) {
                let rules = pacing.rules_at(micros(round));
                let again = Rules::new(rules.lease(), rules.margin(), Expiry::Rounds);
                assert_eq!(again, Ok(rules), "a store could not read it back");
            }
        }
    }

    #[test]
    fn a_round_grows_by_delta_and_not_beyond_its_cap() {
        let pacing = Pacing::new(ms(100), 2, ms(20), ms(40), ms(150)).expect("pacing");
        let first = Pace::first(&pacing);
        let second = first.longer(&pacing).expect("room");
        assert_eq!((second.round, second.number), (ms(140), 1));
        let third = second.longer(&pacing).expect("room");
        assert_eq!(third.round, ms(150));
        assert_eq!(third.longer(&pacing), None);
    }

    #[test]
    fn a_shorter_round_is_announced_first_and_never_below_the_first() {
        let pacing = papers();
        let grown = Pace { round: ms(2_030), next: None, number: 3 };
        let announced = grown.announced(&pacing).expect("it is longer than the first");
        assert_eq!((announced.round, announced.next), (ms(2_030), Some(ms(2_000))));
        assert_eq!(announced.shortest(), ms(2_000));
        assert_eq!(announced.announced(&pacing), None, "one at a time");
        let settled = announced.settled().expect("announced");
        assert_eq!((settled.round, settled.next, settled.number), (ms(2_000), None, 5));
        assert_eq!(settled.announced(&pacing), None, "never below the first");
    }

    #[test]
    fn a_pace_that_somebody_edited_is_brought_within_bounds() {
        let pacing = papers();
        let pace = |round, next| Pace::recorded(&pacing, ms(round), next, 9);
        assert_eq!(pace(0, None).round, ms(2_000));
        assert_eq!(pace(u64::MAX / 1_000_000, None).round, ms(20_000));
        assert_eq!(pace(3_000, Some(ms(3_000))).next, None);
        assert_eq!(pace(3_000, Some(ms(1))).next, None);
        assert_eq!(pace(3_000, Some(ms(2_950))).next, Some(ms(2_950)));
    }

    #[test]
    fn growth_withdraws_an_announcement() {
        let pacing = papers();
        let announced = Pace { round: ms(2_100), next: Some(ms(2_050)), number: 7 };
        let grown = announced.longer(&pacing).expect("room");
        assert_eq!((grown.round, grown.next, grown.number), (ms(2_150), None, 8));
    }

    #[test]
    fn a_single_round_is_no_lease_and_a_cap_below_the_round_is_none() {
        assert!(Pacing::new(ms(100), 1, ms(20), ms(5), ms(200)).is_err());
        assert!(Pacing::new(ms(100), 2, ms(20), ms(5), ms(90)).is_err());
        assert!(Pacing::new(ms(100), 2, ms(20), ms(0), ms(200)).is_err());
        assert!(Pacing::new(ms(100), 2, ms(0), ms(5), ms(200)).is_err());
    }
}
