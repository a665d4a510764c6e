//! `incumbent-sim shrink`: the shortest story that still breaks the promise.

use anyhow::Context as _;
use incumbent_sim::genre::{Genre, Story};
use incumbent_sim::plant::Plant;
use incumbent_sim::seed::Seed;
use incumbent_sim::shrink as shrinking;

use crate::args::ShrinkAsk;
use crate::replay::{Found, find};
use crate::{Verdict, printer};

pub(crate) fn shrink(ask: &ShrinkAsk) -> anyhow::Result<Verdict> {
    match find(&ask.seed, ask.protocol, ask.hours, ask.plant)? {
        Found::Database(story, plant) => shorten(ask, &story, plant),
        Found::Peers(story, plant) => shorten(ask, &story, plant),
    }
}

fn shorten<S: Genre>(ask: &ShrinkAsk, story: &Story<S>, plant: Plant) -> anyhow::Result<Verdict> {
    let Some(shrunk) = shrinking::shrink(story, plant)? else {
        printer::note("this story breaks no promise, so there is nothing to shrink");
        return Ok(Verdict::Kept);
    };
    printer::note(&format!(
        "{} of {} faults and {} of {} who take part are left, after {} worlds; it breaks {}: {}",
        shrunk.story.faults.len(),
        story.faults.len(),
        shrunk.story.setting.members(),
        story.setting.members(),
        shrunk.runs,
        shrunk.property,
        shrunk.violation,
    ));
    let seed = Seed { tale: shrunk.violation, world: S::VERSION, plant, story: shrunk.story };
    let text = seed.to_text();
    match &ask.out {
        Some(file) => {
            std::fs::write(file, text)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        None => printer::text(&text),
    }
    Ok(Verdict::Broken)
}
