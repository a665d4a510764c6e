//! Was a promise ever broken?
//!
//! Assumes: histories as `--history` writes them.
//! Promises: the judges are those that judge the simulator. What could not be judged has an exit code of
//! its own.

use incumbent_audit::{History, HistoryError};

use crate::exit::Exit;
use crate::flags::AuditArgs;
use crate::printer::Printer;

/// Judges histories.
pub(crate) fn audit(printer: &Printer, args: &AuditArgs) -> anyhow::Result<Exit> {
    let history = History::read(&args.files)?;
    let idle = history.idle();
    if !idle.is_empty() {
        // It is likely to be the wrong file.
        return Err(HistoryError::Empty { files: idle.join(", ") }.into());
    }
    let report = incumbent_audit::judge(&history);
    if printer.json() {
        printer.value(&report)?;
    } else {
        printer.line(&report)?;
    }
    Ok(match (report.is_clean(), report.not_comparable) {
        (true, 0) => Exit::Ok,
        (true, _) => Exit::Partial,
        (false, _) => Exit::No,
    })
}
