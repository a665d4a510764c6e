//! The program `incumbent`: a table of what it can do.
//!
//! Assumes: a Unix system.
//! Promises: answers on standard output, everything else on standard error, one of the codes of
//! [`exit`] at the end.

mod audit;
mod bench;
mod board;
mod completions;
mod demo;
mod doctor;
mod exit;
mod explain;
mod flags;
mod history;
mod members;
mod moment;
mod order;
mod ports;
mod printer;
mod run;
mod schema;
mod secret;
mod settings;
mod signal;
mod span;
mod status;
mod table;
mod trace;
mod variables;
mod voters;
mod watch;
mod wrap;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::time::Duration;

use crate::exit::Exit;
use crate::flags::{Command, Flags};
use crate::printer::Printer;
use crate::settings::Settings;
use crate::trace::Trace;

fn main() -> ExitCode {
    let flags = match Flags::read() {
        Ok(flags) => flags,
        Err(page) => return show(&page).into(),
    };
    let printer = Printer::new(flags.shared.json);
    let trace = Trace::begin(&flags);
    let ended = complete(dispatch(flags, &printer));
    let exit = conclude(ended, &printer);
    trace.end();
    if exit == Exit::Overdue {
        run::guard::sign_off();
    }
    exit.into()
}

/// How long the end of the program waits for work that cannot be given up, such as a question to a name server that
/// does not answer.
const FAREWELL: Duration = Duration::from_millis(250);

/// Runs this to its end, and no longer.
fn complete<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build()?;
    let ended = runtime.block_on(work);
    runtime.shutdown_timeout(FAREWELL);
    ended
}

async fn dispatch(flags: Flags, printer: &Printer) -> anyhow::Result<Exit> {
    let settings = Settings::new(&flags);
    if flags.command.is_for_people() {
        variables::warn(printer);
    }
    match flags.command {
        Command::Run(args) => run::run(&settings?, printer, args).await,
        Command::Status(args) => status::status(&settings?, printer, &args).await,
        Command::Members(args) => members::members(&settings?, printer, &args).await,
        Command::Watch(_) => watch::watch(&settings?, printer).await,
        Command::History(args) => history::history(&settings?, printer, &args).await,
        Command::Explain(args) => explain::explain(&settings?, printer, &args).await,
        Command::Transfer(args) => order::transfer(&settings?, printer, &args).await,
        Command::Demote(args) => order::demote(&settings?, printer, &args).await,
        Command::Takeover(args) => order::takeover(&settings?, printer, &args).await,
        Command::Pause(args) => order::pause(&settings?, printer, &args).await,
        Command::Resume(args) => order::resume(&settings?, printer, &args).await,
        Command::Cordon(args) => order::cordon(&settings?, printer, &args).await,
        Command::Uncordon(args) => order::uncordon(&settings?, printer, &args).await,
        Command::Forget(args) => order::forget(&settings?, printer, &args).await,
        Command::Voters(args) => voters::voters(&settings?, printer, &args).await,
        Command::Secret => secret::secret(printer),
        Command::Schema(args) => schema::schema(&settings?, printer, &args).await,
        Command::Doctor => doctor::doctor(&settings?, printer).await,
        Command::Demo(args) => demo::demo(&settings?, printer, &args).await,
        Command::Bench(args) => bench::bench(&settings?, printer, &args).await,
        Command::Audit(args) => audit::audit(printer, &args),
        Command::Completions(args) => completions::completions(printer, &args),
        Command::Guard(args) => run::guard::guard(args).await,
        Command::Enter(args) => run::stage::enter(&args),
        Command::Foreground => run::terminal::take().map(|()| Exit::Ok),
        Command::BenchHost(args) => bench::host::host(&settings?, &args),
        Command::DemoWork => demo::work(printer).await,
    }
}

/// Ends with what came about, and says why if it is not what was asked for.
fn conclude(ended: anyhow::Result<Exit>, printer: &Printer) -> Exit {
    ended.unwrap_or_else(|error| {
        if went_away(&error) {
            return Exit::Ok;
        }
        printer.error(&error);
        Exit::of(&error)
    })
}

/// Shows a help page, or what is wrong with the command line.
fn show(page: &clap::Error) -> Exit {
    let ours = std::env::args_os().take_while(|word| word != "--");
    let printer = Printer::new(ours.into_iter().any(|word| word == "--json"));
    let exit = if page.use_stderr() { Exit::Usage } else { Exit::Ok };
    conclude(printer.usage(page).map(|()| exit).map_err(Into::into), &printer)
}

/// Whether the reader of standard output is gone, which is its right.
fn went_away(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_end_does_not_wait_for_a_name_server_that_is_silent() {
        let begun = Instant::now();
        let ended = complete(async {
            let (asks, asked) = tokio::sync::oneshot::channel();
            // As the system's resolver, which answers or not when it likes.
            tokio::task::spawn_blocking(|| {
                let _ = asks.send(());
                std::thread::sleep(Duration::from_secs(20));
            });
            Ok(asked.await?)
        });
        assert!(
            ended.is_ok() && begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
    }
}
