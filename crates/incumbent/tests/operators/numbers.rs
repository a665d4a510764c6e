//! Numbers: what a recorder holds after the story.

use std::collections::BTreeSet;

use incumbent::Fence;
use incumbent::metrics::{self, Kind, Metric};
use metrics_util::MetricKind;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::{lines, story};

/// One series: its metric, its labels, its value.
type Series = (String, Vec<(String, String)>, DebugValue);

/// What is recorded while something happens.
fn recorded(happens: impl FnOnce()) -> Vec<Series> {
    lines::listen();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    ::metrics::with_local_recorder(&recorder, happens);
    let mut all = Vec::new();
    for (key, unit, help, value) in snapshotter.snapshot().into_vec() {
        let (kind, key) = key.into_parts();
        let known = metrics::ALL.iter().find(|metric| metric.name == key.name());
        let known = known.unwrap_or_else(|| panic!("{} is not in the table", key.name()));
        assert!(fits(known, kind), "{} is a {kind:?}", key.name());
        assert!(unit.is_none() == help.is_none(), "described in part: {}", key.name());
        let labels: Vec<_> =
            key.labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect();
        for (label, _) in &labels {
            assert!(known.labels.contains(&label.as_str()), "{} has {label}", key.name());
        }
        all.push((key.name().to_owned(), labels, value));
    }
    all
}

fn fits(metric: &Metric, kind: MetricKind) -> bool {
    match metric.kind {
        Kind::Gauge => kind == MetricKind::Gauge,
        Kind::Counter => kind == MetricKind::Counter,
        _ => kind == MetricKind::Histogram,
    }
}

/// The values of the series of a metric that have all these labels.
fn values<'a>(all: &'a [Series], metric: &Metric, with: &[(&str, &str)]) -> Vec<&'a DebugValue> {
    let has = |labels: &[(String, String)], (key, value): &(&str, &str)| {
        labels.iter().any(|(k, v)| k == key && v == value)
    };
    let named = all.iter().filter(|(name, ..)| name == metric.name);
    let fitting = named.filter(|(_, labels, _)| with.iter().all(|pair| has(labels, pair)));
    fitting.map(|(.., value)| value).collect()
}

fn gauge(all: &[Series], metric: &Metric, with: &[(&str, &str)]) -> f64 {
    match values(all, metric, with)[..] {
        [DebugValue::Gauge(value)] => value.into_inner(),
        ref other => panic!("{}: {other:?}", metric.name),
    }
}

#[test]
fn every_transition_is_counted_once() {
    let all = recorded(story::tell);
    for transition in story::TRANSITIONS {
        let [from, to, reason] = transition;
        let times = story::TRANSITIONS.iter().filter(|other| **other == transition).count() as u64;
        let labels = [
            ("election", "billing"),
            ("candidate", "ann"),
            ("from", from),
            ("to", to),
            ("reason", reason),
        ];
        let found = values(&all, &metrics::TRANSITIONS, &labels);
        assert_eq!(found, [&DebugValue::Counter(times)], "{transition:?}");
    }
    let series: BTreeSet<_> = story::TRANSITIONS.into_iter().collect();
    assert_eq!(values(&all, &metrics::TRANSITIONS, &[]).len(), series.len());
}

#[test]
fn after_the_story_nobody_leads_or_contends_and_rounds_were_measured() {
    let all = recorded(story::tell);
    for (standing, value) in [("out", 1.0), ("following", 0.0), ("leading", 0.0), ("unsure", 0.0)] {
        let found = gauge(&all, &metrics::STANDING, &[("standing", standing)]);
        assert!((found - value).abs() < 0.5, "{standing}: {found}");
    }
    for metric in [metrics::CONTENDING, metrics::TROUBLE, metrics::LEASE_UNTIL] {
        assert!(gauge(&all, &metric, &[]).abs() < 0.5, "{}", metric.name);
    }
    assert!((gauge(&all, &metrics::LEASE, &[]) - 1.0).abs() < 1e-9);
    assert!((gauge(&all, &metrics::ROUND_TIME, &[]) - 0.25).abs() < 1e-9);
    assert!(gauge(&all, &metrics::TERM, &[]) >= 2.0);
    assert!(gauge(&all, &metrics::LAST_ROUND, &[]) > 1.7e9);
    for metric in [metrics::ROUND, metrics::LEASE_LEFT] {
        let found = values(&all, &metric, &[]);
        let [DebugValue::Histogram(seen)] = &found[..] else { panic!("{found:?}") };
        assert!(!seen.is_empty() && seen.iter().all(|value| value.into_inner() >= 0.0));
    }
    for metric in [metrics::ROUNDS_MISSED, metrics::OUTCOME_UNKNOWN] {
        assert_eq!(values(&all, &metric, &[]).len(), 1, "{} is not there", metric.name);
    }
}

#[test]
fn a_refused_token_is_counted() {
    let all = recorded(|| {
        let fence = Fence::new();
        fence.admit(7).expect("admitted");
        fence.admit(6).expect_err("refused");
        fence.admit(5).expect_err("refused");
    });
    let found = values(&all, &metrics::FENCE_REJECTIONS, &[("guard", "fence")]);
    assert_eq!(found, [&DebugValue::Counter(2)]);
}
