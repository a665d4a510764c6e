//! Makes a story that breaks a promise as short as it goes: fewest faults, fewest candidates,
//! shortest time.
//!
//! Assumes: the story breaks a promise as it stands.
//! Promises: what comes out breaks the same promise. Leaving something out shifts all chance after
//! it, so each shorter story is tried with a few numbers.

use crate::clock::{At, Span};
use crate::fault::Fault;
use crate::plant::Plant;
use crate::scribe::Keep;
use crate::story::Story;
use crate::world::{self, WorldError};

/// With how many numbers each shorter story is tried.
const TRIES: u64 = 6;

/// The shortest story found, the promise that it breaks, and how many worlds were run to find it.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The story.
    pub story: Story,
    /// The name of the promise.
    pub property: &'static str,
    /// How it is broken, in a sentence.
    pub violation: String,
    /// How many worlds were run.
    pub runs: u64,
}

/// Shrinks a story. `None` if it breaks no promise.
pub fn shrink(story: &Story, plant: Plant) -> Result<Option<Shrunk>, WorldError> {
    let Some(first) = first_violation(story, plant, None)? else {
        return Ok(None);
    };
    let mut shrinker = Shrinker {
        best: story.clone(),
        plant,
        property: first.property,
        broken_at: first.at.as_nanos(),
        violation: first.story,
        runs: 1,
    };
    shrinker.work();
    Ok(Some(Shrunk {
        story: shrinker.best,
        property: shrinker.property,
        violation: shrinker.violation,
        runs: shrinker.runs,
    }))
}

fn first_violation(
    story: &Story,
    plant: Plant,
    property: Option<&str>,
) -> Result<Option<crate::check::Violation>, WorldError> {
    let run = world::run(story, plant, Keep::default())?;
    let wanted =
        |violation: &crate::check::Violation| property.is_none_or(|it| it == violation.property);
    Ok(run.report.violations.into_iter().find(wanted))
}

struct Shrinker {
    best: Story,
    plant: Plant,
    property: &'static str,
    broken_at: At,
    violation: String,
    runs: u64,
}

impl Shrinker {
    fn work(&mut self) {
        loop {
            let before = self.best.clone();
            self.begin_later();
            self.shorten();
            self.drop_elections();
            self.drop_faults();
            self.drop_candidates();
            self.calm_clocks();
            if self.best == before {
                return;
            }
        }
    }

    /// Takes a shorter story if it breaks the same promise.
    fn accept(&mut self, mut story: Story) -> bool {
        for number in 0..TRIES {
            story.seed = if number == 0 { self.best.seed } else { number };
            self.runs += 1;
            // A story that cannot be told is not shorter, it is none.
            if let Ok(Some(violation)) = first_violation(&story, self.plant, Some(self.property)) {
                self.broken_at = violation.at.as_nanos();
                self.violation = violation.story;
                self.best = story;
                return true;
            }
        }
        false
    }

    /// Begins the story shortly before the promise was broken, or longer before if it takes that.
    fn begin_later(&mut self) {
        let lease = self.best.setting.lease;
        for leases in [30, 100, 400, 1_600] {
            let from = self.broken_at.saturating_sub(lease * leases);
            if from == 0 {
                return;
            }
            let mut story = self.best.clone();
            story.faults.retain(|fault| fault.at >= from);
            story.faults.iter_mut().for_each(|fault| fault.at -= from);
            story.setting.length -= from;
            if self.accept(story) {
                return;
            }
        }
    }

    /// Ends the story soon after the promise was broken, or later if it takes that.
    fn shorten(&mut self) {
        let calm = self.best.setting.calm();
        for more in [0, calm, calm * 4] {
            let length = self.broken_at + calm + more;
            if length < self.best.setting.length && self.accept(cut_at(&self.best, length)) {
                return;
            }
        }
    }

    fn drop_elections(&mut self) {
        while self.best.setting.elections > 1 {
            let mut story = self.best.clone();
            story.setting.elections -= 1;
            let left = story.setting.elections;
            story.faults.retain(|fault| !fault.kind.is_of_election() || fault.target < left);
            if !self.accept(story) {
                return;
            }
        }
    }

    /// Leaves out ever smaller parts of the faults.
    fn drop_faults(&mut self) {
        let mut part = self.best.faults.len().div_ceil(2);
        while part > 0 {
            let mut from = 0;
            while from < self.best.faults.len() {
                let mut story = self.best.clone();
                let to = (from + part).min(story.faults.len());
                story.faults.drain(from..to);
                if !self.accept(story) {
                    from += part;
                }
            }
            part /= 2;
        }
    }

    fn drop_candidates(&mut self) {
        let mut number = self.best.setting.candidates;
        while number > 0 && self.best.setting.candidates > 1 {
            number -= 1;
            let story = without_candidate(&self.best, number);
            self.accept(story);
        }
    }

    /// Even clocks make a story easier to follow.
    fn calm_clocks(&mut self) {
        let mut story = self.best.clone();
        story.setting.skews.fill(0);
        story.setting.store_skew = 0;
        if story != self.best {
            self.accept(story);
        }
    }
}

fn cut_at(story: &Story, length: Span) -> Story {
    let mut story = story.clone();
    story.setting.length = length;
    let heals_at = story.setting.heals_at();
    story.faults.retain(|fault| fault.at < heals_at);
    story
}

fn without_candidate(story: &Story, number: usize) -> Story {
    let mut story = story.clone();
    let setting = &mut story.setting;
    if setting.twins {
        setting.twins = number != 0 && number + 1 != setting.candidates;
    }
    setting.candidates -= 1;
    setting.skews.remove(number);
    let moved = |fault: Fault| match fault {
        _ if fault.kind.is_of_election() => Some(fault),
        Fault { target, .. } if target == number => None,
        Fault { target, .. } if target > number => Some(Fault { target: target - 1, ..fault }),
        _ => Some(fault),
    };
    story.faults = story.faults.into_iter().filter_map(moved).collect();
    story
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND;

    #[test]
    fn a_story_that_breaks_nothing_cannot_be_shrunk() {
        let story = Story::of_seed(1, 120 * SECOND);
        assert!(matches!(shrink(&story, Plant::Nothing), Ok(None)));
    }

    #[test]
    fn a_shrunk_story_breaks_the_same_promise_with_less() {
        let broken = |seed: &u64| {
            let story = Story::of_seed(*seed, 300 * SECOND);
            shrink(&story, Plant::LeaseFromAnswer).ok().flatten().map(|shrunk| (story, shrunk))
        };
        let (story, shrunk) = (0..).find_map(|seed| broken(&seed)).expect("some seed breaks");
        assert!(shrunk.story.faults.len() < story.faults.len());
        assert!(shrunk.story.setting.length <= story.setting.length);
        let again = first_violation(&shrunk.story, Plant::LeaseFromAnswer, Some(shrunk.property));
        assert!(matches!(again, Ok(Some(_))));
    }
}
