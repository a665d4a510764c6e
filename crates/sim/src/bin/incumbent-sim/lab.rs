//! `incumbent-sim lab`: ring and bully among a handful of nodes, to look at and to count.
//!
//! Promises: the machines are those of production; the same flags give the same run, message by
//! message.
//!
//! - `flags`: what can be tried out
//! - `list`: what was said and what happened to nodes
//! - `figures`: what it cost, beside the theory
//! - `json`: everything as programs read it
//! - `words`: how nodes and times are written

use anyhow::Context as _;
use incumbent_sim::lab;

use crate::{Verdict, printer};

mod figures;
mod flags;
mod json;
mod list;
mod words;

pub(crate) use flags::{EXAMPLES, LabAsk};

pub(crate) fn lab(ask: &LabAsk) -> anyhow::Result<Verdict> {
    let setting = ask.setting();
    let outcome = lab::run(&setting)?;
    if ask.json {
        let run = json::Run::of(&setting, &outcome);
        printer::line(&serde_json::to_string(&run).context("cannot write the run")?);
    } else {
        printer::line(&figures::head(&setting));
        printer::line(&format!("\n{}\n", list::list(&outcome.trace, ask.acks)));
        printer::line(&figures::figures(&setting, &outcome));
    }
    Ok(if outcome.agreed().is_some() { Verdict::Kept } else { Verdict::Broken })
}
