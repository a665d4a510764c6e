//! Whether a story can be told at all.
//!
//! Assumes: it may come from a file that a person edited.
//! Promises: what passes here does not crash a world; what does not gets a sentence.

use incumbent_protocol::rounds::pace::Pacing;

use super::{Preempt, Rounds, Setting, Story};
use crate::clock::{SECOND, Skew, Span, WHOLE};
use crate::fault::{Fault, Kind};

/// Most candidates, and most elections.
const MOST: usize = 64;

/// The longest span of anything: about a hundred days.
pub(crate) const LONGEST: Span = 1 << 53;

impl Story {
    /// Says what makes the story impossible to tell, if anything does.
    pub fn check(&self) -> Result<(), String> {
        self.setting.check()?;
        for fault in &self.faults {
            let problem = |problem: &str| Err(format!("{fault}, at {} ns: {problem}", fault.at));
            if !self.setting.has_target(fault) {
                return problem("there is no such target");
            }
            if fault.kind.is_of_rounds() && self.setting.rounds.is_none() {
                return problem("there is no roster");
            }
            if fault.kind.is_of_succession() && self.setting.succession.is_none() {
                return problem("candidates know nothing of each other");
            }
            let level = fault.level.unsigned_abs();
            if [fault.at, fault.span, level].iter().any(|&span| span > LONGEST) {
                return problem("a number is too large");
            }
            if fault.kind == Kind::SkewBeyond && level >= WHOLE.unsigned_abs() {
                return problem("no clock runs at such a rate");
            }
        }
        Ok(())
    }
}

impl Setting {
    fn check(&self) -> Result<(), String> {
        for (what, number) in [("candidates", self.candidates), ("elections", self.elections)] {
            if !(1..=MOST).contains(&number) {
                return Err(format!("there are {number} {what}, not 1 to {MOST}"));
            }
        }
        if self.skews.len() != self.candidates {
            return Err(format!(
                "there are {} skews for {} candidates",
                self.skews.len(),
                self.candidates
            ));
        }
        let odd = |skew: &Skew| skew.unsigned_abs() >= WHOLE.unsigned_abs() / 2;
        if self.skews.iter().chain([&self.store_skew]).any(odd) {
            return Err("a clock is off by half or more".to_owned());
        }
        let spans = [
            self.lease,
            self.margin,
            self.beat,
            self.timeout,
            self.grace,
            self.latency_least,
            self.latency_most,
            self.commit_most,
            self.lock_timeout,
            self.lateness,
            self.proof.unwrap_or(0),
            self.length,
        ];
        if spans.iter().any(|&span| span > LONGEST) {
            return Err("a span is longer than a hundred days".to_owned());
        }
        if let Some(Rounds { limit, delta, cap }) = self.rounds {
            let limits = Pacing::LIMIT_MIN..=Pacing::LIMIT_MAX;
            if !limits.contains(&limit) || delta > LONGEST || cap > LONGEST / u64::from(limit) {
                return Err("the rounds are too many or too long".to_owned());
            }
        }
        if let Some(succession) = &self.succession {
            if succession.priorities.len() != self.candidates {
                let priorities = succession.priorities.len();
                return Err(format!(
                    "there are {priorities} priorities for {} candidates",
                    self.candidates
                ));
            }
            let Preempt { after, hold_down } =
                succession.preempt.unwrap_or(Preempt { after: 0, hold_down: 0 });
            let spans = [succession.every, succession.drain, after, hold_down];
            if succession.every == 0 || spans.iter().any(|&span| span > LONGEST) {
                return Err("presence is never written, or a span is too long".to_owned());
            }
        }
        if self.length <= self.calm() {
            return Err(format!(
                "a run of {} s leaves no time for faults: it ends with {} s of calm",
                self.length / SECOND,
                self.calm() / SECOND
            ));
        }
        Ok(())
    }

    fn has_target(&self, fault: &Fault) -> bool {
        let targets = match fault.kind {
            kind if kind.is_of_election() => self.elections,
            // One more than there are processes stands for all of them.
            Kind::Loss | Kind::Duplicate | Kind::Delay | Kind::Reorder => self.candidates + 1,
            _ => self.candidates,
        };
        fault.target < targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Protocol, Succession};

    fn story() -> Story {
        Story::of_seed(1, 3_600 * SECOND)
    }

    fn with(change: impl FnOnce(&mut Story)) -> Result<(), String> {
        let mut story = story();
        change(&mut story);
        story.check()
    }

    #[test]
    fn every_drawn_story_makes_sense() {
        for (&protocol, seed) in Protocol::ALL.iter().flat_map(|p| (0..300).map(move |s| (p, s))) {
            for length in [300, 3_600] {
                let story = Story::of(protocol, seed, length * SECOND);
                assert_eq!(story.check(), Ok(()), "{protocol} {seed}");
                let setting = &story.setting;
                assert!(setting.timing().is_ok() && setting.odd_timing().is_ok(), "{seed}");
                assert!(setting.pacing().is_ok() && setting.odd_pacing().is_ok(), "{seed}");
            }
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_a_sentence() {
        let fault = Fault { at: 5, kind: Kind::Crash, target: 99, span: 1, level: 0 };
        let odd_rounds = Rounds { limit: 0, delta: 1, cap: 1 };
        let (priorities, preempt, rolling) = (Vec::new(), None, false);
        let nobody = Succession { every: 1, priorities, preempt, rolling, drain: 1 };
        let ill = Fault { kind: Kind::Unfit, target: 0, ..fault };
        let loud = Fault { target: 0, span: u64::MAX, ..fault };
        for (refused, sentence) in [
            (with(|story| story.setting.candidates = 0), "not 1 to 64"),
            (with(|story| story.setting.elections = 65), "not 1 to 64"),
            (with(|story| story.setting.skews.clear()), "0 skews"),
            (with(|story| story.setting.store_skew = WHOLE), "off by half"),
            (with(|story| story.setting.lease = u64::MAX), "hundred days"),
            (with(|story| story.setting.length = 1), "leaves no time"),
            (with(|story| story.setting.rounds = Some(odd_rounds)), "too many or too long"),
            (with(|story| story.setting.succession = Some(nobody)), "0 priorities"),
            (with(|story| story.faults = vec![ill]), "nothing of each other"),
            (with(|story| story.faults = vec![fault]), "no such target"),
            (with(|story| story.faults = vec![loud]), "too large"),
        ] {
            let told = refused.expect_err(sentence);
            assert!(told.contains(sentence), "{told}");
        }
    }
}
