//! Nothing is left of a server: not after its value is dropped, and not after its owner is killed.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use incumbent_testbed::{MariaDb, PgBouncer, PoolMode, Postgres};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Result, eventually, is_gone};

#[tokio::test]
async fn nothing_is_left_after_drop() -> Result {
    let (postgres, mariadb) = (Postgres::start().await?, MariaDb::start().await?);
    let pooler = PgBouncer::start(&postgres, PoolMode::Transaction).await?;
    let folders = [postgres.folder(), mariadb.folder(), pooler.folder()].map(ToOwned::to_owned);
    drop((postgres, mariadb, pooler));
    for folder in &folders {
        ensure!(is_gone(folder)?, "{} is left", folder.display());
    }
    Ok(())
}

#[tokio::test]
async fn no_shared_memory_is_left_of_a_killed_postgres() -> Result {
    let mut server = Postgres::start().await?;
    let text = std::fs::read_to_string(server.folder().join("data/postmaster.pid"))?;
    let segment = text.lines().nth(6).context("no segment is named")?;
    let segment = segment.split_whitespace().last().context("no segment is named")?.to_owned();
    server.kill();
    ensure!(segments()?.contains(&segment), "the kill left no segment, so there is none to remove");
    drop(server);
    ensure!(!segments()?.contains(&segment), "the segment {segment} is left");
    Ok(())
}

/// The numbers of all segments of shared memory.
fn segments() -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string("/proc/sysvipc/shm")?;
    Ok(text.lines().filter_map(|line| Some(line.split_whitespace().nth(1)?.to_owned())).collect())
}

#[tokio::test]
async fn nothing_is_left_after_the_owner_is_killed() -> Result {
    let (mut owner, folders) = start_owner()?;
    owner.kill()?;
    owner.wait()?;
    all_go(&folders).await
}

#[tokio::test]
async fn nothing_is_left_after_the_owner_is_interrupted() -> Result {
    let (mut owner, folders) = start_owner()?;
    kill_process(Pid::from_child(&owner), Signal::INT)?;
    owner.wait()?;
    all_go(&folders).await
}

/// The program that starts servers and waits, and the folders of its servers.
fn start_owner() -> anyhow::Result<(Child, Vec<PathBuf>)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incumbent-testbed"));
    let mut owner = command.stdout(Stdio::piped()).spawn()?;
    let mut folders = Vec::new();
    for line in BufReader::new(owner.stdout.take().context("is piped")?).lines() {
        let line = line?;
        if line.starts_with("ready") {
            ensure!(folders.len() == 3, "the owner named {} folders", folders.len());
            return Ok((owner, folders));
        }
        let folder: PathBuf = line.split_whitespace().last().context("an empty line")?.into();
        ensure!(folder.join("log").exists(), "{} is no folder of a server", folder.display());
        folders.push(folder);
    }
    anyhow::bail!("the owner ended before its servers were ready")
}

async fn all_go(folders: &[PathBuf]) -> Result {
    for folder in folders {
        let what = format!("nothing is left in {}", folder.display());
        eventually(&what, async || is_gone(folder).is_ok_and(|gone| gone)).await?;
    }
    Ok(())
}
