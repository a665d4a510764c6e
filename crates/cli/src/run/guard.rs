//! The guard: a small process between the supervisor and the command, which ends the command on
//! time even if the supervisor is killed or stopped.
//!
//! Assumes: the supervisor made it the head of a process group of its own, and keeps the other end
//! of the control pipe.
//! Promises: the command and everything below it, in whatever group or session, is dead before the
//! lease ends; at once if the supervisor dies. If the guard itself is killed, the kernel kills the
//! command, and the supervisor kills the rest.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context;
use incumbent::lease_clock_nanos;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, getppid, kill_current_process_group,
    kill_process, kill_process_group, setpgid, waitid,
};
use rustix::termios::tcgetpgrp;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::control::{Listener, Word};
use super::epitaph::Epitaph;
use super::kin;
use super::ladder::{Ladder, Rung};
use super::signals::HELD;
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

/// How a guard ends that was told to end its command and had to kill it.
const KILLED: Exit = Exit::Child(137);

/// How a guard ends that was told to end its command before it had started it.
const STOPPED: Exit = Exit::Child(143);

/// Whether a guard ended its command because the lease was at its end.
pub(crate) fn is_overdue(status: ExitStatus) -> bool {
    status.signal() == Some(OVERDUE.as_raw())
}

/// Runs the command until it ends by itself or must end.
pub(crate) async fn guard(args: GuardArgs) -> anyhow::Result<Exit> {
    let mut control = Listener::open(args.control)?;
    // What is sent to the group reaches the guard too, which must outlive the command.
    let _deaf = deafen()?;
    wake_at_the_death_of_the_supervisor().context("cannot bind the guard to its supervisor")?;
    kin::adopt().context("cannot adopt what the command leaves behind")?;
    let mut orphans = signal(SignalKind::child())?;
    let Some(Word::Until(until)) = control.hear().await else {
        return Ok(Exit::Failure);
    };
    let grace = Duration::from_millis(args.grace_ms);
    let mut ladder = Ladder::new(until, grace).abrupt(args.abrupt);
    if ladder.next().0 <= lease_clock_nanos() {
        return Ok(Exit::Overdue);
    }
    if let Some(exit) = called_off(&mut control, &mut ladder).await {
        return Ok(exit);
    }
    let epitaph = args.epitaph.as_deref().map(Epitaph::parse).transpose()?;
    if let Some(epitaph) = &epitaph {
        note(epitaph.birth()).await;
    }
    // Started from the main thread: the kernel binds the command's life to the thread that starts
    // it.
    let child = stage(&args)?.spawn().context("cannot start the command")?;
    let pid = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let mut charge = Charge { child, epitaph };
    let (mut told, mut late) = (false, false);
    loop {
        let (at, _) = ladder.next();
        let nap = Duration::from_nanos(at.saturating_sub(lease_clock_nanos())).min(NAP_MAX);
        tokio::select! {
            status = charge.child.wait() => {
                charge.end().await;
                let exit = Exit::Child(code(status?));
                return Ok(if late { Exit::Overdue } else { exit });
            }
            word = control.hear() => match word {
                Some(Word::Until(until)) => ladder.extend(until),
                Some(Word::Stop) => {
                    told = true;
                    ladder.stop(lease_clock_nanos());
                }
                Some(Word::Drain(until)) => {
                    told = true;
                    ladder.drain(until);
                }
                Some(Word::Kill) | None => {
                    charge.end().await;
                    return Ok(KILLED);
                }
            },
            _ = orphans.recv() => {
                kin::bury(pid);
                if pid.is_some_and(is_held) {
                    report(getppid().map_or(Ok(()), |parent| kill_process(parent, HELD)));
                }
            }
            () = tokio::time::sleep(nap) => {}
        }
        match ladder.climb(lease_clock_nanos()) {
            Some(Rung::Term) => {
                late = !told;
                ask();
            }
            Some(Rung::Kill) => {
                charge.end().await;
                return Ok(if told && !late { KILLED } else { Exit::Overdue });
            }
            None => {}
        }
    }
}

/// Takes what was said while the guard started; how it ends if the command is not to be started at all.
async fn called_off(control: &mut Listener, ladder: &mut Ladder) -> Option<Exit> {
    loop {
        // So that the runtime has looked at the pipe.
        tokio::task::yield_now().await;
        match tokio::time::timeout(Duration::ZERO, control.hear()).await {
            Err(_) => return None,
            Ok(Some(Word::Until(until))) => ladder.extend(until),
            Ok(Some(Word::Stop | Word::Drain(_))) => return Some(STOPPED),
            Ok(Some(Word::Kill) | None) => return Some(KILLED),
        }
    }
}

/// The command, and what is to be said of it.
struct Charge {
    child: Child,
    epitaph: Option<Epitaph>,
}

impl Charge {
    /// Ends the command and everything that came of it, and says so if that can be said without
    /// delay. The guard leaves the group first, so that it survives the signal to the group. It cannot
    /// leave if the supervisor's group is outside of this PID namespace. Then it does not signal the
    /// group, which would kill the guard and lose the command's exit code: on Linux `reap` kills
    /// everything below the guard one by one, and elsewhere there are no such namespaces.
    async fn end(&mut self) {
        let group = getpgrp();
        let has_left = leave_group();
        if has_left {
            let killed = kill_process_group(group, Signal::KILL);
            report(killed.or_else(|error| if error == Errno::SRCH { Ok(()) } else { Err(error) }));
        }
        if self.reap().await {
            self.mourn().await;
        }
        if !has_left && !cfg!(target_os = "linux") {
            report(kill_current_process_group(Signal::KILL));
        }
    }

    /// Kills what is left and waits for its end. Asks the kernel itself: nothing here may depend on when
    /// a runtime hears of it.
    #[cfg(target_os = "linux")]
    #[expect(clippy::unused_async, reason = "elsewhere it waits")]
    async fn reap(&mut self) -> bool {
        kin::end();
        true
    }

    /// Waits for the end of the command. False if the kernel takes too long for it.
    #[cfg(not(target_os = "linux"))]
    async fn reap(&mut self) -> bool {
        tokio::time::timeout(REAP_MAX, self.child.wait()).await.is_ok()
    }

    async fn mourn(&mut self) {
        if let Some(mut epitaph) = self.epitaph.take() {
            epitaph.stamp();
            note(epitaph).await;
        }
    }
}

/// Writes it into the history, if that can be done without delay.
async fn note(epitaph: Epitaph) {
    let written = tokio::task::spawn_blocking(move || epitaph.write());
    let _ = tokio::time::timeout(REAP_MAX, written).await;
}

/// Whether the terminal has just stopped the command: it reads from it in the background, Ctrl-Z was
/// typed, or it stopped itself while it had the terminal, as some programs answer Ctrl-Z.
fn is_held(command: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
    let status = waitid(WaitId::Pid(command), options).ok().flatten();
    let signal = status.and_then(|status| status.stopping_signal());
    let by = |it: Signal| signal == Some(it.as_raw());
    by(Signal::TTIN) || by(Signal::TTOU) || by(Signal::TSTP) || (by(Signal::STOP) && has_terminal())
}

/// Whether this group has the terminal.
fn has_terminal() -> bool {
    let device = std::fs::File::open("/dev/tty").ok();
    device.and_then(|device| tcgetpgrp(device).ok()) == Some(getpgrp())
}

/// Goes over to the group of the supervisor, if that is possible.
fn leave_group() -> bool {
    getppid().and_then(kin::group_of).is_some_and(|group| setpgid(None, Some(group)).is_ok())
}

fn report(killed: Result<(), Errno>) {
    if let Err(error) = killed {
        tracing::error!(%error, "cannot kill the command");
    }
}

/// A guard that is stopped cannot notice that its supervisor was killed, and would leave the command
/// running: the kernel makes it continue then.
#[cfg(target_os = "linux")]
fn wake_at_the_death_of_the_supervisor() -> std::io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?)
}

/// Other kernels offer no such thing.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
fn wake_at_the_death_of_the_supervisor() -> std::io::Result<()> {
    Ok(())
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
fn stage(args: &GuardArgs) -> anyhow::Result<Command> {
    let mut command = Command::new(own_program()?);
    command.arg("enter").arg("--guard").arg(getpid().as_raw_pid().to_string());
    command.args(args.open_files.map(|files| format!("--open-files={files}")));
    command.arg("--").args(&args.command);
    Ok(command)
}

/// Asks everybody to stop: the whole group, and whoever left it. The guard itself does not listen.
fn ask() {
    if let Err(error) = kill_current_process_group(Signal::TERM) {
        tracing::error!(%error, "cannot ask the command to stop");
    }
    kin::signal_outside(getpgrp(), Signal::TERM);
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
