//! What a round costs a follower and a leader, with rosters from small to large.
//!
//! Assumes: `cargo xtask bench rounds_flat`, or `cargo bench -p incumbent --all-features --bench
//! rounds_flat -- --members 3,50,200,500 --rounds 10 --store sqlite,postgres,mariadb`.
//! Promises: the leader and the last in line are real candidates; everybody between them is a row of
//! the roster that a helper's statement beats twice a round. Rows are those that the database driver
//! reports, of the measured candidate alone; bytes are those of its connections, counted by a relay.
//! Only whole rounds are counted.

#[path = "rounds_flat/counter.rs"]
mod counter;
mod figures;
#[path = "rounds_flat/filler.rs"]
mod filler;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use figures::{Flags, Place, Table, ratio};
use incumbent::{Backend, Config, Election, Protocol};
use incumbent_testbed::Proxy;
use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use tokio::runtime::{Builder, Runtime};

use crate::counter::{ASIDE, Counter};
use crate::filler::Filler;

const ROUND: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_mins(1);

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Follower,
    Leader,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::read(&["--members", "--rounds", "--store"])?;
    let rounds = flags.number("--rounds", 10)?;
    let counter = Counter::install()?;
    let mut table = Table::new(&[
        "store",
        "role",
        "members",
        "rounds",
        "statements a round",
        "rows returned",
        "rows changed",
        "bytes out",
        "bytes in",
    ]);
    for store in flags.list("--store", "sqlite,postgres,mariadb") {
        let place = Place::start(store).await?;
        for role in [Role::Follower, Role::Leader] {
            for members in flags.list("--members", "3,50,200,500") {
                let members: u64 = members.parse().context("--members takes numbers")?;
                ensure!(members >= 3, "a roster of {members} has nobody in its middle");
                let spent = measure(&place, &counter, role, members, rounds).await?;
                let each = |count: u64| format!("{:.1}", ratio(count, spent.rounds));
                table.row([
                    place.name().to_owned(),
                    format!("{role:?}").to_lowercase(),
                    members.to_string(),
                    spent.rounds.to_string(),
                    each(spent.statements),
                    each(spent.returned),
                    each(spent.changed),
                    spent.bytes.map_or("-".into(), |(out, _)| each(out)),
                    spent.bytes.map_or("-".into(), |(_, back)| each(back)),
                ]);
            }
        }
    }
    table.print(flags.json)
}

/// What so many rounds took.
#[derive(Debug)]
struct Spent {
    rounds: u64,
    statements: u64,
    returned: u64,
    changed: u64,
    bytes: Option<(u64, u64)>,
}

async fn measure(
    place: &Place,
    counter: &Counter,
    role: Role,
    members: u64,
    rounds: u64,
) -> anyhow::Result<Spent> {
    let name = format!("flat-{role:?}-{members}").to_lowercase();
    let relay = relay(place).await?;
    let url = relay.as_ref().map_or_else(|| place.url(), |relay| relay.url(&place.url()));
    let aside = Aside::new()?;
    let open = async |measured: bool, who: &'static str| {
        if measured {
            return open_counted(place, &url, who).await;
        }
        aside.open(place.url(), who).await
    };
    let leader = open(role == Role::Leader, "first").await?;
    let led = leader.election(&name).await?.campaign().await?;
    let filler = Filler::start(&place.url(), &name, members - 2, ROUND / 2).await?;
    let last = open(role == Role::Follower, "last").await?;
    let waiting = last.election(&name).await?;
    let contender = waiting.clone();
    let campaign = tokio::spawn(async move { contender.campaign().await });
    in_line(&waiting).await?;
    // Statements are prepared once, and the leader has to see everybody.
    tokio::time::sleep(ROUND * 4).await;
    let measured = if role == Role::Leader { &leader } else { &last };
    let who = if role == Role::Leader { "first" } else { "last" };
    let spent = watch(&filler, counter, measured, relay.as_ref(), who, rounds).await?;
    let roster = leader.members(&name).await?;
    ensure!(roster.members.len() as u64 == members, "{} are in line", roster.members.len());
    ensure!(led.is_valid(), "the leader of {members} was lost: {:?}", led.reason());
    ensure!(!campaign.is_finished(), "the last of {members} does not contend any more");
    campaign.abort();
    filler.stop().await;
    last.close().await;
    drop(led);
    leader.close().await;
    Ok(spent)
}

/// Counts from just after one beat of the measured candidate to just after a later one.
async fn watch(
    filler: &Filler,
    counter: &Counter,
    measured: &Backend,
    relay: Option<&Proxy>,
    who: &str,
    rounds: u64,
) -> anyhow::Result<Spent> {
    let read = async |beat: u64| {
        let (returned, changed) = counter.rows();
        let statements = measured.statements().await?;
        anyhow::Ok((beat, statements, returned, changed, relay.map(Proxy::bytes)))
    };
    let first = filler.beat_of(who).await?;
    let before = read(after_beat(filler, who, first).await?).await?;
    let after = read(after_beat(filler, who, before.0 + rounds - 1).await?).await?;
    Ok(Spent {
        rounds: after.0 - before.0,
        statements: after.1 - before.1,
        returned: after.2 - before.2,
        changed: after.3 - before.3,
        bytes: before.4.zip(after.4).map(|(one, two)| (two.0 - one.0, two.1 - one.1)),
    })
}

/// Waits until its beat is above `known` and its round is over.
async fn after_beat(filler: &Filler, who: &str, known: u64) -> anyhow::Result<u64> {
    let until = Instant::now() + PATIENCE;
    loop {
        let beat = filler.beat_of(who).await?;
        if beat > known {
            tokio::time::sleep(ROUND / 10).await;
            return Ok(beat);
        }
        ensure!(Instant::now() < until, "{who} does not beat any more");
        tokio::time::sleep(ROUND / 50).await;
    }
}

async fn in_line(election: &Election) -> anyhow::Result<()> {
    let until = Instant::now() + PATIENCE;
    while election.rank().await?.is_none_or(|rank| rank.id.is_none()) {
        ensure!(Instant::now() < until, "the last in line does not join");
        tokio::time::sleep(ROUND / 10).await;
    }
    Ok(())
}

/// Threads for whoever is not measured. They are left to themselves when it is dropped, because a
/// runtime must not be waited for inside another.
struct Aside(Option<Runtime>);

impl Aside {
    fn new() -> anyhow::Result<Aside> {
        let mut threads = Builder::new_multi_thread();
        let runtime = threads.worker_threads(1).thread_name(ASIDE).enable_all().build()?;
        Ok(Aside(Some(runtime)))
    }

    async fn open(&self, url: String, who: &'static str) -> anyhow::Result<Backend> {
        let runtime = self.0.as_ref().context("it is there until it is dropped")?;
        let opened =
            runtime.spawn(async move { Backend::open_with(&url, &config(who)).await }).await?;
        Ok(opened?)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A relay before the server; none, if there is no server.
async fn relay(place: &Place) -> anyhow::Result<Option<Proxy>> {
    let address = match place {
        Place::Postgres(server, _) => server.address(),
        Place::MariaDb(server, _) => server.address(),
        Place::Sqlite(_) => return Ok(None),
    };
    Ok(Some(Proxy::start(address).await?))
}

/// A backend on a pool of our own, whose driver reports every statement.
async fn open_counted(place: &Place, url: &str, who: &str) -> anyhow::Result<Backend> {
    let config = config(who);
    Ok(match place {
        Place::Postgres(..) => {
            let pool = PgPoolOptions::new().max_connections(2).connect(url).await?;
            Backend::with_postgres_pool(pool, &config).await?
        }
        Place::MariaDb(..) => {
            let pool = MySqlPoolOptions::new().max_connections(2).connect(url).await?;
            Backend::with_mysql_pool(pool, &config).await?
        }
        Place::Sqlite(_) => {
            let file = url.strip_prefix("sqlite://").context("a file")?;
            let file = SqliteConnectOptions::new().filename(file);
            let pool = SqlitePoolOptions::new().max_connections(2).connect_with(file).await?;
            Backend::with_sqlite_pool(pool, &config).await?
        }
    })
}

fn config(who: &str) -> Config {
    Config::new().name(who).protocol(Protocol::Rounds).round_time(ROUND)
}
