//! Seed files: stories worth keeping, one line a fact, for people and for diffs.
//!
//! Assumes: a person may have edited the file.
//! Promises: what is written reads back as the same story; whatever cannot be read is an error that
//! names the line. A file holds the whole story and not only its number, so that it means the same
//! after the drawing of stories has changed.
//!
//! ```text
//! incumbent-sim seed 1
//! story two candidates lead after the database was deleted
//! world 1
//! seed 4711
//! setting {"candidates":3,...}
//! fault {"at":1000,"kind":"cut",...}
//! ```

use core::fmt::Write as _;

use thiserror::Error;

use crate::fault::Fault;
use crate::genre::{Genre, Story};
use crate::plant::Plant;
use crate::story::Setting;

/// A story that is kept, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed<S: Genre = Setting> {
    /// What happened in it, in one line.
    pub tale: String,
    /// The version of the world in which it happened.
    pub world: u32,
    /// The mistake that it shows, if it takes one.
    pub plant: Plant,
    /// The story.
    pub story: Story<S>,
}

/// Why a seed file could not be read. *Retry:* with another file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SeedError {
    /// The first line says something else.
    #[error(
        "not a seed file that can be read here: the first line must be {wanted:?}, it is {found:?}"
    )]
    Format {
        /// What it must say.
        wanted: &'static str,
        /// What it says.
        found: String,
    },
    /// A line that nobody can make sense of.
    #[error("line {line}: {problem}")]
    Line {
        /// Which one, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Something is missing.
    #[error("the line {0:?} is missing")]
    Missing(&'static str),
}

impl<S: Genre> Seed<S> {
    /// Whether a text says that it is a seed file of this sort.
    pub fn is_of(text: &str) -> bool {
        first_line(text) == S::HEADER
    }

    /// Reads a seed file.
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        if !Self::is_of(text) {
            let (wanted, found) = (S::HEADER, first_line(text).to_owned());
            return Err(SeedError::Format { wanted, found });
        }
        let mut parts = Parts::<S>::new();
        for (index, line) in text.lines().enumerate().skip(1) {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let problem = |problem| SeedError::Line { line: index + 1, problem };
            parts.take(line).map_err(problem)?;
        }
        parts.finish()
    }

    /// The text of a seed file.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\nstory {}\n", S::HEADER, self.tale.replace('\n', " "));
        let Story { seed, setting, faults } = &self.story;
        // Writing to a string cannot fail, and neither can turning plain numbers into JSON.
        let _ = writeln!(text, "world {}\nseed {seed}", self.world);
        if self.plant != Plant::Nothing {
            let _ = writeln!(text, "plant {}", self.plant);
        }
        let _ = writeln!(text, "setting {}", serde_json::to_string(setting).unwrap_or_default());
        for fault in faults {
            let _ = writeln!(text, "fault {}", serde_json::to_string(fault).unwrap_or_default());
        }
        text
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end()
}

/// What has been read so far.
struct Parts<S: Genre> {
    tale: Option<String>,
    world: Option<u32>,
    seed: Option<u64>,
    plant: Option<Plant>,
    setting: Option<S>,
    faults: Vec<Fault<S::Kind>>,
}

impl<S: Genre> Parts<S> {
    const fn new() -> Self {
        let (tale, world, seed, plant, setting) = (None, None, None, None, None);
        Parts { tale, world, seed, plant, setting, faults: Vec::new() }
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "story" => self.tale = Some(rest.to_owned()),
            "world" => self.world = Some(number(rest)?),
            "seed" => self.seed = Some(number(rest)?),
            "plant" => self.plant = Some(rest.parse()?),
            "setting" => self.setting = Some(json(rest)?),
            "fault" => self.faults.push(json(rest)?),
            _ => return Err(format!("no line begins with {word:?}")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Seed<S>, SeedError> {
        let world = self.world.ok_or(SeedError::Missing("world"))?;
        let newest = S::VERSION;
        if world > newest {
            let problem =
                format!("written for world {world}, this is world {newest}: use a newer program");
            return Err(SeedError::Line { line: 1, problem });
        }
        Ok(Seed {
            tale: self.tale.ok_or(SeedError::Missing("story"))?,
            world,
            plant: self.plant.unwrap_or(Plant::Nothing),
            story: Story {
                seed: self.seed.ok_or(SeedError::Missing("seed"))?,
                setting: self.setting.ok_or(SeedError::Missing("setting"))?,
                faults: self.faults,
            },
        })
    }
}

fn number<T: core::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number that fits here"))
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND;
    use crate::peers;
    use crate::story::Story;
    use crate::world::VERSION;

    fn seed() -> Seed {
        Seed {
            tale: "nothing much".to_owned(),
            world: VERSION,
            plant: Plant::CancelLate,
            story: Story::of_seed(3, 600 * SECOND),
        }
    }

    #[test]
    fn a_seed_reads_back_as_it_was_written() {
        assert!(!seed().story.faults.is_empty());
        assert_eq!(Seed::parse(&seed().to_text()), Ok(seed()));
    }

    #[test]
    fn another_format_is_refused_with_what_was_found() {
        let refused = |text: &str| match Seed::<Setting>::parse(text) {
            Err(SeedError::Format { found, .. }) => found,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused("hello\n"), "hello");
        assert_eq!(refused(""), "");
    }

    #[test]
    fn a_story_of_peers_reads_back_too_and_is_told_apart() {
        let story = peers::Story::of(peers::Algorithm::Ring, 3, 600 * SECOND);
        let (tale, plant) = ("nothing much".to_owned(), Plant::Nothing);
        let kept = Seed { tale, world: peers::VERSION, plant, story };
        let text = kept.to_text();
        assert!(Seed::<peers::story::Setting>::is_of(&text) && !Seed::<Setting>::is_of(&text));
        assert_eq!(Seed::parse(&text), Ok(kept));
        assert!(Seed::<Setting>::parse(&text).is_err());
    }

    #[test]
    fn a_bad_line_is_named() {
        let text = seed().to_text().replace("\nseed 3\n", "\nseed three\n");
        let error = Seed::<Setting>::parse(&text).expect_err("not a number").to_string();
        assert!(error.starts_with("line 4: \"three\""), "{error}");
        let text = format!("{}nonsense 1\n", seed().to_text());
        assert!(Seed::<Setting>::parse(&text).is_err());
    }

    #[test]
    fn a_missing_line_and_a_newer_world_are_told() {
        let text = seed().to_text().replace(&format!("\nworld {VERSION}\n"), "\n");
        assert_eq!(Seed::<Setting>::parse(&text), Err(SeedError::Missing("world")));
        let text = seed().to_text().replace(&format!("\nworld {VERSION}\n"), "\nworld 99\n");
        assert!(matches!(Seed::<Setting>::parse(&text), Err(SeedError::Line { .. })));
    }
}
