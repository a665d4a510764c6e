//! The supervisor's hold on a guard and, through it, on the command.
//!
//! Assumes: one ward per leadership.
//! Promises: when [`Ward::ended`] returns, every process of the command's group is dead, so that
//! the leadership can be let go of.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::Context;
use incumbent::{CandidateId, Leadership};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::task::JoinHandle;

use super::control::{self, Speaker, Word};
use super::epitaph::Epitaph;

/// A running guard.
#[derive(Debug)]
pub(crate) struct Ward {
    speaker: Speaker,
    group: Option<Pid>,
    reaper: JoinHandle<std::io::Result<ExitStatus>>,
}

impl Ward {
    /// Starts the command under a guard, for as long as the leadership is renewed.
    pub(crate) fn start(
        leadership: &Leadership,
        me: &CandidateId,
        grace: Duration,
        epitaph: Option<Epitaph>,
        words: &[OsString],
    ) -> anyhow::Result<Ward> {
        let (mut speaker, passage) = control::pipe()?;
        speaker.say(Word::Until(leadership.valid_until_nanos()));
        // The guard and the command inherit the proof of life: nobody can take this candidate for
        // dead before they are.
        let life = leadership.share_lock().transpose().context("cannot share the lock")?;
        let mut guard = Command::new(own_program()?);
        guard
            .arg("guard")
            .args(["--control-fd", &passage.number().to_string()])
            .args(["--grace-ms", &grace.as_millis().to_string()]);
        if let Some(epitaph) = epitaph {
            guard.args(["--epitaph", &epitaph.words()?]);
        }
        let guard = guard
            .arg("--")
            .args(words)
            .env("INCUMBENT_ELECTION", leadership.election().as_str())
            .env("INCUMBENT_TOKEN", leadership.token().to_string())
            .env("INCUMBENT_NAME", me.name.as_str())
            .process_group(0)
            .spawn()
            .context("cannot start the guard")?;
        drop((passage, life));
        let group = i32::try_from(guard.id()).ok().and_then(Pid::from_raw);
        let reaper = tokio::task::spawn_blocking(move || reap(guard, group));
        Ok(Ward { speaker, group, reaper })
    }

    /// Passes on how long the lease runs.
    pub(crate) fn extend(&mut self, leadership: &Leadership) {
        self.speaker.say(Word::Until(leadership.valid_until_nanos()));
    }

    /// Asks the command to stop, and later makes it.
    pub(crate) fn stop(&mut self) {
        self.speaker.say(Word::Stop);
    }

    /// Makes the command stop, and its guard, should that be stopped or starved itself.
    pub(crate) fn kill(&mut self) {
        // As long as `ended` has not returned, the group's number belongs to nobody else.
        if let Some(group) = self.group.filter(|_| !self.reaper.is_finished()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Completes when the command and everything it left behind in its group are dead. Can be given
    /// up and asked again.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        Ok((&mut self.reaper).await.context("the guard could not be waited for")??)
    }
}

/// This very program, even if its file was replaced by a newer one meanwhile.
pub(crate) fn own_program() -> anyhow::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return Ok(link.to_owned());
    }
    std::env::current_exe().context("cannot find this program's own file")
}

/// Waits for the guard, and kills what is left of its group while the guard's number cannot have
/// been given to anyone else.
fn reap(mut guard: Child, group: Option<Pid>) -> std::io::Result<ExitStatus> {
    if let Some(pid) = group {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        let _ = kill_process_group(pid, Signal::KILL);
    }
    guard.wait()
}
