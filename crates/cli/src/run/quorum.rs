//! Who of the voters is missing, where peers hold the election: while too few are there nobody can
//! lead, and whoever waits should know for whom.
//!
//! Assumes: asked while the candidate waits to win.
//! Promises: told once for each set of missing voters, and once that enough are there again; nothing
//! is told of voters that are not needed.

use std::time::Duration;

use incumbent::{Backend, Reach};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often to look; for the first time after half of it, when links have had a moment.
const LOOK: Duration = Duration::from_millis(500);

/// One who counts the voters.
#[derive(Debug)]
pub(crate) struct Quorum<'a> {
    backend: &'a Backend,
    /// Nobody is waited for.
    unratified: bool,
    looks: Interval,
    /// Who was missing when it was last told.
    missing: Option<Vec<String>>,
}

/// What there is to tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Too few are there.
    Short(String),
    /// Enough are there again.
    Enough,
}

impl<'a> Quorum<'a> {
    pub(crate) fn new(backend: &'a Backend, unratified: bool) -> Self {
        let mut looks = interval_at(Instant::now() + LOOK / 2, LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Quorum { backend, unratified, looks, missing: None }
    }

    /// The next thing to tell; never, on a database. Can be given up and asked again.
    pub(crate) async fn next(&mut self) -> Count {
        if self.unratified {
            return std::future::pending().await;
        }
        loop {
            self.looks.tick().await;
            let Some(reach) = self.backend.reach().await else {
                return std::future::pending().await;
            };
            let missing = Some(reach.missing.clone()).filter(|_| reach.up < reach.needed);
            if self.missing == missing {
                continue;
            }
            self.missing.clone_from(&missing);
            return if missing.is_some() { Count::Short(words(&reach)) } else { Count::Enough };
        }
    }
}

fn words(reach: &Reach) -> String {
    let Reach { up, voters, needed, missing, .. } = reach;
    let missing = missing.join(", ");
    if needed == voters {
        return format!(
            "{up} of {voters} voters are there, and all must be once; missing: {missing}"
        );
    }
    format!("{up} of {voters} voters are there, and {needed} must be; missing: {missing}")
}
