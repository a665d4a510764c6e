//! What a recorder of the facade `metrics` hears of peers.
//!
//! Assumes: candidates whose numbers are looked at have a name that no other test gives.
//! Promises: the recorder hears all threads, and is only read: a look changes nothing.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{LazyLock, Once};

use incumbent::Config;
use incumbent::metrics::{self as names, Metric};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use metrics_util::registry::{AtomicStorage, Registry};

use crate::support::{Cluster, LONG, close_all, lead, until};

static REGISTRY: LazyLock<Registry<Key, AtomicStorage>> = LazyLock::new(Registry::atomic);

struct Ear;

impl Recorder for Ear {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        REGISTRY.get_or_create_counter(key, |counter| Counter::from_arc(counter.clone()))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        REGISTRY.get_or_create_gauge(key, |gauge| Gauge::from_arc(gauge.clone()))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        REGISTRY.get_or_create_histogram(key, |values| Histogram::from_arc(values.clone()))
    }
}

/// Listens from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| metrics::set_global_recorder(Ear).expect("one recorder"));
}

/// How often something of a candidate was counted, with this word.
pub(crate) fn count(metric: &Metric, candidate: &str, word: (&'static str, &'static str)) -> u64 {
    let key = key(metric, &[("candidate", candidate), word]);
    let found = REGISTRY.get_counter(&key);
    found.map_or(0, |counter| counter.load(SeqCst))
}

/// How much of something a candidate has; none if nothing was ever said of it.
fn gauge(metric: &Metric, candidate: &str) -> Option<f64> {
    let found = REGISTRY.get_gauge(&key(metric, &[("candidate", candidate)]))?;
    Some(f64::from_bits(found.load(SeqCst)))
}

/// What was measured of a candidate.
fn measured(metric: &Metric, candidate: &str) -> Vec<f64> {
    let found = REGISTRY.get_histogram(&key(metric, &[("candidate", candidate)]));
    found.map(|values| values.data()).unwrap_or_default()
}

fn key(metric: &Metric, labels: &[(&str, &str)]) -> Key {
    let said: Vec<&str> = labels.iter().map(|(label, _)| *label).collect();
    assert_eq!(said, metric.labels, "{}", metric.name);
    let labels: Vec<(String, String)> =
        labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
    Key::from_parts(metric.name, &labels)
}

/// A name that nobody else has: ports are not used twice at a time.
pub(crate) fn unique(cluster: &Cluster, node: usize) -> String {
    format!("of-{}", cluster.address(node).replace([':', '.'], "-"))
}

/// The settings of a node, under a name of its own.
pub(crate) fn named(cluster: &Cluster, node: usize) -> Config {
    cluster.node(node, LONG).name(unique(cluster, node))
}

#[tokio::test]
async fn links_voters_proposals_and_promises_are_counted() {
    listen();
    let cluster = Cluster::new("bully", 3);
    let who: Vec<String> = (0..3).map(|node| unique(&cluster, node)).collect();
    let is = |metric: &Metric, who: &str, value: f64| {
        gauge(metric, who).is_some_and(|found| (found - value).abs() < 0.5)
    };
    let first = cluster.open(&named(&cluster, 0)).await;
    // Alone before the first start is complete: itself, and all are needed.
    until("one voter of three", async || {
        is(&names::VOTERS_UP, &who[0], 1.0) && is(&names::VOTERS_NEEDED, &who[0], 3.0)
    })
    .await;
    let mut all = vec![first];
    for node in 1..3 {
        all.push(cluster.open(&named(&cluster, node)).await);
    }
    let leadership = lead(&all[0]).await;
    for who in &who {
        until("two links", async || is(&names::LINKS, who, 2.0)).await;
        until("three voters", async || is(&names::VOTERS_UP, who, 3.0)).await;
        until("three in all", async || is(&names::VOTERS, who, 3.0)).await;
        until("a promise", async || !measured(&names::PROMISE, who).is_empty()).await;
        assert!(measured(&names::PROMISE, who).iter().all(|took| *took >= 0.0));
    }
    assert!(is(&names::VOTERS_NEEDED, &who[0], 2.0), "a majority is enough by now");
    assert!(count(&names::PROPOSALS, &who[0], ("fate", "chosen")) > 0);
    all.remove(2).close().await;
    until("one link less", async || is(&names::LINKS, &who[0], 1.0)).await;
    until("one voter less", async || is(&names::VOTERS_UP, &who[0], 2.0)).await;
    assert!(is(&names::LINKS, &who[2], 0.0) && is(&names::VOTERS_UP, &who[2], 0.0));
    drop(leadership);
    close_all(all).await;
    assert!(is(&names::LINKS, &who[0], 0.0));
}

#[tokio::test]
async fn a_wrong_secret_is_counted_by_both_sides() {
    listen();
    let cluster = Cluster::new("ring", 2);
    let one = cluster.open(&named(&cluster, 0)).await;
    let stranger = named(&cluster, 1).secret("another secret that nobody else knows");
    let stranger = cluster.open(&stranger.expect("a secret")).await;
    for node in 0..2 {
        let who = unique(&cluster, node);
        until("it is counted", async || {
            count(&names::HANDSHAKES_REFUSED, &who, ("cause", "secret")) > 0
        })
        .await;
        assert_eq!(count(&names::HANDSHAKES_REFUSED, &who, ("cause", "version")), 0);
        assert_eq!(gauge(&names::LINKS, &who), Some(0.0));
    }
    close_all(vec![one, stranger]).await;
}
