//! One candidate of the demo: a real process, and what is heard of it.
//!
//! Assumes: everything that the process starts inherits its standard output.
//! Promises: it is silent only once every process of its family is gone, because each of them holds
//! the pipe open.

use std::process::Stdio;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc::UnboundedSender;

/// What the work of a candidate says when it begins.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Began {
    /// When, in nanoseconds of the host's lease clock.
    pub(super) at: u64,
    pub(super) pid: u32,
    pub(super) token: u64,
}

/// Something that was heard of a candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// Of whom.
    pub(super) who: usize,
    /// In which of its lives.
    pub(super) life: usize,
    /// Its work began, or, if there is none, its family is gone.
    pub(super) began: Option<Began>,
}

/// One life of a candidate.
#[derive(Debug)]
pub(super) struct Life {
    process: Child,
    /// The last that began here.
    pub(super) work: Option<Began>,
    /// Whether anything of its family is left.
    pub(super) is_gone: bool,
}

impl Life {
    /// Starts the process; what is heard of it goes to `ears`.
    pub(super) fn begin(
        mut command: Command,
        who: usize,
        life: usize,
        ears: UnboundedSender<Heard>,
    ) -> anyhow::Result<Life> {
        // A group of its own, so that Ctrl-C reaches the demo alone, which then cleans up.
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut process = command.spawn().context("cannot start a candidate")?;
        let out = process.stdout.take().context("a candidate has no output")?;
        tokio::spawn(listen(out, who, life, ears));
        Ok(Life { process, work: None, is_gone: false })
    }

    /// Sends a signal to the supervisor, and to nobody else.
    pub(super) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.process.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let pid = pid.context("the candidate ended by itself")?;
        kill_process(pid, signal).context("cannot signal a candidate")
    }

    /// Ends the supervisor at once and waits for it.
    pub(super) async fn kill(&mut self) {
        let _ = self.process.kill().await;
    }
}

async fn listen(out: ChildStdout, who: usize, life: usize, ears: UnboundedSender<Heard>) {
    let mut lines = BufReader::new(out).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(began) = serde_json::from_str(&line) {
            let _ = ears.send(Heard { who, life, began: Some(began) });
        }
    }
    let _ = ears.send(Heard { who, life, began: None });
}
