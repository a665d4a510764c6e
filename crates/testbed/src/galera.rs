//! A Galera cluster: three MariaDB servers that certify each other's transactions.
//!
//! Assumes `galera-4` and `rsync`. Promises three nodes that are in sync when `start` returns; each
//! is a [`MariaDb`] that can be killed and restarted, and then joins the others again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::daemon::{PAUSE, is_collision};
use crate::mariadb::{MariaDb, MariaDbOptions};
use crate::port;
use crate::program::{self, MISSING};

/// How many nodes a cluster has: the least that survive the loss of one.
const NODES: usize = 3;

/// Much longer than joining takes.
const LIMIT: Duration = Duration::from_mins(2);

/// Where packages put the replication library.
const LIBRARIES: &[&str] = &[
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib64/galera/libgalera_smm.so",
];

/// Three nodes; killed, and their folders removed, on drop.
#[derive(Debug)]
pub struct Galera {
    /// The nodes; the first one founded the cluster.
    pub nodes: Vec<MariaDb>,
}

/// The ports of one node.
struct Ports {
    clients: u16,
    group: u16,
    /// For the transactions that a returning node missed.
    missed: u16,
    /// For a copy of everything, to a new node.
    copy: u16,
}

impl Galera {
    /// Starts a cluster of three nodes and waits until all are in sync.
    pub async fn start() -> anyhow::Result<Self> {
        let library = LIBRARIES.iter().map(Path::new).find(|path| path.exists());
        let library = library.with_context(|| format!("galera-4 is missing; {MISSING}"))?;
        program::find("rsync")?;
        // Four ports a node: when one of them was taken meanwhile, all begin anew.
        for _ in 0..4 {
            match Self::try_start(library).await {
                Err(error) if is_collision(&error) => {}
                result => return result,
            }
        }
        Self::try_start(library).await
    }

    async fn try_start(library: &Path) -> anyhow::Result<Self> {
        let ports: Vec<Ports> = (0..NODES).map(|_| Ports::free()).collect::<Result<_, _>>()?;
        let mut nodes = Vec::new();
        for index in 0..NODES {
            let options = options(&ports, index, library);
            let founds: &[&str] = if index == 0 { &["--wsrep-new-cluster"] } else { &[] };
            let node = MariaDb::start_at(ports[index].clients, &options, founds).await;
            nodes.push(node.with_context(|| format!("starting node {index} of a cluster"))?);
        }
        let cluster = Self { nodes };
        cluster.wait_until_synced().await?;
        Ok(cluster)
    }

    /// A node, counted from 0.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node(&self, index: usize) -> &MariaDb {
        &self.nodes[index]
    }

    /// Waits until every node is in sync and sees all the others.
    pub async fn wait_until_synced(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        let wanted = format!("{NODES}\tSynced");
        for node in &self.nodes {
            while state(node).await.unwrap_or_default() != wanted {
                if began.elapsed() > LIMIT {
                    bail!("a node is not in sync after {LIMIT:?}; {}", node.log_tail());
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

impl Ports {
    fn free() -> anyhow::Result<Self> {
        let (clients, group) = (port::free()?, port::free()?);
        Ok(Self { clients, group, missed: port::free()?, copy: port::free()? })
    }
}

/// The size of the cluster as `node` sees it, and its own state.
async fn state(node: &MariaDb) -> anyhow::Result<String> {
    let value = |name: &str| {
        format!(
            "(SELECT variable_value FROM information_schema.global_status \
             WHERE variable_name = '{name}')"
        )
    };
    let (size, comment) = (value("wsrep_cluster_size"), value("wsrep_local_state_comment"));
    node.sql(&format!("SELECT {size}, {comment}")).await
}

fn options(ports: &[Ports], index: usize, library: &Path) -> MariaDbOptions {
    let own = &ports[index];
    let members: Vec<String> =
        ports.iter().map(|ports| format!("127.0.0.1:{}", ports.group)).collect();
    let provider = format!(
        "\"gmcast.listen_addr=tcp://127.0.0.1:{};ist.recv_addr=127.0.0.1:{};gcache.size=16M\"",
        own.group, own.missed
    );
    let library = PathBuf::from(library).display().to_string();
    let settings = [
        ("wsrep_on", "ON".to_owned()),
        ("wsrep_provider", library),
        ("wsrep_cluster_name", format!("incumbent_{}", ports[0].group)),
        ("wsrep_cluster_address", format!("gcomm://{}", members.join(","))),
        ("wsrep_node_name", format!("node{index}")),
        ("wsrep_node_address", members[index].clone()),
        ("wsrep_sst_method", "rsync".to_owned()),
        ("wsrep_sst_receive_address", format!("127.0.0.1:{}", own.copy)),
        ("wsrep_provider_options", provider),
        ("binlog_format", "ROW".to_owned()),
        ("innodb_autoinc_lock_mode", "2".to_owned()),
    ];
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    MariaDbOptions { settings, ..MariaDbOptions::default() }
}
