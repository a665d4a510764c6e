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
use crate::plant::Plant;
use crate::story::{Setting, Story};
use crate::world::VERSION;

/// The first line of every seed file.
const HEADER: &str = "incumbent-sim seed 1";

/// A story that is kept, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// What happened in it, in one line.
    pub tale: String,
    /// The version of the world in which it happened.
    pub world: u32,
    /// The mistake that it shows, if it takes one.
    pub plant: Plant,
    /// The story.
    pub story: Story,
}

/// Why a seed file could not be read. *Retry:* with another file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SeedError {
    /// The first line says something else.
    #[error(
        "not a seed file that this program can read: the first line must be {HEADER:?}, it is {0:?}"
    )]
    Format(String),
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

impl Seed {
    /// Reads a seed file.
    pub fn parse(text: &str) -> Result<Seed, SeedError> {
        let mut lines = text.lines().enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        if first.trim_end() != HEADER {
            return Err(SeedError::Format(first.to_owned()));
        }
        let mut parts = Parts::default();
        for (index, line) in lines {
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
        let mut text = format!("{HEADER}\nstory {}\n", self.tale.replace('\n', " "));
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

/// What has been read so far.
#[derive(Default)]
struct Parts {
    tale: Option<String>,
    world: Option<u32>,
    seed: Option<u64>,
    plant: Option<Plant>,
    setting: Option<Setting>,
    faults: Vec<Fault>,
}

impl Parts {
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

    fn finish(self) -> Result<Seed, SeedError> {
        let world = self.world.ok_or(SeedError::Missing("world"))?;
        if world > VERSION {
            let problem =
                format!("written for world {world}, this is world {VERSION}: use a newer program");
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
        assert_eq!(Seed::parse("hello\n"), Err(SeedError::Format("hello".to_owned())));
        assert_eq!(Seed::parse(""), Err(SeedError::Format(String::new())));
    }

    #[test]
    fn a_bad_line_is_named() {
        let text = seed().to_text().replace("\nseed 3\n", "\nseed three\n");
        let error = Seed::parse(&text).expect_err("not a number").to_string();
        assert!(error.starts_with("line 4: \"three\""), "{error}");
        let text = format!("{}nonsense 1\n", seed().to_text());
        assert!(Seed::parse(&text).is_err());
    }

    #[test]
    fn a_missing_line_and_a_newer_world_are_told() {
        let text = seed().to_text().replace(&format!("\nworld {VERSION}\n"), "\n");
        assert_eq!(Seed::parse(&text), Err(SeedError::Missing("world")));
        let text = seed().to_text().replace(&format!("\nworld {VERSION}\n"), "\nworld 99\n");
        assert!(matches!(Seed::parse(&text), Err(SeedError::Line { .. })));
    }
}
