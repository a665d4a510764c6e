//! How a story of a database gets shorter, and what else is done with it as with any other.
//!
//! Assumes: whoever asks finds out whether the shorter story still shows what it is to show.
//! Promises: a shorter story can be told if the longer one could.

use core::fmt;

use super::{Setting, Story};
use crate::clock::{At, Span};
use crate::fault::{Fault, Kind};
use crate::genre::{Genre, Run};
use crate::plant::Plant;
use crate::scribe::Keep;
use crate::tally::Tally;
use crate::world::{self, WorldError};

impl Genre for Setting {
    type Kind = Kind;
    type Tally = Tally;
    type Error = WorldError;

    const HEADER: &'static str = "incumbent-sim seed 1";
    const VERSION: u32 = world::VERSION;

    fn run(story: &Story, plant: Plant, keep: Keep) -> Result<Run<Tally>, WorldError> {
        world::run(story, plant, keep)
    }

    fn longest_lease(&self) -> Span {
        self.longest_lease()
    }

    fn length(&mut self) -> &mut Span {
        &mut self.length
    }

    fn heals_at(&self) -> At {
        self.heals_at()
    }

    fn ends_after(&self, at: At) -> Span {
        at + self.calm()
    }

    fn members(&self) -> usize {
        self.candidates
    }

    fn without(story: &Story, number: usize) -> Story {
        let mut story = story.clone();
        let setting = &mut story.setting;
        if setting.twins {
            setting.twins = number != 0 && number + 1 != setting.candidates;
        }
        setting.candidates -= 1;
        setting.skews.remove(number);
        if let Some(succession) = &mut setting.succession {
            succession.priorities.remove(number);
        }
        let moved = |fault: Fault| {
            if fault.kind.is_of_election() { Some(fault) } else { fault.without(number) }
        };
        story.faults = story.faults.into_iter().filter_map(moved).collect();
        story
    }

    /// With one election less, and with even clocks.
    fn easier(story: &Story) -> Vec<Story> {
        let mut even = story.clone();
        even.setting.skews.fill(0);
        even.setting.store_skew = 0;
        let mut fewer = story.clone();
        let left = fewer.setting.elections.saturating_sub(1).max(1);
        fewer.setting.elections = left;
        fewer.faults.retain(|fault| !fault.kind.is_of_election() || fault.target < left);
        vec![fewer, even]
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |span: Span| span / 1_000_000;
        let Setting { candidates, elections, length, .. } = self;
        let (lease, margin, seconds) =
            (millis(self.lease), millis(self.margin), millis(*length) / 1_000);
        write!(
            f,
            "{candidates} candidates, {elections} elections, lease {lease} ms, margin {margin} ms, {seconds} s"
        )?;
        let Some(rounds) = self.rounds else { return Ok(()) };
        write!(
            f,
            "; rounds of {} ms, {} in a lease, by {} ms longer up to {} ms",
            millis(self.beat),
            rounds.limit,
            millis(rounds.delta),
            millis(rounds.cap),
        )
    }
}
