//! A case with every number of nodes: measured, and as the theory says.
//!
//! Assumes: a case that the theory knows.
//! Promises: ends with a failure if a run disagrees with its theory.

use incumbent_sim::lab::{self, Case, Kind, Manner, Outcome, Setting, Theory, harmonic};
use serde::Serialize;

use super::plan;
use super::words::units;
use crate::exit::Exit;
use crate::flags::LabArgs;
use crate::printer::Printer;
use crate::table::Table;

/// So many orders are drawn for an average, as the page says.
const ORDERS: u32 = 100;

/// One number of nodes.
#[derive(Debug, Serialize)]
struct Size {
    nodes: usize,
    /// Election messages; of an average, the mean.
    elections: f64,
    elections_in_theory: Option<f64>,
    /// Coordinator or Elected messages.
    announcements: f64,
    announcements_in_theory: Option<f64>,
    /// Until all agreed, in message times; null if they did not.
    time: Option<String>,
    time_in_theory: Option<String>,
    agrees: bool,
}

/// Measures one case with each number of nodes.
pub(super) fn sweep(
    printer: &Printer,
    args: &LabArgs,
    (least, most): (usize, usize),
) -> anyhow::Result<Exit> {
    let case = args.case.map_or(Case::Worst, |case| case.0);
    let mut sizes = Vec::new();
    for nodes in least..=most {
        let measured = match case {
            Case::Average if args.manner.0 == Manner::Ring => average(args, nodes),
            _ => one(args, case, nodes),
        };
        match measured {
            Ok(size) => sizes.push(size),
            Err(refused) => return Ok(super::refuse(printer, refused)),
        }
    }
    let agree = sizes.iter().all(|size| size.agrees);
    if printer.json() {
        printer.value(&sizes)?;
    } else {
        printer.line(page(args.manner.0, case, &sizes))?;
    }
    Ok(if agree { Exit::Ok } else { Exit::No })
}

fn setting(args: &LabArgs, case: Case, nodes: usize, seed: u64) -> Setting {
    let mut setting = case.setting(args.manner.0, Some(nodes), seed);
    plan::with_links(&mut setting, args);
    setting
}

const fn announcement(manner: Manner) -> Kind {
    match manner {
        Manner::Ring => Kind::Elected,
        Manner::Bully => Kind::Coordinator,
    }
}

fn one(args: &LabArgs, case: Case, nodes: usize) -> Result<Size, lab::SettingError> {
    let setting = setting(args, case, nodes, args.seed);
    let outcome = lab::run(&setting)?;
    let theory = Theory::of(&setting).ok();
    let kind = announcement(args.manner.0);
    let expected = |kind: Kind| theory.as_ref().map(|theory| number(theory.counts.get(&kind)));
    let (elections, announcements) = (sent(&outcome, Kind::Election), sent(&outcome, kind));
    let same = |measured: f64, expected: Option<f64>| {
        expected.is_none_or(|expected| (measured - expected).abs() < f64::EPSILON)
    };
    let agreed_at = outcome.agreed_at();
    let on_time = theory.as_ref().is_none_or(|theory| agreed_at == Some(theory.time));
    Ok(Size {
        nodes,
        elections,
        elections_in_theory: expected(Kind::Election),
        announcements,
        announcements_in_theory: expected(kind),
        time: agreed_at.map(units),
        time_in_theory: theory.as_ref().map(|theory| units(theory.time)),
        agrees: on_time
            && agreed_at.is_some()
            && same(elections, expected(Kind::Election))
            && same(announcements, expected(kind)),
    })
}

/// The mean over many orders, beside N x H(N). Each order alone agrees with its own formula.
fn average(args: &LabArgs, nodes: usize) -> Result<Size, lab::SettingError> {
    let (mut elections, mut announcements, mut agrees) = (0.0, 0.0, true);
    let (mut time, mut time_in_theory) = (None, None);
    for order in 0..ORDERS {
        let seed = args.seed.wrapping_add(u64::from(order));
        let setting = setting(args, Case::Average, nodes, seed);
        let outcome = lab::run(&setting)?;
        let measured = sent(&outcome, Kind::Election);
        if let Ok(theory) = Theory::of(&setting) {
            let expected = number(theory.counts.get(&Kind::Election));
            agrees &= (measured - expected).abs() < f64::EPSILON;
            agrees &= outcome.agreed_at() == Some(theory.time);
            time_in_theory = Some(theory.time);
        }
        agrees &= outcome.agreed().is_some();
        time = time.max(outcome.agreed_at());
        elections += measured / f64::from(ORDERS);
        announcements += sent(&outcome, Kind::Elected) / f64::from(ORDERS);
    }
    Ok(Size {
        nodes,
        elections,
        elections_in_theory: Some(harmonic(nodes)),
        announcements,
        announcements_in_theory: Some(number(Some(&nodes))),
        time: time.map(units),
        time_in_theory: time_in_theory.map(units),
        agrees,
    })
}

fn sent(outcome: &Outcome, kind: Kind) -> f64 {
    number(outcome.trace.counts().get(&kind))
}

#[expect(clippy::cast_precision_loss, reason = "nobody sends so many messages")]
fn number(count: Option<&usize>) -> f64 {
    count.copied().unwrap_or(0) as f64
}

fn page(manner: Manner, case: Case, sizes: &[Size]) -> String {
    let kind = announcement(manner).as_str().to_uppercase();
    let average = case == Case::Average;
    let heads = ["NODES", "ELECTION", "THEORY", &kind, "THEORY", "TIME", "THEORY", ""];
    let mut table = Table::new(heads);
    for size in sizes {
        let text = |number: f64| if average { format!("{number:.1}") } else { format!("{number}") };
        let maybe = |number: Option<f64>| number.map_or("-".to_owned(), text);
        table.row([
            size.nodes.to_string(),
            text(size.elections),
            maybe(size.elections_in_theory),
            text(size.announcements),
            maybe(size.announcements_in_theory),
            size.time.clone().unwrap_or_else(|| "-".to_owned()),
            size.time_in_theory.clone().unwrap_or_else(|| "-".to_owned()),
            if size.agrees { "" } else { "differs" }.to_owned(),
        ]);
    }
    let case = case.as_str();
    let over = if average { "; means of 100 orders, and N x H(N)" } else { "" };
    let head = format!("{manner}, {case} case{over}; messages, and message times until all agree");
    format!("{head}\n{table}")
}
