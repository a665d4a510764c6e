//! What operators watch of a node: its links, its votes, its disk.
//!
//! Assumes: whoever changes one of these says so here, at once.
//! Promises: copies write the same series. Every series is there from the start, so that a first
//! increase is one; when the links have ended, nobody is shown as up.

use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::quorum::Fate;

use super::node::Reach;
use crate::metrics::{self as names, Meter, Metric};

/// Why a connection became no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another secret.
    Secret,
    /// Another version of the messages.
    Version,
    /// Another way to pick leaders: ring here and bully there, or ratified here only.
    Way,
    /// Another process has the same number.
    Twin,
    /// It took too long.
    Late,
    /// There were too many connections.
    Crowded,
    /// Bytes that no node sends.
    Rubbish,
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// The queue of its link was full.
    Full,
    /// It was too long.
    Long,
    /// The voter's disk was busy, and too many questions waited already.
    Busy,
}

/// Writes the numbers of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    meter: Arc<Meter>,
}

impl Refused {
    const ALL: [Refused; 7] = [
        Refused::Secret,
        Refused::Version,
        Refused::Way,
        Refused::Twin,
        Refused::Late,
        Refused::Crowded,
        Refused::Rubbish,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Refused::Secret => "secret",
            Refused::Version => "version",
            Refused::Way => "scheme",
            Refused::Twin => "twin",
            Refused::Late => "late",
            Refused::Crowded => "crowded",
            Refused::Rubbish => "rubbish",
        }
    }
}

impl Dropped {
    const fn as_str(self) -> &'static str {
        match self {
            Dropped::Full => "full",
            Dropped::Long => "long",
            Dropped::Busy => "busy",
        }
    }
}

impl Numbers {
    pub(super) fn of(candidate: &CandidateName) -> Numbers {
        let numbers = Numbers { meter: Arc::new(Meter::of_candidate(candidate)) };
        for cause in Refused::ALL {
            numbers.count(&names::HANDSHAKES_REFUSED, ("cause", cause.as_str()), 0);
        }
        for cause in [Dropped::Full, Dropped::Long, Dropped::Busy] {
            numbers.count(&names::MESSAGES_DROPPED, ("cause", cause.as_str()), 0);
        }
        for fate in [Fate::Chosen, Fate::Doubtful] {
            numbers.count(&names::PROPOSALS, ("fate", word(fate)), 0);
        }
        numbers.end();
        numbers
    }

    /// So many nodes can be talked to.
    pub(super) fn links(&self, up: usize) {
        self.set(&names::LINKS, up);
    }

    /// A connection became no link.
    pub(super) fn refused(&self, cause: Refused) {
        self.count(&names::HANDSHAKES_REFUSED, ("cause", cause.as_str()), 1);
    }

    /// A message was not sent.
    pub(super) fn dropped(&self, cause: Dropped) {
        self.count(&names::MESSAGES_DROPPED, ("cause", cause.as_str()), 1);
    }

    /// Who of the voters can be reached.
    pub(super) fn reach(&self, reach: &Reach) {
        self.set(&names::VOTERS, reach.voters);
        self.set(&names::VOTERS_UP, reach.up);
        self.set(&names::VOTERS_NEEDED, reach.needed);
    }

    /// What became of proposals.
    pub(super) fn proposals(&self, fates: &[Fate]) {
        for fate in fates {
            self.count(&names::PROPOSALS, ("fate", word(*fate)), 1);
        }
    }

    /// The disk took so long to keep promises.
    pub(super) fn promised(&self, took: Duration) {
        self.meter.record(&names::PROMISE, took.as_secs_f64());
    }

    /// There are no links, and nobody is up.
    pub(super) fn end(&self) {
        for metric in [names::LINKS, names::VOTERS, names::VOTERS_UP, names::VOTERS_NEEDED] {
            self.set(&metric, 0);
        }
    }

    fn count(&self, metric: &Metric, word: (&'static str, &'static str), more: u64) {
        self.meter.count(metric, &[word], more);
    }

    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 peers")]
    fn set(&self, metric: &Metric, value: usize) {
        self.meter.set(metric, &[], value as f64);
    }
}

const fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Chosen => "chosen",
        Fate::Doubtful => "doubtful",
    }
}
