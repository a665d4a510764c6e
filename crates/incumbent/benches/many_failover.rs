//! How long it takes until all elections of a killed process are led again.
//!
//! Assumes: `cargo xtask bench many_failover`, or `cargo bench -p incumbent --all-features --bench
//! many_failover -- --elections 10000 --store sqlite,postgres,mariadb,bully`, on a machine that is
//! otherwise idle.
//! Promises: leader and successor are processes of their own with a lease of three seconds, both in
//! every election. Times count from just before SIGKILL until the successor holds the first, the
//! middle and the last of its leaderships, by one clock; each of them is valid when it is counted,
//! and all of them are valid two leases later. Among peers, two more processes only vote.

mod figures;

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use figures::{Flags, Place, Table, millis};
use incumbent::{Backend, Config, Leadership, lease_clock_nanos};
use incumbent_testbed::Mesh;
use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::task::JoinSet;

const ROLE: &str = "INCUMBENT_BENCH_MANY";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    if let Ok(role) = std::env::var(ROLE) {
        return runtime.block_on(contend(&role));
    }
    let flags = Flags::read(&["--elections", "--store"])?;
    let elections = flags.number("--elections", 10_000)?;
    let mut table = Table::new(&[
        "store",
        "elections",
        "all led at first ms",
        "first led again ms",
        "half of them ms",
        "all of them ms",
    ]);
    for store in flags.list("--store", "sqlite,postgres,mariadb,bully") {
        let site = Site::start(&runtime, store)?;
        let begun = lease_clock_nanos();
        let url = site.url();
        let mut leader = Contender::start(&url, elections, "leader")?;
        let voters = if matches!(site, Site::Peers { .. }) { 2 } else { 0 };
        let _voters = (0..voters)
            .map(|number| Contender::start(&url, 0, &format!("voter-{number}")))
            .collect::<anyhow::Result<Vec<_>>>()?;
        leader.hears("stands")?;
        let led = leader.hears("all")?;
        let mut successor = Contender::start(&url, elections, "successor")?;
        successor.hears("stands")?;
        // It has seen every row once it has been there for a lease.
        std::thread::sleep(Duration::from_secs(6));
        let killed = lease_clock_nanos();
        leader.child.kill()?;
        let after = |at: u64| millis(Duration::from_nanos(at.saturating_sub(killed)));
        let (first, half) = (successor.hears("first")?, successor.hears("half")?);
        let all = successor.hears("all")?;
        successor.hears("held")?;
        table.row([
            store.to_owned(),
            elections.to_string(),
            millis(Duration::from_nanos(led.saturating_sub(begun))),
            after(first),
            after(half),
            after(all),
        ]);
    }
    table.print(flags.json)
}

/// Where the elections are held.
enum Site {
    /// Four processes, of which the first three vote.
    Peers {
        _folder: tempfile::TempDir,
        url: String,
    },
    Store(Box<Place>),
}

impl Site {
    fn start(runtime: &tokio::runtime::Runtime, store: &str) -> anyhow::Result<Site> {
        if !["ring", "bully"].contains(&store) {
            return Ok(Site::Store(Box::new(runtime.block_on(Place::start(store))?)));
        }
        let folder = tempfile::tempdir()?;
        let ports = Mesh::ports(4)?;
        let list: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let (list, data) = (list.join(","), folder.path().display());
        let url = format!("{store}://{list}?voters=3&data={data}");
        Ok(Site::Peers { _folder: folder, url })
    }

    fn url(&self) -> String {
        match self {
            Site::Peers { url, .. } => url.clone(),
            Site::Store(place) => place.url(),
        }
    }
}

/// A process that contends in all elections.
struct Contender {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// It ends when nobody holds this.
    _leash: ChildStdin,
}

impl Contender {
    fn start(url: &str, elections: u64, name: &str) -> anyhow::Result<Contender> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(ROLE, format!("{name}\n{elections}\n{url}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no pipe")?).lines();
        let leash = child.stdin.take().context("no pipe")?;
        Ok(Contender { child, lines, _leash: leash })
    }

    /// Waits until it says that word, and tells when it said so.
    fn hears(&mut self, word: &str) -> anyhow::Result<u64> {
        for line in self.lines.by_ref() {
            let line = line?;
            if let Some((said, at)) = line.split_once(' ')
                && said == word
            {
                return Ok(at.parse()?);
            }
        }
        anyhow::bail!("it ended before it said {word:?}")
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn contend(role: &str) -> anyhow::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let mut words = role.splitn(3, '\n');
    let mut word = || words.next().context("an odd role");
    let (name, elections, url) = (word()?, word()?.parse::<usize>()?, word()?);
    let backend = Backend::open_with(url, &Config::new().name(name)).await?;
    let lease = backend.timing().rules().lease();
    let mut campaigns = JoinSet::new();
    for number in 0..elections {
        let election = backend.election(&format!("shard-{number}")).await?;
        campaigns.spawn(async move { election.campaign().await });
    }
    say("stands")?;
    let mut led = Vec::<Leadership>::with_capacity(elections);
    while let Some(won) = campaigns.join_next().await {
        let leadership = won??;
        ensure!(leadership.is_valid(), "a leadership was over when it came");
        led.push(leadership);
        if led.len() == 1 {
            say("first")?;
        }
        if led.len() == elections / 2 {
            say("half")?;
        }
    }
    say("all")?;
    tokio::time::sleep(lease * 2).await;
    let lost = led.iter().filter(|leadership| !leadership.is_valid()).count();
    ensure!(lost == 0, "{lost} leaderships were lost");
    say("held")?;
    std::future::pending().await
}

fn say(word: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{word} {}", lease_clock_nanos())?;
    Ok(out.flush()?)
}
