//! Was a promise ever broken?
//!
//! Assumes: histories as `--history` writes them.
//! Promises: the judges are those that judge the simulator. What could not be judged has an exit code of
//! its own.

use crate::exit::Exit;
use crate::flags::AuditArgs;
use crate::printer::Printer;

/// Judges histories.
pub(crate) fn audit(printer: &Printer, args: &AuditArgs) -> anyhow::Result<Exit> {
    let report = incumbent_audit::audit(&args.files)?;
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
