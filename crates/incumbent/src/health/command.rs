//! Health by a command.
//!
//! Assumes: a Unix system; what the command starts stays in its process group, unless it takes
//! care to leave it.
//! Promises: when the command ends, or the probe is dropped, everything in its group is killed, and
//! no signal ever reaches a process that only inherited the number. The next command is not started
//! before the last one is dead. However much it writes, only the end is kept; whoever keeps its
//! standard error open does not keep the probe waiting.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::task::{JoinHandle, spawn_blocking};

use self::tail::Tail;

mod tail;

/// A command that is run for every probe.
pub(super) struct CommandProbe {
    program: OsString,
    words: Vec<OsString>,
    /// Variables that the command does not inherit.
    pub(super) without: Vec<OsString>,
    /// The thread that waits for the command, until that is dead.
    keeper: Option<JoinHandle<io::Result<ExitStatus>>>,
}

impl CommandProbe {
    pub(super) fn new(program: OsString, words: Vec<OsString>) -> Self {
        CommandProbe { program, words, without: Vec::new(), keeper: None }
    }

    pub(super) async fn run(&mut self) -> Result<(), String> {
        if let Some(last) = &mut self.keeper {
            let _ = last.await;
            self.keeper = None;
        }
        let wrong = |error: io::Error| format!("cannot run {}: {error}", self.program.display());
        let (reader, writer) = io::pipe().map_err(wrong)?;
        let mut tail = Tail::new(reader).map_err(wrong)?;
        let mut command = Command::new(&self.program);
        command.args(&self.words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer);
        for variable in &self.without {
            command.env_remove(variable);
        }
        command.process_group(0);
        let group = Group::default();
        let shared = Arc::clone(&group.0);
        // Starting may block, too: the program may lie on a file system that hangs.
        let keeper = self.keeper.insert(spawn_blocking(move || keep(command, &shared)));
        let ended = tokio::select! {
            ended = keeper => ended,
            never = tail.follow() => match never {},
        };
        self.keeper = None;
        let status = ended.map_err(|error| error.to_string())?.map_err(wrong)?;
        if status.success() {
            return Ok(());
        }
        Err(tail.last_line().unwrap_or_else(|| format!("ended with {status}")))
    }
}

impl fmt::Display for CommandProbe {
    /// The program only: its words may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())
    }
}

/// The process group of a command. Dropping it kills the group, now or as soon as there is one.
#[derive(Default)]
struct Group(Arc<Mutex<Members>>);

#[derive(Default)]
struct Members {
    /// Its number, for as long as nobody else can have it.
    leader: Option<Pid>,
    unwanted: bool,
}

impl Members {
    fn kill(&self) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut members = lock(&self.0);
        members.unwanted = true;
        members.kill();
    }
}

fn lock(members: &Mutex<Members>) -> MutexGuard<'_, Members> {
    members.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the command, waits for it, and kills what it leaves behind.
fn keep(mut command: Command, members: &Mutex<Members>) -> io::Result<ExitStatus> {
    if lock(members).unwanted {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let child = command.spawn()?;
    // It holds the writing end of standard error.
    drop(command);
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    {
        let mut members = lock(members);
        members.leader = leader;
        if members.unwanted {
            members.kill();
        }
    }
    bury(child, leader, members)
}

/// Waits until the command is dead, and kills the rest of its group while the dead one still holds
/// its number.
fn bury(mut child: Child, leader: Option<Pid>, members: &Mutex<Members>) -> io::Result<ExitStatus> {
    if let Some(leader) = leader {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
    }
    let mut members = lock(members);
    members.kill();
    members.leader = None;
    child.wait()
}

#[cfg(test)]
mod tests;
