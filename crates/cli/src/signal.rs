//! Being asked to stop.
//!
//! Assumes: a tokio runtime.
//! Promises: once it is made, INT, TERM and HUP no longer end the process by themselves.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// INT, TERM and HUP, as one.
#[derive(Debug)]
pub(crate) struct Interrupt {
    int: Signal,
    term: Signal,
    hup: Signal,
}

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Interrupt {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        })
    }

    /// Completes when one of them came.
    pub(crate) async fn came(&mut self) {
        tokio::select! {
            _ = self.int.recv() => {}
            _ = self.term.recv() => {}
            _ = self.hup.recv() => {}
        }
    }
}
