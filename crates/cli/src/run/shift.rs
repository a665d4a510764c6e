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
use super::lookout::Lookout;
use super::restart::{Restarts, Verdict};
use super::signals::{self, Heard, Signals};
use super::terminal::Terminal;
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
    pub(crate) async fn work(
        &self,
        signals: &mut Signals,
        lookout: &mut Lookout,
    ) -> anyhow::Result<End> {
        let RunArgs { restart, restart_delay, restart_limit, .. } = *self.args;
        let mut restarts = Restarts::new(restart, restart_delay, restart_limit);
        let mut delay = Duration::ZERO;
        let mut terminal = Terminal::find();
        loop {
            if let Some(end) = self.rest(delay, signals).await {
                return Ok(end);
            }
            let begun = lease_clock_nanos();
            let code = match self.attend(signals, &mut terminal, lookout).await? {
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
    async fn attend(
        &self,
        signals: &mut Signals,
        terminal: &mut Terminal,
        lookout: &mut Lookout,
    ) -> anyhow::Result<Stop> {
        let leadership = self.leadership;
        let errand = Errand {
            leadership,
            me: self.me,
            slot: self.slot,
            grace: self.grace,
            is_abrupt: self.args.on_loss == OnLoss::Kill,
            epitaph: self.history.map(|file| Epitaph::of(leadership, self.me, file)),
            words: &self.args.command,
        };
        let mut ward = Ward::start(&errand, terminal)?;
        let (mut until, mut limit) = (leadership.valid_until_nanos(), u64::MAX);
        let mut lost = None;
        let (mut asked, mut killed, mut drains) = (false, false, false);
        let mut job = Job { voice: self.voice, terminal, is_stuck: false };
        loop {
            tokio::select! {
                status = ward.ended() => {
                    let status = status?;
                    // The guard may have ended it before this process, stopped meanwhile, heard of
                    // its loss; or just before a renewal that came too late.
                    let unheard = (killed || guard::is_overdue(status)).then_some(Reason::Ending);
                    let lost = lost.or_else(|| leadership.reason()).or(unheard);
                    let code = guard::code(status);
                    let by_key = job.terminal.is_lent() && BY_KEY.contains(&code);
                    job.terminal.reclaim(code > 128 || status.code().is_none()).await;
                    return Ok(match stop(status, lost, asked) {
                        Stop::Ended(_) if drains => Stop::Final(End::HandedOver),
                        Stop::Ended(code) if by_key => Stop::Final(End::Done(code)),
                        end => end,
                    });
                }
                extended = leadership.extended_beyond(until), if lost.is_none() => {
                    until = extended;
                    ward.extend(leadership);
                }
                reason = leadership.lost(), if lost.is_none() => {
                    lost = Some(reason);
                    limit = limit.min(from_now(self.grace));
                    ward.stop(self.args.on_loss);
                    let why = because(reason, lookout).await;
                    self.voice.say("losing", &format!("{why}; stopping the command"));
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
                heard = signals.next() => {
                    if !matches!(heard, Heard::End(_)) {
                        let last_moment = self.last_moment(until.min(limit));
                        if job.heed(heard, &ward, last_moment) == Fate::Over && !killed {
                            killed = true;
                            ward.kill();
                        }
                    } else if std::mem::replace(&mut asked, true) {
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
            code = signals.end() => Some(End::Done(code)),
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

/// Why a leadership is lost, with what ails the store if that is the cause.
pub(crate) async fn because(reason: Reason, lookout: &mut Lookout) -> String {
    let what = match reason {
        Reason::Resigned => "this candidate let go",
        Reason::Deposed => "deposed: an operator or another candidate ended the term",
        Reason::Ending => "the lease was not renewed in time",
        Reason::Expired => "the lease ran out",
    };
    match lookout.trouble().await {
        Some(problem) if matches!(reason, Reason::Ending | Reason::Expired) => {
            format!("{what}: {problem}")
        }
        _ => what.to_owned(),
    }
}

/// The codes of a command that Ctrl-C or Ctrl-\ has ended: it is not run again, whatever was asked for.
const BY_KEY: [u8; 2] = [130, 131];

/// What becomes of a command that the terminal has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    GoesOn,
    /// The lease was over when this program continued.
    Over,
}

/// The command as a job of the shell that started this program.
struct Job<'a> {
    voice: Voice<'a>,
    terminal: &'a mut Terminal,
    /// It was told that the command cannot have the terminal.
    is_stuck: bool,
}

impl Job<'_> {
    /// Does as a shell expects when the terminal stops the command or this program.
    fn heed(&mut self, heard: Heard, ward: &Ward, last_moment: u64) -> Fate {
        match heard {
            Heard::Suspend if signals::can_stop() => return self.stop(ward, last_moment),
            Heard::Child if self.terminal.is_lent() => ward.wake_guard(),
            // It may be old news: the command goes on already.
            Heard::Held if self.terminal.exists() && ward.is_command_stopped() => {
                let wants_terminal = !self.terminal.is_lent();
                if wants_terminal && ward.resume(self.terminal, true) {
                    return Fate::GoesOn;
                }
                if signals::can_stop() {
                    return self.stop(ward, last_moment);
                }
                if !wants_terminal {
                    // No shell could continue it, so Ctrl-Z does nothing, as everywhere.
                    ward.resume(self.terminal, false);
                } else if !std::mem::replace(&mut self.is_stuck, true) {
                    let text = "the command waits for the terminal, which it cannot have here; run \
                                it on a terminal of its own, or with another standard input";
                    self.voice.say("stopped", text);
                }
            }
            Heard::Suspend | Heard::Child | Heard::Held | Heard::End(_) => {}
        }
        Fate::GoesOn
    }

    /// Stops command and program together until the shell continues them. Nobody renews the lease
    /// meanwhile; the guard ends the command in time.
    fn stop(&mut self, ward: &Ward, last_moment: u64) -> Fate {
        let left = last_moment.saturating_sub(lease_clock_nanos());
        let left = Duration::from_millis(left / 100_000_000 * 100);
        let text = format!(
            "while this job is stopped its lease is not renewed: continue it within {} (fg), or the \
             command is killed",
            span::exact(left)
        );
        self.voice.say("stopped", &text);
        ward.suspend();
        let had_terminal = self.terminal.leave();
        signals::stop();
        if lease_clock_nanos() >= last_moment {
            return Fate::Over;
        }
        if !(had_terminal && ward.resume(self.terminal, true)) {
            ward.resume(self.terminal, false);
        }
        Fate::GoesOn
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
