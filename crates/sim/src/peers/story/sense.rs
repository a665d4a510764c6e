//! Whether a story of peers can be told at all.
//!
//! Assumes: it may come from a file that a person edited.
//! Promises: what passes here does not crash a world; what does not gets a sentence.

use std::collections::BTreeSet;

use super::{Setting, Story};
use crate::clock::WHOLE;
use crate::story::LONGEST;

/// Most nodes: a mask of them is a number.
const MOST: usize = 62;

/// Most elections.
const ELECTIONS_MOST: usize = 100;

impl Story {
    /// Says what makes the story impossible to tell, if anything does.
    pub fn check(&self) -> Result<(), String> {
        self.setting.check()?;
        for fault in &self.faults {
            let problem = |problem: &str| Err(format!("{fault}, at {} ns: {problem}", fault.at));
            if fault.target >= self.setting.nodes {
                return problem("there is no such node");
            }
            let level = fault.level.unsigned_abs();
            if [fault.at, fault.span, level].iter().any(|&span| span > LONGEST) {
                return problem("a number is too large");
            }
        }
        Ok(())
    }
}

impl Setting {
    fn check(&self) -> Result<(), String> {
        let Setting { nodes, voters, .. } = *self;
        if !(1..=MOST).contains(&nodes) || !(1..=nodes).contains(&voters) {
            return Err(format!(
                "{voters} of {nodes} nodes vote, not 1 to all of 1 to {MOST} nodes"
            ));
        }
        if !(1..=ELECTIONS_MOST).contains(&self.elections) {
            return Err(format!("{} elections, not 1 to {ELECTIONS_MOST}", self.elections));
        }
        let (skews, starts) = (self.skews.len(), self.starts.len());
        if (skews, starts) != (nodes, nodes) {
            return Err(format!("there are {skews} skews and {starts} starts for {nodes} nodes"));
        }
        if self.skews.iter().any(|skew| skew.unsigned_abs() >= WHOLE.unsigned_abs() / 2) {
            return Err("a clock is off by half or more".to_owned());
        }
        let numbers: BTreeSet<_> = (0..nodes).map(|node| self.number(node)).collect();
        if numbers.len() < nodes {
            return Err("two nodes have the same number".to_owned());
        }
        let spans = [
            self.heartbeat,
            self.message,
            self.lease,
            self.latency_least,
            self.latency_most,
            self.disk_most,
            self.lateness,
            self.length,
        ];
        if spans.iter().chain(&self.starts).any(|&span| span > LONGEST) {
            return Err("a span is longer than a hundred days".to_owned());
        }
        if self.latency_least > self.latency_most {
            return Err("the fastest message takes longer than the slowest".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND;
    use crate::peers::Algorithm;
    use crate::peers::fault::{Fault, Kind};
    use crate::peers::story::Numbers;

    fn story() -> Story {
        Story::of(Algorithm::Ring, 1, 600 * SECOND)
    }

    fn with(change: impl FnOnce(&mut Story)) -> Result<(), String> {
        let mut story = story();
        change(&mut story);
        story.check()
    }

    #[test]
    fn every_drawn_story_makes_sense_and_every_kind_of_fault_is_drawn() {
        for algorithm in [Algorithm::Ring, Algorithm::Bully] {
            let stories: Vec<Story> =
                (0..400).map(|seed| Story::of(algorithm, seed, 900 * SECOND)).collect();
            for story in &stories {
                assert_eq!(story.check(), Ok(()), "{algorithm} {}", story.seed);
                assert!(story.setting.timing().is_ok() && story.setting.manner().is_ok());
                assert!(story.faults.is_sorted_by_key(|fault| fault.at));
                assert!(story.faults.iter().all(|fault| fault.at < story.setting.heals_at()));
            }
            for &kind in Kind::ALL {
                assert!(stories.iter().any(|story| story.has(kind)), "{algorithm}: {kind}");
            }
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_a_sentence() {
        let fault = Fault { at: 5, kind: Kind::Crash, target: 99, span: 1, level: 0 };
        let loud = Fault { target: 0, span: u64::MAX, ..fault };
        for (refused, sentence) in [
            (with(|story| story.setting.nodes = 0), "of 0 nodes vote"),
            (with(|story| story.setting.voters = 0), "0 of "),
            (with(|story| story.setting.elections = 0), "0 elections"),
            (with(|story| story.setting.skews.clear()), "0 skews"),
            (with(|story| story.setting.skews[0] = WHOLE), "off by half"),
            (with(|story| story.setting.numbers = Numbers::Down(0)), "same number"),
            (with(|story| story.setting.lease = u64::MAX), "hundred days"),
            (with(|story| story.setting.latency_least = SECOND), "takes longer"),
            (with(|story| story.faults = vec![fault]), "no such node"),
            (with(|story| story.faults = vec![loud]), "too large"),
        ] {
            let told = refused.expect_err(sentence);
            assert!(told.contains(sentence), "{told}");
        }
    }
}
