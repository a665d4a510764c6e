//! One candidate of a benchmark, on a thread of its own.
//!
//! Assumes: its process is told which candidates to have.
//! Promises: [`Candidate::kill`] ends it as a crash does: its tasks are dropped where they stand, so
//! that nothing more is sent; its connections close, its row stays on the roster, and its lock file,
//! where there is one, is free and still there, which proves its death.

use std::pin::pin;
use std::thread::JoinHandle;

use anyhow::Context;
use incumbent::{
    Backend, Change, Changes, Config, Election, Error, Leadership, TimingError, lease_clock_nanos,
};
use tokio::sync::oneshot;

use super::word::{Said, Word};

/// A candidate that lives.
#[derive(Debug)]
pub(super) struct Candidate {
    kill: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Where it contends.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    pub(super) url: String,
    pub(super) election: String,
    pub(super) config: Config,
}

impl Candidate {
    /// Lets one contend.
    pub(super) fn start(who: u32, contest: Contest) -> anyhow::Result<Candidate> {
        let (kill, killed) = oneshot::channel();
        // All tasks of the library run on this one thread, and only while `block_on` does.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start a candidate")?;
        let thread = std::thread::Builder::new().name(format!("candidate-{who}"));
        let thread = thread.spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = killed => {}
                    ended = live(who, &contest) => {
                        let problem = ended.map_or_else(|error| format!("{error:#}"), |()| String::new());
                        Said { who, word: Word::Failed { problem } }.say();
                    }
                }
            });
            // Nothing runs any more that could tell the store.
            runtime.shutdown_background();
        });
        Ok(Candidate { kill, thread: thread.context("cannot start a candidate")? })
    }

    /// Ends it in the middle of whatever it does.
    pub(super) fn kill(self) {
        drop(self.kill);
        let _ = self.thread.join();
    }
}

/// Contends, leads, and contends again after a loss.
async fn live(who: u32, contest: &Contest) -> anyhow::Result<()> {
    let config = contest.config.clone().name(format!("candidate-{who}"));
    let backend = open(who, &contest.url, &config).await?;
    let election = backend.election(&contest.election).await?;
    let changes = election.observe()?;
    let in_rounds = election.rank().await?.is_some();
    let mut voice = Voice { who, changes, in_rounds, joined: false };
    loop {
        let leadership = voice.campaign(&election).await?;
        let at = lease_clock_nanos();
        let rank = election.rank().await?;
        let round_us = rank.map(|rank| micros(rank.round_time));
        voice.join();
        voice.say(Word::Led { at, term: leadership.term().get(), round_us });
        let reason = voice.lead(&leadership).await?;
        voice.say(Word::Lost { reason });
    }
}

/// Opens the store. If it is too slow it is so because of the crowd, whose round time will grow.
async fn open(who: u32, url: &str, config: &Config) -> anyhow::Result<Backend> {
    loop {
        match Backend::open_with(url, config).await {
            Err(Error::Timing(slow @ TimingError::RoundTrip { .. })) => {
                Said { who, word: Word::Trouble { problem: slow.to_string() } }.say();
                tokio::time::sleep(config.timing()?.beat()).await;
            }
            opened => return Ok(opened?),
        }
    }
}

/// Tells what happens.
struct Voice {
    who: u32,
    changes: Changes,
    in_rounds: bool,
    joined: bool,
}

impl Voice {
    async fn campaign(&mut self, election: &Election) -> anyhow::Result<Leadership> {
        let mut campaign = pin!(election.campaign());
        loop {
            tokio::select! {
                biased;
                won = &mut campaign => return Ok(won?),
                change = self.changes.next() => self.tell(change, false)?,
            }
        }
    }

    async fn lead(&mut self, leadership: &Leadership) -> anyhow::Result<String> {
        loop {
            tokio::select! {
                biased;
                reason = leadership.lost() => return Ok(reason.to_string()),
                change = self.changes.next() => self.tell(change, true)?,
            }
        }
    }

    fn tell(&mut self, change: Option<Change>, leads: bool) -> anyhow::Result<()> {
        match change.context("the store was closed")? {
            // Without a roster, whoever has seen the leader takes part.
            Change::Leader(Some(_)) if !self.in_rounds => self.join(),
            Change::Joined { .. } => self.join(),
            Change::Evicted { .. } => {
                self.joined = false;
                self.say(Word::Evicted);
            }
            Change::Paced { round } if leads => self.say(Word::Paced { round_us: micros(round) }),
            Change::Trouble { problem, .. } => self.say(Word::Trouble { problem }),
            _ => {}
        }
        Ok(())
    }

    fn join(&mut self) {
        if !std::mem::replace(&mut self.joined, true) {
            self.say(Word::Joined);
        }
    }

    fn say(&self, word: Word) {
        Said { who: self.who, word }.say();
    }
}

fn micros(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent::{Position, Protocol, State};
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn whoever_is_killed_leaves_its_row_its_term_and_the_proof_of_its_death() {
        let folder = tempfile::tempdir().expect("folder");
        let url = format!("sqlite:{}", folder.path().join("elections.db").display());
        let config = Config::new().protocol(Protocol::Rounds).round_time(Duration::from_secs(5));
        let looker = Backend::open_with(&url, &config).await.expect("opens");
        let contest = Contest { url, election: "crash".to_owned(), config };
        let candidate = Candidate::start(7, contest).expect("starts");
        let begun = Instant::now();
        while looker.status("crash").await.expect("a look").leader().is_none() {
            assert!(begun.elapsed() < Duration::from_mins(1), "nobody leads");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        candidate.kill();
        // Longer than a word to the store would take.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let status = looker.status("crash").await.expect("a look");
        assert_eq!(status.record.expect("a row").state, State::Held);
        let roster = looker.members("crash").await.expect("a roster");
        let found: Vec<_> =
            roster.members.iter().map(|it| (it.candidate.name.as_str(), it.position)).collect();
        assert_eq!(found, [("candidate-7", Position::Died)]);
        looker.close().await;
    }
}
