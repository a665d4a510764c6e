//! The smallest lease that holds: how often a leader that nobody disturbs loses its leadership.
//!
//! Assumes: `cargo xtask bench smallest_lease`, or `cargo bench -p incumbent --all-features --bench
//! smallest_lease -- --seconds 600 --store postgres,mariadb,sqlite --leases 20,30,40,60,80,120,200`;
//! a machine that is otherwise idle. Stores come one after the other, the leases of a store side by
//! side.
//! Promises: a leader and a challenger per lease, in a process of their own; every loss is false,
//! because nothing is ever killed or stopped. For comparison: ZooKeeper's sessions go down to 40 ms
//! at a tick of 20 ms.

mod figures;

use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context as _;
use figures::{Flags, Place, Table, millis};
use incumbent::{Backend, Config, lease_clock_nanos};
use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::sync::Notify;

const ROLE: &str = "INCUMBENT_BENCH_PAIR";

/// How long the first leadership may take.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> anyhow::Result<()> {
    if let Ok(role) = std::env::var(ROLE) {
        return play(&role);
    }
    let flags = Flags::read(&["--seconds", "--store", "--leases"])?;
    let runtime = tokio::runtime::Runtime::new()?;
    let seconds = flags.number("--seconds", 600)?;
    let mut table = Table::new(&[
        "store",
        "lease ms",
        "seconds",
        "losses",
        "takeovers",
        "renewals",
        "least left ms",
        "stable",
    ]);
    for store in flags.list("--store", "postgres,mariadb,sqlite") {
        let place = runtime.block_on(Place::start(store))?;
        let leases = flags.list("--leases", "20,30,40,60,80,120,200");
        let pairs = leases.into_iter().map(|lease| Ok((lease, start(&place, lease, seconds)?)));
        for (lease, pair) in pairs.collect::<anyhow::Result<Vec<_>>>()? {
            let said = pair.wait_with_output()?.stdout;
            let said = String::from_utf8(said)?;
            let words = said.trim().split('\t').map(str::to_owned);
            let head = [place.name().to_owned(), lease.to_owned(), seconds.to_string()];
            table.row(head.into_iter().chain(words));
        }
    }
    table.print(flags.json)
}

/// A leader and a challenger in a process of their own.
fn start(place: &Place, lease: &str, seconds: u64) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(ROLE, format!("{}\n{lease}\n{seconds}", place.url()));
    command.stdout(Stdio::piped()).spawn().context("starting a pair")
}

/// What happened to a pair.
#[derive(Default)]
struct Count {
    wins: u64,
    losses: u64,
    takeovers: u64,
    renewals: u64,
    least_left: Option<Duration>,
    last: &'static str,
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what the other process reads, and people"
)]
fn play(role: &str) -> anyhow::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let words: Vec<&str> = role.lines().collect();
    let &[url, lease, seconds] = words.as_slice() else { anyhow::bail!("an odd role") };
    let lease = Duration::from_millis(lease.parse().context("--leases takes milliseconds")?);
    let span = Duration::from_secs(seconds.parse()?);
    let (count, led) = (Mutex::new(Count::default()), Notify::new());
    let contended = tokio::runtime::Runtime::new()?.block_on(async {
        tokio::select! {
            ended = contend(url, "one", lease, (&count, &led)) => ended,
            ended = contend(url, "two", lease, (&count, &led)) => ended,
            ended = last(span, &led) => ended,
        }
    });
    let count = count.lock().map_err(|_| anyhow::anyhow!("a panic"))?;
    let verdict = match contended {
        Err(error) => {
            eprintln!("a lease of {lease:?} does not come about: {error:#}");
            "refused".to_owned()
        }
        Ok(()) if count.wins == 1 && count.losses == 0 => "yes".to_owned(),
        Ok(()) => "no".to_owned(),
    };
    let left = count.least_left.map_or_else(|| "-".to_owned(), millis);
    println!("{}\t{}\t{}\t{left}\t{verdict}", count.losses, count.takeovers, count.renewals);
    Ok(())
}

async fn contend(
    url: &str,
    name: &'static str,
    lease: Duration,
    (count, led): (&Mutex<Count>, &Notify),
) -> anyhow::Result<()> {
    let backend = open(url, &Config::new().name(name).lease(lease)).await?;
    let election = backend.election(&format!("lease-{}", lease.as_millis())).await?;
    let note = |change: &dyn Fn(&mut Count)| count.lock().map(|mut count| change(&mut count)).ok();
    loop {
        let leadership = election.campaign().await?;
        note(&|count| {
            count.wins += 1;
            count.takeovers += u64::from(count.wins > 1 && count.last != name);
            count.last = name;
        });
        led.notify_one();
        loop {
            let until = leadership.valid_until_nanos();
            tokio::select! {
                () = leadership.extended() => {
                    let left = until.saturating_sub(lease_clock_nanos());
                    let left = Duration::from_nanos(left);
                    note(&|count| {
                        count.renewals += 1;
                        count.least_left = Some(count.least_left.map_or(left, |least| least.min(left)));
                    });
                }
                _ = leadership.lost() => break,
            }
        }
        note(&|count| count.losses += 1);
    }
}

/// Completes so long after somebody led for the first time.
async fn last(span: Duration, led: &Notify) -> anyhow::Result<()> {
    let led = tokio::time::timeout(PATIENCE, led.notified()).await;
    led.with_context(|| format!("nobody led within {PATIENCE:?}"))?;
    tokio::time::sleep(span).await;
    Ok(())
}

/// Opens, if need be after some attempts: everyone who starts at once makes the others slow.
async fn open(url: &str, config: &Config) -> anyhow::Result<Backend> {
    let mut attempts = 0;
    loop {
        match Backend::open_with(url, config).await {
            Err(_) if attempts < 100 => attempts += 1,
            opened => return Ok(opened?),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
