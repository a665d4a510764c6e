//! When the next request is due.
//!
//! Assumes: nothing about the order of calls beyond what [`Candidacy`](super::Candidacy) does.
//! Promises: between two requests of a healthy candidate at most one beat passes; all elections of
//! one process beat at the same instants, so that a driver can renew them together; failures are
//! retried with growing, jittered pauses.

use core::time::Duration;

use crate::identity::Incarnation;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cadence {
    beat: Duration,
    /// Where in each beat this process beats, so that processes do not all come at once.
    phase: u64,
    seed: u64,
    draws: u64,
    next: Time,
    retry: Time,
    last_asked: Time,
    held_off_until: Time,
    failures: u32,
}

impl Cadence {
    pub(super) fn new(incarnation: Incarnation, beat: Duration) -> Self {
        let bits = incarnation.bits();
        #[expect(clippy::cast_possible_truncation, reason = "both halves of the bits are used")]
        let seed = mix(bits as u64 ^ (bits >> 64) as u64);
        Cadence {
            beat,
            phase: seed % nanos(beat).max(1),
            seed,
            draws: 0,
            next: Time::ZERO,
            retry: Time::ZERO,
            last_asked: Time::ZERO,
            held_off_until: Time::ZERO,
            failures: 0,
        }
    }

    /// Beats at another pace from the last request on: a lease that was cut short needs its next
    /// renewal within the new beat, not within the old one.
    pub(super) fn pace(&mut self, beat: Duration) {
        self.beat = beat;
        self.phase = self.seed % nanos(beat).max(1);
        self.look_by(self.beat_after(self.last_asked));
    }

    pub(super) fn begin(&mut self, now: Time) {
        self.next = now;
        self.retry = now;
    }

    /// When the next look, bid or renewal is due.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// When an unanswered resignation is due again.
    pub(super) const fn retry(&self) -> Time {
        self.retry
    }

    pub(super) const fn last_asked(&self) -> Time {
        self.last_asked
    }

    /// How often in a row the store did not answer.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether the store answered last time.
    pub(super) const fn is_well(&self) -> bool {
        self.failures == 0
    }

    pub(super) fn is_held_off(&self, now: Time) -> bool {
        now < self.held_off_until
    }

    pub(super) fn not_held_off(&self, time: Time) -> Time {
        time.max(self.held_off_until)
    }

    /// A request leaves: the next one is due at the next beat of this process.
    pub(super) fn asked(&mut self, now: Time) {
        self.last_asked = now;
        self.next = self.beat_after(now);
    }

    /// The store answered, whatever it said.
    pub(super) fn answered(&mut self, _now: Time) {
        self.failures = 0;
    }

    /// The store did not answer: try again, sooner at first, at most a beat apart.
    pub(super) fn failed(&mut self, now: Time) {
        let pause = (self.beat / 8) * 2u32.pow(self.failures.min(2));
        self.failures = self.failures.saturating_add(1);
        self.next = now + pause + self.jitter(pause);
        self.retry = self.next;
    }

    pub(super) fn look_at(&mut self, time: Time) {
        self.next = time;
    }

    /// No later than then.
    pub(super) fn look_by(&mut self, time: Time) {
        self.next = self.next.min(time);
    }

    pub(super) fn retry_at(&mut self, time: Time) {
        self.retry = time;
    }

    /// A hint that something changed: sooner, but not in a burst.
    pub(super) fn bell(&mut self, now: Time) {
        self.next = self.next.min(now.max(self.last_asked + self.beat / 64));
    }

    /// After a loss: let the others go first, even if they look only once a beat.
    pub(super) fn back_off(&mut self, now: Time) {
        self.next = now + self.beat + self.jitter(self.beat / 4);
    }

    /// After a loss that somebody wanted: bid for nothing until then.
    pub(super) fn hold_off(&mut self, until: Time) {
        self.held_off_until = until;
    }

    fn beat_after(&self, now: Time) -> Time {
        let beat = nanos(self.beat).max(1);
        let into = (now.as_nanos().saturating_add(beat) - self.phase) % beat;
        now + Duration::from_nanos(beat - into)
    }

    fn jitter(&mut self, most: Duration) -> Duration {
        self.draws += 1;
        let most = nanos(most).max(1);
        Duration::from_nanos(mix(self.seed.wrapping_add(self.draws)) % most)
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The finalizer of `SplitMix64`: spreads a counter over all bits.
const fn mix(counter: u64) -> u64 {
    let z = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAT: Duration = Duration::from_millis(250);

    fn cadence(bits: u128) -> Cadence {
        Cadence::new(Incarnation::from_random(bits), BEAT)
    }

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn elections_of_one_process_beat_together() {
        let (mut one, mut two) = (cadence(7), cadence(7));
        one.asked(at(1_000));
        two.asked(one.next().back(Duration::from_nanos(1)));
        assert_eq!(one.next(), two.next());
    }

    #[test]
    fn at_most_one_beat_passes_between_requests() {
        for bits in 0..50 {
            let mut cadence = cadence(bits);
            cadence.asked(at(1_234));
            let pause = cadence.next().since(at(1_234));
            assert!(pause > Duration::ZERO && pause <= BEAT, "{pause:?}");
        }
    }

    #[test]
    fn a_shorter_beat_counts_from_the_last_request() {
        for bits in 0..50 {
            let mut cadence = cadence(bits);
            cadence.asked(at(1_234));
            cadence.pace(BEAT / 2);
            let pause = cadence.next().since(at(1_234));
            assert!(pause > Duration::ZERO && pause <= BEAT / 2, "{pause:?}");
        }
    }

    #[test]
    fn failures_are_retried_within_a_beat_and_not_in_a_burst() {
        let mut cadence = cadence(3);
        for _ in 0..20 {
            cadence.failed(at(0));
            let pause = cadence.next().since(at(0));
            assert!(pause >= BEAT / 8 && pause <= BEAT, "{pause:?}");
        }
    }

    #[test]
    fn a_shorter_beat_brings_the_next_request_forward_and_a_longer_one_does_not_delay_it() {
        let mut cadence = cadence(3);
        cadence.asked(at(1_000));
        cadence.pace(BEAT / 10);
        assert!(cadence.next() <= at(1_000) + BEAT / 10);
        let soon = cadence.next();
        cadence.pace(BEAT * 10);
        assert_eq!(cadence.next(), soon);
    }

    #[test]
    fn a_bell_brings_the_next_request_forward_but_not_at_once_after_the_last() {
        let mut cadence = cadence(3);
        cadence.asked(at(1_000));
        cadence.bell(at(1_000));
        assert!(cadence.next() > at(1_000));
        assert!(cadence.next() <= at(1_000) + BEAT / 64);
    }
}
