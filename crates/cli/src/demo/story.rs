//! What happens to the three candidates.
//!
//! Assumes: the cast is fresh.
//! Promises: every time is taken on one clock, from before the blow until the successor's work says
//! that it began.

use std::time::Duration;

use anyhow::Context;
use incumbent::{Backend, Timing, lease_clock_nanos};
use rustix::process::Signal;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::candidate::Began;
use super::cast::{Cast, ELECTION, NAMES};
use super::summary::{Change, Summary};
use super::view::View;
use crate::span;

/// What starting processes may take on a slow machine, beyond what is promised of the election.
const START_ALLOWANCE: Duration = Duration::from_secs(2);
/// How long to let people look at a leader.
const LOOK: Duration = Duration::from_secs(2);
const REDRAW: Duration = Duration::from_millis(100);

/// The story so far.
pub(super) struct Story<'a> {
    cast: &'a mut Cast,
    view: View<'a>,
    summary: &'a mut Summary,
    timing: Timing,
    onlooker: &'a Backend,
    /// Who works, and since when.
    leader: Option<(usize, Began)>,
}

impl<'a> Story<'a> {
    pub(super) fn new(
        cast: &'a mut Cast,
        view: View<'a>,
        summary: &'a mut Summary,
        onlooker: &'a Backend,
    ) -> Self {
        let timing = *onlooker.timing();
        Story { cast, view, summary, timing, onlooker, leader: None }
    }

    /// All acts.
    pub(super) async fn play(&mut self) -> anyhow::Result<()> {
        let lease = span::show(self.timing.rules().lease());
        self.view.tell(&format!(
            "{} contend for one election; the lease is {lease}",
            NAMES.join(", ")
        ))?;
        for who in 0..NAMES.len() {
            if self.cast.present(who).is_none() {
                self.cast.enter(who)?;
            }
        }
        let (first, began) = self.next_work(None).await?;
        self.view.tell(&format!("{} leads: {}", NAMES[first], describe(began)))?;
        self.look_on().await?;

        let (killed, failover) = self.blow(Signal::KILL, "is killed without warning").await?;
        self.summary.failover = Some(failover);
        self.cast.enter(killed)?;
        self.view.tell(&format!("{} starts again, as a follower", NAMES[killed]))?;
        self.look_on().await?;

        let (_, handover) = self.blow(Signal::TERM, "is asked to stop").await?;
        self.summary.handover = Some(handover);
        self.look_on().await?;
        self.leave().await
    }

    /// Deals the leader a blow, and measures until a successor works.
    async fn blow(&mut self, signal: Signal, words: &str) -> anyhow::Result<(usize, Change)> {
        let (old, _) = self.leader.context("nobody leads")?;
        let struck_at = lease_clock_nanos();
        self.cast.signal(old, signal)?;
        self.view.tell(&format!("{} {words}", NAMES[old]))?;
        let (new, began) = self.next_work(Some(old)).await?;
        let took = Duration::from_nanos(began.at.saturating_sub(struck_at));
        let words = format!("{} leads after {}: {}", NAMES[new], span::show(took), describe(began));
        self.view.tell(&words)?;
        let bound = self.timing.failover_bound();
        anyhow::ensure!(
            took <= bound + START_ALLOWANCE,
            "it took {} until {} led; the bound is {}",
            span::show(took),
            NAMES[new],
            span::show(bound),
        );
        Ok((old, Change::new(NAMES[old], NAMES[new], took)))
    }

    /// Waits until another than `old` works.
    async fn next_work(&mut self, old: Option<usize>) -> anyhow::Result<(usize, Began)> {
        let limit = self.timing.failover_bound() * 2 + START_ALLOWANCE * 2;
        let wait = async {
            let mut ticks = ticks();
            loop {
                tokio::select! {
                    heard = self.cast.hear() => match heard.began {
                        Some(began) if Some(heard.who) != old => return Ok((heard.who, began)),
                        Some(_) => anyhow::bail!("{} leads again instead of another", NAMES[heard.who]),
                        None if Some(heard.who) == old => {}
                        None => anyhow::bail!("{} ended by itself", NAMES[heard.who]),
                    },
                    _ = ticks.tick() => draw(&mut self.view, self.cast, self.onlooker).await?,
                }
            }
        };
        let next = timeout(limit, wait).await;
        let next =
            next.with_context(|| format!("nobody else led within {}", span::show(limit)))??;
        self.leader = Some(next);
        Ok(next)
    }

    /// Lets time pass in which nothing should change.
    async fn look_on(&mut self) -> anyhow::Result<()> {
        // Long enough for renewals to be seen and judged.
        let beats = self.timing.beat() * 3;
        let until = Instant::now() + if self.view.is_live() { LOOK.max(beats) } else { beats };
        let mut ticks = ticks();
        while Instant::now() < until {
            tokio::select! {
                heard = self.cast.hear() => anyhow::ensure!(
                    heard.began.is_none(),
                    "{} began to work though nothing had happened",
                    NAMES[heard.who],
                ),
                _ = ticks.tick() => draw(&mut self.view, self.cast, self.onlooker).await?,
            }
        }
        Ok(())
    }

    /// Everybody leaves, the leader last, so that nobody leads for an instant only.
    async fn leave(&mut self) -> anyhow::Result<()> {
        let (leader, _) = self.leader.context("nobody leads")?;
        let limit = self.timing.rules().lease() + START_ALLOWANCE;
        for leaves in [false, true] {
            let meant = |who: usize| (who == leader) == leaves;
            for who in (0..NAMES.len()).filter(|&who| meant(who)) {
                if self.cast.present(who).is_some_and(|life| !life.is_gone) {
                    self.cast.signal(who, Signal::TERM)?;
                }
            }
            let gone = timeout(limit, self.cast.until_gone(meant)).await;
            gone.context("somebody did not stop when asked to")?;
        }
        self.view.tell("everybody is asked to stop; every process is gone")?;
        Ok(())
    }
}

fn ticks() -> tokio::time::Interval {
    let mut ticks = interval(REDRAW);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

fn describe(began: Began) -> String {
    format!("its command runs as process {} with token {}", began.pid, began.token)
}

/// Shows how the election stands, to people who can see it move.
async fn draw(view: &mut View<'_>, cast: &Cast, onlooker: &Backend) -> anyhow::Result<()> {
    if view.is_live() {
        // A look that fails is made again in a moment.
        let status = onlooker.status(ELECTION).await.ok();
        view.draw(cast, status.as_ref())?;
    }
    Ok(())
}
