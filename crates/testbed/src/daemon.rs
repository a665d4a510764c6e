//! A running server: its process, its folder, and how to end and start it again.
//!
//! Assumes a server that stays in the foreground and writes its log to standard error. Promises that
//! a server that ends while it starts, or is not ready in time, is an error with the tail of its
//! log, and that after `kill` no process of it is left.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::folder::Folder;
use crate::{program, usage};

/// Much longer than any start takes; recovery after a kill on a busy machine included.
const START_LIMIT: Duration = Duration::from_mins(2);

/// The same for an orderly end.
const STOP_LIMIT: Duration = Duration::from_mins(1);

/// How often a start, an end or a state is looked at.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

/// One start of a server, which tells its traces from those of earlier ones.
pub(crate) struct Start {
    /// The process.
    pub(crate) pid: u32,
    /// Where in the log it begins.
    pub(crate) log: u64,
}

/// One server.
#[derive(Debug)]
pub(crate) struct Daemon {
    program: PathBuf,
    arguments: Vec<OsString>,
    child: Option<Child>,
    /// The number of the newest process, kept after its end.
    pid: u32,
    folder: Folder,
}

impl Daemon {
    pub(crate) fn new(folder: Folder, program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, child: None, pid: 0, folder }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Starts the server, with `extra` arguments for this time only, and waits until it is `ready`.
    pub(crate) async fn start(
        &mut self,
        extra: &[&str],
        ready: impl Fn(&Folder, &Start) -> bool,
    ) -> anyhow::Result<()> {
        let name = self.name();
        if let Some(child) = &mut self.child
            && child.try_wait()?.is_none()
        {
            bail!("{name} runs already");
        }
        let log = self.folder.log_length();
        self.spawn(extra)?;
        let start = Start { pid: self.pid, log };
        let began = Instant::now();
        while !ready(&self.folder, &start) {
            let child = self.child.as_mut().context("was spawned above")?;
            if let Some(status) = child.try_wait()? {
                self.child = None;
                bail!("{name} ended with {status} while it started; {}", self.folder.log_tail());
            }
            if began.elapsed() > START_LIMIT {
                bail!("{name} is not ready after {START_LIMIT:?}; {}", self.folder.log_tail());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    fn spawn(&mut self, extra: &[&str]) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.folder.log());
        let log = log.context("opening the log of a server")?;
        self.folder.own(&self.folder.log())?;
        let mut command = program::command(&self.program);
        command.args(&self.arguments).args(extra).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A Ctrl-C at the terminal is for our owner; the guardian ends the server.
        command.process_group(0);
        self.folder.user().apply(&mut command);
        let child = command.spawn();
        let child = child.with_context(|| format!("{} could not be started", self.name()))?;
        self.pid = child.id();
        self.child = Some(child);
        Ok(())
    }

    /// SIGKILL to the server and all its processes, at once.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // First, so that it cannot start new children.
            let _ = child.kill();
            self.folder.kill_processes();
            let _ = child.wait();
        } else {
            self.folder.kill_processes();
        }
    }

    /// Asks the server to end by `signal` and waits until all its processes are gone.
    pub(crate) async fn stop(&mut self, signal: Signal) -> anyhow::Result<()> {
        let name = self.name();
        let mut child = self.child.take().with_context(|| format!("{name} does not run"))?;
        kill_process(Pid::from_child(&child), signal)?;
        let began = Instant::now();
        while child.try_wait()?.is_none() || !self.folder.processes().is_empty() {
            if began.elapsed() > STOP_LIMIT {
                self.child = Some(child);
                bail!("{name} did not stop in {STOP_LIMIT:?}; {}", self.folder.log_tail());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Sends `signal` to every process of the server: STOP freezes it, CONT lets it go on.
    pub(crate) fn signal_all(&self, signal: Signal) {
        for process in self.folder.processes() {
            let _ = kill_process(process, signal);
        }
    }

    /// Processor time of all processes of the server since it was last started.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        usage::cpu(&self.folder.processes())
    }

    fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or(Path::new("server").as_os_str());
        name.to_string_lossy().into_owned()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.folder.remove();
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What every server can do, said once. It has a `daemon` and a `port`; `is_ready` tells whether it
/// answers; `$end` asks it to end in good order.
macro_rules! serve {
    ($server:ty, $end:expr) => {
        impl $server {
            /// The TCP port.
            pub fn port(&self) -> u16 {
                self.port
            }

            /// Where it listens, for a [`Proxy`](crate::Proxy).
            pub fn address(&self) -> std::net::SocketAddr {
                (std::net::Ipv4Addr::LOCALHOST, self.port).into()
            }

            /// The private folder, with its socket and its data.
            pub fn folder(&self) -> &std::path::Path {
                self.daemon.folder().path()
            }

            /// The number of its first process, the newest one if it was restarted.
            pub fn pid(&self) -> u32 {
                self.daemon.pid()
            }

            /// SIGKILL to it and all its children, at once.
            pub fn kill(&mut self) {
                self.daemon.kill();
            }

            /// Starts again on the same port and folder after `kill` or `stop`, and waits until
            /// recovery is done.
            pub async fn restart(&mut self) -> anyhow::Result<()> {
                self.daemon.start(&[], is_ready).await
            }

            /// A fast but orderly end.
            pub async fn stop(&mut self) -> anyhow::Result<()> {
                self.daemon.stop($end).await
            }

            /// Stops all its processes (SIGSTOP): connections stay open and nothing answers.
            pub fn freeze(&self) {
                self.daemon.signal_all(rustix::process::Signal::STOP);
            }

            /// Lets a frozen server go on.
            pub fn thaw(&self) {
                self.daemon.signal_all(rustix::process::Signal::CONT);
            }

            /// User and system time of all its processes since it was last started.
            pub fn cpu(&self) -> anyhow::Result<std::time::Duration> {
                self.daemon.cpu()
            }
        }
    };
}
pub(crate) use serve;

/// Repeats a start whose port was taken between being found and being used.
pub(crate) async fn with_free_port<T>(
    start: impl AsyncFn(u16) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    for _ in 0..4 {
        match start(crate::port::free()?).await {
            Err(error) if is_collision(&error) => {}
            result => return result,
        }
    }
    start(crate::port::free()?).await
}

/// Whether the log in an error's text says that a port was taken.
pub(crate) fn is_collision(error: &anyhow::Error) -> bool {
    let text = format!("{error:#}").to_lowercase();
    text.contains("address already in use")
}
