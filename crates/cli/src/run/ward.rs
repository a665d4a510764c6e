//! The supervisor's hold on a guard and, through it, on the command.
//!
//! Assumes: one ward at a time. When a guard is killed, everything else below this process is taken
//! for what it left behind.
//! Promises: when [`Ward::ended`] returns, everything below the guard is dead, so that the
//! leadership can be let go of.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use command_fds::{CommandFdExt, FdMapping};
use incumbent::{CandidateId, Leadership};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid,
};
use tokio::task::JoinHandle;

use super::control::{self, Speaker, Word};
use super::epitaph::Epitaph;
use super::terminal::Terminal;
use super::{files, guard, kin};
use crate::flags::{OnLoss, private_variables};

/// How long a file system may take to take a last line.
const WRITE_MAX: Duration = Duration::from_millis(500);

/// A running guard.
#[derive(Debug)]
pub(crate) struct Ward {
    speaker: Speaker,
    leader: Leader,
    reaper: JoinHandle<std::io::Result<ExitStatus>>,
}

/// The guard's number, which is also that of its group, for as long as it belongs to nobody else: until
/// the guard is reaped.
type Leader = Arc<Mutex<Option<Pid>>>;

/// What a ward is started for.
pub(crate) struct Errand<'a> {
    pub(crate) leadership: &'a Leadership,
    pub(crate) me: &'a CandidateId,
    pub(crate) slot: Option<usize>,
    pub(crate) grace: Duration,
    /// The command is killed at the end of the lease without being asked first.
    pub(crate) is_abrupt: bool,
    pub(crate) epitaph: Option<Epitaph>,
    pub(crate) words: &'a [OsString],
}

impl Errand<'_> {
    /// The guard, as it is to be started, which finds its end of the pipe under this number.
    fn guard(&self, control: RawFd) -> anyhow::Result<Command> {
        let mut guard = Command::new(own_program()?);
        guard
            .arg("guard")
            .args(["--control-fd", &control.to_string()])
            .args(["--grace-ms", &self.grace.as_millis().to_string()])
            .args(self.is_abrupt.then_some("--abrupt"))
            .args(files::before().map(|files| format!("--open-files={files}")));
        if let Some(epitaph) = &self.epitaph {
            guard.args(["--epitaph", &epitaph.words()?]);
        }
        guard
            .arg("--")
            .args(self.words)
            .env("INCUMBENT_ELECTION", self.leadership.election().as_str())
            .env("INCUMBENT_TOKEN", self.leadership.token().to_string())
            .env("INCUMBENT_NAME", self.me.name.as_str())
            .process_group(0);
        for variable in private_variables() {
            guard.env_remove(variable);
        }
        match self.slot {
            Some(slot) => guard.env("INCUMBENT_SLOT", slot.to_string()),
            // It would be that of a `run` around this one.
            None => guard.env_remove("INCUMBENT_SLOT"),
        };
        Ok(guard)
    }
}

impl Ward {
    /// Starts the command under a guard, for as long as the leadership is renewed. From the main
    /// thread: the kernel wakes a stopped guard when the thread that started it is dead.
    pub(crate) fn start(errand: &Errand<'_>, terminal: &mut Terminal) -> anyhow::Result<Ward> {
        let leadership = errand.leadership;
        let (mut speaker, passage) = control::pipe()?;
        let control = passage.as_raw_fd();
        let mut handed = vec![kept(passage)];
        // The guard and the command inherit the proof of life: nobody can take this candidate for
        // dead before they are. Nobody else that is started meanwhile inherits it, such as a probe.
        if let Some(life) = leadership.share_lock().transpose().context("cannot share the lock")? {
            handed.push(kept(life));
        }
        let mut guard = errand.guard(control)?;
        guard.fd_mappings(handed).context("cannot hand over to the guard")?;
        let guard = guard.spawn().context("cannot start the guard")?;
        let pid = i32::try_from(guard.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = pid.filter(|_| terminal.is_for_the_command()) {
            terminal.lend(group);
        }
        // The guard waits for that before it starts the command, which so has the terminal first.
        speaker.say(Word::Until(leadership.valid_until_nanos()));
        let leader: Leader = Arc::new(Mutex::new(pid));
        let (epitaph, shared) = (errand.epitaph.clone(), Arc::clone(&leader));
        let reaper = tokio::task::spawn_blocking(move || reap(guard, &shared, epitaph));
        Ok(Ward { speaker, leader, reaper })
    }

    /// Passes on how long the lease runs.
    pub(crate) fn extend(&mut self, leadership: &Leadership) {
        self.speaker.say(Word::Until(leadership.valid_until_nanos()));
    }

    /// Asks the command to stop, and later makes it; or makes it at once.
    pub(crate) fn stop(&mut self, how: OnLoss) {
        self.speaker.say(if how == OnLoss::Kill { Word::Kill } else { Word::Stop });
    }

    /// Asks the command to stop, and lets it take until then.
    pub(crate) fn drain(&mut self, until: u64) {
        self.speaker.say(Word::Drain(until));
    }

    /// Makes the command stop, and its guard, should that be stopped or starved itself.
    pub(crate) fn kill(&mut self) {
        self.with_group(|pid| {
            let _ = kill_process_group(pid, Signal::KILL);
            // Whoever left its group is not reached by that. What it leaves behind then is the
            // reaper's to end.
            let _ = kill_process(pid, Signal::KILL);
        });
    }

    /// Stops the command for now, as Ctrl-Z does.
    pub(crate) fn suspend(&self) {
        self.with_group(|group| {
            let _ = kill_process_group(group, Signal::TSTP);
        });
    }

    /// Lets a stopped command go on; with the terminal, if it had it or waits for it, and that can be.
    /// False if it waits for it and cannot have it.
    pub(crate) fn resume(&self, terminal: &mut Terminal, wants_terminal: bool) -> bool {
        let mut goes_on = true;
        self.with_group(|group| {
            let has_it = wants_terminal && terminal.lend(group);
            goes_on = has_it || !wants_terminal;
            if goes_on {
                let _ = kill_process_group(group, Signal::CONT);
            }
        });
        goes_on
    }

    /// Whether the command is stopped.
    pub(crate) fn is_command_stopped(&self) -> bool {
        let mut is_stopped = false;
        self.with_group(|guard| is_stopped = kin::has_stopped(guard));
        is_stopped
    }

    /// A program that stops its whole group, as some editors do at Ctrl-Z, must not stop its guard.
    pub(crate) fn wake_guard(&self) {
        self.with_group(|guard| {
            if kin::is_stopped(guard) {
                let _ = kill_process(guard, Signal::CONT);
            }
        });
    }

    /// Does something to the group, unless its number may belong to another by now.
    fn with_group(&self, act: impl FnOnce(Pid)) {
        let leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        leader.map(act);
    }

    /// Completes when the command and everything it left behind in its group are dead. Can be given
    /// up and asked again.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        Ok((&mut self.reaper).await.context("the guard could not be waited for")??)
    }
}

/// Handed over under the number that it has here: that is free in a child as well. Under any other number it could
/// take the place of what the command is to inherit from whoever called this program.
fn kept(parent_fd: OwnedFd) -> FdMapping {
    FdMapping { child_fd: parent_fd.as_raw_fd(), parent_fd }
}

/// This very program, even if its file was replaced by a newer one meanwhile.
pub(crate) fn own_program() -> anyhow::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return Ok(link.to_owned());
    }
    std::env::current_exe().context("cannot find this program's own file")
}

/// The same, for a process that is another program by then.
pub(crate) fn own_program_for_others() -> anyhow::Result<PathBuf> {
    let link = PathBuf::from(format!("/proc/{}/exe", getpid().as_raw_pid()));
    if link.exists() { Ok(link) } else { own_program() }
}

/// Waits for the guard, and kills what is left: its group, while the guard's number cannot have been
/// given to anyone else, and whatever else this process adopted from it.
fn reap(
    mut process: Child,
    leader: &Mutex<Option<Pid>>,
    epitaph: Option<Epitaph>,
) -> std::io::Result<ExitStatus> {
    let pid = *leader.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = pid {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        let _ = kill_process_group(pid, Signal::KILL);
    }
    // From here on its number may be given to another.
    *leader.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let status = process.wait();
    // A guard that was not killed itself has left nothing behind. Else it takes as long as it takes:
    // nobody else may lead before.
    if status.as_ref().is_ok_and(|&status| status.signal().is_some() && !guard::is_overdue(status))
    {
        kin::end();
    }
    if let Some(mut epitaph) = epitaph {
        epitaph.stamp();
        let (done, written) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            epitaph.write();
            done.send(())
        });
        let _ = written.recv_timeout(WRITE_MAX);
    }
    status
}
