//! How long an election among peers is without a leader after a SIGKILL or a SIGSTOP, and how long one
//! on a database is at the same lease.
//!
//! Assumes: `cargo xtask bench peers_failover`, or `cargo bench -p incumbent --all-features --bench
//! peers_failover -- --times 20 --lease 700 --nodes 3,7 --store ring,bully,sqlite,postgres`; a
//! machine that is otherwise idle. `--heartbeat` is that of peers, in milliseconds, 700 unless said.
//! Promises: real processes; the times of the signal and of the next leader's own word are read from
//! one clock of the host. Stores are measured one after the other, and one on which nobody comes to
//! lead does not spoil the figures of the others: it is told last, as an error. SQLite is such a one
//! if a leader is stopped in the middle of a write, the more likely the slower the disk.

#[expect(dead_code, reason = "no benchmark uses all of it")]
mod candidate;
mod figures;

use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use candidate::{Candidate, Company, Word};
use fastrand::Rng;
use figures::{Flags, Place, Table, millis, percentile};
use incumbent::lease_clock_nanos;
use incumbent_testbed::Mesh;

/// What is done to the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    Kill,
    Stop,
}

fn main() -> anyhow::Result<()> {
    Candidate::play_if_asked()?;
    let flags = Flags::read(&["--times", "--lease", "--heartbeat", "--nodes", "--store"])?;
    let times = flags.number("--times", 20)?;
    let lease = Duration::from_millis(flags.number("--lease", 700)?);
    let heartbeat = flags.number("--heartbeat", 700)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let heading = ["store", "processes", "what", "times", "median ms", "p99 ms", "least ms"];
    let (mut table, mut failures) = (Table::new(&heading), Vec::new());
    for store in flags.list("--store", "ring,bully,sqlite,postgres") {
        for nodes in flags.list("--nodes", "3,7") {
            let nodes: usize = nodes.parse().context("--nodes takes numbers")?;
            let site = Site::start(&runtime, store, nodes, heartbeat)?;
            for blow in [Blow::Kill, Blow::Stop] {
                let name = format!("{store}, {nodes} processes, {blow:?}");
                writeln!(std::io::stderr(), "{name}: {times} times")?;
                let mut taken = match measure(&site.url(), nodes, lease, blow, times) {
                    Ok(taken) => taken,
                    Err(error) => {
                        failures.push(format!("{name}: {error:#}"));
                        continue;
                    }
                };
                taken.sort_unstable();
                let at = |share| millis(percentile(&taken, share));
                let what = format!("{blow:?}");
                let runs = taken.len().to_string();
                let (store, nodes) = (store.to_owned(), nodes.to_string());
                table.row([store, nodes, what, runs, at(50), at(99), at(0)]);
            }
        }
    }
    table.print(flags.json)?;
    anyhow::ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// Where an election is held.
enum Site {
    Peers { _folder: tempfile::TempDir, url: String },
    Store(Box<Place>),
}

impl Site {
    fn start(
        runtime: &tokio::runtime::Runtime,
        store: &str,
        nodes: usize,
        heartbeat: u64,
    ) -> anyhow::Result<Site> {
        if !["ring", "bully"].contains(&store) {
            return Ok(Site::Store(Box::new(runtime.block_on(Place::start(store))?)));
        }
        let folder = tempfile::tempdir()?;
        let ports = Mesh::ports(nodes)?;
        let list: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let data = folder.path().display();
        let list = list.join(",");
        let url = format!("{store}://{list}?data={data}&heartbeat={heartbeat}ms");
        Ok(Site::Peers { _folder: folder, url })
    }

    fn url(&self) -> String {
        match self {
            Site::Peers { url, .. } => url.clone(),
            Site::Store(place) => place.url(),
        }
    }
}

fn measure(
    url: &str,
    nodes: usize,
    lease: Duration,
    blow: Blow,
    times: u64,
) -> anyhow::Result<Vec<Duration>> {
    let mut company = Company::new(url)?.with_lease(lease);
    for _ in 0..nodes {
        company.join()?;
    }
    let mut random = Rng::with_seed(getrandom::u64()?);
    let mut leader = company.winner()?;
    let mut taken = Vec::new();
    for time in 0..times {
        // At any point between two beats, with others that have watched for long enough.
        std::thread::sleep(Duration::from_millis(random.u64(1_000..=1_500)));
        let at = lease_clock_nanos();
        match blow {
            Blow::Kill => company.kill(leader.number)?,
            Blow::Stop => company.stop(leader.number)?,
        }
        let next = company.winner().with_context(|| format!("after {time} times"))?;
        taken.push(since(&next, at));
        if blow == Blow::Stop {
            company.kill(leader.number)?;
        }
        company.join()?;
        leader = next;
    }
    Ok(taken)
}

fn since(word: &Word, then: u64) -> Duration {
    Duration::from_nanos(word.at.saturating_sub(then))
}
