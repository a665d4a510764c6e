//! Peers in one process, each with a runtime of its own, which say when they win and do as they are
//! told.
//!
//! Assumes: free ports on the loopback device.
//! Promises: a peer stamps each word itself before anything else. One that is ended takes its sockets
//! with it, like a process that died.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use incumbent::{Backend, Config, Election};
use incumbent_testbed::Mesh;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    Won,
    Resigns,
    Resigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Resign,
    Campaign,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) node: usize,
    say: Say,
    pub(crate) at: Instant,
}

pub(crate) struct Company {
    scheme: String,
    list: String,
    nodes: usize,
    peers: BTreeMap<usize, (Runtime, UnboundedSender<Order>)>,
    leader: Option<usize>,
    words: Receiver<Word>,
    mouth: Sender<Word>,
    waiting: Vec<Word>,
    // Last: peers end before their folder goes.
    folder: tempfile::TempDir,
}

impl Company {
    /// Starts so many.
    pub(crate) fn start(scheme: &str, nodes: usize) -> anyhow::Result<Company> {
        let seats = Mesh::ports(nodes)?.into_iter().enumerate();
        let seats = seats.map(|(at, port)| format!("{}@127.0.0.1:{port}", at + 1));
        let (mouth, words) = channel();
        let mut company = Company {
            folder: tempfile::tempdir()?,
            scheme: scheme.to_owned(),
            list: seats.collect::<Vec<_>>().join(","),
            nodes,
            peers: BTreeMap::new(),
            leader: None,
            words,
            mouth,
            waiting: Vec::new(),
        };
        let secret = format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?);
        write_secret(&company.folder.path().join("secret"), &secret)?;
        for node in 1..=nodes {
            company.join(node)?;
        }
        Ok(company)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Starts one.
    pub(crate) fn join(&mut self, node: usize) -> anyhow::Result<()> {
        let (scheme, data) = (&self.scheme, self.folder.path().display());
        let me = self.list.split(',').nth(node - 1).context("no such peer")?;
        let url = format!("{scheme}://{}?me={me}&data={data}&secret-file={data}/secret", self.list);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (tell, orders) = unbounded_channel();
        let mouth = self.mouth.clone();
        runtime.spawn(async move {
            let play = Play { node, mouth, orders };
            if let Err(error) = play.begin(&url).await {
                let said = format!("peer {node}: {error:#}\n");
                let _ = std::io::stderr().write_all(said.as_bytes());
            }
        });
        self.peers.insert(node, (runtime, tell));
        Ok(())
    }

    /// Ends one at once.
    pub(crate) fn end(&mut self, node: usize) -> anyhow::Result<()> {
        let (runtime, _orders) = self.peers.remove(&node).context("no such peer")?;
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }

    /// Notes who leads.
    pub(crate) fn leads(&mut self, node: usize) {
        self.leader = Some(node);
    }

    /// Who leads.
    pub(crate) fn leader(&self) -> anyhow::Result<usize> {
        self.leader.context("nobody leads")
    }

    pub(crate) fn tell(&self, node: usize, order: Order) -> anyhow::Result<()> {
        let (_, orders) = self.peers.get(&node).context("no such peer")?;
        Ok(orders.send(order)?)
    }

    /// The next word of that kind.
    pub(crate) fn hear(&mut self, say: Say) -> anyhow::Result<Word> {
        loop {
            if let Some(at) = self.waiting.iter().position(|word| word.say == say) {
                return Ok(self.waiting.remove(at));
            }
            let word = self.words.recv_timeout(PATIENCE);
            self.waiting.push(word.with_context(|| format!("nobody says {say:?}"))?);
        }
    }
}

fn write_secret(path: &Path, secret: &str) -> anyhow::Result<()> {
    let mut options = std::fs::File::options();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(secret.as_bytes())?)
}

struct Play {
    node: usize,
    mouth: Sender<Word>,
    orders: UnboundedReceiver<Order>,
}

impl Play {
    async fn begin(mut self, url: &str) -> anyhow::Result<()> {
        let config = Config::new().name(format!("peer-{}", self.node));
        let election = Backend::open_with(url, &config).await?.election("elect").await?;
        loop {
            self.lead(&election).await?;
        }
    }

    async fn lead(&mut self, election: &Election) -> anyhow::Result<()> {
        let leadership = election.campaign().await?;
        self.say(Say::Won);
        self.order(Order::Resign).await?;
        self.say(Say::Resigns);
        leadership.resign().await?;
        self.say(Say::Resigned);
        self.order(Order::Campaign).await
    }

    fn say(&self, say: Say) {
        let _ = self.mouth.send(Word { node: self.node, say, at: Instant::now() });
    }

    async fn order(&mut self, expected: Order) -> anyhow::Result<()> {
        let order = self.orders.recv().await.context("nobody is there any more")?;
        anyhow::ensure!(order == expected, "{order:?} instead of {expected:?}");
        Ok(())
    }
}
