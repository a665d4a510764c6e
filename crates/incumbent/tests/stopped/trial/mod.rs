//! A trial: leaders that are stopped past their lease, again and again, and then go on with what
//! they had in hand.
//!
//! Assumes: real processes on a real database; a machine that may be slow.
//! Promises: leaders are stopped at random moments, half of them in the middle of a transaction
//! where the database bears that, half outside of one; the next leader has won, and has written
//! unless the stopped one is in its way, before the old one goes on. What is counted as stale surely
//! is ([`ledger`]). The histories of all workers are audited together.

pub(crate) mod kind;
pub(crate) mod ledger;
mod troupe;
pub(crate) mod worker;

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fastrand::Rng;
use incumbent::{Backend, Config, Protocol, Schema};
use incumbent_audit::{Report, audit};
use sqlx::Pool;

use self::kind::Kind;
use self::ledger::Tally;
use self::troupe::{Patience, Troupe, eventually};
use self::worker::{ELECTION, Role};

/// How many contend.
const WORKERS: usize = 3;

/// How long the next leader may take to show that it can write while the old one is stopped.
const SHOW: Duration = Duration::from_millis(200);

/// What to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Whether the leaders' transactions are fenced.
    pub(crate) fenced: bool,
    /// How the election is held.
    pub(crate) protocol: Protocol,
    /// The lease of the election.
    pub(crate) lease: Duration,
    /// How long leaders are left alone between two stops, at most.
    pub(crate) gap: Duration,
    /// How many times a leader is stopped.
    pub(crate) stops: u32,
    /// How many writes there must be at the end.
    pub(crate) writes: i64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Verdict {
    name: &'static str,
    fenced: bool,
    stops: u32,
    /// How many of the stops were in the middle of a transaction.
    pub(crate) inside: u32,
    took: Duration,
    pub(crate) tally: Tally,
    /// What the histories tell.
    pub(crate) report: Report,
}

impl Verdict {
    /// What each of [`Verdict::cells`] is.
    pub(crate) const HEADING: [&'static str; 11] = [
        "store",
        "fencing",
        "writes",
        "stops",
        "inside",
        "terms",
        "stale after a claim",
        "stale after a write",
        "refused at begin",
        "refused at commit",
        "seconds",
    ];

    /// The figures.
    pub(crate) fn cells(&self) -> [String; 11] {
        [
            self.name.to_owned(),
            if self.fenced { "on" } else { "off" }.to_owned(),
            self.tally.writes.to_string(),
            self.stops.to_string(),
            self.inside.to_string(),
            self.report.terms.to_string(),
            self.tally.after_a_claim.to_string(),
            self.tally.after_a_write.to_string(),
            self.tally.refused_at_begin.to_string(),
            self.tally.refused_at_commit.to_string(),
            format!("{:.1}", self.took.as_secs_f64()),
        ]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (what, cell) in Self::HEADING.iter().zip(self.cells()) {
            write!(f, "{comma}{what} {cell}")?;
            comma = ", ";
        }
        Ok(())
    }
}

/// Runs a trial in the empty database at `url`. `words` is what this program needs to hear to become
/// a worker.
pub(crate) async fn run<K: Kind>(
    url: &str,
    words: &[&str],
    plan: &Plan,
) -> anyhow::Result<Verdict> {
    Schema::of(url)?.apply().await?;
    let pool = K::pool(url, plan.lease / 4).await?;
    ledger::make(&pool).await?;
    let folder = tempfile::tempdir()?;
    let histories: Vec<PathBuf> =
        (0..WORKERS).map(|number| folder.path().join(Role::name(number))).collect();
    let roles: Vec<Role> = histories
        .iter()
        .enumerate()
        .map(|(number, history)| Role {
            number,
            url: url.to_owned(),
            lease: plan.lease,
            fenced: plan.fenced,
            protocol: plan.protocol,
            history: history.clone(),
        })
        .collect();
    let onlooker = Backend::open_existing(url, &Config::new().lease(plan.lease)).await?;
    let random = Rng::with_seed(getrandom::u64().context("no randomness")?);
    let troupe = Troupe::start(words, &roles)?;
    let mut trial = Trial { pool, troupe, onlooker, random, stops: 0, inside: 0, undisturbed: 0 };
    let began = Instant::now();
    let mut patience = Patience::new("leaders that can be stopped");
    while trial.stops < plan.stops {
        patience.check(trial.stops.into())?;
        trial.stop_a_leader().await?;
        trial.pause(plan.gap).await;
        if plan.protocol == Protocol::Rounds {
            trial.stop_a_follower().await?;
        }
    }
    let patient = plan.protocol != Protocol::Rounds || trial.undisturbed > 0;
    anyhow::ensure!(patient, "every stop of a follower held up the leader");
    let mut patience = Patience::new("enough writes");
    loop {
        let writes = trial.writes().await?;
        if writes >= plan.writes {
            break;
        }
        patience.check(writes)?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let took = began.elapsed();
    let Trial { pool, troupe, stops, inside, .. } = trial;
    drop(troupe);
    let tally = ledger::tally(&pool).await?;
    let report = audit(&histories)?;
    Ok(Verdict { name: K::CALLED, fenced: plan.fenced, stops, inside, took, tally, report })
}

/// A trial under way.
struct Trial<K: Kind> {
    pool: Pool<K>,
    troupe: Troupe,
    onlooker: Backend,
    random: Rng,
    stops: u32,
    inside: u32,
    /// How many followers were stopped and evicted while the leader went on.
    undisturbed: u32,
}

impl<K: Kind> Trial<K> {
    async fn writes(&mut self) -> anyhow::Result<i64> {
        self.troupe.check()?;
        Ok(ledger::glance(&self.pool).await?.writes)
    }

    /// Stops whoever leads, lets another take over, and lets the old one go on.
    async fn stop_a_leader(&mut self) -> anyhow::Result<()> {
        let (leader, term) = self.working_leader().await?;
        let inside = K::STOPS_INSIDE && self.random.bool();
        // The leader may lose its leadership on its own account before the right moment comes.
        let mut patience = Patience::new("the right moment to stop a leader");
        loop {
            patience.check(0)?;
            self.pause(Duration::from_millis(20)).await;
            self.troupe.stop(leader).await?;
            if self.is_writing().await? == inside {
                break;
            }
            self.troupe.resume(leader)?;
            if self.term().await? != Some(term) {
                return Ok(());
            }
        }
        let term = self.next_term(term).await?;
        if inside {
            self.pause(Duration::from_millis(50)).await;
        } else {
            self.next_write(term).await?;
        }
        self.troupe.resume(leader)?;
        self.stops += 1;
        self.inside += u32::from(inside);
        Ok(())
    }

    /// Stops somebody who waits in line, until it is taken off; the leader writes on meanwhile.
    async fn stop_a_follower(&mut self) -> anyhow::Result<()> {
        let (leader, term) = self.working_leader().await?;
        let follower = (leader + 1) % WORKERS;
        let name = Role::name(follower);
        self.in_line(&name, true).await?;
        let mut patience = Patience::new("the right moment to stop a follower");
        loop {
            patience.check(0)?;
            self.troupe.stop(follower).await?;
            // Whoever writes to a file keeps all others from it.
            if K::STOPS_INSIDE || !self.is_writing().await? {
                break;
            }
            self.troupe.resume(follower)?;
            self.pause(Duration::from_millis(5)).await;
        }
        let before = ledger::glance(&self.pool).await?.writes;
        self.in_line(&name, false).await?;
        let wrote = ledger::glance(&self.pool).await?.writes > before;
        self.undisturbed += u32::from(wrote && self.term().await? == Some(term));
        self.troupe.resume(follower)?;
        // It comes back by itself.
        self.in_line(&name, true).await
    }

    /// Waits until this worker is in line, or is not.
    async fn in_line(&self, name: &str, wanted: bool) -> anyhow::Result<()> {
        eventually("a change of the roster", async || {
            // A look that fails is tried again.
            let Ok(roster) = self.onlooker.members(ELECTION).await else { return Ok(None) };
            let there = roster.members.iter().any(|m| m.candidate.name.as_str() == name);
            Ok((there == wanted).then_some(()))
        })
        .await
    }

    /// Waits until somebody leads and has written.
    async fn working_leader(&mut self) -> anyhow::Result<(usize, i64)> {
        let Trial { pool, troupe, onlooker, .. } = self;
        eventually("a leader that writes", async || {
            troupe.check()?;
            let wrote = ledger::glance(pool).await?.last_term;
            // A look that fails is tried again.
            let record = onlooker.status(ELECTION).await.ok().and_then(|status| status.record);
            let Some(record) = record.filter(|record| number(record.term.get()) == wrote) else {
                return Ok(None);
            };
            Ok(Some((troupe.number(record.holder.name.as_str())?, wrote)))
        })
        .await
    }

    async fn term(&self) -> anyhow::Result<Option<i64>> {
        let record = self.onlooker.status(ELECTION).await.ok().and_then(|status| status.record);
        Ok(record.map(|record| number(record.term.get())))
    }

    /// Waits until another leadership is claimed.
    async fn next_term(&self, than: i64) -> anyhow::Result<i64> {
        eventually("a successor", async || Ok(self.term().await?.filter(|term| *term > than))).await
    }

    /// Waits a little for the next leader to write, which it may not be able to.
    async fn next_write(&self, term: i64) -> anyhow::Result<()> {
        let began = Instant::now();
        while began.elapsed() < SHOW && ledger::glance(&self.pool).await?.last_term < term {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Whether somebody is in the middle of a write.
    async fn is_writing(&self) -> anyhow::Result<bool> {
        let mut connection = self.pool.acquire().await?;
        match K::run(&mut connection, K::PROBE.to_owned()).await {
            Ok(()) => Ok(false),
            Err(sqlx::Error::Database(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets things go on for a random time.
    async fn pause(&mut self, most: Duration) {
        let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX).max(1);
        tokio::time::sleep(Duration::from_micros(self.random.u64(..most))).await;
    }
}

fn number(term: u64) -> i64 {
    i64::try_from(term).unwrap_or(i64::MAX)
}
