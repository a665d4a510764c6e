//! `incumbent-sim ledger` and `incumbent-sim planted`: what was simulated, and which mistakes would
//! be noticed.

use std::process::Command;

use anyhow::Context as _;
use incumbent_sim::clock::{SECOND, Span};
use incumbent_sim::ledger::{Caught, Ledger};
use incumbent_sim::plant::Plant;
use incumbent_sim::run::{Plan, Total};
use incumbent_sim::story::Protocol;

use crate::args::{LedgerAsk, PlantedAsk};
use crate::run::{ensure_available, jobs, run_plan};
use crate::{Verdict, printer};

/// How many worlds are run once more without a fence.
const UNFENCED: u64 = 200;

pub(crate) fn ledger(ask: &LedgerAsk) -> anyhow::Result<Verdict> {
    let commit =
        ask.commit.clone().map_or_else(|| git(&["rev-parse", "--short=12", "HEAD"]), Ok)?;
    let date = ask.date.clone().map_or_else(|| git(&["log", "-1", "--format=%cs"]), Ok)?;
    // Better now than after an hour of work.
    let mut page = std::fs::OpenOptions::new();
    let page = page.create(true).append(true).open(&ask.out);
    page.with_context(|| format!("cannot write {}", ask.out.display()))?;
    let plan = plan(ask, true);
    let (total, seconds) = run_plan(ask.protocol.as_str(), &plan)?;
    let (unfenced, _) = run_plan("unfenced", &self::plan(ask, false))?;
    let planted = all_planted(ask.protocol, 1_000, 1_800 * SECOND)?;
    let ledger = Ledger {
        commit,
        date,
        protocol: ask.protocol,
        seeds: format!("{}..{}", ask.seeds.start, ask.seeds.end),
        total,
        seconds,
        jobs: plan.jobs,
        unfenced,
        planted,
    };
    std::fs::write(&ask.out, ledger.to_markdown())
        .with_context(|| format!("cannot write {}", ask.out.display()))?;
    let missed = ledger.planted.iter().any(|caught| caught.by.is_none());
    let kept = ledger.total.failures.is_empty() && !missed;
    Ok(if kept { Verdict::Kept } else { Verdict::Broken })
}

pub(crate) fn planted(ask: &PlantedAsk) -> anyhow::Result<Verdict> {
    let caught = match ask.plant {
        Some(plant) => vec![catch(ask.protocol, plant, ask.most, ask.hours)?],
        None => all_planted(ask.protocol, ask.most, ask.hours)?,
    };
    for Caught { plant, by, tried } in &caught {
        printer::line(&match by {
            Some((seed, promise)) => format!("{plant:<24} caught in seed {seed}: {promise}"),
            None => format!("{plant:<24} NOT CAUGHT in {tried} seeds"),
        });
    }
    let all = caught.iter().all(|caught| caught.by.is_some());
    Ok(if all { Verdict::Kept } else { Verdict::Broken })
}

fn all_planted(protocol: Protocol, most: u64, length: Span) -> anyhow::Result<Vec<Caught>> {
    let (ours, others): (Vec<Plant>, Vec<Plant>) =
        Plant::of(protocol).partition(|plant| plant.is_available());
    if !others.is_empty() {
        let count = others.len();
        printer::note(&format!(
            "{count} mistakes of the protocol are left out: build without --release and with --features planted"
        ));
    }
    ours.into_iter().map(|plant| catch(protocol, plant, most, length)).collect()
}

/// Makes a mistake in one world after the other until a judge notices.
fn catch(protocol: Protocol, plant: Plant, most: u64, length: Span) -> anyhow::Result<Caught> {
    ensure_available(plant)?;
    let mut by = None;
    let mut tried = 0;
    while by.is_none() && tried < most {
        let seeds = tried..tried + 1;
        let plan = Plan { protocol, seeds, length, jobs: 1, plant, fenced: true, stop_early: true };
        let total: Total = incumbent_sim::run::run(&plan, |_| {})?;
        let first = total.failures.first().and_then(|failure| failure.violations.first());
        by = first.map(|violation| (tried, violation.property.to_owned()));
        tried += 1;
    }
    Ok(Caught { plant: plant.to_string(), by, tried })
}

fn plan(ask: &LedgerAsk, fenced: bool) -> Plan {
    let mut seeds = ask.seeds.clone();
    if !fenced {
        seeds.end = seeds.end.min(seeds.start + UNFENCED);
    }
    Plan {
        protocol: ask.protocol,
        seeds,
        length: ask.hours,
        jobs: jobs(ask.jobs),
        plant: Plant::Nothing,
        fenced,
        stop_early: false,
    }
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let advice = "give --commit and --date where there is no git";
    let output = Command::new("git")
        .args(arguments)
        .output()
        .with_context(|| format!("cannot ask git: {advice}"))?;
    anyhow::ensure!(output.status.success(), "git knows no commit here: {advice}");
    let text = String::from_utf8(output.stdout).context("git wrote something strange")?;
    Ok(text.trim().to_owned())
}
