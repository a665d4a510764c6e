//! The numbers that operators watch: what each is called, what it counts, and in which unit.
//!
//! Assumes: with the feature `metrics`, the program installs a recorder of the facade `metrics`
//! before it opens a backend; without a recorder, and without the feature, nothing is counted.
//! Promises: every metric of this library is in [`ALL`], with all its labels. Labels hold names of
//! elections and candidates and words from short lists, nothing that grows with time. Nothing here
//! is on the path of [`is_valid`](crate::Leadership::is_valid).

mod meter;

pub(crate) use self::meter::Meter;

/// What a metric is to whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It goes up and down.
    Gauge,
    /// It only grows, until the process ends.
    Counter,
    /// How often values came, and how large they were.
    Histogram,
}

/// What a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Just a number.
    Count,
    /// Seconds; of a point in time, those since 1970.
    Seconds,
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it is measured in.
    pub unit: Unit,
    /// The labels that tell its series apart.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
}

const OWN: &[&str] = &["election", "candidate"];

/// Of what a process has once, however many elections it takes part in.
const NODE: &[&str] = &["candidate"];

/// 1 for what the candidate is, 0 for what it is not, so that leaders can be summed up.
pub const STANDING: Metric = gauge(
    "incumbent_standing",
    Unit::Count,
    "1 for the standing that the candidate has, 0 for the others.",
)
.with(&["election", "candidate", "standing"]);
/// 1 while this process does what it takes to lead.
pub const CONTENDING: Metric = gauge(
    "incumbent_contending",
    Unit::Count,
    "1 while this process leads or wants to and its last round came in time, else 0.",
);
/// 1 while the store does not answer as it should.
pub const TROUBLE: Metric = gauge(
    "incumbent_trouble",
    Unit::Count,
    "1 from the first round that the store failed until one that it did not, else 0.",
);
/// The newest term in sight.
pub const TERM: Metric =
    gauge("incumbent_term", Unit::Count, "The newest term that this process has seen or held.");
/// How long a lease is.
pub const LEASE: Metric =
    gauge("incumbent_lease_seconds", Unit::Seconds, "How long a lease is at the present pace.");
/// When the lease that is held ends. A point in time rather than a span, so that it also tells the
/// truth about a process whose loop stands still.
pub const LEASE_UNTIL: Metric = gauge(
    "incumbent_lease_until_timestamp_seconds",
    Unit::Seconds,
    "When the lease ends unless it is renewed, by the host's wall clock; 0 without a lease.",
);
/// What was left of a lease when it was renewed.
pub const LEASE_LEFT: Metric = histogram(
    "incumbent_lease_left_seconds",
    "What was left of the lease at the moment its renewal came.",
);
/// How long rounds take.
pub const ROUND: Metric = histogram(
    "incumbent_round_seconds",
    "From asking the store to hearing what it said, also if it said nothing.",
);
/// How far rounds are apart.
pub const ROUND_TIME: Metric = gauge(
    "incumbent_round_time_seconds",
    Unit::Seconds,
    "Time between two rounds: the beat of a lease, or the round time at its present pace.",
);
/// When the last round came.
pub const LAST_ROUND: Metric = gauge(
    "incumbent_last_round_timestamp_seconds",
    Unit::Seconds,
    "When the store last gave a definite answer, by the wall clock of this host.",
);
/// Rounds that came to nothing in time.
pub const ROUNDS_MISSED: Metric =
    counter("incumbent_rounds_missed_total", "Rounds that came late or whose outcome is unknown.");
/// Rounds of which nobody knows what they did.
pub const OUTCOME_UNKNOWN: Metric =
    counter("incumbent_outcome_unknown_total", "Rounds that may or may not have taken effect.");
/// How often the standing changed.
pub const TRANSITIONS: Metric =
    counter("incumbent_transitions_total", "Changes of the candidate's standing.").with(&[
        "election",
        "candidate",
        "from",
        "to",
        "reason",
    ]);
/// How often a deposed leader was refused.
pub const FENCE_REJECTIONS: Metric = counter(
    "incumbent_fence_rejections_total",
    "Deposed leaders that a fenced transaction or a fence of this process refused.",
)
.with(&["guard", "election"]);
/// How often clocks jumped.
pub const CLOCK_JUMPS: Metric =
    counter("incumbent_clock_jumps_total", "Jumps of this host's clocks, sleep included.")
        .with(NODE);
/// Peers that can be talked to.
pub const LINKS: Metric = gauge(
    "incumbent_links",
    Unit::Count,
    "Peers that this process can talk to; those who only look on count too.",
)
.with(NODE);
/// Connections that became no link.
pub const HANDSHAKES_REFUSED: Metric = counter(
    "incumbent_handshakes_refused_total",
    "Connections with peers or strangers, in either direction, that became no link.",
)
.with(&["candidate", "cause"]);
/// Messages that were not sent.
pub const MESSAGES_DROPPED: Metric = counter(
    "incumbent_messages_dropped_total",
    "Messages to peers that were dropped: a queue was full, or the message too long.",
)
.with(&["candidate", "cause"]);
/// How many vote.
pub const VOTERS: Metric =
    gauge("incumbent_voters", Unit::Count, "Peers that vote, as far as this one knows.").with(NODE);
/// How many of those who vote can be talked to.
pub const VOTERS_UP: Metric = gauge(
    "incumbent_voters_up",
    Unit::Count,
    "Voters that this process can talk to, itself included if it votes.",
)
.with(NODE);
/// How many of those who vote are needed.
pub const VOTERS_NEEDED: Metric = gauge(
    "incumbent_voters_needed",
    Unit::Count,
    "Voters without whom nobody can lead: a majority, and all until the first start is complete.",
)
.with(NODE);
/// What became of proposals.
pub const PROPOSALS: Metric = counter(
    "incumbent_proposals_total",
    "Changes that this process put to the vote, by whether they were chosen or are in doubt.",
)
.with(&["candidate", "fate"]);
/// How long the disk of a voter takes.
pub const PROMISE: Metric = histogram(
    "incumbent_promise_seconds",
    "From handing promises of this voter to its disk until they were synced.",
)
.with(NODE);

/// Every metric of this library.
pub const ALL: &[Metric] = &[
    STANDING,
    CONTENDING,
    TROUBLE,
    TERM,
    LEASE,
    LEASE_UNTIL,
    LEASE_LEFT,
    ROUND,
    ROUND_TIME,
    LAST_ROUND,
    ROUNDS_MISSED,
    OUTCOME_UNKNOWN,
    TRANSITIONS,
    FENCE_REJECTIONS,
    CLOCK_JUMPS,
    LINKS,
    HANDSHAKES_REFUSED,
    MESSAGES_DROPPED,
    VOTERS,
    VOTERS_UP,
    VOTERS_NEEDED,
    PROPOSALS,
    PROMISE,
];

const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, unit, labels: OWN, help }
}

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, unit: Unit::Count, labels: OWN, help }
}

const fn histogram(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Histogram, unit: Unit::Seconds, labels: OWN, help }
}

impl Metric {
    const fn with(mut self, labels: &'static [&'static str]) -> Metric {
        self.labels = labels;
        self
    }
}

/// Tells the recorder what every metric means. Opening a backend does so too.
#[cfg(feature = "metrics")]
pub fn describe() {
    use ::metrics::{describe_counter, describe_gauge, describe_histogram};
    for metric in ALL {
        let unit = match metric.unit {
            Unit::Count => ::metrics::Unit::Count,
            Unit::Seconds => ::metrics::Unit::Seconds,
        };
        match metric.kind {
            Kind::Gauge => describe_gauge!(metric.name, unit, metric.help),
            Kind::Counter => describe_counter!(metric.name, unit, metric.help),
            Kind::Histogram => describe_histogram!(metric.name, unit, metric.help),
        }
    }
}

#[cfg(not(feature = "metrics"))]
pub(crate) fn describe() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are() {
        for metric in ALL {
            let name = metric.name;
            assert!(name.starts_with("incumbent_"), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            assert_eq!(name.ends_with("_seconds"), metric.unit == Unit::Seconds, "{name}");
            assert_eq!(ALL.iter().filter(|other| other.name == name).count(), 1, "{name}");
        }
    }
}
