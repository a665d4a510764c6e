//! What becomes of the present term: `transfer`, `demote` and `takeover`.
//!
//! Assumes: nothing about who is up.
//! Promises: says for how long the old leader may still act, and what follows.

use incumbent::{Backend, CandidateName, Change, Error, Leader, Order};
use tokio::time::timeout;

use super::{Given, consent, face, give, named, signed, words};
use crate::exit::Exit;
use crate::flags::{DemoteArgs, Papers, TakeoverArgs, TransferArgs, WaitArgs};
use crate::printer::Printer;
use crate::settings::Settings;
use crate::span;

/// Asks the leader to end its work and to hand over.
pub(crate) async fn transfer(
    settings: &Settings,
    printer: &Printer,
    args: &TransferArgs,
) -> anyhow::Result<Exit> {
    let to = CandidateName::new(&args.to).map_err(Error::from)?;
    let order = Order::Transfer { to, drain: settings.drain };
    carry_out(settings, printer, order, &args.papers, &args.wait).await
}

/// Ends the present term.
pub(crate) async fn demote(
    settings: &Settings,
    printer: &Printer,
    args: &DemoteArgs,
) -> anyhow::Result<Exit> {
    let order = Order::Demote { hold_off: args.hold_off.unwrap_or_default() };
    carry_out(settings, printer, order, &args.papers, &args.wait).await
}

/// Ends the present term and reserves the next, once somebody agreed to that.
pub(crate) async fn takeover(
    settings: &Settings,
    printer: &Printer,
    args: &TakeoverArgs,
) -> anyhow::Result<Exit> {
    let successor = CandidateName::new(&args.successor).map_err(Error::from)?;
    let order = Order::Takeover { successor };
    if args.yes {
        return carry_out(settings, printer, order, &args.papers, &args.wait).await;
    }
    signed(&args.papers)?;
    let Some(term) = consent::sought(settings, printer, &order, args).await? else {
        return Ok(if args.dry_run { Exit::Ok } else { Exit::No });
    };
    // What was agreed to is the end of this term, and of no later one.
    let papers = Papers { term: Some(term), ..args.papers.clone() };
    carry_out(settings, printer, order, &papers, &args.wait).await
}

/// Gives the order, tells what was ordered, and waits for what follows if that was asked for.
async fn carry_out(
    settings: &Settings,
    printer: &Printer,
    order: Order,
    papers: &Papers,
    wait: &WaitArgs,
) -> anyhow::Result<Exit> {
    let signed = signed(papers)?;
    let backend = settings.open_existing().await?;
    let term = match papers.term {
        Some(term) => Some(term),
        None => present(&backend, &settings.election).await?,
    };
    let given = give(&backend, &settings.election, order, term, signed).await;
    let given = given.map_err(|error| named(&settings.election, error))?;
    if !printer.json() {
        printer.line(words::ended(&given))?;
    }
    let next = match wait.wait_for {
        Some(limit) => timeout(limit, next_leader(&backend, &given)).await.ok().transpose()?,
        None => None,
    };
    backend.close().await;
    if printer.json() {
        printer.value(&face::Face::of(&given, next.as_ref()))?;
    } else if let Some(limit) = wait.wait_for {
        printer.line(match &next {
            Some(next) => format!("{} leads, term {}", next.id.name, next.term),
            None => format!("nobody else leads after {}", span::show(limit)),
        })?;
    }
    let meant = given.order.subject();
    Ok(match next {
        None if wait.wait_for.is_some() => Exit::No,
        Some(next) if meant.is_some_and(|meant| *meant != next.id.name) => Exit::No,
        _ => Exit::Ok,
    })
}

/// The term that the order is for, unless somebody names one: if the answer of the store is lost and the
/// order is given again, it cannot hit a successor.
async fn present(backend: &Backend, election: &str) -> Result<Option<u64>, Error> {
    let record = backend.status(election).await?.record;
    Ok(record.map(|record| record.term.get()))
}

async fn next_leader(backend: &Backend, given: &Given) -> Result<Leader, Error> {
    let election = backend.election(&given.election).await?;
    let mut changes = election.observe()?;
    while let Some(change) = changes.next().await {
        if let Change::Leader(Some(leader)) = change
            && leader.term > given.decree.term
        {
            return Ok(leader);
        }
    }
    Err(Error::Closed)
}
