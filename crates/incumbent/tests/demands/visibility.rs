//! Demand 9: who leads, since when, why, and whether exactly one does.

use ::metrics::Key;
use incumbent::metrics::{self, Metric};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use crate::support::{BILLING, LONG, Place, contend, lead, resign, seen, soon, won};

/// What was recorded since the last time this was asked.
fn recorded(numbers: &Snapshotter) -> Vec<(Key, DebugValue)> {
    let all = numbers.snapshot().into_vec();
    all.into_iter().map(|(key, _, _, value)| (key.into_parts().1, value)).collect()
}

/// The sum of all series of a metric that have this label.
fn sum(recorded: &[(Key, DebugValue)], metric: &Metric, label: (&str, &str)) -> f64 {
    let labelled = |key: &Key| key.labels().any(|it| (it.key(), it.value()) == label);
    let fitting = recorded.iter().filter(|(key, _)| key.name() == metric.name && labelled(key));
    let value = |(_, value): &(Key, DebugValue)| match value {
        DebugValue::Gauge(value) => value.into_inner(),
        DebugValue::Counter(value) => f64::from(u32::try_from(*value).expect("a few")),
        DebugValue::Histogram(_) => panic!("{} is a histogram", metric.name),
    };
    fitting.map(value).sum()
}

fn is(number: f64, wanted: f64) -> bool {
    (number - wanted).abs() < 1e-9
}

// Nobody could tell from outside whether there was one leader, none or two, nor why it had changed.
// Here leaders can be summed up, and changes are counted with their reason.
#[test]
fn p09_leaders_can_be_summed_up_and_changes_are_counted_with_their_reason() {
    let recorder = DebuggingRecorder::new();
    let numbers = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    ::metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let place = Place::file();
            let one = place.candidate("one", LONG).await;
            let two = place.candidate("two", LONG).await;
            let (first, waits) = (lead(&one).await, contend(&two));
            seen(&one, "two").await;
            let led = recorded(&numbers);
            let leading = sum(&led, &metrics::STANDING, ("standing", "leading"));
            assert!(is(leading, 1.0), "exactly one leads: {leading}");
            let contending = sum(&led, &metrics::CONTENDING, ("election", BILLING));
            assert!(is(contending, 2.0), "both would take over: {contending}");
            assert!(is(sum(&led, &metrics::TRANSITIONS, ("reason", "first")), 1.0));
            one.backend().demote(BILLING, None, "ann", None).await.expect("demoted");
            soon("the loss", first.lost()).await;
            resign(first).await;
            resign(won(waits).await).await;
            let ended = recorded(&numbers);
            for reason in ["deposed", "resigned"] {
                let counted = sum(&ended, &metrics::TRANSITIONS, ("reason", reason));
                assert!(is(counted, 1.0), "{reason}: {counted}");
            }
        });
    });
}

// After an incident nobody could say who had led when, and who had intervened.
#[tokio::test]
async fn p09_the_store_itself_tells_who_led_when_and_why_it_ended() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    resign(lead(&one).await).await;
    let second = lead(&two).await;
    let status = one.status().await.expect("a look");
    assert_eq!(
        status.leader().map(|leader| leader.id.clone()),
        Some(two.backend().candidate().clone())
    );
    assert!(!status.remaining().is_zero());
    one.backend().demote(BILLING, None, "ann", Some("too slow")).await.expect("demoted");
    let terms = one.backend().terms(BILLING, 9).await.expect("terms");
    let told: Vec<_> = terms
        .iter()
        .map(|term| (term.leader.as_str(), term.ending.as_deref(), term.actor.as_deref()))
        .collect();
    let wanted = [("two", Some("demoted"), Some("ann")), ("one", Some("resigned"), None)];
    assert_eq!(told, wanted);
    assert_eq!(terms[0].term, second.term());
    assert_eq!(terms[0].note.as_deref(), Some("too slow"));
    assert!(terms[1].ended.is_some_and(|ended| ended <= terms[0].began));
}
