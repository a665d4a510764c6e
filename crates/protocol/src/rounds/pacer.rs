//! When a leader lengthens or shortens the round.
//!
//! Assumes: one leader at a time, which hears VARS in every round of its own.
//! Promises: a round grows by one delta for every flag that is seen, up to the cap; it shrinks only
//! after a long calm in which the store answered with time to spare, and only once every lease of the
//! longer round has run out. Whoever shrinks in vain becomes more patient, so that a group at its limit
//! comes to rest.

use core::time::Duration;

use super::pace::{Pace, Pacing};
use super::register::Vars;
use super::round::Shift;
use crate::planted::{self, Bug};
use crate::rules::{Rules, Timing};
use crate::time::{HeardAt, Time};

/// How many rounds must pass in calm before a shorter one is tried.
const CALM: u32 = 30;

/// How many times a leader's round must fit into the time that it has for a shorter one to be tried.
const ROOM: u32 = 2;

/// How often the patience for that doubles at most.
const DOUBLINGS: u32 = 6;

/// A leader's view of the pace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pacer {
    /// The flag of somebody evicted was seen.
    flag: bool,
    /// Since when nobody was evicted, no round took long, and the pace was the same.
    calm_since: Option<Time>,
    /// Since when leases are made of the announced round only.
    announced_at: Option<(u64, Time)>,
    /// The last change that this leader saw was a shrink.
    shrunk: bool,
    /// How often a shrink was in vain.
    regrets: u32,
}

impl Pacer {
    /// A leadership begins. A flag that is up is answered in its first round: where rounds are far too
    /// short, a leader may never hear of one.
    pub fn elected(vars: Option<&Vars>) -> Self {
        Pacer { flag: vars.is_some_and(|vars| vars.evicted), ..Pacer::default() }
    }

    /// Takes what a round of the leader's own showed, and whether it evicted nobody and had room.
    pub fn hear(&mut self, before: &Pace, vars: &Vars, heard_at: HeardAt, calm: bool) {
        self.flag = vars.evicted;
        let pace = &vars.pace;
        if pace != before {
            if pace.round > before.round && core::mem::take(&mut self.shrunk) {
                self.regrets = (self.regrets + 1).min(DOUBLINGS);
            }
            self.shrunk |= pace.round < before.round;
        }
        if !calm || vars.evicted || pace != before || self.calm_since.is_none() {
            self.calm_since = Some(heard_at.time());
        }
        let known = self.announced_at.filter(|(number, _)| *number == pace.number);
        self.announced_at = pace.next.map(|_| known.unwrap_or((pace.number, heard_at.time())));
    }

    /// The change of pace that is due, if any.
    pub fn shift(&self, now: Time, pace: &Pace, pacing: &Pacing) -> Option<Shift> {
        let shift = |to: Pace, answers| {
            let rules = pacing.rules_at(to.round);
            Shift { from: pace.number, to, rules, answers }
        };
        if self.flag {
            // At the cap there is nothing left to do but to answer.
            let to = pace.longer(pacing).unwrap_or(Pace {
                next: None,
                number: pace.number + 1,
                ..*pace
            });
            return Some(shift(to, true));
        }
        if let Some((_, since)) = self.announced_at.filter(|(number, _)| *number == pace.number) {
            let lease: Rules = pacing.rules_at(pace.round);
            let outwaited = if planted::is(Bug::ShorterOutwaited) {
                pacing.rules_at(pace.shortest()).lease()
            } else if planted::is(Bug::RoundOutwaited) {
                pace.round
            } else {
                lease.lease()
            };
            let over = now >= since + outwaited;
            return pace.settled().filter(|_| over).map(|to| shift(to, false));
        }
        let patience = self.patience(pace);
        let calm = self.calm_since.is_some_and(|since| now >= since + patience);
        pace.announced(pacing).filter(|_| calm).map(|to| shift(to, false))
    }

    fn patience(&self, pace: &Pace) -> Duration {
        let calm = if planted::is(Bug::ShrunkAtOnce) { 2 } else { CALM };
        pace.round.saturating_mul(calm << self.regrets)
    }
}

/// Whether a store that takes so long for a leader's round has room for shorter ones. To try them
/// where there is none would cost a leader its term, and with it the memory that it was in vain.
pub fn has_room(took: Duration, timing: &Timing) -> bool {
    took.saturating_mul(ROOM) <= timing.timeout().min(timing.beat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::register::MemberId;
    use crate::time::StoreTime;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + ms(millis)
    }

    fn pacing() -> Pacing {
        Pacing::new(ms(100), 2, ms(20), ms(50), ms(300)).expect("pacing")
    }

    fn vars(pace: Pace, evicted: bool) -> Vars {
        let epoch = StoreTime::from_micros(1);
        Vars { epoch, max_id: MemberId::new(3), pacing: pacing(), pace, evicted }
    }

    fn heard(millis: u64) -> HeardAt {
        HeardAt::after_answer(at(millis))
    }

    #[test]
    fn a_flag_lengthens_the_round_once_however_many_were_evicted() {
        let mut pacer = Pacer::default();
        let pace = Pace::first(&pacing());
        pacer.hear(&pace, &vars(pace, true), heard(10), true);
        let shift = pacer.shift(at(20), &pace, &pacing()).expect("a flag");
        assert_eq!((shift.to.round, shift.answers), (ms(150), true));
        assert_eq!(shift.rules.lease(), ms(300));
        pacer.hear(&pace, &vars(shift.to, false), heard(30), true);
        assert_eq!(pacer.shift(at(40), &shift.to, &pacing()), None);
    }

    #[test]
    fn at_the_cap_the_flag_is_answered_and_nothing_grows() {
        let mut pacer = Pacer::default();
        let pace = Pace { round: ms(300), next: None, number: 4 };
        pacer.hear(&pace, &vars(pace, true), heard(10), true);
        let shift = pacer.shift(at(20), &pace, &pacing()).expect("a flag");
        assert_eq!((shift.to.round, shift.to.number, shift.answers), (ms(300), 5, true));
    }

    #[test]
    fn a_shrink_is_announced_after_a_calm_and_in_force_a_full_old_lease_later() {
        let mut pacer = Pacer::default();
        let pace = Pace { round: ms(200), next: None, number: 2 };
        pacer.hear(&pace, &vars(pace, false), heard(0), true);
        assert_eq!(pacer.shift(at(5_999), &pace, &pacing()), None);
        let announced = pacer.shift(at(6_000), &pace, &pacing()).expect("calm").to;
        assert_eq!((announced.round, announced.next), (ms(200), Some(ms(150))));
        pacer.hear(&pace, &vars(announced, false), heard(6_010), true);
        assert_eq!(pacer.shift(at(6_409), &announced, &pacing()), None);
        let settled = pacer.shift(at(6_410), &announced, &pacing()).expect("a lease has passed");
        assert_eq!((settled.to.round, settled.rules.lease()), (ms(150), ms(300)));
    }

    #[test]
    fn no_shorter_round_is_tried_before_a_calm_has_passed_anew() {
        let mut pacer = Pacer::default();
        let pace = Pace { round: ms(200), next: None, number: 2 };
        pacer.hear(&pace, &vars(pace, false), heard(0), true);
        pacer.hear(&pace, &vars(pace, false), heard(5_000), false);
        pacer.hear(&pace, &vars(pace, false), heard(9_000), true);
        assert_eq!(pacer.shift(at(10_999), &pace, &pacing()), None);
        assert!(pacer.shift(at(11_000), &pace, &pacing()).is_some());
    }

    #[test]
    fn there_is_room_if_an_answer_takes_half_of_the_timeout_and_half_of_the_round_at_most() {
        let timing = |timeout| Timing::new(pacing().rules_at(ms(100)), ms(100), ms(timeout), ms(0));
        let hurried = timing(20).expect("timing");
        assert!(has_room(ms(10), &hurried) && !has_room(ms(11), &hurried));
        let patient = Pacing::new(ms(100), 5, ms(50), ms(50), ms(300)).expect("pacing");
        let patient = Timing::new(patient.rules_at(ms(100)), ms(100), ms(150), ms(0));
        let patient = patient.expect("timing");
        assert!(has_room(ms(50), &patient) && !has_room(ms(51), &patient));
    }

    #[test]
    fn a_flag_that_is_up_when_a_leadership_begins_is_answered_before_anything_is_heard() {
        let pace = Pace::first(&pacing());
        let shift = Pacer::elected(Some(&vars(pace, true))).shift(at(10), &pace, &pacing());
        assert_eq!(shift.map(|shift| (shift.to.round, shift.answers)), Some((ms(150), true)));
        let none = Pacer::elected(Some(&vars(pace, false))).shift(at(10), &pace, &pacing());
        assert_eq!(none, None);
    }

    #[test]
    fn whoever_shrank_in_vain_waits_twice_as_long() {
        let mut pacer = Pacer::default();
        let long = Pace { round: ms(200), next: None, number: 2 };
        let short = Pace { round: ms(150), next: None, number: 4 };
        pacer.hear(&long, &vars(short, false), heard(0), true);
        let again = Pace { round: ms(200), next: None, number: 5 };
        pacer.hear(&short, &vars(again, false), heard(100), true);
        assert_eq!(pacer.shift(at(12_099), &again, &pacing()), None);
        assert!(pacer.shift(at(12_100), &again, &pacing()).is_some());
    }
}
