//! The experiment: everybody joins, the round time comes to rest, and the leader is killed again and
//! again.
//!
//! Assumes: all candidates are on this host, so that they share its lease clock.
//! Promises: a failover is measured from before the kill until the new leader's own process has its
//! leadership in hand; there are as many candidates at every kill; kills fall on no particular point
//! of a round.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use incumbent::lease_clock_nanos;
use serde_json::json;
use tokio::time::{sleep_until, timeout};

use super::crowd::Crowd;
use super::figures::{Evictions, RoundTimes, Size};
use super::word::{Said, Word};
use crate::printer::Printer;
use crate::span;

/// How many may be joining at a time: a crowd that comes at once tells of nothing but its coming.
const JOINING: usize = 8;

/// How often to tell how things stand.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) candidates: usize,
    pub(super) kills: u32,
    /// How long a round is at first; without rounds, a beat.
    pub(super) round: Duration,
    pub(super) in_rounds: bool,
    /// How long the round time must rest; three rounds unless said.
    pub(super) stable_for: Option<Duration>,
    pub(super) timeout: Duration,
}

/// An experiment under way.
pub(super) struct Experiment<'a> {
    plan: Plan,
    crowd: &'a mut Crowd,
    printer: &'a Printer,
    begun: Instant,
    told: Instant,
    joined: BTreeSet<u32>,
    /// Who leads, and in which term.
    leader: Option<(u32, u64)>,
    round: Duration,
    /// Since when the round time has not changed and nobody was evicted.
    calm_since: Instant,
    evicted: usize,
    lost: usize,
    troubles: usize,
    trouble: Option<String>,
}

impl<'a> Experiment<'a> {
    pub(super) fn new(plan: Plan, crowd: &'a mut Crowd, printer: &'a Printer) -> Self {
        let now = Instant::now();
        Experiment {
            plan,
            crowd,
            printer,
            begun: now,
            told: now,
            joined: BTreeSet::new(),
            leader: None,
            round: plan.round,
            calm_since: now,
            evicted: 0,
            lost: 0,
            troubles: 0,
            trouble: None,
        }
    }

    /// All of it.
    pub(super) async fn measure(&mut self) -> anyhow::Result<Size> {
        self.gather().await?;
        let joined_after = self.begun.elapsed();
        self.rest().await?;
        let (stable, settled_after, settling) = (self.round, self.begun.elapsed(), self.evicted);
        let words = format!(
            "all joined after {}, round time {}",
            span::show(joined_after),
            span::show(stable)
        );
        self.tell("settled", &words);
        let mut times = Vec::new();
        for kill in 1..=self.plan.kills {
            let took = self.failover(kill).await?;
            times.push(took);
            self.replace().await?;
        }
        let in_rounds = |span: Duration| self.plan.in_rounds.then_some(span.as_secs_f64());
        Ok(Size::new(self.plan.candidates, &times).with(
            RoundTimes {
                start: in_rounds(self.plan.round),
                stable: in_rounds(stable),
                end: in_rounds(self.round),
            },
            Evictions { settling, kills: self.evicted - settling },
            (joined_after, settled_after),
            (self.lost, self.troubles, self.trouble.clone()),
        ))
    }

    /// Lets everybody join, a few at a time.
    async fn gather(&mut self) -> anyhow::Result<()> {
        let (all, until) = (self.plan.candidates, Instant::now() + self.plan.timeout);
        while self.joined.len() < all {
            while self.crowd.len() < all && self.crowd.len() < self.joined.len() + JOINING {
                self.crowd.join().await?;
            }
            let came = self.joined.len();
            let in_time = self.attend(until).await?;
            self.tell_at_times("joining", &format!("{came} of {all} joined"));
            anyhow::ensure!(in_time, "{came} of {all} joined within {}", self.limit());
        }
        Ok(())
    }

    /// Waits until somebody leads everybody and the round time does not change any more.
    async fn rest(&mut self) -> anyhow::Result<()> {
        self.calm_since = Instant::now();
        let until = Instant::now() + self.plan.timeout;
        loop {
            let complete = self.leader.is_some() && self.joined.len() == self.plan.candidates;
            let calm = self.plan.stable_for.unwrap_or(self.round * 3);
            let rested = self.calm_since + calm;
            if complete && Instant::now() >= rested {
                return Ok(());
            }
            let soon = Instant::now() + TOLD_EVERY;
            self.attend(if complete { rested.min(until) } else { soon.min(until) }).await?;
            let words = format!(
                "round time {}, {} joined, {} evictions",
                span::show(self.round),
                self.joined.len(),
                self.evicted
            );
            self.tell_at_times("settling", &words);
            anyhow::ensure!(
                Instant::now() < until,
                "it did not come to rest within {}: {words}",
                self.limit()
            );
        }
    }

    /// Kills the leader, and waits for another.
    async fn failover(&mut self, kill: u32) -> anyhow::Result<Duration> {
        loop {
            // A round in which all are themselves again, and a part of one, so that the blow falls
            // anywhere.
            let part = Duration::from_nanos(lease_clock_nanos() % nanos(self.round));
            self.pass(self.round + part).await?;
            let (old, term) = self.leader().await?;
            let struck_at = lease_clock_nanos();
            self.crowd.kill(old).await?;
            self.joined.remove(&old);
            self.leader = None;
            let (led_at, new_term) = self.successor(term).await?;
            if led_at < struck_at {
                // Another led already: the blow hit one who had just lost it.
                self.replace().await?;
                continue;
            }
            let took = Duration::from_nanos(led_at - struck_at);
            let (all, round) = (self.plan.kills, span::show(self.round));
            let words = format!("kill {kill} of {all}: another led after {}", span::show(took));
            let words =
                if self.plan.in_rounds { format!("{words}, round time {round}") } else { words };
            self.printer.event(
                format!("{} candidates: {words}", self.plan.candidates),
                &json!({ "event": "failover", "candidates": self.plan.candidates, "kill": kill,
                    "seconds": took.as_secs_f64(), "term": new_term,
                    "round_time": self.round.as_secs_f64() }),
            );
            return Ok(took);
        }
    }

    /// Lets one join in the place of the dead, and waits until nobody is missing.
    async fn replace(&mut self) -> anyhow::Result<()> {
        let until = Instant::now() + self.plan.timeout;
        while self.crowd.len() < self.plan.candidates {
            self.crowd.join().await?;
        }
        while self.joined.len() < self.plan.candidates {
            let in_time = self.attend(until).await?;
            anyhow::ensure!(
                in_time,
                "a successor of the dead did not join within {}",
                self.limit()
            );
        }
        Ok(())
    }

    /// Waits for somebody who leads.
    async fn leader(&mut self) -> anyhow::Result<(u32, u64)> {
        let until = Instant::now() + self.plan.timeout;
        loop {
            if let Some(leader) = self.leader {
                return Ok(leader);
            }
            anyhow::ensure!(self.attend(until).await?, "nobody led within {}", self.limit());
        }
    }

    /// Waits for a later term; returns when it was in its leader's hands, and its number.
    async fn successor(&mut self, term: u64) -> anyhow::Result<(u64, u64)> {
        let until = Instant::now() + self.plan.timeout;
        loop {
            let said = self.next(until).await?;
            let Some(said) = said else {
                anyhow::bail!("nobody led within {} after the leader was killed", self.limit());
            };
            if let Word::Led { at, term: new, .. } = said.word
                && new > term
            {
                return Ok((at, new));
            }
        }
    }

    /// Lets time pass.
    async fn pass(&mut self, span: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + span;
        while self.attend(until).await? {}
        Ok(())
    }

    /// Takes in the next thing that is heard; false if nothing was until then.
    async fn attend(&mut self, until: Instant) -> anyhow::Result<bool> {
        let soon = until.min(Instant::now() + TOLD_EVERY);
        let heard = self.next(soon).await?.is_some();
        Ok(heard || Instant::now() < until)
    }

    async fn next(&mut self, until: Instant) -> anyhow::Result<Option<Said>> {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(said) = timeout(left, self.crowd.hear()).await else {
            // At least once, so that whoever calls in a loop lets others run.
            sleep_until(until.into()).await;
            return Ok(None);
        };
        if let Some(failure) = said.failure() {
            return Err(failure);
        }
        self.take(&said);
        Ok(Some(said))
    }

    fn take(&mut self, said: &Said) {
        match &said.word {
            Word::Joined => drop(self.joined.insert(said.who)),
            Word::Led { term, round_us, .. } => {
                if self.leader.is_none_or(|(_, known)| *term > known) {
                    self.leader = Some((said.who, *term));
                }
                if let Some(micros) = round_us {
                    self.paced(*micros);
                }
            }
            Word::Lost { .. } => {
                self.lost += 1;
                self.leader.take_if(|(who, _)| *who == said.who);
            }
            Word::Evicted => {
                self.evicted += 1;
                self.calm_since = Instant::now();
                self.joined.remove(&said.who);
            }
            Word::Paced { round_us } => self.paced(*round_us),
            Word::Trouble { problem } => {
                self.troubles += 1;
                self.trouble = Some(problem.clone());
            }
            Word::Failed { .. } => {}
        }
    }

    fn paced(&mut self, micros: u64) {
        let round = Duration::from_micros(micros);
        if std::mem::replace(&mut self.round, round) != round {
            self.calm_since = Instant::now();
        }
    }

    fn tell_at_times(&mut self, event: &'static str, words: &str) {
        if self.told.elapsed() >= TOLD_EVERY {
            self.tell(event, words);
        }
    }

    fn tell(&mut self, event: &'static str, words: &str) {
        self.told = Instant::now();
        let candidates = self.plan.candidates;
        self.printer.event(
            format!("{candidates} candidates: {event}: {words}"),
            &json!({ "event": event, "candidates": candidates, "text": words }),
        );
    }

    fn limit(&self) -> String {
        let limit = span::show(self.plan.timeout);
        match &self.trouble {
            Some(problem) => format!("{limit} (the store: {problem})"),
            None => limit,
        }
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).max(1)
}
