//! `incumbent-sim run` and `replay` for worlds of peers.

use anyhow::Context as _;
use incumbent_protocol::planted::Bug;
use incumbent_sim::clock::SECOND;
use incumbent_sim::ledger::{grouped, rate};
use incumbent_sim::peers::batch::{Plan, Total, all};
use incumbent_sim::peers::fault::Kind;
use incumbent_sim::peers::{Algorithm, Story, run as run_one};
use incumbent_sim::plant::Plant;
use incumbent_sim::scribe::Keep;

use crate::args::{ReplayAsk, RunAsk};
use crate::progress::Progress;
use crate::run::jobs;
use crate::{Verdict, printer};

/// From how much simulated time on every kind of fault must have fired: a thousand quarter hours.
const ENOUGH: u64 = 250 * 3_600 * SECOND;

/// How many broken worlds are told in full.
const TOLD: usize = 10;

pub(crate) fn run(ask: &RunAsk, algorithm: Algorithm) -> anyhow::Result<Verdict> {
    #[expect(
        clippy::disallowed_types,
        reason = "how long a run took is for people and decides nothing"
    )]
    let began = std::time::Instant::now();
    let (seeds, length) = (ask.seeds.clone(), ask.hours);
    let plan = Plan { algorithm, seeds, length, jobs: jobs(ask.jobs), bug: bug(ask.plant)? };
    let progress = Progress::new("peers", ask.seeds.end - ask.seeds.start);
    let total = all(&plan, |failed| progress.step(failed))?;
    progress.finish();
    let enough = total.tally.simulated >= ENOUGH;
    let missing = if enough { total.tally.missing() } else { Vec::new() };
    if ask.json {
        printer::line(&serde_json::to_string(&total).context("cannot write the totals")?);
    } else {
        print(&total, began.elapsed().as_secs_f64(), &missing);
    }
    let kept = total.failures.is_empty() && missing.is_empty();
    Ok(if kept { Verdict::Kept } else { Verdict::Broken })
}

pub(crate) fn replay(ask: &ReplayAsk, algorithm: Algorithm) -> anyhow::Result<Verdict> {
    let seed = ask.seed.parse::<u64>().context("worlds of peers have seeds that are numbers")?;
    let story = Story::of(algorithm, seed, ask.hours);
    let keep = Keep { history: ask.history.is_some(), trace: ask.trace };
    let run = run_one(&story, bug(ask.plant.unwrap_or(Plant::Nothing))?, keep)?;
    if let Some(file) = &ask.history {
        std::fs::write(file, &run.history)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if ask.json {
        printer::line(&serde_json::to_string(&run.report).context("cannot write the report")?);
    } else {
        printer::text(&run.trace);
        let setting = serde_json::to_string(&story.setting).context("cannot write the setting")?;
        printer::line(&format!("seed {seed}: {setting}"));
        for fault in story.faults.iter().take(40) {
            printer::line(&format!("  at {} ms: {fault}", fault.at / 1_000_000));
        }
        printer::line(&run.report.to_string());
    }
    Ok(if run.report.is_clean() { Verdict::Kept } else { Verdict::Broken })
}

/// The mistake of the protocol that is asked for, if one is.
fn bug(plant: Plant) -> anyhow::Result<Option<Bug>> {
    match plant {
        Plant::Nothing => Ok(None),
        Plant::Protocol(bug) => Ok(Some(bug)),
        _ => anyhow::bail!("the mistake {plant} belongs to databases, and peers have none"),
    }
}

fn print(total: &Total, seconds: f64, missing: &[Kind]) {
    let tally = &total.tally;
    printer::line(&format!(
        "{} worlds, {} simulated hours, {} leaderships, {} runs heard of, {} messages",
        grouped(tally.runs),
        grouped(tally.simulated / (3_600 * SECOND)),
        grouped(tally.gained),
        grouped(tally.began),
        grouped(tally.messages),
    ));
    printer::line(&format!(
        "{} events in {seconds:.1} s, {} events per second; {} requests of unknown outcome",
        grouped(tally.events),
        grouped(rate(tally.events, seconds)),
        grouped(tally.unknown),
    ));
    printer::line(&format!(
        "protected writes: {} accepted, {} under an old token refused; {} orders carried out, {} changes of the voters",
        grouped(tally.accepted),
        grouped(tally.refused),
        grouped(tally.ordered),
        grouped(tally.amended),
    ));
    for &kind in Kind::ALL {
        printer::line(&format!("  {kind:<20} {:>14}", grouped(tally.fired(kind))));
    }
    for kind in missing {
        printer::line(&format!("NEVER FIRED: {kind}; a run without it is not a pass"));
    }
    for failure in total.failures.iter().take(TOLD) {
        let first = failure.violations.first().map(ToString::to_string).unwrap_or_default();
        printer::line(&format!("BROKEN in seed {}: {first}", failure.seed));
    }
    match total.failures.len() {
        0 => printer::line("no broken promise found"),
        broken => printer::line(&format!("{broken} worlds with broken promises")),
    }
}
