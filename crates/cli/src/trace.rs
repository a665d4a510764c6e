//! Lines on standard error about what happens inside, and traces for a collector.
//!
//! Assumes: it is begun before the runtime is, and ended after it.
//! Promises: warnings are always shown. Traces are sent only by `run`, only if the program was built
//! with the feature `otel` and a collector is named; what is left of them is sent at the end, for
//! which no more than a few seconds are spent.

#[cfg(feature = "otel")]
mod otel;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::flags::{Command, Flags, LogFormat};

/// Lines that look like all others of this program.
#[derive(Debug)]
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let is_error = *event.metadata().level() == Level::ERROR;
        write!(writer, "incumbent: {}: ", if is_error { "error" } else { "warning" })?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Lines and traces, until it is ended.
#[derive(Debug)]
pub(crate) struct Trace {
    #[cfg(feature = "otel")]
    sender: Option<otel::Sender>,
}

impl Trace {
    /// Begins to write and to send.
    pub(crate) fn begin(flags: &Flags) -> Trace {
        let verbose = flags.shared.verbose;
        let format = match &flags.command {
            Command::Run(args) => args.report.log_format,
            _ => LogFormat::Text,
        };
        // What a driver has to say is for those who look for trouble.
        let filter = EnvFilter::new(match verbose {
            // What `run` tells of itself is not told twice.
            0 if matches!(flags.command, Command::Run(_)) => {
                "warn,sqlx=off,incumbent::driver::seat::roll=error"
            }
            0 => "warn,sqlx=off",
            1 => "info,sqlx=off",
            2 => "debug",
            _ => "trace",
        });
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
        let lines = match format {
            LogFormat::Text if verbose == 0 => lines.event_format(Plain).boxed(),
            LogFormat::Text => lines.boxed(),
            LogFormat::Json => lines.json().flatten_event(true).boxed(),
        };
        let told = tracing_subscriber::registry().with(lines.with_filter(filter));
        #[cfg(feature = "otel")]
        {
            let run = matches!(flags.command, Command::Run(_));
            let (sender, problem) = match otel::Sender::new(run) {
                Ok(sender) => (sender, None),
                Err(problem) => (None, Some(problem)),
            };
            told.with(sender.as_ref().map(|sender| sender.layer(verbose))).init();
            if let Some(problem) = problem {
                tracing::warn!(%problem, "traces are not sent");
            }
            Trace { sender }
        }
        #[cfg(not(feature = "otel"))]
        {
            told.init();
            Trace {}
        }
    }

    /// Sends what was not sent yet.
    #[cfg_attr(
        not(feature = "otel"),
        expect(clippy::unused_self, reason = "nothing is sent without the feature")
    )]
    pub(crate) fn end(self) {
        #[cfg(feature = "otel")]
        if let Some(sender) = self.sender {
            sender.end();
        }
    }
}
