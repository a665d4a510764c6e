//! What the doctor adds for elections that are held by rounds.
//!
//! Assumes: the store was examined and answers.
//! Promises: the bound is said for the round time with which an election begins, for the longest that
//! it may become, and for the present one if there is a roster; a look that fails says nothing.

use std::time::Duration;

use incumbent::{Backend, Pacing, Protocol, Timing};
use serde::Serialize;

use crate::settings::Settings;
use crate::span;

/// The settings of rounds and what follows from them; spans are seconds where programs read them.
#[derive(Debug, Serialize)]
pub(super) struct Rounds {
    round_limit: u32,
    round_delta: f64,
    round_cap: f64,
    margin: f64,
    /// With which an election begins.
    first: Pace,
    /// The slowest it may become.
    slowest: Pace,
    /// As it is in the election at this moment, if it has a roster.
    present: Option<Present>,
    #[serde(skip)]
    election: String,
}

/// A round time and the failover bound that follows from it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Pace {
    round_time: f64,
    lease: f64,
    bound: f64,
}

/// How fast an election is.
#[derive(Clone, Copy, Debug, Serialize)]
struct Present {
    #[serde(flatten)]
    pace: Pace,
    /// Whether its candidates agree on what was examined here.
    agrees: bool,
}

impl Rounds {
    /// What is to be added; nothing for elections by lease.
    pub(super) async fn of(settings: &Settings) -> Result<Option<Rounds>, incumbent::Error> {
        if settings.protocol() != Protocol::Rounds {
            return Ok(None);
        }
        let pacing = settings.onlooker.pacing()?;
        let timeout = settings.onlooker.timing()?.timeout();
        Ok(Some(Rounds {
            round_limit: pacing.round_limit(),
            round_delta: pacing.delta().as_secs_f64(),
            round_cap: pacing.cap().as_secs_f64(),
            margin: pacing.margin().as_secs_f64(),
            first: Pace::of(&pacing, pacing.round_time(), timeout)?,
            slowest: Pace::of(&pacing, pacing.cap(), timeout)?,
            present: present(settings, pacing, timeout).await,
            election: settings.election.clone(),
        }))
    }

    /// For people: what it is about, and what is to be said.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let show = |seconds: f64| span::show(Duration::from_secs_f64(seconds));
        let Rounds { round_limit, first, slowest, .. } = self;
        let mut rows = vec![(
            "rounds",
            format!(
                "a round is {} at first, a lease {round_limit} rounds; under pressure a round grows by {} up to {}, where \
                 the bound is {}",
                show(first.round_time),
                show(self.round_delta),
                show(slowest.round_time),
                show(slowest.bound),
            ),
        )];
        if let Some(Present { pace: Pace { round_time, lease, bound }, agrees }) = self.present {
            let (round, lease, bound) = (show(round_time), show(lease), show(bound));
            let other =
                if agrees { "" } else { "; its candidates agreed on other settings than these" };
            let election = &self.election;
            rows.push((
                "at present",
                format!(
                    "in {election} a round is {round} and a lease {lease}: the bound is {bound}{other}"
                ),
            ));
        }
        rows
    }
}

impl Pace {
    fn of(pacing: &Pacing, round: Duration, timeout: Duration) -> Result<Pace, incumbent::Error> {
        let rules = pacing.rules_at(round);
        // A timeout keeps its share of a round.
        let timeout = timeout.mul_f64(round.as_secs_f64() / pacing.round_time().as_secs_f64());
        let timing = Timing::new(rules, round, timeout, Duration::ZERO)?;
        Ok(Pace {
            round_time: round.as_secs_f64(),
            lease: rules.lease().as_secs_f64(),
            bound: timing.failover_bound().as_secs_f64(),
        })
    }
}

async fn present(settings: &Settings, ours: Pacing, timeout: Duration) -> Option<Present> {
    let backend = Backend::open_existing(&settings.url, &settings.onlooker).await.ok()?;
    let roster = backend.members(&settings.election).await;
    backend.close().await;
    let roster = roster.ok()?;
    let (theirs, pace) = roster.pacing.zip(roster.pace)?;
    let agrees = theirs == ours;
    // How patient others are with the store is theirs: as usual, most likely.
    let usual = theirs.rules_at(theirs.round_time()).lease() / 8;
    let pace = Pace::of(&theirs, pace.round, if agrees { timeout } else { usual }).ok()?;
    Some(Present { pace, agrees })
}
