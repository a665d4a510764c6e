//! The signals that ask `run` to end, and those of a terminal that stop and continue it.
//!
//! Assumes: a tokio runtime.
//! Promises: once they are listened to, they end nothing by themselves; HUP is left ignored if it
//! was from the start.

use rustix::process::{Signal as Number, kill_current_process_group};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::kin;

/// TERM, INT and HUP; TSTP, TTIN and CHLD.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Not if it was ignored from the start, as `nohup` asks.
    hangup: Option<Signal>,
    suspend: Signal,
    held: Signal,
    child: Signal,
}

/// What was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is to end: the exit code that a shell would show for it.
    End(u8),
    /// It is to stop for now, as Ctrl-Z asks.
    Suspend,
    /// The guard says that the terminal has stopped the command.
    Held,
    /// The guard has stopped, or something below this process has ended.
    Child,
}

/// With what a guard says that the terminal has stopped its command.
pub(crate) const HELD: Number = Number::TTIN;

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let number = |signal: Number| SignalKind::from_raw(signal.as_raw());
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
            suspend: signal(number(Number::TSTP))?,
            held: signal(number(HELD))?,
            child: signal(SignalKind::child())?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Heard {
        tokio::select! {
            _ = self.terminate.recv() => Heard::End(143),
            _ = self.interrupt.recv() => Heard::End(130),
            () = heard(self.hangup.as_mut()) => Heard::End(129),
            _ = self.suspend.recv() => Heard::Suspend,
            _ = self.held.recv() => Heard::Held,
            _ = self.child.recv() => Heard::Child,
        }
    }

    /// The next one that is to end this program, while no command runs.
    pub(crate) async fn end(&mut self) -> u8 {
        loop {
            match self.next().await {
                Heard::End(code) => return code,
                Heard::Suspend if can_stop() => stop(),
                Heard::Suspend | Heard::Held | Heard::Child => {}
            }
        }
    }
}

/// Whether a shell would see this job stop and could continue it. The kernel asks the same before it
/// obeys Ctrl-Z.
pub(crate) fn can_stop() -> bool {
    !kin::is_orphaned()
}

/// Stops the job that this process is part of; returns when it continues.
pub(crate) fn stop() {
    if let Err(error) = kill_current_process_group(Number::STOP) {
        tracing::warn!(%error, "cannot stop");
    }
}

async fn heard(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was started with HUP ignored. The kernel's page about it is the only safe way
/// to ask.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}
