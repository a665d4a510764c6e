//! The three candidates of the demo, and the folder in which they meet.
//!
//! Assumes: nothing of the user's own settings matters to them.
//! Promises: [`Cast::clear`] ends every process that was ever started here; dropping it removes the
//! folder.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use incumbent::{Pacing, Protocol, Timing};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::candidate::{Heard, Life};
use crate::ports;

/// Who plays.
pub(super) const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// For what.
pub(super) const ELECTION: &str = "demo";

/// How long a killed family may take to be gone: its guard has at most a lease.
const CLEAR_LIMIT: Duration = Duration::from_secs(5);

/// All lives of all candidates.
#[derive(Debug)]
pub(super) struct Cast {
    folder: TempDir,
    timing: Timing,
    rounds: Option<Pacing>,
    /// If they are the store themselves: by which protocol, and where each listens.
    peers: Option<(Protocol, Vec<SocketAddr>)>,
    own: PathBuf,
    lives: [Vec<Life>; NAMES.len()],
    ears: UnboundedSender<Heard>,
    heard: UnboundedReceiver<Heard>,
}

impl Cast {
    /// Makes the folder; nobody plays yet.
    pub(super) fn new(
        timing: Timing,
        rounds: Option<Pacing>,
        of_peers: Option<Protocol>,
    ) -> anyhow::Result<Cast> {
        let folder = tempfile::Builder::new().prefix("incumbent-demo-").tempdir();
        let folder = folder.context("cannot make a temporary folder")?;
        File::create(folder.path().join("empty.toml")).context("cannot write to it")?;
        let own = std::env::current_exe().context("cannot find this program's own file")?;
        let peers =
            of_peers.map(|protocol| Ok::<_, anyhow::Error>((protocol, ports::free(NAMES.len())?)));
        let peers = peers.transpose()?;
        let (ears, heard) = unbounded_channel();
        Ok(Cast { folder, timing, rounds, peers, own, lives: Default::default(), ears, heard })
    }

    /// Where they meet.
    pub(super) fn url(&self) -> String {
        if let Some((protocol, addresses)) = &self.peers {
            return ports::url(*protocol, addresses, self.folder.path());
        }
        format!("sqlite:{}", self.folder.path().join("elections.db").display())
    }

    /// Whether they are the store themselves.
    pub(super) const fn is_of_peers(&self) -> bool {
        self.peers.is_some()
    }

    /// What each of them writes down.
    pub(super) fn histories(&self) -> Vec<PathBuf> {
        let path = |name: &&str| self.folder.path().join(format!("{name}.jsonl"));
        NAMES.iter().map(path).filter(|path| path.exists()).collect()
    }

    /// The last lines that each of them wrote to standard error, for those who ask what went wrong.
    pub(super) fn last_words(&self) -> Vec<String> {
        let log = |name: &&str| std::fs::read_to_string(self.log(name)).unwrap_or_default();
        let last = |log: String| log.lines().rev().take(3).map(str::to_owned).collect::<Vec<_>>();
        NAMES.iter().map(log).flat_map(|log| last(log).into_iter().rev()).collect()
    }

    /// Starts a candidate, for the first time or again.
    pub(super) fn enter(&mut self, who: usize) -> anyhow::Result<()> {
        let mut command = self.command(NAMES[who])?;
        if let Some((_, addresses)) = &self.peers {
            command.env("INCUMBENT_ME", addresses[who].to_string());
        }
        let life = self.lives[who].len();
        self.lives[who].push(Life::begin(command, who, life, self.ears.clone())?);
        Ok(())
    }

    /// Sends a signal to the supervisor of a candidate.
    pub(super) fn signal(&self, who: usize, signal: Signal) -> anyhow::Result<()> {
        self.present(who).context("nobody to signal")?.signal(signal)
    }

    /// The newest life of a candidate.
    pub(super) fn present(&self, who: usize) -> Option<&Life> {
        self.lives[who].last()
    }

    /// The next thing that is heard of anybody.
    pub(super) async fn hear(&mut self) -> Heard {
        loop {
            // It never ends, because this cast itself holds a sender.
            if let Some(heard) = self.heard.recv().await {
                let life = &mut self.lives[heard.who][heard.life];
                match heard.began {
                    Some(began) => life.work = Some(began),
                    None => life.is_gone = true,
                }
                return heard;
            }
        }
    }

    /// Ends everybody; returns the work that could not be ended.
    pub(super) async fn clear(&mut self) -> Vec<u32> {
        for life in self.lives.iter_mut().flatten() {
            life.kill().await;
        }
        let limit = CLEAR_LIMIT + self.timing.rules().lease();
        let _ = timeout(limit, self.until_gone(|_| true)).await;
        let left = self.lives.iter().flatten().filter(|life| !life.is_gone);
        left.filter_map(|life| Some(life.work?.pid)).collect()
    }

    /// Waits until nothing is left of those who are meant.
    pub(super) async fn until_gone(&mut self, meant: impl Fn(usize) -> bool) {
        let is_left = |lives: &[Vec<Life>; NAMES.len()]| {
            let of =
                |(who, lives): (usize, &Vec<Life>)| meant(who) && lives.iter().any(|l| !l.is_gone);
            lives.iter().enumerate().any(of)
        };
        while is_left(&self.lives) {
            self.hear().await;
        }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.log"))
    }

    fn command(&self, name: &str) -> anyhow::Result<Command> {
        let folder = self.folder.path();
        let log = File::options().create(true).append(true).open(self.log(name));
        let mut command = Command::new(&self.own);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("INCUMBENT_") {
                command.env_remove(key);
            }
        }
        command.stderr(log.context("cannot write a log")?);
        command.args(["run", "--url", &self.url(), "--election", ELECTION, "--name", name]);
        command.args(self.rules());
        command.arg("--config").arg(folder.join("empty.toml"));
        command.arg("--history").arg(folder.join(format!("{name}.jsonl")));
        command.arg("--").arg(&self.own).arg("demo-work");
        Ok(command)
    }

    /// The flags on which all agree.
    fn rules(&self) -> Vec<String> {
        let rules = self.timing.rules();
        let micros = |span: Duration| format!("{}us", span.as_micros());
        let mut flags = vec!["--margin".to_owned(), micros(rules.margin())];
        let mut say = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
        if let Some(pacing) = &self.rounds {
            say("--protocol", "rounds".to_owned());
            say("--round-time", micros(pacing.round_time()));
            say("--round-limit", pacing.round_limit().to_string());
            say("--round-delta", micros(pacing.delta()));
            say("--round-cap", micros(pacing.cap()));
        } else {
            say("--lease", micros(rules.lease()));
            say("--expiry", rules.expiry().to_string());
        }
        flags
    }
}
