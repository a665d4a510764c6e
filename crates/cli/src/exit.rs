//! The codes that this program ends with, and which errors lead to which.
//!
//! Assumes: nothing.
//! Promises: a code means one thing in every subcommand; `run` passes the code of its command
//! through.

use std::process::ExitCode;

use incumbent::Error;
use incumbent_audit::HistoryError;

use crate::flags::HealthUsage;
use crate::order::OrderUsage;
use crate::run::stage::Unfit;
use crate::settings::SettingsError;

/// The codes, as `--help` shows them.
pub(crate) const CODES: &str = "\
Exit codes:
  0        it worked; somebody leads
  1        nobody leads, an order was refused, a promise was broken, the doctor refuses the
           store, or what was asked for did not come about
  2        wrong usage or configuration
  3        audit: no broken promise was found, but leases on different clocks could not be compared
  123      run: the leadership was lost, and --once or --on-loss exit was given
  124      run: --wait ran out before this candidate led
  125      this program failed: the store is unreachable, unfit, damaged, without tables or of
           another version
  126      run: the command cannot be run
  127      run: the command was not found
  other    run: the code of the command, or 128 plus the signal that ended it";

/// How this program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Ok,
    /// Nobody leads, an order was refused, a promise was broken, the doctor refuses the store, or what
    /// was asked for did not come about.
    No,
    /// Wrong usage or configuration.
    Usage,
    /// No broken promise was found, but not everything could be judged.
    Partial,
    /// The leadership was lost, and that was to be the end of it.
    Lost,
    /// The guard ended the command because the lease was at its end; its supervisor alone sees it.
    Overdue,
    /// The time to become the leader ran out.
    WaitOver,
    /// This program failed.
    Failure,
    /// The command cannot be run.
    CannotRun,
    /// The command was not found.
    NotFound,
    /// The code of the command, or 128 plus the signal that ended it.
    Child(u8),
}

impl Exit {
    /// The code that other programs see.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::Lost | Exit::Overdue => 123,
            Exit::WaitOver => 124,
            Exit::Failure => 125,
            Exit::CannotRun => 126,
            Exit::NotFound => 127,
            Exit::Child(code) => code,
        }
    }

    /// The code that an error leads to.
    pub(crate) fn of(error: &anyhow::Error) -> Exit {
        let misused = error.is::<SettingsError>() || error.is::<OrderUsage>();
        if misused || error.is::<HealthUsage>() || error.is::<HistoryError>() {
            return Exit::Usage;
        }
        if let Some(unfit) = error.downcast_ref::<Unfit>() {
            return unfit.exit();
        }
        match error.downcast_ref::<Error>() {
            Some(
                Error::Url { .. }
                | Error::User { .. }
                | Error::Name(_)
                | Error::Setting { .. }
                | Error::Timing(_)
                | Error::OtherTiming { .. }
                | Error::Refused(_),
            ) => Exit::Usage,
            Some(Error::Order(_) | Error::NoTerm(_) | Error::Missing { .. }) => Exit::No,
            _ => Exit::Failure,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
