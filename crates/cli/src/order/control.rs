//! What stays in force until it is lifted: `pause`, `resume`, `cordon` and `uncordon`.
//!
//! Assumes: nothing about who is up.
//! Promises: one election, or every election of the store, each reported. In every election, what
//! is already as it should be counts as done, and an election that never saw the candidate is passed
//! over.

use incumbent::{Backend, CandidateName, Error, Order, OrderError};
use serde::Serialize;

use super::{Given, face, give, named, signed, words};
use crate::exit::Exit;
use crate::flags::{ControlArgs, CordonArgs, ReachArgs};
use crate::printer::Printer;
use crate::settings::Settings;

/// Lets no new term begin.
pub(crate) async fn pause(
    settings: &Settings,
    printer: &Printer,
    args: &ControlArgs,
) -> anyhow::Result<Exit> {
    carry_out(settings, printer, Order::Pause, &args.reach).await
}

/// Lets terms begin again.
pub(crate) async fn resume(
    settings: &Settings,
    printer: &Printer,
    args: &ControlArgs,
) -> anyhow::Result<Exit> {
    carry_out(settings, printer, Order::Resume, &args.reach).await
}

/// Keeps a candidate from winning.
pub(crate) async fn cordon(
    settings: &Settings,
    printer: &Printer,
    args: &CordonArgs,
) -> anyhow::Result<Exit> {
    let name = CandidateName::new(&args.candidate).map_err(Error::from)?;
    carry_out(settings, printer, Order::Cordon { name }, &args.reach).await
}

/// Lets a candidate win again.
pub(crate) async fn uncordon(
    settings: &Settings,
    printer: &Printer,
    args: &CordonArgs,
) -> anyhow::Result<Exit> {
    let name = CandidateName::new(&args.candidate).map_err(Error::from)?;
    carry_out(settings, printer, Order::Uncordon { name }, &args.reach).await
}

async fn carry_out(
    settings: &Settings,
    printer: &Printer,
    order: Order,
    args: &ReachArgs,
) -> anyhow::Result<Exit> {
    let signed = signed(&args.papers)?;
    let backend = settings.open_existing().await?;
    if args.all {
        let reports = everywhere(&backend, printer, &order, &signed).await?;
        backend.close().await;
        return Ok(judge(&reports));
    }
    let given = give(&backend, &settings.election, order, args.papers.term, signed).await;
    let given = given.map_err(|error| named(&settings.election, error))?;
    backend.close().await;
    if printer.json() {
        printer.value(&face::Face::of(&given, None))?;
    } else {
        printer.line(words::in_force(&given))?;
    }
    Ok(Exit::Ok)
}

/// What became of the order in one election.
#[derive(Debug, Serialize)]
struct Report {
    election: String,
    order: &'static str,
    /// `done`, `unchanged` (it was so already), `absent` (the candidate was never seen there) or
    /// `refused`.
    outcome: &'static str,
    /// Why it was not done.
    problem: Option<String>,
    term: Option<u64>,
    #[serde(skip)]
    words: String,
}

/// Gives the order in every election, and reports each as it is done.
async fn everywhere(
    backend: &Backend,
    printer: &Printer,
    order: &Order,
    signed: &(String, Option<String>),
) -> anyhow::Result<Vec<Report>> {
    let mut reports = Vec::new();
    for status in backend.statuses().await? {
        let election = status.election.as_str();
        let given = give(backend, election, order.clone(), None, signed.clone()).await;
        let report = match given {
            Ok(given) => Report::done(&given),
            Err(Error::Order(error)) => Report::refused(election, order, &error),
            Err(error) => return Err(error.into()),
        };
        if printer.json() {
            printer.value(&report)?;
        } else {
            printer.line(&report.words)?;
        }
        reports.push(report);
    }
    if reports.is_empty() && !printer.json() {
        printer.line("no election was ever held here")?;
    }
    Ok(reports)
}

/// It worked if nothing was refused, and something is as it should be.
fn judge(reports: &[Report]) -> Exit {
    let refused = reports.iter().any(|report| report.outcome == "refused");
    let so = reports.iter().any(|report| ["done", "unchanged"].contains(&report.outcome));
    if so && !refused { Exit::Ok } else { Exit::No }
}

impl Report {
    fn done(given: &Given) -> Report {
        Report {
            election: given.election.clone(),
            order: given.order.word(),
            outcome: "done",
            problem: None,
            term: Some(given.decree.term.get()),
            words: words::in_force(given),
        }
    }

    fn refused(election: &str, order: &Order, error: &OrderError) -> Report {
        let outcome = match (order, error) {
            (Order::Pause, OrderError::AlreadyPaused)
            | (Order::Resume, OrderError::NotPaused)
            | (Order::Cordon { .. }, OrderError::AlreadyCordoned { .. })
            | (Order::Uncordon { .. }, OrderError::NotCordoned { .. }) => "unchanged",
            (_, OrderError::NoSuchCandidate { .. }) => "absent",
            _ => "refused",
        };
        Report {
            election: election.to_owned(),
            order: order.word(),
            outcome,
            problem: Some(error.to_string()),
            term: None,
            words: format!("{election}: {outcome}: {error}"),
        }
    }
}
