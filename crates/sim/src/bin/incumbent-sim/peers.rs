//! `incumbent-sim run` for worlds of peers.

use anyhow::Context as _;
use incumbent_protocol::planted::Bug;
use incumbent_sim::clock::SECOND;
use incumbent_sim::ledger::grouped;
use incumbent_sim::peers::batch::{Plan, Total, all};
use incumbent_sim::peers::fault::Kind;
use incumbent_sim::peers::{Algorithm, PeersError};
use incumbent_sim::plant::Plant;

use crate::args::RunAsk;
use crate::run::{jobs, print_failures, print_faults, print_pace, timed};
use crate::{Verdict, printer};

/// From how much simulated time on every kind of fault must have fired: 200 quarter hours.
const ENOUGH: u64 = 50 * 3_600 * SECOND;

pub(crate) fn run(ask: &RunAsk, algorithm: Algorithm) -> anyhow::Result<Verdict> {
    let (seeds, length) = (ask.seeds.clone(), ask.hours);
    let plan = Plan { algorithm, seeds, length, jobs: jobs(ask.jobs), bug: bug(ask.plant)? };
    let (total, seconds) = timed(algorithm.as_str(), &ask.seeds, |each| Ok(all(&plan, each)?))?;
    let enough = total.tally.simulated >= ENOUGH;
    let missing = if enough { total.tally.missing() } else { Vec::new() };
    if ask.json {
        printer::line(&serde_json::to_string(&total).context("cannot write the totals")?);
    } else {
        print(algorithm, &total, seconds, &missing);
    }
    let kept = total.failures.is_empty() && missing.is_empty();
    Ok(if kept { Verdict::Kept } else { Verdict::Broken })
}

/// The mistake of the protocol that is asked for, if one is.
fn bug(plant: Plant) -> Result<Option<Bug>, PeersError> {
    match plant {
        Plant::Nothing => Ok(None),
        Plant::Protocol(bug) => Ok(Some(bug)),
        _ => Err(PeersError::Plant(plant)),
    }
}

fn print(algorithm: Algorithm, total: &Total, seconds: f64, missing: &[Kind]) {
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
        "{} leaders followed another; {} lost their lease because no majority renewed it",
        grouped(tally.followed),
        grouped(tally.unheard),
    ));
    print_pace(tally.events, seconds, tally.unknown);
    printer::line(&format!(
        "protected writes: {} accepted, {} under an old token refused; {} orders carried out, {} terms handed over by order, {} changes of the voters",
        grouped(tally.accepted),
        grouped(tally.refused),
        grouped(tally.ordered),
        grouped(tally.handed_over),
        grouped(tally.amended),
    ));
    print_faults(Kind::ALL.iter().copied(), &tally.faults, missing);
    print_failures(&total.failures, algorithm.as_str());
}
