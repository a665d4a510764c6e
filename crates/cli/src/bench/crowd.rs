//! The candidates of a benchmark, seen from the process that started them.
//!
//! Assumes: it is used on the main thread, because the kernel binds a child's life to the thread that
//! started it.
//! Promises: whoever is killed is killed at once and says nothing to the store; when the crowd is
//! dropped, or this process dies in whatever way, every process of it is gone.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::place::Place;
use super::word::{Order, Said, Word};
use crate::run::ward::own_program;
use crate::settings::Variables;

/// All candidates of one election.
#[derive(Debug)]
pub(super) struct Crowd {
    own: PathBuf,
    place: Place,
    election: String,
    flags: Vec<String>,
    per_process: usize,
    /// What must not be seen among the flags.
    secrets: Variables,
    hosts: Vec<Host>,
    /// In which process each living candidate is.
    homes: BTreeMap<u32, usize>,
    /// The number of the next candidate.
    next: u32,
    ears: UnboundedSender<Said>,
    heard: UnboundedReceiver<Said>,
}

/// One process.
#[derive(Debug)]
struct Host {
    process: Child,
    orders: ChildStdin,
}

impl Crowd {
    /// Nobody contends yet. The flags say how the election is held.
    pub(super) fn new(
        place: &Place,
        election: String,
        flags: Vec<String>,
        per_process: u32,
        secrets: Variables,
    ) -> anyhow::Result<Crowd> {
        let (ears, heard) = unbounded_channel();
        Ok(Crowd {
            own: own_program()?,
            place: place.clone(),
            election,
            flags,
            per_process: usize::try_from(per_process)?,
            secrets,
            hosts: Vec::new(),
            homes: BTreeMap::new(),
            next: 0,
            ears,
            heard,
        })
    }

    /// Lets one more contend, in a process that has room or in a new one.
    pub(super) async fn join(&mut self) -> anyhow::Result<u32> {
        let who = self.next;
        self.next += 1;
        let home = match self.room() {
            Some(home) => home,
            None => self.host()?,
        };
        self.homes.insert(who, home);
        self.tell(home, Order::Join(who)).await?;
        Ok(who)
    }

    /// Ends one as a crash does; all of its process, if it has that for itself.
    pub(super) async fn kill(&mut self, who: u32) -> anyhow::Result<()> {
        let home = self.homes.remove(&who).context("it is gone already")?;
        if self.per_process > 1 {
            return self.tell(home, Order::Kill(who)).await;
        }
        self.hosts[home].process.start_kill().context("cannot kill a candidate")
    }

    /// A process that has room for one more. One that held a single candidate is gone with it.
    fn room(&self) -> Option<usize> {
        let live = |home: usize| self.homes.values().filter(|&&at| at == home).count();
        let mut shared = (0..self.hosts.len()).filter(|_| self.per_process > 1);
        shared.find(|&home| live(home) < self.per_process)
    }

    /// How many live.
    pub(super) fn len(&self) -> usize {
        self.homes.len()
    }

    /// What is heard next of those who live.
    pub(super) async fn hear(&mut self) -> Said {
        loop {
            // It never ends, because this crowd itself holds a sender. What the dead said last does
            // not count.
            if let Some(said) = self.heard.recv().await
                && self.homes.contains_key(&said.who)
            {
                return said;
            }
        }
    }

    /// Ends everybody, and waits until every process is gone.
    pub(super) async fn clear(&mut self) {
        for host in &mut self.hosts {
            let _ = host.process.start_kill();
        }
        for host in &mut self.hosts {
            let _ = host.process.wait().await;
        }
        self.hosts.clear();
        self.homes.clear();
    }

    async fn tell(&mut self, home: usize, order: Order) -> anyhow::Result<()> {
        let told = self.hosts[home].orders.write_all(order.line().as_bytes()).await;
        told.context("a process of the benchmark is gone")
    }

    /// Starts a process.
    fn host(&mut self) -> anyhow::Result<usize> {
        let mut process = self.command()?.spawn().context("cannot start a candidate")?;
        let orders = process.stdin.take().context("a candidate has no input")?;
        let out = process.stdout.take().context("a candidate has no output")?;
        let home = self.hosts.len();
        tokio::spawn(listen(out, self.ears.clone()));
        self.hosts.push(Host { process, orders });
        Ok(home)
    }

    fn command(&self) -> anyhow::Result<Command> {
        let log = File::options().create(true).append(true).open(self.place.log());
        let log = log.context("cannot write a log")?;
        let mut command = Command::new(&self.own);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("INCUMBENT_") {
                command.env_remove(key);
            }
        }
        // Everyone can see the flags of a process, and a URL may hold a password.
        command.env("INCUMBENT_URL", self.place.url()).envs(self.secrets.0.iter().cloned());
        command.arg("bench-host").args(["--parent", &std::process::id().to_string()]);
        command.args(["--election", &self.election]).args(&self.flags);
        command.arg("--config").arg(self.place.no_settings());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        // A group of its own, so that Ctrl-C reaches this process alone, which then cleans up.
        command.process_group(0).kill_on_drop(true);
        Ok(command)
    }
}

async fn listen(out: ChildStdout, ears: UnboundedSender<Said>) {
    let mut lines = BufReader::new(out).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(said) = Said::hear(&line) {
            let _ = ears.send(said);
        }
    }
}

impl Said {
    /// Why it cannot take part, if it says so.
    pub(super) fn failure(&self) -> Option<anyhow::Error> {
        match &self.word {
            Word::Failed { problem } => {
                Some(anyhow::anyhow!("candidate {} cannot take part: {problem}", self.who))
            }
            _ => None,
        }
    }
}
