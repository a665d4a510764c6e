//! Worker processes, and the signals that stop them.
//!
//! Assumes: this very program becomes a worker when it is started with the right words.
//! Promises: every worker is dead when the troupe is dropped, stopped or not.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use incumbent_testbed::PATIENCE;
use rustix::process::{Pid, Signal, kill_process};

use super::worker::Role;

/// Workers, by number.
pub(crate) struct Troupe(Vec<Child>);

impl Troupe {
    /// Starts one worker per role. `words` is what this program needs to hear to become one.
    pub(crate) fn start(words: &[&str], roles: &[Role]) -> anyhow::Result<Troupe> {
        let mut troupe = Troupe(Vec::new());
        let program = std::env::current_exe().context("finding this program")?;
        for role in roles {
            let mut command = Command::new(&program);
            command.args(words).envs([role.variable()]).stdin(Stdio::null()).stdout(Stdio::null());
            troupe.0.push(command.spawn().context("starting a worker")?);
        }
        Ok(troupe)
    }

    /// The number of the worker of this name.
    pub(crate) fn number(&self, name: &str) -> anyhow::Result<usize> {
        let found = (0..self.0.len()).find(|number| Role::name(*number) == name);
        found.with_context(|| format!("{name} is none of the workers"))
    }

    /// Fails if a worker ended, which none does of its own accord.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        for (number, worker) in self.0.iter_mut().enumerate() {
            if let Some(status) = worker.try_wait()? {
                bail!("{} ended: {status}", Role::name(number));
            }
        }
        Ok(())
    }

    /// Stops a worker, and returns when every thread of it stands still: a signal takes effect when
    /// a thread next returns from the kernel.
    pub(crate) async fn stop(&self, number: usize) -> anyhow::Result<()> {
        self.signal(number, Signal::STOP)?;
        let threads = format!("/proc/{}/task", self.0[number].id());
        let began = Instant::now();
        loop {
            let mut still = true;
            for thread in fs::read_dir(&threads).context("a worker is gone")?.flatten() {
                // A thread that ends meanwhile does not run.
                let stat = fs::read_to_string(thread.path().join("stat"));
                still &= stat.map_or(true, |stat| stat.contains(") T "));
            }
            if still {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                bail!("{} cannot be stopped", Role::name(number));
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }

    /// Lets a worker go on.
    pub(crate) fn resume(&self, number: usize) -> anyhow::Result<()> {
        self.signal(number, Signal::CONT)
    }

    fn signal(&self, number: usize, signal: Signal) -> anyhow::Result<()> {
        let pid = i32::try_from(self.0[number].id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("no process")?, signal).context("a worker is gone")
    }
}

impl Drop for Troupe {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

/// Gives up on something that has to go on and does not.
pub(crate) struct Patience {
    what: &'static str,
    reached: i64,
    since: Instant,
}

impl Patience {
    pub(crate) fn new(what: &'static str) -> Patience {
        Patience { what, reached: i64::MIN, since: Instant::now() }
    }

    /// Fails if it is long ago that it got further than this.
    pub(crate) fn check(&mut self, reached: i64) -> anyhow::Result<()> {
        if reached > self.reached {
            (self.reached, self.since) = (reached, Instant::now());
        }
        if self.since.elapsed() > PATIENCE {
            bail!("waited in vain for {}: stuck at {reached}", self.what);
        }
        Ok(())
    }
}

/// Waits for something that must come.
pub(crate) async fn eventually<T>(
    what: &str,
    mut look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let began = Instant::now();
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if began.elapsed() > PATIENCE {
            bail!("waited in vain for {what}");
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
