//! How long a question and a write take, there and back.
//!
//! Assumes: a store that does nothing else is rare; so the worst counts as much as the best.
//! Promises: a store that is too slow for the settings is refused by the same rule that refuses it
//! when an election is opened.

use std::time::Duration;

use incumbent_protocol::rules::Timing;
use serde::Serialize;

use super::checkup::seconds;
use super::finding::Findings;
use crate::clock;

/// How many are measured.
pub(crate) const COUNT: usize = 20;

/// Round trips of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Trips {
    /// The shortest.
    #[serde(serialize_with = "seconds")]
    pub best: Duration,
    /// The one in the middle.
    #[serde(serialize_with = "seconds")]
    pub median: Duration,
    /// The longest.
    #[serde(serialize_with = "seconds")]
    pub worst: Duration,
}

impl Trips {
    fn of(mut spans: Vec<Duration>) -> Option<Trips> {
        spans.sort_unstable();
        let (best, worst) = (*spans.first()?, *spans.last()?);
        let median = *spans.get(spans.len() / 2)?;
        Some(Trips { best, median, worst })
    }
}

/// Does something again and again, and measures it.
pub(crate) async fn measure<E>(
    mut once: impl AsyncFnMut() -> Result<(), E>,
) -> Result<Option<Trips>, E> {
    let mut spans = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        let start = clock::now();
        once().await?;
        spans.push(clock::now().since(start));
    }
    Ok(Trips::of(spans))
}

/// Whether the store is fast enough for the settings.
pub(crate) fn judge(
    findings: &mut Findings,
    question: Option<Trips>,
    write: Option<Trips>,
    timing: &Timing,
) {
    let Some(question) = question else { return };
    let best = timing.fits_round_trip(question.best, write.map(|it| it.best));
    let worst = timing.fits_round_trip(question.worst, write.map(|it| it.worst));
    let timeout = timing.timeout();
    match (best, worst) {
        (Err(error), _) => findings.refuse(
            "round trips",
            error.to_string(),
            "lengthen the lease, or bring candidates closer to the store",
        ),
        (Ok(()), Err(_)) => findings.warn(
            "round trips",
            format!("the slowest of {COUNT} would not fit into the timeout of {timeout:.1?}"),
            "a leader survives two slow answers in a row and not more: look for what makes the store slow, or \
             lengthen the lease",
        ),
        (Ok(()), Ok(())) => findings
            .good("round trips", format!("all of them fit into the timeout of {timeout:.1?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_slow_store_is_refused_and_one_that_is_slow_at_times_is_warned_of() {
        let timing = Timing::of_lease(ms(3_000)).expect("timing");
        let trips = |best, worst| Trips::of(vec![ms(worst), ms(best), ms(best)]);
        for (question, write, verdict) in [
            (trips(1, 2), trips(1, 20), Verdict::Good),
            (trips(1, 2), trips(1, 600), Verdict::Warn),
            (trips(200, 201), None, Verdict::Refuse),
        ] {
            let mut findings = Findings::default();
            judge(&mut findings, question, write, &timing);
            assert_eq!(findings.0.first().map(|it| it.verdict), Some(verdict), "{findings:?}");
        }
    }
}
