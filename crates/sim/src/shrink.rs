//! Makes a story that breaks a promise as short as it goes: fewest faults, fewest who take part,
//! shortest time.
//!
//! Assumes: the story breaks a promise as it stands.
//! Promises: what comes out breaks the same promise. Leaving something out shifts all chance after
//! it, so each shorter story is tried with a few numbers.

use crate::clock::{At, Span};
use crate::genre::{Genre, Story};
use crate::plant::Plant;
use crate::scribe::Keep;
use crate::story::Setting;
use incumbent_audit::Violation;

/// With how many numbers each shorter story is tried.
const TRIES: u64 = 6;

/// The shortest story found, the promise that it breaks, and how many worlds were run to find it.
#[derive(Clone, Debug)]
pub struct Shrunk<S: Genre = Setting> {
    /// The story.
    pub story: Story<S>,
    /// The name of the promise.
    pub property: &'static str,
    /// How it is broken, in a sentence.
    pub violation: String,
    /// How many worlds were run.
    pub runs: u64,
}

/// Shrinks a story. `None` if it breaks no promise.
pub fn shrink<S: Genre>(story: &Story<S>, plant: Plant) -> Result<Option<Shrunk<S>>, S::Error> {
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

fn first_violation<S: Genre>(
    story: &Story<S>,
    plant: Plant,
    property: Option<&str>,
) -> Result<Option<Violation>, S::Error> {
    let run = S::run(story, plant, Keep::default())?;
    let wanted = |violation: &Violation| property.is_none_or(|it| it == violation.property);
    Ok(run.report.violations.into_iter().find(wanted))
}

struct Shrinker<S: Genre> {
    best: Story<S>,
    plant: Plant,
    property: &'static str,
    broken_at: At,
    violation: String,
    runs: u64,
}

impl<S: Genre> Shrinker<S> {
    fn work(&mut self) {
        loop {
            let before = self.best.clone();
            self.begin_later();
            self.shorten();
            self.drop_faults();
            self.drop_members();
            self.ease();
            if self.best == before {
                return;
            }
        }
    }

    /// Takes a shorter story if it breaks the same promise.
    fn accept(&mut self, mut story: Story<S>) -> bool {
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
        let lease = self.best.setting.longest_lease();
        for leases in [30, 100, 400, 1_600] {
            let from = self.broken_at.saturating_sub(lease * leases);
            if from == 0 {
                return;
            }
            let mut story = self.best.clone();
            story.faults.retain(|fault| fault.at >= from);
            story.faults.iter_mut().for_each(|fault| fault.at -= from);
            *story.setting.length() -= from;
            if self.accept(story) {
                return;
            }
        }
    }

    /// Ends the story soon after the promise was broken, or later if it takes that.
    fn shorten(&mut self) {
        let lease = self.best.setting.longest_lease();
        for leases in [0, 16, 64] {
            let length = self.best.setting.ends_after(self.broken_at + lease * leases);
            if length < *self.best.setting.length() && self.accept(cut_at(&self.best, length)) {
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

    fn drop_members(&mut self) {
        let mut number = self.best.setting.members();
        while number > 0 && self.best.setting.members() > 1 {
            number -= 1;
            let story = S::without(&self.best, number);
            self.accept(story);
        }
    }

    /// Tries what makes a story easier to follow, one thing after the other.
    fn ease(&mut self) {
        let mut next = 0;
        while let Some(story) = S::easier(&self.best).into_iter().nth(next) {
            if story == self.best || !self.accept(story) {
                next += 1;
            }
        }
    }
}

fn cut_at<S: Genre>(story: &Story<S>, length: Span) -> Story<S> {
    let mut story = story.clone();
    *story.setting.length() = length;
    let heals_at = story.setting.heals_at();
    story.faults.retain(|fault| fault.at < heals_at);
    story
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND;
    use crate::peers::fault::Kind;
    use crate::peers::{self, Algorithm};
    use crate::story::Story;
    use incumbent_protocol::planted::Bug;

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

    #[test]
    fn a_shrunk_story_of_peers_breaks_the_same_promise_with_fewer_nodes_and_faults() {
        let plant = Plant::Protocol(Bug::Unratified);
        let broken = |seed: u64| {
            let kinds = [Kind::Split, Kind::Cut, Kind::Skew, Kind::Unfit];
            let story = peers::Story::among(Algorithm::Bully, seed, 180 * SECOND, &kinds);
            (story.setting.nodes > 3).then_some(())?;
            shrink(&story, plant).ok().flatten().map(|shrunk| (story, shrunk))
        };
        let (story, shrunk) = (0..100).find_map(broken).expect("some seed breaks");
        assert!(shrunk.story.faults.len() < story.faults.len());
        assert!(shrunk.story.setting.nodes < story.setting.nodes, "{}", shrunk.story.setting);
        assert!(shrunk.story.setting.length < story.setting.length);
        assert_eq!(shrunk.story.setting.skews, vec![0; shrunk.story.setting.nodes]);
        let again = |plant| first_violation(&shrunk.story, plant, Some(shrunk.property));
        assert!(matches!(again(plant), Ok(Some(_))));
        assert!(matches!(again(Plant::Nothing), Ok(None)), "it takes the mistake");
    }
}
