//! The task that probes again and again, and says whether this process is fit to lead.
//!
//! Assumes: a tokio runtime with a clock.
//! Promises: what counts is decided by [`Health`] alone. A probe that panics or blocks its thread
//! has failed and stops neither the monitor nor anything else of its runtime, also if that has one
//! thread only. When the task ends, for whatever reason, whoever still
//! listens is told that the process is not fit.

use std::any::Any;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::health::{Effect, Fitness, Health, HealthRules, Input, ProbeNumber};
use incumbent_protocol::protocol::Protocol;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot, watch};
use tokio::task::{JoinError, JoinHandle};
use tracing::debug;

use super::Probe;
use crate::clock;

/// Longest reason that is passed on, in characters.
const REASON_MAX: usize = 300;

/// Probes that are done for as long as this value lives. Dropping it ends the probe that is under
/// way.
#[derive(Debug)]
pub struct Monitor {
    fitness: watch::Receiver<Fitness>,
    task: JoinHandle<()>,
}

impl Monitor {
    /// Begins with the first probe at once. Until one has passed, the process is not fit.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(probe: Probe, rules: HealthRules) -> Monitor {
        let mut health = Health::new(rules);
        health.begin(clock::now());
        let (voice, fitness) = watch::channel(health.fitness().clone());
        let rounds = Rounds {
            probe: Arc::new(Mutex::new(probe)),
            health,
            voice: Voice(voice),
            under_way: None,
        };
        Monitor { fitness, task: tokio::spawn(rounds.go()) }
    }

    /// What is known now.
    pub fn fitness(&self) -> Fitness {
        self.fitness.borrow().clone()
    }

    /// Waits until something is known that this method has not told yet, and tells it: another
    /// fitness, or another reason for not being fit. Can be given up and asked again.
    pub async fn changed(&mut self) -> Fitness {
        if self.fitness.changed().await.is_err() {
            // The last word was told.
            return pending().await;
        }
        self.fitness.borrow_and_update().clone()
    }

    /// For those who would rather listen by themselves. They are told when this monitor ends: then
    /// the process is not fit.
    pub fn watch(&self) -> watch::Receiver<Fitness> {
        self.fitness.clone()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the task works with.
struct Rounds {
    /// Locked by the probe that is under way, also if it blocks its thread and cannot be ended.
    probe: Arc<Mutex<Probe>>,
    health: Health,
    voice: Voice,
    under_way: Option<UnderWay>,
}

impl Rounds {
    async fn go(mut self) {
        loop {
            while let Some(effect) = self.health.poll_effect() {
                self.carry_out(effect);
            }
            while let Some(fitness) = self.health.poll_notice() {
                debug!(%fitness, "health changed");
                self.voice.0.send_replace(fitness);
            }
            let rest = self.rest();
            let input = tokio::select! {
                answer = answer(self.under_way.as_mut()) => {
                    self.under_way = None;
                    answer
                }
                () = tokio::time::sleep(rest) => Input::Tick,
            };
            self.health.handle(clock::now(), input);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Begin(number) => {
                let probe = Arc::clone(&self.probe);
                let (needed, given_up) = oneshot::channel::<()>();
                let runtime = Handle::current();
                // A thread of its own: what panics or blocks there does neither here.
                let task = tokio::task::spawn_blocking(move || {
                    runtime.block_on(async {
                        tokio::select! {
                            said = async { probe.lock().await.run().await } => said,
                            _ = given_up => Err("the probe was ended".to_owned()),
                        }
                    })
                });
                self.under_way = Some(UnderWay { number, task, _needed: needed });
            }
            Effect::GiveUp(_) => self.under_way = None,
        }
    }

    fn rest(&self) -> Duration {
        self.health.wake_at().map_or(Duration::MAX, |wake_at| wake_at.since(clock::now()))
    }
}

/// A probe that is under way; dropping it ends the probe.
struct UnderWay {
    number: ProbeNumber,
    task: JoinHandle<Result<(), String>>,
    /// The probe is given up when this is dropped.
    _needed: oneshot::Sender<()>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // In case it never began.
        self.task.abort();
    }
}

/// What the probe that is under way says, if there is one.
async fn answer(under_way: Option<&mut UnderWay>) -> Input {
    let Some(UnderWay { number, task, .. }) = under_way else { return pending().await };
    match task.await.unwrap_or_else(|error| Err(cause(error))) {
        Ok(()) => Input::Passed(*number),
        Err(reason) => Input::Failed { probe: *number, reason: plain(&reason) },
    }
}

/// Why a task did not come to its end.
fn cause(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "the probe was ended".to_owned() };
    let panic: &(dyn Any + Send) = &*panic;
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the probe panicked: {}", text.unwrap_or("without a word"))
}

/// A reason as it can be shown in one line.
fn plain(reason: &str) -> String {
    let visible = reason.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let text: String = visible.take(REASON_MAX).collect();
    if text.is_empty() { "the probe failed without a reason".to_owned() } else { text }
}

/// Tells those who listen; at last, that there is nothing more to come.
struct Voice(watch::Sender<Fitness>);

impl Drop for Voice {
    fn drop(&mut self) {
        let reason = "the monitor has ended".to_owned();
        self.0.send_replace(Fitness::Unfit { since: clock::now(), reason });
    }
}

#[cfg(test)]
mod tests;
