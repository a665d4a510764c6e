//! The life of one link, from the first byte to the last.
//!
//! Assumes: the time limits of [`Limits`](super::Limits).
//! Promises: a link is entered in the table before its first message is handed on, and taken out
//! after its last; whatever is wrong with it ends it, and nothing else.

use std::future::Future;
use std::time::Duration;

use incumbent_protocol::node::NodeId;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::Words;
use super::shared::Shared;
use super::socket;
use super::table::Line;
use super::twins::Pair;
use crate::peers::channel::{self, ChannelError, Receiver, Sender, Side};
use crate::peers::frame;
use crate::peers::hello::{Hello, HelloError};

/// How much is written at once, about.
const BATCH: usize = 64 * 1024;

/// A link that lasted this long makes up for what was wrong before.
const FAIR: Duration = Duration::from_mins(1);

/// Why a link ended or did not begin.
#[derive(Debug, Error)]
pub(super) enum LinkError {
    /// No connection.
    #[error("no connection: {0}")]
    Dial(std::io::Error),
    /// No connection from others.
    #[error("the system gives no connection: {0}")]
    Door(std::io::Error),
    /// The name of the host.
    #[error("its address cannot be found: {0}")]
    Resolve(std::io::Error),
    /// Too slow.
    #[error("it said nothing sensible in time")]
    Late,
    /// It took nothing.
    #[error("it takes nothing any more")]
    Stuck,
    /// The first words.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// A process that gave way to another one.
    #[error("it has the number of node {node}, which another process has by now")]
    Replaced {
        /// The number.
        node: NodeId,
        /// It, and the other one.
        pair: Option<Box<Pair>>,
    },
    /// As many as are allowed.
    #[error("there are too many connections from other nodes")]
    Crowded,
    /// Everything ends.
    #[error("this node ends its links")]
    Ending,
}

impl From<ChannelError> for LinkError {
    fn from(error: ChannelError) -> Self {
        LinkError::Hello(HelloError::Channel(error))
    }
}

/// A link whose other end is known.
pub(super) struct Session {
    pub(super) hello: Hello,
    side: Side,
    from: Receiver<OwnedReadHalf>,
    to: Sender<OwnedWriteHalf>,
}

impl Session {
    /// Proves to each other that both know the secret, and says hello.
    pub(super) async fn begin<M: Words>(
        shared: &Shared<M>,
        stream: TcpStream,
        side: Side,
    ) -> Result<Session, LinkError> {
        socket::prepare(&stream, shared.limits.stuck);
        let begin = async {
            let (from, to) = stream.into_split();
            let (mut from, mut to) = channel::begin(from, to, side, &shared.secret).await?;
            let hello = shared.hello.exchange(&mut from, &mut to).await?;
            Ok(Session { hello, side, from, to })
        };
        timeout(shared.limits.handshake, begin).await.unwrap_or(Err(LinkError::Late))
    }

    /// Carries messages both ways until something ends it. When `stop` is ready, only until all
    /// that was sent is written.
    pub(super) async fn run<M: Words>(
        self,
        shared: &Shared<M>,
        place: &str,
        stop: impl Future<Output = ()>,
    ) -> Result<(), LinkError> {
        let Session { hello, side, from, mut to } = self;
        let (queue, messages) = mpsc::channel(shared.limits.queue.max(1));
        let number = shared.table().number();
        let line = Line { number, outbound: side == Side::Caller, place: place.to_owned(), queue };
        let node = hello.node;
        if let Err(error) = shared.enter(&hello, line).await {
            if let LinkError::Replaced { pair: Some(pair), .. } = &error {
                let _ = timeout(shared.limits.stuck, part(shared, from, to, pair)).await;
            }
            return Err(error);
        }
        for pair in shared.twins.witnessed(std::time::Instant::now()) {
            to.seal(&pair.aside())?;
        }
        let begun = Instant::now();
        let listen = listen(shared, from, node, number);
        let speak = speak(shared, to, messages);
        let talk = async {
            tokio::select! {
                end = listen => end,
                end = speak => end,
            }
        };
        let mut talk = std::pin::pin!(talk);
        let end = tokio::select! {
            end = &mut talk => end,
            () = stop => {
                shared.exit(node, number).await;
                talk.await
            }
        };
        shared.exit(node, number).await;
        if begun.elapsed() >= FAIR {
            shared.complaints.forgive(place);
            shared.complaints.forgive(&node.to_string());
        }
        end
    }
}

async fn listen<M: Words>(
    shared: &Shared<M>,
    mut from: Receiver<OwnedReadHalf>,
    node: NodeId,
    number: u64,
) -> Result<(), LinkError> {
    loop {
        let bytes = from.receive(shared.limits.message).await?;
        if let Some(pair) = Pair::read(&bytes) {
            let pair = pair.map_err(ChannelError::from)?;
            shared.twins.told(&shared.hello, &pair, std::time::Instant::now());
            continue;
        }
        let message = frame::decode(shared.hello.version, &bytes).map_err(ChannelError::from)?;
        if shared.deliver(node, number, message).await.is_none() {
            // A line that was taken out ends when all that waits for it was written.
            std::future::pending::<()>().await;
        }
    }
}

/// Tells one that was replaced of the other, and waits until it has heard that: a connection that is
/// closed before all that came over it was read may take with it what was sent.
async fn part<M: Words>(
    shared: &Shared<M>,
    mut from: Receiver<OwnedReadHalf>,
    mut to: Sender<OwnedWriteHalf>,
    pair: &Pair,
) -> Result<(), LinkError> {
    to.seal(&pair.aside())?;
    to.finish().await?;
    loop {
        from.receive(shared.limits.message).await?;
    }
}

async fn speak<M: Words>(
    shared: &Shared<M>,
    mut to: Sender<OwnedWriteHalf>,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> Result<(), LinkError> {
    if to.waiting() > 0 {
        timeout(shared.limits.stuck, to.flush()).await.map_err(|_| LinkError::Stuck)??;
    }
    loop {
        let Some(message) = messages.recv().await else {
            let finish = timeout(shared.limits.stuck, to.finish()).await;
            return Ok(finish.map_err(|_| LinkError::Stuck)??);
        };
        to.seal(&message)?;
        while to.waiting() < BATCH
            && let Ok(message) = messages.try_recv()
        {
            to.seal(&message)?;
        }
        timeout(shared.limits.stuck, to.flush()).await.map_err(|_| LinkError::Stuck)??;
    }
}
