//! Traces over OTLP, by HTTP with protobuf.
//!
//! Assumes: the standard variables `OTEL_*` say where to, under which name and how often.
//! Promises: nothing is sent unless a collector is named; a collector that is out of reach costs a
//! warning, never a round.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

/// Longest that the end of the program waits for the collector.
const FAREWELL: Duration = Duration::from_secs(3);

/// Sends spans to a collector.
#[derive(Debug)]
pub(super) struct Sender(SdkTracerProvider);

impl Sender {
    /// A sender, if there is something to send and somewhere to send it.
    pub(super) fn new(wanted: bool) -> Result<Option<Sender>, ExporterBuildError> {
        if !wanted || !is_on(&|key| std::env::var(key).ok()) {
            return Ok(None);
        }
        let exporter = SpanExporter::builder().with_http();
        let exporter = exporter.with_protocol(Protocol::HttpBinary).build()?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("incumbent");
        }
        let provider = SdkTracerProvider::builder().with_resource(resource.build());
        Ok(Some(Sender(provider.with_batch_exporter(exporter).build())))
    }

    /// What picks up the spans of the library: campaigns and leaderships, with -vv rounds too.
    pub(super) fn layer<S>(&self, verbose: u8) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let level = if verbose >= 2 { LevelFilter::DEBUG } else { LevelFilter::INFO };
        let ours = Targets::new().with_target("incumbent", level);
        let tracer = self.0.tracer("incumbent");
        tracing_opentelemetry::layer().with_tracer(tracer).with_filter(ours)
    }

    /// Sends what is left.
    pub(super) fn end(self) {
        if let Err(error) = self.0.shutdown_with_timeout(FAREWELL) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Whether a collector is named, and sending not switched off.
fn is_on(variable: &impl Fn(&str) -> Option<String>) -> bool {
    let says = |key: &str, word: &str| {
        variable(key).is_some_and(|value| value.trim().eq_ignore_ascii_case(word))
    };
    let named = |key: &str| variable(key).is_some_and(|value| !value.trim().is_empty());
    let off = says("OTEL_SDK_DISABLED", "true") || says("OTEL_TRACES_EXPORTER", "none");
    !off && (named("OTEL_EXPORTER_OTLP_ENDPOINT") || named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(set: &[(&str, &str)]) -> bool {
        is_on(&|key| {
            set.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn traces_are_sent_only_if_a_collector_is_named_and_nobody_objects() {
        let named = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        assert!(!on(&[]));
        assert!(on(&[named]));
        assert!(on(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces")]));
        assert!(!on(&[named, ("OTEL_SDK_DISABLED", "true")]));
        assert!(!on(&[named, ("OTEL_TRACES_EXPORTER", "none")]));
    }
}
