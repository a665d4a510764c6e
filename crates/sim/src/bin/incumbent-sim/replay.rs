//! `incumbent-sim replay`: one world, told.

use std::path::Path;

use anyhow::Context as _;
use incumbent_sim::clock::Span;
use incumbent_sim::plant::Plant;
use incumbent_sim::scribe::Keep;
use incumbent_sim::seed::Seed;
use incumbent_sim::story::{Protocol, Story};
use incumbent_sim::world;

use crate::args::{ReplayAsk, Worlds};
use crate::run::ensure_available;
use crate::{Verdict, peers, printer};

pub(crate) fn replay(ask: &ReplayAsk) -> anyhow::Result<Verdict> {
    let protocol = match ask.protocol {
        Worlds::Database(protocol) => protocol,
        Worlds::Peers(algorithm) => return peers::replay(ask, algorithm),
    };
    let (story, plant) = story(&ask.seed, protocol, ask.hours, ask.plant)?;
    let keep = Keep { history: ask.history.is_some(), trace: ask.trace };
    let run = world::run(&story, plant, keep)?;
    if let Some(file) = &ask.history {
        std::fs::write(file, &run.history)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if ask.json {
        printer::line(&serde_json::to_string(&run.report).context("cannot write the report")?);
    } else {
        printer::text(&run.trace);
        describe(&story);
        printer::line(&run.report.to_string());
    }
    Ok(if run.report.is_clean() { Verdict::Kept } else { Verdict::Broken })
}

/// The story of a number or of a file, and the mistake that belongs to it.
pub(crate) fn story(
    seed: &str,
    protocol: Protocol,
    hours: Span,
    plant: Option<Plant>,
) -> anyhow::Result<(Story, Plant)> {
    let (story, own) = if let Ok(number) = seed.parse::<u64>() {
        (Story::of(protocol, number, hours), Plant::Nothing)
    } else {
        let path = Path::new(seed);
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("{seed:?} is neither a seed's number nor a file that can be read")
        })?;
        let seed = Seed::parse(&text).with_context(|| path.display().to_string())?;
        if seed.world != world::VERSION {
            let (then, now) = (seed.world, world::VERSION);
            printer::note(&format!(
                "written for world {then}, this is world {now}: chance may fall otherwise"
            ));
        }
        (seed.story, seed.plant)
    };
    let plant = plant.unwrap_or(own);
    ensure_available(plant)?;
    Ok((story, plant))
}

/// The setting, in a few lines.
pub(crate) fn describe(story: &Story) {
    let setting = &story.setting;
    let millis = |span: Span| span / 1_000_000;
    printer::line(&format!(
        "seed {}: {} candidates, {} elections, lease {} ms, margin {} ms, {} faults in {} s",
        story.seed,
        setting.candidates,
        setting.elections,
        millis(setting.lease),
        millis(setting.margin),
        story.faults.len(),
        setting.length / 1_000_000_000,
    ));
    if let Some(rounds) = setting.rounds {
        printer::line(&format!(
            "rounds of {} ms, {} in a lease, by {} ms longer up to {} ms",
            millis(setting.beat),
            rounds.limit,
            millis(rounds.delta),
            millis(rounds.cap),
        ));
    }
    if story.faults.len() <= 40 {
        for fault in &story.faults {
            printer::line(&format!("  at {} ms: {fault}", millis(fault.at)));
        }
    }
}
