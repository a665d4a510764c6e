//! `incumbent-sim run`: many worlds, and what came of them.

use core::ops::Range;

use anyhow::Context as _;
use incumbent_sim::clock::SECOND;
use incumbent_sim::fault::{Kind, Menu};
use incumbent_sim::ledger::{grouped, rate};
use incumbent_sim::plant::Plant;
use incumbent_sim::run::{Failure, Plan, Total};
use incumbent_sim::story::Protocol;
use incumbent_sim::tally::Fired;
use serde::Serialize;

use crate::args::{RunAsk, Worlds};
use crate::progress::Progress;
use crate::{Verdict, peers, printer};

/// From how many worlds of an hour on every kind of fault must have fired.
const ENOUGH: u64 = 1_000;

/// How many broken worlds are told in full.
const TOLD: usize = 10;

pub(crate) fn run(ask: &RunAsk) -> anyhow::Result<Verdict> {
    ensure_available(ask.plant)?;
    let protocol = match ask.protocol {
        Worlds::Database(protocol) => protocol,
        Worlds::Peers(algorithm) => return peers::run(ask, algorithm),
    };
    let plan = Plan {
        protocol,
        seeds: ask.seeds.clone(),
        length: ask.hours,
        jobs: jobs(ask.jobs),
        plant: ask.plant,
        fenced: !ask.unfenced,
        stop_early: false,
    };
    let (total, seconds) = run_plan(protocol.as_str(), &plan)?;
    let missing = missing(&plan, &total);
    if ask.json {
        let result = Result { total: &total, missing: &missing, seconds };
        printer::line(&serde_json::to_string(&result).context("cannot write the totals")?);
    } else {
        print(protocol, &total, seconds, &missing);
    }
    let kept = total.failures.is_empty() && missing.is_empty();
    Ok(if kept { Verdict::Kept } else { Verdict::Broken })
}

#[derive(Serialize)]
struct Result<'a> {
    #[serde(flatten)]
    total: &'a Total,
    missing: &'a [Kind],
    seconds: f64,
}

/// Runs a plan under a progress bar, and measures how long that takes.
pub(crate) fn run_plan(what: &'static str, plan: &Plan) -> anyhow::Result<(Total, f64)> {
    timed(what, &plan.seeds, |each| Ok(incumbent_sim::run::run(plan, each)?))
}

/// Runs so many worlds under a progress bar, and measures how long that takes.
pub(crate) fn timed<T>(
    what: &'static str,
    seeds: &Range<u64>,
    run: impl FnOnce(&(dyn Fn(u64) + Sync)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, f64)> {
    #[expect(
        clippy::disallowed_types,
        reason = "how long a run took is for people and decides nothing"
    )]
    let began = std::time::Instant::now();
    let progress = Progress::new(what, seeds.end - seeds.start);
    let done = run(&|failed| progress.step(failed))?;
    progress.finish();
    Ok((done, began.elapsed().as_secs_f64()))
}

/// How many threads: as asked, or one per core.
pub(crate) fn jobs(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}

/// Refuses mistakes that this build cannot make, so that nobody takes their absence for a pass.
pub(crate) fn ensure_available(plant: Plant) -> anyhow::Result<()> {
    anyhow::ensure!(
        plant.is_available(),
        "the mistake {plant} is one of the protocol, which this build cannot make: build without --release and with \
         --features planted"
    );
    Ok(())
}

/// Kinds of fault that never fired, if there were enough worlds to expect them.
fn missing(plan: &Plan, total: &Total) -> Vec<Kind> {
    let enough = plan.seeds.end - plan.seeds.start >= ENOUGH && plan.length >= 3_600 * SECOND;
    if enough { total.tally.missing(plan.protocol) } else { Vec::new() }
}

fn print(protocol: Protocol, total: &Total, seconds: f64, missing: &[Kind]) {
    let tally = &total.tally;
    printer::line(&format!(
        "{} worlds, {} simulated hours, {} elections side by side, {} terms, {} leaderships",
        grouped(tally.runs),
        grouped(tally.simulated / (3_600 * SECOND)),
        grouped(tally.contests),
        grouped(tally.terms),
        grouped(tally.gained),
    ));
    print_pace(tally.events, seconds, tally.unknown);
    printer::line(&format!(
        "protected writes: {} accepted, {} under an old token refused, {} under an old token accepted",
        grouped(tally.accepted),
        grouped(tally.refused),
        grouped(tally.stale),
    ));
    printer::line(&format!(
        "fenced transactions: {} committed, {} refused because their term was over, {} of unknown outcome",
        grouped(tally.committed),
        grouped(tally.barred),
        grouped(tally.doubted),
    ));
    if protocol == Protocol::Rounds {
        printer::line(&format!(
            "rosters: {} places had, {} taken away; rounds became longer {} times and shorter {} times",
            grouped(tally.joined),
            grouped(tally.evicted),
            grouped(tally.longer),
            grouped(tally.shorter),
        ));
    }
    print_faults(protocol.kinds(), &tally.faults, missing);
    print_failures(&total.failures, protocol.as_str());
}

/// How fast it went, and how often nobody could tell what came of a request.
pub(crate) fn print_pace(events: u64, seconds: f64, unknown: u64) {
    printer::line(&format!(
        "{} events in {seconds:.1} s, {} events per second; {} requests of unknown outcome",
        grouped(events),
        grouped(rate(events, seconds)),
        grouped(unknown),
    ));
}

/// How often each kind of fault did something.
pub(crate) fn print_faults<K: Menu>(
    kinds: impl Iterator<Item = K>,
    faults: &Fired<K>,
    missing: &[K],
) {
    printer::line(&format!("{} faults did something:", grouped(faults.all())));
    for kind in kinds {
        printer::line(&format!("  {kind:<20} {:>14}", grouped(faults.of(kind))));
    }
    for kind in missing {
        printer::line(&format!("NEVER FIRED: {kind}; a run without it is not a pass"));
    }
}

/// Which worlds broke a promise.
pub(crate) fn print_failures(failures: &[Failure], worlds: &str) {
    for failure in failures.iter().take(TOLD) {
        let first = failure.violations.first().map(ToString::to_string).unwrap_or_default();
        printer::line(&format!("BROKEN in seed {}: {first}", failure.seed));
    }
    match failures.len() {
        0 => printer::line("no broken promise found"),
        broken => printer::line(&format!(
            "{broken} worlds with broken promises; look closer with `incumbent-sim shrink SEED` and `replay SEED --trace` (and `--protocol {worlds}`)"
        )),
    }
}
