//! `incumbent-sim shrink`: the shortest story that still breaks the promise.

use anyhow::Context as _;
use incumbent_sim::seed::Seed;
use incumbent_sim::{shrink as shrinking, world};

use crate::args::ShrinkAsk;
use crate::{Verdict, printer, replay};

pub(crate) fn shrink(ask: &ShrinkAsk) -> anyhow::Result<Verdict> {
    let (story, plant) = replay::story(&ask.seed, ask.protocol, ask.hours, ask.plant)?;
    let Some(shrunk) = shrinking::shrink(&story, plant)? else {
        printer::note("this story breaks no promise, so there is nothing to shrink");
        return Ok(Verdict::Kept);
    };
    printer::note(&format!(
        "{} of {} faults and {} of {} candidates are left, after {} worlds; it breaks {}: {}",
        shrunk.story.faults.len(),
        story.faults.len(),
        shrunk.story.setting.candidates,
        story.setting.candidates,
        shrunk.runs,
        shrunk.property,
        shrunk.violation,
    ));
    let seed = Seed { tale: shrunk.violation, world: world::VERSION, plant, story: shrunk.story };
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
