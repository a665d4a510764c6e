//! How long an election on a server is without a leader: after a SIGKILL, and when it is handed over.
//!
//! Assumes: `cargo xtask bench failover_servers`, or `cargo bench -p incumbent --all-features --bench
//! failover_servers -- --kills 50 --handovers 200 --store postgres,mariadb`; a machine that is
//! otherwise idle. At default settings a kill takes four seconds; servers are measured side by side.
//! With `--promotions 5` the same after a promotion, where a URL names a primary and its standby.
//! Promises: three real processes; the times of the signal or of the resignation and of the next
//! leader's own word are read from one clock of the host. With `--judge` a crash that is followed later
//! than the stated bound fails the run.

#[expect(dead_code, reason = "no benchmark uses all of it")]
mod candidate;
mod figures;

use std::time::Duration;

use anyhow::ensure;
use candidate::{Candidate, Company, Word};
use fastrand::Rng;
use figures::{Flags, Place, Table, millis, percentile};
use incumbent::{Config, Schema, lease_clock_nanos};
use incumbent_testbed::{Postgres, PostgresOptions, Standby};

const CANDIDATES: usize = 3;

fn main() -> anyhow::Result<()> {
    Candidate::play_if_asked()?;
    let flags = Flags::read(&["--kills", "--handovers", "--promotions", "--store"])?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut places = Vec::new();
    for store in flags.list("--store", "postgres,mariadb") {
        places.push(runtime.block_on(Place::start(store))?);
    }
    let (kills, handovers) = (flags.number("--kills", 50)?, flags.number("--handovers", 200)?);
    let measured = std::thread::scope(|scope| {
        let threads: Vec<_> = places
            .iter()
            .map(|place| scope.spawn(|| measure(&place.url(), kills, handovers)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    let mut table =
        Table::new(&["store", "what", "runs", "median ms", "p99 ms", "worst ms", "bound ms"]);
    let timing = Config::new().timing()?;
    let bound = timing.failover_bound();
    let mut late = Vec::new();
    for (place, times) in places.iter().zip(measured) {
        let times = times?;
        let over = times.0.iter().filter(|time| **time > bound);
        late.extend(over.map(|time| format!("{}: {} ms", place.name(), millis(*time))));
        let rows = [("crash (KILL)", times.0, millis(bound)), ("hand-over", times.1, "-".into())];
        for (what, mut times, bound) in rows {
            times.sort_unstable();
            let at = |share| millis(percentile(&times, share));
            let runs = times.len().to_string();
            table.row([place.name().into(), what.into(), runs, at(50), at(99), at(100), bound]);
        }
    }
    let mut times = runtime.block_on(promotions(flags.number("--promotions", 0)?))?;
    if !times.is_empty() {
        // As the pages of the servers say.
        let bound = bound + timing.beat() + timing.timeout() + CONNECTING;
        let over = times.iter().filter(|time| **time > bound);
        late.extend(over.map(|time| format!("promotion: {} ms", millis(*time))));
        times.sort_unstable();
        let at = |share| millis(percentile(&times, share));
        let (store, what, runs) = ("PostgreSQL, two hosts", "promotion", times.len().to_string());
        table.row([store.into(), what.into(), runs, at(50), at(99), at(100), millis(bound)]);
    }
    table.print(flags.json)?;
    ensure!(!flags.judge || late.is_empty(), "the stated bound was not kept: {}", late.join(", "));
    Ok(())
}

/// What candidates may take to reach one of several hosts.
const CONNECTING: Duration = Duration::from_millis(2_500);

/// How long it takes until somebody leads, from when a promoted standby accepts writes. The leader dies with the
/// primary, for otherwise it might lead on.
async fn promotions(count: u64) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..count {
        let options = PostgresOptions { durable: true, ..PostgresOptions::default() };
        let mut primary = Postgres::start_with(options).await?;
        Schema::of(&primary.url())?.apply().await?;
        let standby = primary.standby(Standby::Asynchronous).await?;
        let own = format!("127.0.0.1:{}", primary.port());
        let both = format!("127.0.0.1:{},{own}", standby.port());
        let mut company = Company::new(&primary.url().replacen(&own, &both, 1))?;
        for _ in 0..CANDIDATES {
            company.join()?;
        }
        let leader = company.winner()?;
        // Standbys of the leader shall have watched it for a while.
        tokio::time::sleep(Duration::from_secs(4)).await;
        standby.catch_up_with(&primary).await?;
        primary.kill();
        company.kill(leader.number)?;
        standby.promote().await?;
        let promoted_at = lease_clock_nanos();
        times.push(since(&company.winner()?, promoted_at));
    }
    Ok(times)
}

/// Times of crashes and of hand-overs.
type Times = (Vec<Duration>, Vec<Duration>);

fn measure(url: &str, kills: u64, handovers: u64) -> anyhow::Result<Times> {
    let mut company = Company::new(url)?;
    for _ in 0..CANDIDATES {
        company.join()?;
    }
    let mut random = Rng::with_seed(getrandom::u64()?);
    let mut leader = company.winner()?;
    let mut handed = Vec::new();
    for _ in 0..handovers {
        pause(&mut random, 50, 150);
        company.tell(leader.number, "resign")?;
        let resigned = company.resignation(leader.number)?;
        let next = company.winner()?;
        handed.push(since(&next, resigned.at));
        company.tell(leader.number, "campaign")?;
        leader = next;
    }
    let mut crashed = Vec::new();
    for _ in 0..kills {
        // At any point between two beats, with standbys that have watched for long enough.
        pause(&mut random, 500, 1_500);
        let killed_at = lease_clock_nanos();
        company.kill(leader.number)?;
        leader = company.winner()?;
        crashed.push(since(&leader, killed_at));
        company.join()?;
    }
    Ok((crashed, handed))
}

fn since(word: &Word, then: u64) -> Duration {
    Duration::from_nanos(word.at.saturating_sub(then))
}

fn pause(random: &mut Rng, least: u64, most: u64) {
    std::thread::sleep(Duration::from_millis(random.u64(least..=most)));
}
