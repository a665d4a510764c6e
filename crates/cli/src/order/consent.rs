//! Looking first, and asking.
//!
//! Assumes: a person may be at a terminal.
//! Promises: nothing is changed here. Whoever is not asked has not agreed.

use std::io::IsTerminal;

use incumbent::{Error, Order, Sight, Status};
use incumbent_protocol::lease::order::Papers as Signed;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::term::{Recorded, Term};

use super::{Given, OrderUsage, face, named, signed, words};
use crate::flags::TakeoverArgs;
use crate::printer::Printer;
use crate::settings::Settings;

/// The term whose end was agreed to; none if it was not, or if this was only to be shown.
pub(super) async fn sought(
    settings: &Settings,
    printer: &Printer,
    order: &Order,
    args: &TakeoverArgs,
) -> anyhow::Result<Option<u64>> {
    if !args.dry_run && !std::io::stdin().is_terminal() {
        return Err(OrderUsage::Unconfirmed.into());
    }
    let given = preview(settings, order, args).await?;
    let words = format!("{}\n{}", words::leads(&given), words::would(&given));
    if !args.dry_run {
        let agreed = printer.asks(&words, "Take over? [y/N]")?;
        if !agreed {
            printer.event("nothing was changed", &face::Unchanged::of(&given));
        }
        return Ok(agreed.then(|| given.decree.term.get()));
    }
    if printer.json() {
        printer.value(&face::Face::shown(&given))?;
    } else {
        printer.line(format!("{words}\nNothing was changed."))?;
    }
    Ok(None)
}

/// What the order would do now.
async fn preview(settings: &Settings, order: &Order, args: &TakeoverArgs) -> anyhow::Result<Given> {
    let (actor, reason) = signed(&args.papers)?;
    let backend = settings.open_existing().await?;
    let status = backend.status(&settings.election).await?;
    let roll = backend.candidates(&settings.election).await?;
    backend.close().await;
    let meant = |number| Term::recorded(number).ok_or(Error::NoTerm(number));
    let papers = Signed {
        term: args.papers.term.map(meant).transpose()?,
        actor: actor.clone(),
        reason: reason.clone(),
        roll: Some(roll),
    };
    let decree = order.decide(&snapshot(&status), &papers);
    let decree = decree.map_err(|error| named(&settings.election, error.into()))?;
    let holder = decree.deposed.as_ref().map(|leader| leader.id.name.to_string());
    let (election, order) = (settings.election.clone(), order.clone());
    Ok(Given { election, order, actor, reason, decree, holder })
}

fn snapshot(status: &Status) -> Snapshot {
    Snapshot {
        record: status.record.clone(),
        now: status.now,
        holder_died: matches!(status.sight, Sight::Died { .. }),
        replaced: None,
        controls: status.controls.clone(),
    }
}
