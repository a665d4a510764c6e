//! Standbys of a PostgreSQL server.
//!
//! Assumes a primary that runs. Promises streaming replication; a synchronous standby is one that
//! every commit of the primary waits for. A standby is a [`Postgres`] like any other: it can be
//! killed, restarted and frozen.

use std::fs;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::daemon::{PAUSE, with_free_port};
use crate::database::random_word;
use crate::folder::Folder;
use crate::postgres::Postgres;
use crate::program;

/// Much longer than any state takes to appear.
const LIMIT: Duration = Duration::from_mins(1);

/// Whether commits of the primary wait for a standby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standby {
    /// A commit is acknowledged when this standby has it too; without the standby it waits.
    Synchronous,
    /// A commit is acknowledged before; a promotion may lose it.
    Asynchronous,
}

impl Postgres {
    /// Starts a standby of this server.
    pub async fn standby(&self, kind: Standby) -> anyhow::Result<Self> {
        let name = format!("standby_{}", random_word()?);
        let standby = with_free_port(async |port| {
            let folder = self.copy_for_standby(&name).await?;
            Self::launch(folder, &self.programs, port).await
        })
        .await?;
        let streams = format!(
            "SELECT count(*) > 0 FROM pg_stat_replication \
             WHERE application_name = '{name}' AND state = 'streaming'"
        );
        self.wait_until(&streams, "the standby streams").await?;
        if kind == Standby::Synchronous {
            self.wait_for_commits_on(&name).await?;
        }
        Ok(standby)
    }

    /// Makes a standby the primary of its own, and waits until it accepts writes. What it has
    /// received is replayed first.
    pub async fn promote(&self) -> anyhow::Result<()> {
        self.sql("SELECT pg_promote(true, 60)").await?;
        self.wait_until("SELECT NOT pg_is_in_recovery()", "the standby is promoted").await
    }

    /// Cuts a standby off from its primary: what is written from here on, it misses.
    pub async fn disconnect(&self) -> anyhow::Result<()> {
        // Port 1 of this machine serves nobody.
        self.follow("host=127.0.0.1 port=1 connect_timeout=1").await?;
        let ended = "SELECT count(*) = 0 FROM pg_stat_wal_receiver WHERE status = 'streaming'";
        self.wait_until(ended, "the standby is cut off").await
    }

    /// Lets a standby follow its primary again after [`disconnect`](Self::disconnect).
    pub async fn reconnect(&self) -> anyhow::Result<()> {
        let path = self.folder().join("primary");
        let primary = fs::read_to_string(path).context("this server was never a standby")?;
        self.follow(&primary).await?;
        let streams = "SELECT count(*) > 0 FROM pg_stat_wal_receiver WHERE status = 'streaming'";
        self.wait_until(streams, "the standby streams").await
    }

    /// Lets a standby receive but not show what the primary writes. A promotion loses nothing of
    /// it; see [`disconnect`](Self::disconnect) for a standby that misses writes.
    pub async fn pause_replay(&self) -> anyhow::Result<()> {
        self.sql("SELECT pg_wal_replay_pause()").await?;
        let paused = "SELECT pg_get_wal_replay_pause_state() = 'paused'";
        self.wait_until(paused, "replay is paused").await
    }

    /// Waits until a standby shows everything that `primary` has written so far.
    pub async fn catch_up_with(&self, primary: &Self) -> anyhow::Result<()> {
        let end = primary.sql("SELECT pg_current_wal_flush_lsn()").await?;
        let caught_up = format!("SELECT pg_last_wal_replay_lsn() >= '{end}'::pg_lsn");
        self.wait_until(&caught_up, "the standby has caught up").await
    }

    /// A folder with a copy of this server's data that will follow it under `name`.
    async fn copy_for_standby(&self, name: &str) -> anyhow::Result<Folder> {
        let folder = self.daemon.folder().create_beside()?;
        folder.write("password", self.password())?;
        let mut backup = self.tool("pg_basebackup");
        backup.args(["-U", "postgres", "-X", "stream", "--checkpoint=fast", "--no-sync", "-D"]);
        backup.arg(folder.data()).current_dir(folder.path());
        folder.user().apply(&mut backup);
        program::run(backup).await?;
        let primary = format!(
            "host={} port={} user=postgres application_name={name}",
            self.folder().display(),
            self.port()
        );
        folder.write("primary", &primary)?;
        // Replaces what the primary was told at run time, above all whom its commits wait for: a
        // promoted standby must not wait for itself.
        let settings =
            format!("primary_conninfo = '{primary}'\nwal_retrieve_retry_interval = 200ms\n");
        folder.write("data/postgresql.auto.conf", &settings)?;
        folder.write("data/standby.signal", "")?;
        Ok(folder)
    }

    /// Lets every commit wait for the standby `name`, besides those it waits for already.
    async fn wait_for_commits_on(&self, name: &str) -> anyhow::Result<()> {
        let names = {
            let mut names = self.synchronous.lock().unwrap_or_else(PoisonError::into_inner);
            names.push(name.to_owned());
            names.clone()
        };
        let value = format!("FIRST {} ({})", names.len(), names.join(", "));
        self.sql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{value}'")).await?;
        self.sql("SELECT pg_reload_conf()").await?;
        let synchronous = format!(
            "SELECT count(*) > 0 FROM pg_stat_replication \
             WHERE application_name = '{name}' AND sync_state = 'sync'"
        );
        self.wait_until(&synchronous, "the standby is synchronous").await
    }

    async fn follow(&self, primary: &str) -> anyhow::Result<()> {
        self.sql(&format!("ALTER SYSTEM SET primary_conninfo = '{primary}'")).await?;
        self.sql("SELECT pg_reload_conf()").await?;
        Ok(())
    }

    /// Repeats a question until the answer is yes.
    async fn wait_until(&self, question: &str, what: &str) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.sql(question).await? != "t" {
            if began.elapsed() > LIMIT {
                bail!(
                    "after {LIMIT:?} it is not so that {what}; {}",
                    self.daemon.folder().log_tail()
                );
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
}
