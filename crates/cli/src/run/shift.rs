//! The work under one leadership: the command, run once or several times, from the gain to the end.
//!
//! Assumes: whoever calls lets go of the leadership afterwards.
//! Promises: when [`Shift::work`] returns, nothing of the command is left. All of its runs have the
//! same token.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use incumbent::{CandidateId, Handover, Leadership, Reason, lease_clock_nanos};

use super::epitaph::Epitaph;
use super::guard;
use super::ladder;
use super::restart::{Restarts, Verdict};
use super::signals::Signals;
use super::voice::Voice;
use super::ward::{Errand, Ward};
use crate::flags::{OnLoss, RunArgs};
use crate::span;

/// Longest sleep, so that a machine that was suspended is noticed soon after it wakes.
const NAP_MAX: Duration = Duration::from_millis(250);

/// One leadership, and what to do with it.
pub(crate) struct Shift<'a> {
    pub(crate) voice: Voice<'a>,
    pub(crate) args: &'a RunArgs,
    pub(crate) leadership: &'a Leadership,
    pub(crate) slot: Option<usize>,
    pub(crate) me: &'a CandidateId,
    pub(crate) grace: Duration,
    pub(crate) stop_timeout: Duration,
    pub(crate) history: Option<&'a Path>,
}

/// How the work ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself, or because this program was asked to stop; with which code.
    Done(u8),
    /// Because this leader was asked to hand over.
    HandedOver,
    /// Because the leadership was lost.
    Lost(Reason),
}

/// How one run of the command ended.
enum Stop {
    /// By itself.
    Ended(u8),
    /// Because of something that ends the work too.
    Final(End),
}

impl Shift<'_> {
    /// Runs the command, again if that is wanted; returns when it is dead for good.
    pub(crate) async fn work(&self, signals: &mut Signals) -> anyhow::Result<End> {
        let RunArgs { restart, restart_delay, restart_limit, .. } = *self.args;
        let mut restarts = Restarts::new(restart, restart_delay, restart_limit);
        let mut delay = Duration::ZERO;
        loop {
            if let Some(end) = self.rest(delay, signals).await {
                return Ok(end);
            }
            let begun = lease_clock_nanos();
            let code = match self.attend(signals).await? {
                Stop::Ended(code) => code,
                Stop::Final(end) => return Ok(end),
            };
            let ran = Duration::from_nanos(lease_clock_nanos().saturating_sub(begun));
            delay = match restarts.judge(code, ran) {
                Verdict::Again(delay) => delay,
                Verdict::Enough => return Ok(End::Done(code)),
                Verdict::GiveUp => {
                    let text = format!("{restart_limit} restarts in a row did not help");
                    self.voice.say("gave up", &text);
                    return Ok(End::Done(code));
                }
            };
            let text =
                format!("the command ended with code {code}; runs again in {}", span::exact(delay));
            self.voice.say("restarting", &text);
        }
    }

    /// Runs the command once.
    async fn attend(&self, signals: &mut Signals) -> anyhow::Result<Stop> {
        let leadership = self.leadership;
        let mut ward = Ward::start(&Errand {
            leadership,
            me: self.me,
            slot: self.slot,
            grace: self.grace,
            is_abrupt: self.args.on_loss == OnLoss::Kill,
            epitaph: self.history.map(|file| Epitaph::of(leadership, self.me, file)),
            words: &self.args.command,
        })?;
        let (mut until, mut limit) = (leadership.valid_until_nanos(), u64::MAX);
        let mut lost = None;
        let (mut asked, mut killed, mut drains) = (false, false, false);
        loop {
            tokio::select! {
                status = ward.ended() => {
                    let status = status?;
                    // The guard may have ended it before this process, stopped meanwhile, heard of
                    // its loss; or just before a renewal that came too late.
                    let unheard = (killed || guard::is_overdue(status)).then_some(Reason::Ending);
                    let lost = lost.or_else(|| leadership.reason()).or(unheard);
                    return Ok(match stop(status, lost, asked) {
                        Stop::Ended(_) if drains => Stop::Final(End::HandedOver),
                        end => end,
                    });
                }
                () = leadership.extended(), if lost.is_none() => {
                    until = leadership.valid_until_nanos();
                    ward.extend(leadership);
                }
                reason = leadership.lost(), if lost.is_none() => {
                    lost = Some(reason);
                    limit = limit.min(from_now(self.grace));
                    self.voice.say("losing", &format!("{reason}; stopping the command"));
                    ward.stop(self.args.on_loss);
                }
                handover = leadership.draining(), if !drains && !asked && lost.is_none() => {
                    drains = true;
                    self.voice.say("draining", &self.request(&handover));
                    limit = limit.min(from_now(handover.within));
                    ward.drain(limit);
                }
                // The guard should have done it by then. It may be stopped or starved.
                () = pause_until(self.last_moment(until.min(limit))), if !killed => {
                    killed = true;
                    ward.kill();
                }
                _ = signals.next() => {
                    if std::mem::replace(&mut asked, true) {
                        self.voice.say("stopping", "asked again: kills the command, then lets go");
                        ward.kill();
                    } else if lost.is_none() {
                        limit = limit.min(from_now(self.stop_timeout));
                        let has = span::exact(self.stop_timeout);
                        let text = format!("the command has {has} to stop, then lets go");
                        self.voice.say("stopping", &text);
                        ward.drain(limit);
                    } else {
                        self.voice.say("stopping", "does not contend again");
                    }
                }
            }
        }
    }

    /// Leads without working until the delay is over and the lease is sure; `None` then. What is left
    /// of a lease that is about to end is not begun with.
    async fn rest(&self, delay: Duration, signals: &mut Signals) -> Option<End> {
        let is_over = async {
            tokio::time::sleep(delay).await;
            while self.leadership.remaining() <= self.grace {
                tokio::time::sleep(NAP_MAX / 10).await;
            }
        };
        tokio::select! {
            biased;
            reason = self.leadership.lost() => Some(End::Lost(reason)),
            _ = self.leadership.draining() => Some(End::HandedOver),
            code = signals.next() => Some(End::Done(code)),
            () = is_over => None,
        }
    }

    /// What this leader is asked, and why. One that is not well asks itself.
    fn request(&self, handover: &Handover) -> String {
        let (by, has) = (&handover.by, span::exact(handover.within));
        match &by.reason {
            Some(reason) if by.actor == self.me.name.as_str() => {
                format!("hands over, {reason}: the command has {has}")
            }
            _ => format!("asked to hand over {by}: the command has {has}"),
        }
    }

    /// When the lease that was last heard of, or the grace, is all but over: half as long before its
    /// end as the guard kills.
    fn last_moment(&self, until: u64) -> u64 {
        until.saturating_sub(nanos(ladder::spare(self.grace) / 2))
    }
}

/// When a command that is asked to stop now must have done so.
fn from_now(span: Duration) -> u64 {
    lease_clock_nanos().saturating_add(nanos(span))
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// What the end of a command means.
fn stop(status: ExitStatus, lost: Option<Reason>, asked: bool) -> Stop {
    let code = if guard::is_overdue(status) { 143 } else { guard::code(status) };
    match lost {
        _ if asked => Stop::Final(End::Done(code)),
        Some(reason) => Stop::Final(End::Lost(reason)),
        None => Stop::Ended(code),
    }
}

/// Sleeps, by the lease clock, in naps short enough to notice that the machine slept meanwhile.
async fn pause_until(at: u64) {
    loop {
        let left = Duration::from_nanos(at.saturating_sub(lease_clock_nanos()));
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(NAP_MAX)).await;
    }
}
