//! Why does this one not lead?
//!
//! Assumes: nothing; looking takes no lock and changes nothing.
//! Promises: everything that speaks against a candidate, what weighs most first. A candidate or an
//! election that was never seen is no success.

use incumbent::{CandidateName, Cause, Error};
use serde::Serialize;

use crate::exit::Exit;
use crate::flags::ExplainArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::table::Table;

/// Explains one candidate, or everybody in short.
pub(crate) async fn explain(
    settings: &Settings,
    printer: &Printer,
    args: &ExplainArgs,
) -> anyhow::Result<Exit> {
    match &args.candidate {
        Some(name) => one(settings, printer, name).await,
        None => everybody(settings, printer).await,
    }
}

async fn one(settings: &Settings, printer: &Printer, name: &str) -> anyhow::Result<Exit> {
    let name = CandidateName::new(name).map_err(Error::from)?;
    let backend = settings.open_existing().await?;
    let causes = backend.explain(&settings.election, name.as_str()).await?;
    backend.close().await;
    if printer.json() {
        printer.value(&Face::of(&settings.election, name.as_str(), &causes))?;
    } else {
        let causes = causes.iter().map(|cause| format!("\n  {}", line(cause)));
        let causes = causes.collect::<String>();
        printer.line(format!("{name} in {}:{causes}", settings.election))?;
    }
    let known = !causes.iter().any(|it| matches!(it, Cause::NeverSeen | Cause::NeverHeld));
    Ok(if known { Exit::Ok } else { Exit::No })
}

async fn everybody(settings: &Settings, printer: &Printer) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let explained = backend.explanations(&settings.election).await?;
    backend.close().await;
    if printer.json() {
        let faces = explained.iter();
        let faces = faces.map(|(name, it)| Face::of(&settings.election, name.as_str(), it));
        printer.value(&faces.collect::<Vec<_>>())?;
    } else if explained.is_empty() {
        printer.line(format!("no election named {} was ever held here", settings.election))?;
    } else {
        let mut table = Table::new(["CANDIDATE", "WHY"]);
        for (name, causes) in &explained {
            let first = causes.first().map(line).unwrap_or_default();
            let more = match causes.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            table.row([name.to_string(), format!("{first}{more}")]);
        }
        printer.line(table)?;
    }
    Ok(if explained.is_empty() { Exit::No } else { Exit::Ok })
}

/// A cause without what would break its line.
fn line(cause: &Cause) -> String {
    cause.to_string().replace(char::is_control, " ")
}

/// An explanation as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    election: &'a str,
    candidate: &'a str,
    leads: bool,
    /// What weighs most first.
    causes: Vec<CauseFace>,
}

#[derive(Debug, Serialize)]
struct CauseFace {
    /// `leads`, `hands_over`, `never_held`, `never_seen`, `silent`, `left`, `duplicate`, `unfit`,
    /// `draining`, `paused`, `cordoned`, `held_off`, `promised`, `reserved`, `awaited`, `led`,
    /// `outranked`, `in_line`, `held_up`, `may_be_held_up`, `locks_unseen` or `contends`.
    cause: &'static str,
    words: String,
}

impl<'a> Face<'a> {
    fn of(election: &'a str, candidate: &'a str, causes: &[Cause]) -> Face<'a> {
        let face = |cause: &Cause| CauseFace { cause: cause.word(), words: cause.to_string() };
        Face {
            election,
            candidate,
            leads: causes.iter().any(|cause| matches!(cause, Cause::Leads { .. })),
            causes: causes.iter().map(face).collect(),
        }
    }
}
