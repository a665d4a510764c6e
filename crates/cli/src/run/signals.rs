//! The signals that ask `run` to end.
//!
//! Assumes: a tokio runtime.
//! Promises: once they are listened to, they end nothing by themselves; HUP is left ignored if it
//! was from the start.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// TERM, INT and HUP.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Not if it was ignored from the start, as `nohup` asks.
    hangup: Option<Signal>,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    /// The next one, as the exit code that a shell would show for it.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
            () = heard(self.hangup.as_mut()) => 129,
        }
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
