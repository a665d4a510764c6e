//! The worlds that the simulator's program explores, by how much time there is.

use core::fmt;
use core::str::FromStr;

use super::explore::{ModelReport, explore};
use super::setup::{Budget, Protocol, Setup};

/// How large the worlds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Some seconds.
    Small,
    /// Some minutes.
    Large,
}

/// Explores all worlds of a size, each under its name.
pub fn check_model(size: Size) -> impl Iterator<Item = (&'static str, ModelReport)> {
    size.worlds().into_iter().map(|(name, setup)| (name, explore(&setup)))
}

impl Size {
    /// The worlds and their names.
    pub fn worlds(self) -> Vec<(&'static str, Setup)> {
        self.of_one_row().into_iter().chain(self.of_rounds()).collect()
    }

    fn of_one_row(self) -> Vec<(&'static str, Setup)> {
        let (more, longer) = self.extra();
        let none = Budget::default();
        let world = |candidates, horizon: u64, budget| Setup {
            budget,
            proof: true,
            ..Setup::calm(candidates, horizon + longer)
        };
        vec![
            ("two candidates, slow", world(2, 10, Budget { delays: 3 + more, ..none })),
            (
                "two candidates, unknown outcomes",
                world(2, 9, Budget { delays: 1 + more, unknown: 1, ..none }),
            ),
            ("two candidates, pauses", world(2, 9, Budget { delays: 1 + more, pauses: 1, ..none })),
            (
                "two candidates, crashes and orders",
                world(2, 9, Budget { delays: more, crashes: 1, demotions: 1, ..none }),
            ),
            (
                "three candidates, crashes",
                world(3, 9, Budget { delays: 1, crashes: 1 + more, ..none }),
            ),
            (
                "three candidates, unknown outcomes",
                world(3, 8, Budget { unknown: 1, crashes: more, ..none }),
            ),
        ]
    }

    fn of_rounds(self) -> Vec<(&'static str, Setup)> {
        let (more, longer) = self.extra();
        let more = more / 2;
        let none = Budget::default();
        let world = |candidates, horizon: u64, budget| {
            let calm = Setup::calm(candidates, horizon + longer).with(Protocol::Rounds);
            Setup { budget, calm: if candidates > 2 { 3 } else { 0 }, ..calm }
        };
        let shrinking = |horizon, budget| {
            Setup { calm: 118, ..world(2, horizon, budget) }.with(Protocol::GrownRounds)
        };
        vec![
            ("rounds of two, slow", world(2, 11, Budget { delays: 2 + more, ..none })),
            ("rounds of two, pauses", world(2, 12, Budget { pauses: 1 + more, ..none })),
            (
                "rounds of two, unknown outcomes",
                world(2, 10, Budget { delays: more, unknown: 1 + more, ..none }),
            ),
            (
                "rounds of two, resets and evictions",
                world(2, 10, Budget { resets: 1, evictions: 1, ..none }),
            ),
            (
                "rounds of three, pauses and crashes",
                world(3, 12, Budget { pauses: 1, crashes: more, ..none }),
            ),
            (
                "rounds that shrink, pauses",
                shrinking(140, Budget { pauses: 1, delays: more, ..none }),
            ),
        ]
    }

    /// How many troubles more, and how many ticks longer.
    const fn extra(self) -> (u8, u64) {
        match self {
            Size::Small => (0, 0),
            Size::Large => (2, 2),
        }
    }
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "small" => Ok(Size::Small),
            "large" => Ok(Size::Large),
            _ => Err("a size is small or large"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Size::Small => "small",
            Size::Large => "large",
        })
    }
}
