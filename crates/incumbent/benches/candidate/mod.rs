//! Candidates in processes of their own, which say when they win and do as they are told.
//!
//! Assumes: this very program becomes a candidate when its environment says so.
//! Promises: a candidate stamps each word itself, with the lease clock, before anything else; all
//! are dead when their company is dropped. Where nobody wins, the error says who is left and where
//! everyone's log is (`RUST_LOG` says how much is in it); else logs go with the company.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::Context as _;
use incumbent::{Backend, Config, Election, lease_clock_nanos};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tracing_subscriber::EnvFilter;

const ROLE: &str = "INCUMBENT_BENCH_CANDIDATE";
const PATIENCE: Duration = Duration::from_mins(1);

/// What a candidate says: that it has won, or that it is about to resign.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) number: usize,
    won: bool,
    /// Nanoseconds of the lease clock.
    pub(crate) at: u64,
}

/// Everyone who contends.
pub(crate) struct Company {
    url: String,
    /// The default one if there is none.
    lease: Option<Duration>,
    members: BTreeMap<usize, (Child, ChildStdin)>,
    joined: usize,
    words: Receiver<Word>,
    mouth: Sender<Word>,
    /// Words that nobody asked for yet.
    waiting: Vec<Word>,
    logs: TempDir,
}

impl Company {
    pub(crate) fn new(url: &str) -> anyhow::Result<Company> {
        let (mouth, words) = channel();
        Ok(Company {
            url: url.to_owned(),
            lease: None,
            members: BTreeMap::new(),
            joined: 0,
            words,
            mouth,
            waiting: Vec::new(),
            logs: tempfile::tempdir()?,
        })
    }

    /// The same company with another lease.
    pub(crate) fn with_lease(mut self, lease: Duration) -> Company {
        self.lease = Some(lease);
        self
    }

    /// Starts one more.
    pub(crate) fn join(&mut self) -> anyhow::Result<()> {
        let number = self.joined;
        self.joined += 1;
        let mut command = Command::new(std::env::current_exe()?);
        let lease = self.lease.unwrap_or_default().as_millis();
        command.env(ROLE, format!("{number}\n{lease}\n{}", self.url));
        let log = File::create(self.logs.path().join(format!("candidate-{number}.log")))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn()?;
        let ears = child.stdin.take().context("no pipe")?;
        let lines = BufReader::new(child.stdout.take().context("no pipe")?).lines();
        let mouth = self.mouth.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let Some((word, at)) = line.split_once(' ') else { continue };
                let Ok(at) = at.parse() else { continue };
                let _ = mouth.send(Word { number, won: word == "won", at });
            }
        });
        self.members.insert(number, (child, ears));
        Ok(())
    }

    /// Waits for the next one that wins.
    pub(crate) fn winner(&mut self) -> anyhow::Result<Word> {
        self.heard(|word| word.won).map_err(|error| self.blame(error, "nobody wins"))
    }

    /// Waits until this one says that it resigns.
    pub(crate) fn resignation(&mut self, number: usize) -> anyhow::Result<Word> {
        self.heard(|word| !word.won && word.number == number)
            .map_err(|error| self.blame(error, "nobody resigns"))
    }

    /// Says who is left, and keeps the logs.
    fn blame(&mut self, error: anyhow::Error, what: &str) -> anyhow::Error {
        self.logs.disable_cleanup(true);
        let left: Vec<String> = self.members.iter_mut().map(state).collect();
        let (left, logs) = (left.join(", "), self.logs.path().display());
        error.context(format!("{what}: {left}; their logs are in {logs}"))
    }

    /// The first word of that kind. What two candidates say may come in any order.
    fn heard(&mut self, fits: impl Fn(&Word) -> bool) -> anyhow::Result<Word> {
        loop {
            if let Some(at) = self.waiting.iter().position(&fits) {
                return Ok(self.waiting.remove(at));
            }
            let word = self.words.recv_timeout(PATIENCE)?;
            // What the dead said last does not count.
            if self.members.contains_key(&word.number) {
                self.waiting.push(word);
            }
        }
    }

    pub(crate) fn tell(&mut self, number: usize, order: &str) -> anyhow::Result<()> {
        let (_, ears) = self.members.get_mut(&number).context("it is gone")?;
        Ok(writeln!(ears, "{order}")?)
    }

    /// Has it stand still.
    pub(crate) fn stop(&self, number: usize) -> anyhow::Result<()> {
        let (child, _) = self.members.get(&number).context("it is gone")?;
        let pid = Pid::from_raw(i32::try_from(child.id())?).context("no process")?;
        Ok(kill_process(pid, Signal::STOP)?)
    }

    /// Kills it, and waits until it is dead.
    pub(crate) fn kill(&mut self, number: usize) -> anyhow::Result<()> {
        let (mut child, _) = self.members.remove(&number).context("it is gone")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }
}

fn state((number, (child, _)): (&usize, &mut (Child, ChildStdin))) -> String {
    match child.try_wait() {
        Ok(None) => format!("candidate-{number} is there"),
        Ok(Some(status)) => format!("candidate-{number} has ended ({status})"),
        Err(error) => format!("candidate-{number}: {error}"),
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        for (child, _) in self.members.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that contends.
pub(crate) struct Candidate {
    election: Election,
    orders: UnboundedReceiver<String>,
}

impl Candidate {
    /// Contends, if this process is to be a candidate. Then it does not return but with an error.
    pub(crate) fn play_if_asked() -> anyhow::Result<()> {
        let Ok(role) = std::env::var(ROLE) else {
            return Ok(());
        };
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
        let mut words = role.splitn(3, '\n');
        let mut word = || words.next().context("an odd role");
        let (number, lease, url) = (word()?, Duration::from_millis(word()?.parse()?), word()?);
        tokio::runtime::Runtime::new()?.block_on(async {
            let mut config = Config::new().name(format!("candidate-{number}"));
            if !lease.is_zero() {
                config = config.lease(lease);
            }
            let election = Backend::open_with(url, &config).await?.election("failover").await?;
            let (ear, orders) = unbounded_channel();
            std::thread::spawn(move || {
                let lines = std::io::stdin().lines().map_while(Result::ok);
                lines.map(|line| ear.send(line)).find(Result::is_err)
            });
            Candidate { election, orders }.play().await
        })
    }

    async fn play(mut self) -> anyhow::Result<()> {
        loop {
            let leadership = self.election.campaign().await?;
            say("won", lease_clock_nanos())?;
            self.order("resign").await?;
            let at = lease_clock_nanos();
            say("resigns", at)?;
            leadership.resign().await?;
            self.order("campaign").await?;
        }
    }

    async fn order(&mut self, expected: &str) -> anyhow::Result<()> {
        let order = self.orders.recv().await.context("nobody is there any more")?;
        anyhow::ensure!(order == expected, "{order:?} instead of {expected:?}");
        Ok(())
    }
}

fn say(word: &str, at: u64) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{word} {at}")?;
    Ok(out.flush()?)
}
