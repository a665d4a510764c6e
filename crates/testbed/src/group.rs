//! A group of MySQL servers: Group Replication with a single primary.
//!
//! Assumes MySQL in the place of MariaDB (`INCUMBENT_TESTBED_MYSQL`). Promises three members that are online when `start`
//! returns; each is a [`MariaDb`] that can be killed, frozen and thawed. A primary that loses the others becomes
//! read-only after three seconds.

use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::daemon::{PAUSE, is_collision};
use crate::mariadb::{MariaDb, MariaDbOptions};
use crate::patience::PATIENCE;
use crate::{mysql, port};

/// How many members a group has: the least that outlive the loss of one.
const MEMBERS: usize = 3;

/// What the group is called.
const NAME: &str = "0d9ad4a2-5b0c-4d0e-9d3c-1c1f6a3b7e55";

/// Three members; killed, and their folders removed, on drop.
#[derive(Debug)]
pub struct Group {
    /// The members; the first one founded the group.
    pub members: Vec<MariaDb>,
}

impl Group {
    /// Starts a group of three and waits until all are online.
    pub async fn start() -> anyhow::Result<Self> {
        ensure!(mysql::is_wanted(), "a group needs MySQL: run `cargo xtask soak`");
        // Two ports a member: when one of them was taken meanwhile, all begin anew.
        for _ in 0..4 {
            match Self::try_start().await {
                Err(error) if is_collision(&error) => {}
                result => return result,
            }
        }
        Self::try_start().await
    }

    async fn try_start() -> anyhow::Result<Self> {
        let free = || (0..MEMBERS).map(|_| port::free()).collect::<anyhow::Result<Vec<u16>>>();
        let (clients, links) = (free()?, free()?);
        let mut group = Self { members: Vec::new() };
        for (index, port) in clients.into_iter().enumerate() {
            let options = options(&links, index);
            let member = MariaDb::start_at(port, &options, &[]).await;
            group.members.push(member.with_context(|| format!("starting member {index}"))?);
        }
        for (index, member) in group.members.iter().enumerate() {
            let password = member.password();
            member
                .sql(&format!(
                    "RESET BINARY LOGS AND GTIDS;
                    CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root', SOURCE_PASSWORD = '{password}'
                    FOR CHANNEL 'group_replication_recovery'"
                ))
                .await?;
            let found = |on: &str| {
                if index == 0 {
                    format!("SET GLOBAL group_replication_bootstrap_group = {on};")
                } else {
                    String::new()
                }
            };
            let join = format!("{} START GROUP_REPLICATION; {}", found("ON"), found("OFF"));
            member.sql(&join).await?;
            group.wait_until(index + 1).await?;
        }
        Ok(group)
    }

    /// The place among the members of the one that the group takes for its primary, as a majority sees it.
    pub async fn primary(&self) -> Option<usize> {
        let ask = "SELECT MAX(member_port) FROM performance_schema.replication_group_members
            WHERE member_role = 'PRIMARY' AND member_state = 'ONLINE'
            HAVING (SELECT SUM(member_state = 'ONLINE') * 2 > COUNT(*)
                FROM performance_schema.replication_group_members)";
        for member in &self.members {
            let asked = tokio::time::timeout(std::time::Duration::from_secs(2), member.sql(ask));
            let Ok(Ok(said)) = asked.await else { continue };
            let port = said.trim().parse().ok();
            if let Some(at) = self.members.iter().position(|it| Some(it.port()) == port) {
                return Some(at);
            }
        }
        None
    }

    /// The ports of all members.
    pub fn ports(&self) -> Vec<u16> {
        self.members.iter().map(MariaDb::port).collect()
    }

    async fn wait_until(&self, online: usize) -> anyhow::Result<()> {
        let ask = "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE'";
        let began = Instant::now();
        for member in &self.members[..online] {
            while member.sql(ask).await? != online.to_string() {
                if began.elapsed() > PATIENCE {
                    bail!("a member is not online after {PATIENCE:?}; {}", member.log_tail());
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

fn options(links: &[u16], index: usize) -> MariaDbOptions {
    let seeds = links.iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(",");
    let settings = [
        ("server_id", (index + 1).to_string()),
        ("report_host", "127.0.0.1".to_owned()),
        ("gtid_mode", "ON".to_owned()),
        ("enforce_gtid_consistency", "ON".to_owned()),
        ("log_bin", "binlog".to_owned()),
        ("plugin_load_add", "group_replication.so".to_owned()),
        ("group_replication_group_name", NAME.to_owned()),
        ("group_replication_start_on_boot", "OFF".to_owned()),
        ("group_replication_local_address", format!("127.0.0.1:{}", links[index])),
        ("group_replication_group_seeds", seeds),
        ("group_replication_ip_allowlist", "127.0.0.1/8".to_owned()),
        ("group_replication_recovery_get_public_key", "ON".to_owned()),
        ("group_replication_member_expel_timeout", "0".to_owned()),
        ("group_replication_unreachable_majority_timeout", "3".to_owned()),
    ];
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    MariaDbOptions { settings, ..MariaDbOptions::default() }
}
