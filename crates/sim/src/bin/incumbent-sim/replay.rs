//! `incumbent-sim replay`: one world, told.

use anyhow::Context as _;
use incumbent_sim::clock::Span;
use incumbent_sim::genre::{self, Genre};
use incumbent_sim::peers;
use incumbent_sim::plant::Plant;
use incumbent_sim::scribe::Keep;
use incumbent_sim::seed::Seed;
use incumbent_sim::story::{self, Story};

use crate::args::{ReplayAsk, Worlds};
use crate::run::ensure_available;
use crate::{Verdict, printer};

/// Most faults that are listed.
const LISTED: usize = 40;

/// A story of either sort, and the mistake that belongs to it.
pub(crate) enum Found {
    Database(Story, Plant),
    Peers(peers::Story, Plant),
}

pub(crate) fn replay(ask: &ReplayAsk) -> anyhow::Result<Verdict> {
    match find(&ask.seed, ask.protocol, ask.hours, ask.plant)? {
        Found::Database(story, plant) => tell(ask, &story, plant),
        Found::Peers(story, plant) => tell(ask, &story, plant),
    }
}

fn tell<S: Genre>(
    ask: &ReplayAsk,
    story: &genre::Story<S>,
    plant: Plant,
) -> anyhow::Result<Verdict> {
    // Before it is told: perhaps it never ends.
    if let Some(file) = &ask.keep {
        let tale = format!("{} of seed {}", ask.protocol, story.seed);
        let kept = Seed { tale, world: S::VERSION, plant, story: story.clone() };
        std::fs::write(file, kept.to_text())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let keep = Keep { history: ask.history.is_some(), trace: ask.trace };
    let run = S::run(story, plant, keep)?;
    if let Some(file) = &ask.history {
        std::fs::write(file, &run.history)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if ask.json {
        printer::line(&serde_json::to_string(&run.report).context("cannot write the report")?);
    } else {
        printer::text(&run.trace);
        describe(story);
        printer::line(&run.report.to_string());
    }
    Ok(if run.report.is_clean() { Verdict::Kept } else { Verdict::Broken })
}

/// The story of a number or of a file, and the mistake that belongs to it. A file says itself which
/// worlds it is of.
pub(crate) fn find(
    seed: &str,
    worlds: Worlds,
    hours: Span,
    plant: Option<Plant>,
) -> anyhow::Result<Found> {
    if let Ok(number) = seed.parse::<u64>() {
        let plant = plant.unwrap_or(Plant::Nothing);
        ensure_available(plant)?;
        return Ok(match worlds {
            Worlds::Database(protocol) => {
                Found::Database(Story::of(protocol, number, hours), plant)
            }
            Worlds::Peers(algorithm) => {
                Found::Peers(peers::Story::of(algorithm, number, hours), plant)
            }
        });
    }
    let text = std::fs::read_to_string(seed).with_context(|| {
        format!("{seed:?} is neither a seed's number nor a file that can be read")
    })?;
    if Seed::<peers::story::Setting>::is_of(&text) {
        let (story, plant) = read(seed, &text, plant)?;
        return Ok(Found::Peers(story, plant));
    }
    let (story, plant) = read::<story::Setting>(seed, &text, plant)?;
    Ok(Found::Database(story, plant))
}

fn read<S: Genre>(
    file: &str,
    text: &str,
    plant: Option<Plant>,
) -> anyhow::Result<(genre::Story<S>, Plant)> {
    let seed = Seed::<S>::parse(text).with_context(|| file.to_owned())?;
    if seed.world != S::VERSION {
        let (then, now) = (seed.world, S::VERSION);
        printer::note(&format!(
            "written for world {then}, this is world {now}: chance may fall otherwise"
        ));
    }
    let plant = plant.unwrap_or(seed.plant);
    ensure_available(plant)?;
    Ok((seed.story, plant))
}

/// The setting and the faults, in a few lines.
fn describe<S: Genre>(story: &genre::Story<S>) {
    let genre::Story { seed, setting, faults } = story;
    printer::line(&format!("seed {seed}: {setting}; {} faults", faults.len()));
    if faults.len() <= LISTED {
        for fault in faults {
            printer::line(&format!("  at {} ms: {fault}", fault.at / 1_000_000));
        }
    }
}
