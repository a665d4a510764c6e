//! Whether this process does what it takes to lead an election, readable at any time.
//!
//! Assumes: the driver writes after every round; whoever reads may run on another thread.
//! Promises: reading asks neither the driver nor the store, so that a driver that stands still is
//! seen to do so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use incumbent_protocol::standing::Standing;
use incumbent_protocol::time::Time;

use crate::clock;

/// The pulse of one election in this process; copies feel the same one. For health checks.
///
/// ```
/// # async fn example() -> Result<(), incumbent::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/elections.db", folder.path().display());
/// # let election = incumbent::Election::open(&url, "billing").await?;
/// let pulse = election.pulse().await?;
/// assert!(!pulse.is_contending()); // nobody here wants to lead
/// let leadership = election.campaign().await?;
/// assert!(pulse.wants_to_lead() && pulse.last_round().is_some());
/// # leadership.resign().await?;
/// # Ok(()) }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Beat>);

#[derive(Debug)]
struct Beat {
    standing: AtomicU8,
    wants: AtomicBool,
    /// Whether the last round came in time.
    timely: AtomicBool,
    /// When a definite answer last came, on the lease clock; zero before the first.
    answered: AtomicU64,
    /// Nanoseconds of a lease.
    lease: AtomicU64,
}

impl Pulse {
    pub(crate) fn new(lease: Duration) -> Self {
        Pulse(Arc::new(Beat {
            standing: AtomicU8::new(number(Standing::Out)),
            wants: AtomicBool::new(false),
            timely: AtomicBool::new(false),
            answered: AtomicU64::new(0),
            lease: AtomicU64::new(nanos(lease)),
        }))
    }

    /// Whether this process leads, or wants to and its last round came in time and no longer than a
    /// lease ago. Whoever is not contending will not take over.
    pub fn is_contending(&self) -> bool {
        self.0.wants.load(Ordering::Relaxed)
            && self.0.timely.load(Ordering::Relaxed)
            && self.last_round().is_some_and(|ago| ago <= self.lease())
    }

    /// Whether it wants to lead, or does.
    pub fn wants_to_lead(&self) -> bool {
        self.0.wants.load(Ordering::Relaxed)
    }

    /// What it was when the driver last looked. [`Leadership::is_valid`](crate::Leadership::is_valid)
    /// alone says whether work may go on.
    pub fn standing(&self) -> Standing {
        match self.0.standing.load(Ordering::Relaxed) {
            1 => Standing::Following,
            2 => Standing::Leading,
            3 => Standing::Unsure,
            _ => Standing::Out,
        }
    }

    /// How long ago the store gave a definite answer; `None` if it never did.
    pub fn last_round(&self) -> Option<Duration> {
        let answered = self.0.answered.load(Ordering::Relaxed);
        (answered > 0).then(|| clock::now().since(Time::from_nanos(answered)))
    }

    /// How long a lease is at the present pace.
    pub fn lease(&self) -> Duration {
        Duration::from_nanos(self.0.lease.load(Ordering::Relaxed))
    }

    pub(crate) fn stand(&self, standing: Standing) {
        self.0.standing.store(number(standing), Ordering::Relaxed);
    }

    pub(crate) fn want(&self, wants: bool, lease: Duration) {
        self.0.wants.store(wants, Ordering::Relaxed);
        self.0.lease.store(nanos(lease), Ordering::Relaxed);
    }

    /// A round is over; `at` says when it was answered, if it was.
    pub(crate) fn beat(&self, at: Option<Time>, timely: bool) {
        self.0.timely.store(timely, Ordering::Relaxed);
        if let Some(at) = at {
            self.0.answered.store(at.as_nanos().max(1), Ordering::Relaxed);
        }
    }
}

const fn number(standing: Standing) -> u8 {
    match standing {
        Standing::Out => 0,
        Standing::Following => 1,
        Standing::Leading => 2,
        Standing::Unsure => 3,
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_mins(10);

    #[test]
    fn whoever_wants_to_lead_and_hears_from_the_store_contends() {
        let pulse = Pulse::new(LEASE);
        pulse.want(true, LEASE);
        assert!(!pulse.is_contending(), "no round came yet");
        pulse.beat(Some(clock::now()), true);
        assert!(pulse.is_contending());
        pulse.beat(None, false);
        assert!(!pulse.is_contending(), "the last round failed");
        pulse.beat(Some(clock::now()), true);
        pulse.want(false, LEASE);
        assert!(!pulse.is_contending(), "it does not want to");
    }

    #[test]
    fn a_driver_that_stands_still_stops_contending_without_saying_so() {
        let pulse = Pulse::new(LEASE);
        pulse.want(true, LEASE);
        pulse.beat(Some(clock::now().back(LEASE * 2)), true);
        assert!(!pulse.is_contending());
    }

    #[test]
    fn a_standing_comes_out_as_it_went_in() {
        let pulse = Pulse::new(LEASE);
        for standing in [Standing::Following, Standing::Leading, Standing::Unsure, Standing::Out] {
            pulse.stand(standing);
            assert_eq!(pulse.standing(), standing);
        }
    }
}
