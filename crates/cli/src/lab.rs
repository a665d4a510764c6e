//! Ring and bully to play with: who fails, what is said, and what it costs.
//!
//! Assumes: nothing; no store and no other process is needed.
//! Promises: the machines are those of production; the same flags give the same run, message by
//! message.
//!
//! | file | what |
//! |---|---|
//! | [`plan`] | flags, as a setting |
//! | [`diagram`], [`row`] | what was said, for a terminal |
//! | [`drawing`] | the same as a file |
//! | [`figures`] | what it cost, beside the theory |
//! | [`face`] | everything as programs read it |
//! | [`sweep`] | a case with every number of nodes |
//! | [`words`] | how nodes and times are written |

mod diagram;
mod drawing;
mod face;
mod figures;
mod plan;
mod row;
mod sweep;
mod words;

use std::io::stdout;

use anyhow::Context;
use incumbent_sim::lab::{self, Outcome, Setting, SettingError};

use self::face::Face;
use crate::exit::Exit;
use crate::flags::LabArgs;
use crate::printer::Printer;

/// Runs what was asked for, and shows it.
pub(crate) fn lab(printer: &Printer, args: &LabArgs) -> anyhow::Result<Exit> {
    if let Some(range) = args.sweep {
        return sweep::sweep(printer, args, range);
    }
    let setting = plan::setting(args);
    let outcome = match lab::run(&setting) {
        Ok(outcome) => outcome,
        Err(refused) => return Ok(refuse(printer, refused)),
    };
    if let Some(path) = &args.svg {
        let drawing = drawing::draw(&setting, &outcome.trace, &figures::title(&setting));
        std::fs::write(path, drawing)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if printer.json() {
        printer.value(&Face::of(&setting, &outcome))?;
    } else {
        printer.line(page(&setting, &outcome, args))?;
    }
    Ok(if outcome.agreed().is_some() { Exit::Ok } else { Exit::No })
}

/// A setting that makes no sense is wrong usage.
fn refuse(printer: &Printer, refused: SettingError) -> Exit {
    printer.error(&refused.into());
    Exit::Usage
}

fn page(setting: &Setting, outcome: &Outcome, args: &LabArgs) -> String {
    let width = width();
    let diagram = diagram::draw(setting, &outcome.trace, width, args.acks);
    let figures = figures::figures(setting, outcome, width);
    format!("{}\n\n{diagram}\n\n{figures}", figures::head(setting, width))
}

/// How many columns there are: of the terminal, else as COLUMNS says, else a hundred.
fn width() -> usize {
    let terminal =
        rustix::termios::tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col));
    let said = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.filter(|columns| *columns > 0).or_else(said).unwrap_or(100).max(40)
}
