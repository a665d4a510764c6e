//! How many writes of deposed leaders get through, with fencing and without.
//!
//! Assumes: `cargo xtask bench stopped`, or `cargo bench -p incumbent --all-features --bench stopped
//! -- --writes 1000000 --stops 200 --fencing on,off --store postgres,mariadb,sqlite --lease 500
//! --gap 1500`.
//! Promises: it is the trial of the test of the same name, only longer; it fails if a fenced write
//! was stale or a promise was broken.

mod figures;
#[path = "../tests/stopped/trial/mod.rs"]
mod trial;

use std::time::Duration;

use anyhow::ensure;
use figures::{Flags, Place, Table};
use incumbent::Protocol;
use sqlx::{MySql, Postgres, Sqlite};
use trial::{Plan, Verdict, worker};

fn main() -> anyhow::Result<()> {
    worker::work_if_asked()?;
    let known = ["--writes", "--stops", "--fencing", "--store", "--lease", "--gap"];
    let flags = Flags::read(&known)?;
    // Workers die with the thread that started them, so this must be the one that lasts.
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(&flags))
}

async fn run(flags: &Flags) -> anyhow::Result<()> {
    let mut table = Table::new(&Verdict::HEADING);
    let mut kept = true;
    for store in flags.list("--store", "postgres,mariadb,sqlite") {
        for fencing in flags.list("--fencing", "on,off") {
            let fenced = fencing == "on";
            let plan = Plan {
                fenced,
                protocol: Protocol::Lease,
                lease: Duration::from_millis(flags.number("--lease", 500)?),
                gap: Duration::from_millis(
                    flags.number("--gap", if fenced { 1_500 } else { 400 })?,
                ),
                writes: if fenced { flags.number("--writes", 100_000)? } else { 0 }.try_into()?,
                stops: flags.number("--stops", 40)?.try_into()?,
            };
            let place = Place::start(store).await?;
            let verdict = match &place {
                Place::Postgres(..) => trial::run::<Postgres>(&place.url(), &[], &plan).await?,
                Place::MariaDb(..) => trial::run::<MySql>(&place.url(), &[], &plan).await?,
                Place::Sqlite(_) => trial::run::<Sqlite>(&place.url(), &[], &plan).await?,
            };
            kept &= verdict.report.is_clean() && (!fenced || verdict.tally.after_a_claim == 0);
            table.row(verdict.cells());
        }
    }
    table.print(flags.json)?;
    ensure!(kept, "a promise was broken");
    Ok(())
}
