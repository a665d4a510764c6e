//! How long peers take to elect one of them, apart from how long it takes to notice that they have to.
//!
//! Assumes: `cargo xtask bench peers_election`, or `cargo bench -p incumbent --features peers --bench
//! peers_election -- --nodes 3,5,7 --rounds 50 --deaths 20 --scheme ring,bully`; a machine that is
//! otherwise idle.
//! Promises: peers with runtimes of their own in one process, over sockets of the loopback device,
//! encrypted, each with a file of its own that is written through. All times are of one clock.
//!
//! | what | from | until |
//! |---|---|---|
//! | release | the call of `resign` | its return: a majority keeps that nobody leads |
//! | nominated | the call of `resign` | every other peer knows whom they picked |
//! | led | the call of `resign` | the next `campaign` returns: a majority keeps its term |
//! | death: nominated | the first peer takes the dead leader for dead | every other knows whom they picked |

#[path = "peers/company.rs"]
mod company;
mod figures;
#[path = "peers/witness.rs"]
mod witness;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use company::{Company, Say};
use figures::{Flags, Table, percentile};
use witness::Witness;

fn main() -> anyhow::Result<()> {
    let flags = Flags::read(&["--nodes", "--rounds", "--deaths", "--scheme"])?;
    let (rounds, deaths) = (flags.number("--rounds", 50)?, flags.number("--deaths", 20)?);
    let witness = Witness::install()?;
    let mut table =
        Table::new(&["scheme", "nodes", "what", "runs", "median ms", "p99 ms", "worst ms"]);
    for scheme in flags.list("--scheme", "ring,bully") {
        for nodes in flags.list("--nodes", "3,5,7,15,25") {
            let nodes: usize = nodes.parse().context("--nodes takes numbers")?;
            let mut company = Company::start(scheme, nodes)?;
            let handed = hand_over(&mut company, &witness, rounds)?;
            let died = die(&mut company, &witness, deaths)?;
            let rows = [
                ("release", handed.released),
                ("nominated", handed.nominated),
                ("led", handed.led),
                ("death: nominated", died),
            ];
            for (what, mut times) in rows {
                times.sort_unstable();
                let at = |share| micros(percentile(&times, share));
                let runs = times.len().to_string();
                let (scheme, nodes) = (scheme.to_owned(), nodes.to_string());
                table.row([scheme, nodes, what.into(), runs, at(50), at(99), at(100)]);
            }
        }
    }
    table.print(flags.json)
}

/// Times of hand-overs.
#[derive(Default)]
struct Handed {
    released: Vec<Duration>,
    nominated: Vec<Duration>,
    led: Vec<Duration>,
}

fn hand_over(company: &mut Company, witness: &Witness, rounds: u64) -> anyhow::Result<Handed> {
    let mut handed = Handed::default();
    let mut leader = company.hear(Say::Won)?.node;
    for _ in 0..rounds {
        // Everybody has heard of the last change.
        std::thread::sleep(Duration::from_millis(100));
        witness.forget();
        company.tell(leader, company::Order::Resign)?;
        let began = company.hear(Say::Resigns)?.at;
        let released = company.hear(Say::Resigned)?.at;
        let won = company.hear(Say::Won)?;
        company.tell(leader, company::Order::Campaign)?;
        let others: Vec<usize> = (1..=company.nodes()).filter(|it| *it != leader).collect();
        let all = witness.all_nominated(&others, won.node)?;
        handed.released.push(since(began, released));
        handed.nominated.push(since(began, all));
        handed.led.push(since(began, won.at));
        leader = won.node;
    }
    company.leads(leader);
    Ok(handed)
}

/// How long nominations take after the leader's process went away.
fn die(company: &mut Company, witness: &Witness, deaths: u64) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..deaths {
        std::thread::sleep(Duration::from_millis(300));
        witness.forget();
        let dead = company.leader()?;
        company.end(dead)?;
        let won = company.hear(Say::Won)?;
        let others: Vec<usize> = (1..=company.nodes()).filter(|it| *it != dead).collect();
        let all = witness.all_nominated(&others, won.node)?;
        times.push(since(witness.suspected(dead)?, all));
        company.join(dead)?;
        company.leads(won.node);
    }
    Ok(times)
}

fn since(then: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(then)
}

fn micros(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}
