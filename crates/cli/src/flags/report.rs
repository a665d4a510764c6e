//! Flags of `run` that say how it reports on itself.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

/// How `run` reports on itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportFlags {
    /// Serve metrics for Prometheus here, for example 127.0.0.1:9464, under /metrics; also /livez and
    /// /readyz.
    #[arg(long, env = "INCUMBENT_METRICS", hide_env_values = true, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// How lines on standard error are written that -v asks for, and warnings.
    #[arg(
        long,
        env = "INCUMBENT_LOG_FORMAT",
        hide_env_values = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub(crate) log_format: LogFormat,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    #[value(help = "for people")]
    Text,
    /// One JSON object a line.
    #[value(help = "one JSON object a line")]
    Json,
}
