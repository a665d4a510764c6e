//! What a thousand elections of one process cost on a server.
//!
//! Assumes: `cargo xtask bench many_servers`, or `cargo bench -p incumbent --all-features --bench
//! many_servers -- --elections 1000 --seconds 20 --store postgres,mariadb`, on a machine that is
//! otherwise idle.
//! Promises: the figures of the library come from real elections with a lease of three seconds; the
//! figures beside them renew as many rows on the same server, each by a statement of its own that
//! is its own transaction. Bytes are those of the connection, counted by a relay in a run of their
//! own.

mod figures;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figures::{Flags, Place, Table, millis, ratio};
use incumbent::{Backend, Config, Leadership};
use incumbent_testbed::Proxy;
use rustix::time::{ClockId, clock_gettime};
use sqlx::{AssertSqlSafe, Connection as _, Executor, MySqlConnection, PgConnection};
use tokio::task::JoinSet;

/// How often the rows are renewed one by one.
const ROUNDS: u32 = 5;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::read(&["--elections", "--seconds", "--store"])?;
    let elections = flags.number("--elections", 1_000)?;
    let span = Duration::from_secs(flags.number("--seconds", 20)?);
    let mut led = Table::new(&[
        "store",
        "elections",
        "seconds",
        "beats",
        "statements a beat",
        "bytes out a beat",
        "bytes in a beat",
        "server CPU %",
        "client CPU %",
        "all led after ms",
    ]);
    let mut rounds =
        Table::new(&["store", "renewing", "wall ms", "server CPU ms", "client CPU ms"]);
    for store in flags.list("--store", "postgres,mariadb") {
        let place = Place::start(store).await?;
        let name = place.name().to_owned();
        let lead = lead(&place, &place.url(), elections, span).await?;
        let (out, back) = bytes(&place, elections).await?;
        let alone = renew_one_by_one(&place, elections).await?;
        let share =
            |cpu: Duration| format!("{:.2}", 100.0 * cpu.as_secs_f64() / lead.wall.as_secs_f64());
        led.row([
            name.clone(),
            elections.to_string(),
            format!("{:.1}", lead.wall.as_secs_f64()),
            lead.beats.to_string(),
            format!("{:.2}", ratio(lead.statements, lead.beats)),
            out.to_string(),
            back.to_string(),
            share(lead.server),
            share(lead.client),
            millis(lead.until_led),
        ]);
        let beats = u32::try_from(lead.beats.max(1))?;
        let (server, client) = (lead.server / beats, lead.client / beats);
        rounds.row([
            name.clone(),
            "in one beat".into(),
            "-".into(),
            millis(server),
            millis(client),
        ]);
        let way = "one by one".to_owned();
        rounds.row([name, way, millis(alone.wall), millis(alone.server), millis(alone.client)]);
    }
    led.print(flags.json)?;
    rounds.print(flags.json)
}

/// What leading took.
#[derive(Debug, Default)]
struct Spent {
    wall: Duration,
    server: Duration,
    client: Duration,
    beats: u64,
    statements: u64,
    until_led: Duration,
}

/// Leads all of them for a while.
async fn lead(place: &Place, url: &str, elections: u64, span: Duration) -> anyhow::Result<Spent> {
    let backend = Backend::open_with(url, &Config::new().name("bench")).await?;
    let start = Instant::now();
    let mut campaigns = JoinSet::new();
    for number in 0..elections {
        let election = backend.election(&format!("shard-{number}")).await?;
        campaigns.spawn(async move { election.campaign().await });
    }
    let led: Result<Vec<Leadership>, _> = campaigns.join_all().await.into_iter().collect();
    let led = led?;
    let until_led = start.elapsed();
    tokio::time::sleep(backend.timing().rules().lease()).await;
    let beat = async || {
        let record = backend.status("shard-0").await?.record;
        Ok::<u64, anyhow::Error>(record.context("no row")?.beat)
    };
    let (beats, statements) = (beat().await?, backend.statements().await?);
    let (server, client, wall) = (place.cpu()?, own_cpu()?, Instant::now());
    tokio::time::sleep(span).await;
    let spent = Spent {
        wall: wall.elapsed(),
        server: place.cpu()?.saturating_sub(server),
        client: own_cpu()?.saturating_sub(client),
        statements: backend.statements().await? - statements,
        beats: beat().await? - beats,
        until_led,
    };
    ensure!(led.iter().all(Leadership::is_valid), "a leadership was lost");
    drop(led);
    backend.close().await;
    Ok(spent)
}

/// How many bytes a beat sends and gets back, seen by a relay before the server.
async fn bytes(place: &Place, elections: u64) -> anyhow::Result<(u64, u64)> {
    let address: SocketAddr = match place {
        Place::Postgres(server, _) => server.address(),
        Place::MariaDb(server, _) => server.address(),
        Place::Sqlite(_) => return Ok((0, 0)),
    };
    let relay = Proxy::start(address).await?;
    let backend =
        Backend::open_with(&relay.url(&place.url()), &Config::new().name("bench")).await?;
    let mut campaigns = JoinSet::new();
    for number in 0..elections {
        let election = backend.election(&format!("relayed-{number}")).await?;
        campaigns.spawn(async move { election.campaign().await });
    }
    let led: Result<Vec<Leadership>, _> = campaigns.join_all().await.into_iter().collect();
    let led = led?;
    tokio::time::sleep(backend.timing().rules().lease()).await;
    let first = led.first().context("no elections")?;
    // From just after one renewal to just after a later one, so that only whole beats are counted.
    first.extended().await;
    let before = relay.bytes();
    let mut beats = 0;
    while beats < 4 {
        first.extended().await;
        beats += 1;
    }
    let after = relay.bytes();
    drop(led);
    backend.close().await;
    Ok(((after.0 - before.0) / beats, (after.1 - before.1) / beats))
}

/// Renews as many rows, each in a transaction of its own.
async fn renew_one_by_one(place: &Place, rows: u64) -> anyhow::Result<Spent> {
    let tables = "CREATE TABLE bench AS SELECT * FROM incumbent_beat; CREATE UNIQUE INDEX bench_name ON bench (name)";
    let one = |number| {
        format!(
            "UPDATE bench SET beat = beat + 1, beaten_us = beaten_us + 1 WHERE name = 'shard-{number}' AND term > 0"
        )
    };
    match place {
        Place::Postgres(..) => {
            let mut connection = PgConnection::connect(&place.url()).await?;
            tell(&mut connection, tables).await?;
            measure(place, rows, async |number| tell(&mut connection, &one(number)).await).await
        }
        Place::MariaDb(..) => {
            let mut connection = MySqlConnection::connect(&place.url()).await?;
            tell(&mut connection, tables).await?;
            measure(place, rows, async |number| tell(&mut connection, &one(number)).await).await
        }
        Place::Sqlite(_) => Ok(Spent::default()),
    }
}

async fn tell<'c>(connection: impl Executor<'c>, sql: &str) -> anyhow::Result<()> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await?;
    Ok(())
}

async fn measure(
    place: &Place,
    rows: u64,
    mut renew: impl AsyncFnMut(u64) -> anyhow::Result<()>,
) -> anyhow::Result<Spent> {
    let (server, client, wall) = (place.cpu()?, own_cpu()?, Instant::now());
    for _ in 0..ROUNDS {
        for number in 0..rows {
            renew(number).await?;
        }
    }
    Ok(Spent {
        wall: wall.elapsed() / ROUNDS,
        server: place.cpu()?.saturating_sub(server) / ROUNDS,
        client: own_cpu()?.saturating_sub(client) / ROUNDS,
        ..Spent::default()
    })
}

fn own_cpu() -> anyhow::Result<Duration> {
    let reading = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(reading.tv_sec.try_into()?, reading.tv_nsec.try_into()?))
}
