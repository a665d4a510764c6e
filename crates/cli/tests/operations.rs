//! The files for operators speak of metrics that exist, and the page about them of all.

use std::collections::BTreeSet;
use std::path::Path;

use incumbent::metrics::{ALL, Kind, Metric};
use serde_json::Value;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The metrics that a text speaks of; a name that is none of ours fails.
fn named(text: &str) -> BTreeSet<&'static str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let words = words.filter(|word| word.starts_with("incumbent_"));
    words.map(|word| of(word).unwrap_or_else(|| panic!("{word} is no metric")).name).collect()
}

/// The metric that a series belongs to. Prometheus makes three of a histogram.
fn of(series: &str) -> Option<&'static Metric> {
    ALL.iter().find(|metric| match metric.kind {
        Kind::Histogram => ["_bucket", "_sum", "_count"]
            .iter()
            .any(|end| series.strip_suffix(end) == Some(metric.name)),
        _ => series == metric.name,
    })
}

fn alerts(rules: &str) -> Vec<&str> {
    let lines = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    lines.collect()
}

#[test]
fn every_alert_speaks_of_metrics_that_exist() {
    let rules = read("alerts.yml");
    let named = named(&rules);
    let expressions = rules.lines().filter(|line| line.trim().starts_with("expr: "));
    assert_eq!(expressions.count(), alerts(&rules).len());
    for name in [
        "incumbent_standing",
        "incumbent_contending",
        "incumbent_transitions_total",
        "incumbent_lease_left_seconds",
        "incumbent_outcome_unknown_total",
        "incumbent_clock_jumps_total",
        "incumbent_fence_rejections_total",
    ] {
        assert!(named.contains(name), "no alert looks at {name}");
    }
}

#[test]
fn every_alert_is_explained() {
    let (rules, page) = (read("alerts.yml"), read("observability.md"));
    for alert in alerts(&rules) {
        assert!(page.contains(&format!("`{alert}`")), "{alert} is not explained");
    }
}

#[test]
fn the_dashboard_shows_every_metric_and_no_other() {
    let text = read("grafana.json");
    let board: Value = serde_json::from_str(&text).expect("JSON");
    let panels = board["panels"].as_array().expect("panels");
    let mut shown = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for panel in panels {
        assert!(panel["title"].is_string() && panel["type"].is_string(), "{panel}");
        assert!(numbers.insert(panel["id"].as_u64().expect("an id")), "{panel}");
        for target in panel["targets"].as_array().expect("targets") {
            shown.extend(named(target["expr"].as_str().expect("an expression")));
        }
    }
    assert_eq!(shown, ALL.iter().map(|metric| metric.name).collect());
    named(&text);
}

#[test]
fn every_metric_has_a_row_that_tells_the_truth() {
    let page = read("observability.md");
    for metric in ALL {
        let name = metric.name;
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let cells: Vec<&str> =
            row.unwrap_or_else(|| panic!("{name} has no row")).split(" | ").collect();
        assert_eq!(cells[1], format!("{:?}", metric.kind).to_lowercase(), "{name}");
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        assert_eq!(cells[3], labels.join(", "), "{name}");
        assert!(cells[4].starts_with(metric.help), "{name}");
    }
}
