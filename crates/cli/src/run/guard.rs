//! The guard: a small process between the supervisor and the command, which ends the command on
//! time even if the supervisor is killed or stopped.
//!
//! Assumes: the supervisor made it the head of a process group of its own, and keeps the other end
//! of the control pipe.
//! Promises: the group, guard and command alike, is dead before the lease ends; at once if the
//! supervisor dies. The kernel kills the command if the guard itself is killed.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context;
use incumbent::lease_clock_nanos;
use rustix::io::Errno;
use rustix::process::{
    Signal, getpgid, getpgrp, getpid, getppid, kill_current_process_group, kill_process,
    kill_process_group, setpgid,
};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::control::{Listener, Word};
use super::epitaph::Epitaph;
use super::ladder::{Ladder, Rung};
use super::ward::own_program;
use crate::exit::Exit;
use crate::flags::GuardArgs;

/// Longest sleep, so that a machine that was suspended is noticed soon after it wakes.
const NAP_MAX: Duration = Duration::from_millis(250);

/// How long the kernel may take to end a killed command, and a file system to take a last line.
const REAP_MAX: Duration = Duration::from_millis(500);

/// How a guard ends that had to end its command because the lease was at its end: no code of a
/// command can be taken for it.
const OVERDUE: Signal = Signal::USR1;

/// Whether a guard ended its command because the lease was at its end.
pub(crate) fn is_overdue(status: ExitStatus) -> bool {
    status.signal() == Some(OVERDUE.as_raw())
}

/// Runs the command until it ends by itself or must end.
pub(crate) async fn guard(args: GuardArgs) -> anyhow::Result<Exit> {
    let mut control = Listener::open(args.control)?;
    // What is sent to the group reaches the guard too, which must outlive the command.
    let _deaf = deafen()?;
    let Some(Word::Until(until)) = control.hear().await else {
        return Ok(Exit::Failure);
    };
    let mut ladder = Ladder::new(until, Duration::from_millis(args.grace_ms));
    if ladder.next().0 <= lease_clock_nanos() {
        return Ok(Exit::Overdue);
    }
    // Started from the main thread: the kernel binds the command's life to the thread that starts
    // it.
    let child = stage(&args.command)?.spawn().context("cannot start the command")?;
    let epitaph = args.epitaph.as_deref().map(Epitaph::parse).transpose()?;
    let mut charge = Charge { child, epitaph };
    let (mut told, mut late) = (false, false);
    loop {
        let (at, _) = ladder.next();
        let nap = Duration::from_nanos(at.saturating_sub(lease_clock_nanos())).min(NAP_MAX);
        tokio::select! {
            status = charge.child.wait() => {
                end_group();
                charge.mourn().await;
                let exit = Exit::Child(code(status?));
                return Ok(if late { Exit::Overdue } else { exit });
            }
            word = control.hear() => match word {
                Some(Word::Until(until)) => ladder.extend(until),
                Some(Word::Stop) => {
                    told = true;
                    ladder.stop(lease_clock_nanos());
                }
                None => return Ok(charge.kill().await),
            },
            () = tokio::time::sleep(nap) => {}
        }
        match ladder.climb(lease_clock_nanos()) {
            Some(Rung::Term) => {
                late = !told;
                send(Signal::TERM);
            }
            Some(Rung::Kill) => {
                let exit = charge.kill().await;
                return Ok(if late { Exit::Overdue } else { exit });
            }
            None => {}
        }
    }
}

/// The command, and what is to be said of it.
struct Charge {
    child: Child,
    epitaph: Option<Epitaph>,
}

impl Charge {
    /// Ends the command and everything in its group.
    async fn kill(&mut self) -> Exit {
        end_group();
        let reaped = tokio::time::timeout(REAP_MAX, self.child.wait()).await;
        if reaped.is_ok() {
            self.mourn().await;
        }
        Exit::Child(137)
    }

    /// Says that the work is dead, if that can be said without delay.
    async fn mourn(&mut self) {
        if let Some(mut epitaph) = self.epitaph.take() {
            let written = tokio::task::spawn_blocking(move || epitaph.write());
            let _ = tokio::time::timeout(REAP_MAX, written).await;
        }
    }
}

/// Leaves the group, so that somebody is left to say what became of it, and kills all who are still
/// in it. If the guard cannot leave, it dies with them.
fn end_group() {
    let old = getpgrp();
    let left = getppid()
        .and_then(|supervisor| getpgid(Some(supervisor)).ok())
        .is_some_and(|group| setpgid(None, Some(group)).is_ok());
    let killed = if left {
        kill_process_group(old, Signal::KILL)
    } else {
        kill_current_process_group(Signal::KILL)
    };
    if let Err(error) =
        killed.or_else(|error| if error == Errno::SRCH { Ok(()) } else { Err(error) })
    {
        tracing::error!(%error, "cannot kill the command");
    }
}

/// Ends so that the supervisor knows whose doing it was. Returns only if that cannot be.
pub(crate) fn sign_off() {
    let _ = kill_process(getpid(), OVERDUE);
}

/// The code that a shell would show for this end of a process.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().and_then(|signal| u8::try_from(signal).ok());
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.or(signal.map(|signal| signal.saturating_add(128))).unwrap_or(u8::MAX)
}

/// This program once more, for the moment before it becomes the command.
fn stage(words: &[OsString]) -> anyhow::Result<Command> {
    let mut command = Command::new(own_program()?);
    command.arg("enter").arg("--guard").arg(getpid().as_raw_pid().to_string());
    command.arg("--").args(words);
    Ok(command)
}

/// To the whole group; the guard itself does not listen.
fn send(signal: Signal) {
    if let Err(error) = kill_current_process_group(signal) {
        tracing::error!(%error, ?signal, "cannot signal the command");
    }
}

/// The terminal's signals too: a command that reads from it in the background must not stop its guard.
fn deafen() -> std::io::Result<[tokio::signal::unix::Signal; 7]> {
    let of_terminal = |signal: Signal| SignalKind::from_raw(signal.as_raw());
    Ok([
        signal(of_terminal(Signal::TTIN))?,
        signal(of_terminal(Signal::TTOU))?,
        signal(of_terminal(Signal::TSTP))?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
        signal(SignalKind::quit())?,
    ])
}
