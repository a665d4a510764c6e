//! What removes an election: `forget`.
//!
//! Assumes: its candidates were stopped.
//! Promises: nothing is removed before an operator agreed, on a terminal or by a flag. What was agreed
//! to is the removal of the election in the term that was shown, and in no later one.

use std::io::IsTerminal;

use incumbent::{Error, OrderError, Removal, Status};
use serde::Serialize;

use super::{OrderUsage, named, signed};
use crate::exit::Exit;
use crate::flags::ForgetArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::{moment, span};

/// Removes an election that nobody holds any more.
pub(crate) async fn forget(
    settings: &Settings,
    printer: &Printer,
    args: &ForgetArgs,
) -> anyhow::Result<Exit> {
    let (actor, reason) = signed(&args.papers)?;
    let election = settings.election.as_str();
    if !args.yes && !std::io::stdin().is_terminal() {
        return Err(OrderUsage::UnconfirmedRemoval(election.to_owned()).into());
    }
    let backend = settings.open_existing().await?;
    let status = backend.status(election).await?;
    let mut term = args.papers.term;
    if !args.yes {
        let words = words(&status).ok_or_else(|| named(election, OrderError::Unknown.into()))?;
        if !printer.asks(&words, "Forget it? [y/N]")? {
            backend.close().await;
            printer.event("nothing was changed", &Unchanged::of(election));
            return Ok(Exit::No);
        }
    }
    // The one that was shown, unless the operator names another.
    term = term.or_else(|| status.record.map(|record| record.term.get()));
    let removed = backend.forget(election, term, &actor, reason.as_deref()).await;
    let removed = removed.map_err(|error: Error| named(election, error))?;
    backend.close().await;
    if printer.json() {
        printer.value(&Face::of(election, actor, reason, &removed))?;
    } else {
        printer.line(format!(
            "{election} is forgotten. Its last term was {}, led by {}; a later one will be greater.",
            removed.term, removed.holder
        ))?;
    }
    Ok(Exit::Ok)
}

/// What is to be agreed to; nothing if there is no such election.
fn words(status: &Status) -> Option<String> {
    let record = status.record.as_ref()?;
    let election = &status.election;
    let lease = span::show(record.rules.lease());
    Some(format!(
        "{} led {election} last, in term {}; its last beat came at {}.\n\
         Forgetting {election} removes its past terms, its orders and cordons, and its list of candidates.\n\
         It is watched for {lease} first, and refused if it is led, or if candidates take part.",
        record.holder.name,
        record.term,
        moment::show(record.beaten_at)
    ))
}

/// A removal as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    order: &'static str,
    election: &'a str,
    actor: String,
    reason: Option<String>,
    /// The last term.
    term: u64,
    /// Who led in it.
    leader: &'a str,
}

impl<'a> Face<'a> {
    fn of(
        election: &'a str,
        actor: String,
        reason: Option<String>,
        removed: &'a Removal,
    ) -> Face<'a> {
        let (term, leader) = (removed.term.get(), removed.holder.as_str());
        Face { order: ORDER, election, actor, reason, term, leader }
    }
}

/// The word for it.
const ORDER: &str = "forget";

/// A removal that was not agreed to.
#[derive(Debug, Serialize)]
struct Unchanged<'a> {
    event: &'static str,
    order: &'static str,
    election: &'a str,
}

impl<'a> Unchanged<'a> {
    const fn of(election: &'a str) -> Unchanged<'a> {
        Unchanged { event: "unchanged", order: ORDER, election }
    }
}
