//! `incumbent-sim meta`: the same seed gives the same history, in this process and in another.

use core::fmt::Write as _;
use std::process::Command;

use anyhow::Context as _;
use incumbent_sim::story::Story;
use incumbent_sim::{meta as metas, peers};

use crate::args::{MetaAsk, Worlds};
use crate::{Verdict, printer};

pub(crate) fn meta(ask: &MetaAsk) -> anyhow::Result<Verdict> {
    let mut bytes = 0;
    let mut here = String::new();
    for seed in ask.seeds.clone() {
        let (one, two) = (history(ask, seed)?, history(ask, seed)?);
        if let Some(difference) = metas::difference(&one, &two) {
            printer::line(&format!("seed {seed} gave two histories: {difference}"));
            return Ok(Verdict::Broken);
        }
        bytes += one.len();
        writeln!(here, "{seed} {:016x}", metas::digest(&one))?;
    }
    let there = elsewhere(ask)?;
    if let Some(difference) = metas::difference(&here, &there) {
        printer::line(&format!("another process gave another history: {difference}"));
        return Ok(Verdict::Broken);
    }
    let worlds = ask.seeds.end - ask.seeds.start;
    printer::line(&format!(
        "{worlds} worlds three times, in two processes: the same {bytes} bytes of history each time"
    ));
    Ok(Verdict::Kept)
}

/// A number for the history of each seed, for another process to compare.
pub(crate) fn digest(ask: &MetaAsk) -> anyhow::Result<Verdict> {
    for seed in ask.seeds.clone() {
        let history = history(ask, seed)?;
        printer::line(&format!("{seed} {:016x}", metas::digest(&history)));
    }
    Ok(Verdict::Kept)
}

fn history(ask: &MetaAsk, seed: u64) -> anyhow::Result<String> {
    Ok(match ask.protocol {
        Worlds::Database(protocol) => metas::history(&Story::of(protocol, seed, ask.hours))?,
        Worlds::Peers(algorithm) => metas::history(&peers::Story::of(algorithm, seed, ask.hours))?,
    })
}

/// Asks this very program, in another process.
fn elsewhere(ask: &MetaAsk) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let hours = ask.hours / 3_600_000_000;
    let output = Command::new(program)
        .arg("digest")
        .arg(format!("--seeds={}..{}", ask.seeds.start, ask.seeds.end))
        .arg(format!("--protocol={}", ask.protocol))
        .arg(format!("--hours={}.{:03}", hours / 1_000, hours % 1_000))
        .output()
        .context("cannot start this program once more")?;
    anyhow::ensure!(output.status.success(), "the second process ended with {}", output.status);
    String::from_utf8(output.stdout).context("the second process wrote something strange")
}
