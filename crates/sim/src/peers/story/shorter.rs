//! How a story of peers gets shorter, and what else is done with it as with any other.
//!
//! Assumes: whoever asks finds out whether the shorter story still shows what it is to show.
//! Promises: a shorter story can be told if the longer one could.

use core::fmt;

use super::{Algorithm, Numbers, Setting, Story};
use crate::clock::{At, Span};
use crate::genre::{Genre, Run};
use crate::peers::fault::{Fault, Kind};
use crate::peers::tally::Tally;
use crate::peers::{self, PeersError};
use crate::plant::Plant;
use crate::scribe::Keep;

impl Genre for Setting {
    type Kind = Kind;
    type Tally = Tally;
    type Error = PeersError;

    const HEADER: &'static str = "incumbent-sim seed of peers 1";
    const VERSION: u32 = peers::VERSION;

    fn run(story: &Story, plant: Plant, keep: Keep) -> Result<Run<Tally>, PeersError> {
        let bug = match plant {
            Plant::Nothing => None,
            Plant::Protocol(bug) => Some(bug),
            _ => return Err(PeersError::Plant(plant)),
        };
        peers::run(story, bug, keep)
    }

    fn longest_lease(&self) -> Span {
        self.lease
    }

    fn length(&mut self) -> &mut Span {
        &mut self.length
    }

    fn heals_at(&self) -> At {
        self.heals_at()
    }

    fn ends_after(&self, at: At) -> Span {
        (at / 3 + 1) * 4
    }

    fn members(&self) -> usize {
        self.nodes
    }

    fn without(story: &Story, number: usize) -> Story {
        let mut story = story.clone();
        let setting = &mut story.setting;
        setting.nodes -= 1;
        setting.voters = (setting.voters - usize::from(number < setting.voters)).max(1);
        setting.skews.remove(number);
        setting.starts.remove(number);
        let moved = |fault: Fault| fault.without(number);
        story.faults = story.faults.into_iter().filter_map(moved).collect();
        story
    }

    /// With one election, even clocks, a start at one instant, numbers that are easy to read, and the usual choices.
    fn easier(story: &Story) -> Vec<Story> {
        let changes: [fn(&mut Setting); 7] = [
            |setting| setting.elections = 1,
            |setting| setting.skews.fill(0),
            |setting| setting.starts.fill(0),
            |setting| setting.numbers = Numbers::From(1),
            |setting| setting.phi = false,
            |setting| setting.preempts = false,
            |setting| setting.watches = false,
        ];
        let easier = |change: fn(&mut Setting)| {
            let mut story = story.clone();
            change(&mut story.setting);
            story
        };
        changes.into_iter().map(easier).collect()
    }
}

impl Algorithm {
    /// The word used in commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Algorithm::Ring => "ring",
            Algorithm::Bully => "bully",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |span: Span| span / 1_000_000;
        let Setting { algorithm, elections, nodes, voters, numbers, .. } = self;
        write!(f, "{algorithm}, {elections} elections, ")?;
        write!(f, "{nodes} nodes, {voters} of them vote, numbers {numbers:?}, ")?;
        let (lease, heartbeat) = (millis(self.lease), millis(self.heartbeat));
        let (message, seconds) = (millis(self.message), millis(self.length) / 1_000);
        write!(f, "lease {lease} ms, heartbeat {heartbeat} ms, message {message} ms, {seconds} s")?;
        let choices =
            [(self.preempts, ", preempts"), (self.phi, ", phi"), (self.watches, ", watches")];
        choices.iter().filter(|(chosen, _)| *chosen).try_for_each(|(_, word)| f.write_str(word))
    }
}
