//! The terminal of `run`: lent to the command, so that it can read from it and gets its keys.
//!
//! Assumes: one command at a time, in a process group of its own below this process.
//! Promises: only a terminal that this process's group has is lent. It is taken back when the command
//! is dead, unless another job has it by then; a command that was killed leaves no strange modes
//! behind.

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use rustix::fs::{FileType, fstat};
use rustix::process::{Pid, getpid, test_kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

use super::kin;

/// How long it may take to take the terminal back.
const RECLAIM_MAX: Duration = Duration::from_secs(2);

/// The controlling terminal, if there is one.
#[derive(Debug)]
pub(crate) struct Terminal {
    device: Option<File>,
    lent: Option<Lent>,
}

/// What the terminal was like when it was lent, if that could be read.
#[derive(Debug)]
struct Lent {
    modes: Option<Termios>,
}

impl Terminal {
    pub(crate) fn find() -> Self {
        let device = File::options().read(true).write(true).open("/dev/tty").ok();
        Terminal { device, lent: None }
    }

    /// Whether the command should have the terminal from the start: if this process is a job of its
    /// own, as an interactive shell starts one. In a script or a pipeline the others may need it; there
    /// the command gets it when it first asks for it.
    pub(crate) fn is_for_the_command(&self) -> bool {
        let is_pipe = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()]
            .into_iter()
            .any(|end| fstat(end).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_fifo()));
        self.is_ours() && !is_pipe && kin::group_of(getpid()) == Some(getpid())
    }

    /// Gives this group the terminal, if the own group has it.
    pub(crate) fn lend(&mut self, group: Pid) -> bool {
        let Some(device) = self.device.as_ref().filter(|_| self.is_ours()) else {
            return false;
        };
        let modes = tcgetattr(device).ok();
        let is_lent = tcsetpgrp(device, group).is_ok();
        self.lent = is_lent.then_some(Lent { modes });
        is_lent
    }

    /// Whether there is a terminal at all.
    pub(crate) fn exists(&self) -> bool {
        self.device.is_some()
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Leaves the terminal to the shell, which takes it when this job stops. False if it was not lent.
    pub(crate) fn leave(&mut self) -> bool {
        self.lent.take().is_some()
    }

    /// Takes it back from a command that is dead, and everything below it, so that a group which still
    /// exists is another job. Restores the modes if the command had no chance to.
    pub(crate) async fn reclaim(&mut self, was_killed: bool) {
        let (Some(Lent { modes }), Some(device)) = (self.lent.take(), &self.device) else {
            return;
        };
        let is_anothers = tcgetpgrp(device).is_ok_and(|it| test_kill_process_group(it).is_ok());
        if is_anothers && !self.is_ours() {
            return;
        }
        if let Err(error) = foreground().await {
            tracing::warn!(%error, "cannot take the terminal back");
        }
        if let Some(modes) = modes.filter(|_| was_killed && self.is_ours()) {
            let _ = tcsetattr(device, OptionalActions::Drain, &modes);
        }
    }

    /// Whether its keys go to this process's group.
    fn is_ours(&self) -> bool {
        let has = self.device.as_ref().and_then(|device| tcgetpgrp(device).ok());
        has.is_some() && has == kin::group_of(getpid())
    }
}

/// Makes the own group the one in the foreground. Whoever does that from the background is stopped,
/// unless the signal for it is ignored; a shell can ignore it for a process that it becomes.
async fn foreground() -> anyhow::Result<()> {
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", "trap '' TTOU; exec \"$0\" foreground"]);
    command.arg(super::ward::own_program_for_others()?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(RECLAIM_MAX, command.status()).await;
    let status = ended.context("it takes too long")?.context("cannot start sh")?;
    anyhow::ensure!(status.success(), "{status}");
    Ok(())
}

/// What the hidden `foreground` does.
pub(crate) fn take() -> anyhow::Result<()> {
    let device = File::options().read(true).write(true).open("/dev/tty")?;
    let group = kin::group_of(getpid()).context("this process has no group here")?;
    Ok(tcsetpgrp(device, group)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_is_lent() {
        let mut none = Terminal { device: None, lent: None };
        assert!(!none.exists() && !none.is_for_the_command() && !none.lend(getpid()));
        assert!(!none.is_lent() && !none.leave());
    }
}
