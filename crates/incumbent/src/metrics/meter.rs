//! Where the numbers of one election go.
//!
//! Assumes: a metric is given only the labels that its entry in the table names.
//! Promises: without the feature `metrics` it holds nothing and does nothing.

#[cfg(feature = "metrics")]
use ::metrics::Label;
use incumbent_protocol::identity::{CandidateName, ElectionName};

use super::Metric;

/// A label of a metric and its value, both from short lists.
pub(crate) type Word = (&'static str, &'static str);

/// Writes metrics, all with the same labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    #[cfg(feature = "metrics")]
    labels: Vec<Label>,
}

#[cfg(feature = "metrics")]
impl Meter {
    /// For metrics of one candidate in one election.
    pub(crate) fn of(election: &ElectionName, candidate: &CandidateName) -> Self {
        let (election, candidate) = (election.as_str().to_owned(), candidate.as_str().to_owned());
        let labels = vec![Label::new("election", election), Label::new("candidate", candidate)];
        Meter { labels }
    }

    /// For metrics of a candidate in all elections.
    pub(crate) fn of_candidate(candidate: &CandidateName) -> Self {
        Meter { labels: vec![Label::new("candidate", candidate.as_str().to_owned())] }
    }

    /// For metrics of an election, whoever the candidate is.
    pub(crate) fn of_election(election: &ElectionName) -> Self {
        Meter { labels: vec![Label::new("election", election.as_str().to_owned())] }
    }

    pub(crate) fn set(&self, metric: &Metric, words: &[Word], value: f64) {
        ::metrics::gauge!(metric.name, self.labels(words)).set(value);
    }

    pub(crate) fn count(&self, metric: &Metric, words: &[Word], more: u64) {
        ::metrics::counter!(metric.name, self.labels(words)).increment(more);
    }

    pub(crate) fn record(&self, metric: &Metric, value: f64) {
        ::metrics::histogram!(metric.name, self.labels(&[])).record(value);
    }

    fn labels(&self, words: &[Word]) -> Vec<Label> {
        let words = words.iter().map(|(key, value)| Label::from_static_parts(key, value));
        self.labels.iter().cloned().chain(words).collect()
    }
}

#[cfg(not(feature = "metrics"))]
#[expect(clippy::unused_self, reason = "the same face as with the feature")]
impl Meter {
    pub(crate) fn of(_: &ElectionName, _: &CandidateName) -> Self {
        Meter {}
    }

    pub(crate) fn of_candidate(_: &CandidateName) -> Self {
        Meter {}
    }

    pub(crate) fn of_election(_: &ElectionName) -> Self {
        Meter {}
    }

    pub(crate) fn set(&self, _: &Metric, _: &[Word], _: f64) {}

    pub(crate) fn count(&self, _: &Metric, _: &[Word], _: u64) {}

    pub(crate) fn record(&self, _: &Metric, _: f64) {}
}
