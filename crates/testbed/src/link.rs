//! One connection through the proxy.
//!
//! Assumes that faults can change at any moment. Promises that a fault is judged when a chunk is
//! delivered, not when it was read, so that what is under way when a silence begins is lost too.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::proxy::{Counters, Faults, Way, reset};

/// How many chunks may be under way in one direction.
const UNDER_WAY: usize = 1024;

/// The most bytes of a chunk.
const CHUNK: usize = 16 * 1024;

/// How a connection ends before both sides have closed it.
enum End {
    /// One side is gone.
    Closed,
    /// By a fault.
    Reset,
}

/// A chunk and when it is due; an empty one is the end of what a side had to say.
type Chunk = (Instant, Vec<u8>);

/// What both directions of a connection share.
struct Link<'a> {
    faults: &'a watch::Sender<Faults>,
    counters: &'a Counters,
    /// Something of it was withheld, so it cannot go on when the fault is lifted.
    broken: AtomicBool,
    /// The next words of the server are the answer that the client shall not get.
    trapped: AtomicBool,
    /// The client has said something that was not answered yet.
    asked: AtomicBool,
}

/// Carries one connection until it ends.
pub(crate) async fn serve(
    mut client: TcpStream,
    upstream: SocketAddr,
    faults: &watch::Sender<Faults>,
    counters: &Counters,
) {
    let [broken, trapped, asked] = [false; 3].map(AtomicBool::new);
    let link = Link { faults, counters, broken, trapped, asked };
    let mut changes = faults.subscribe();
    let born = changes.borrow().resets;
    if changes.borrow().silence != Way::None {
        // The server would not hear of it.
        link.broken.store(true, Ordering::SeqCst);
        link.fault_ends(&mut changes, born).await;
        return reset(client);
    }
    let Ok(mut server) = TcpStream::connect(upstream).await else {
        return reset(client);
    };
    // Small messages must not wait for one another.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let end = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let up = link.carry(from_client, to_server, Way::ToServer);
        let down = link.carry(from_server, to_client, Way::ToClient);
        tokio::select! {
            end = async { tokio::try_join!(up, down) } => end.err(),
            () = link.fault_ends(&mut changes, born) => Some(End::Reset),
        }
    };
    if matches!(end, Some(End::Reset)) {
        reset(client);
        reset(server);
    }
}

impl Link<'_> {
    /// Returns when this connection has to be reset.
    async fn fault_ends(&self, changes: &mut watch::Receiver<Faults>, born: u64) {
        loop {
            let (resets, withhold) = {
                let faults = changes.borrow_and_update();
                (faults.resets, faults.withhold())
            };
            let broken = self.broken.load(Ordering::SeqCst);
            if resets > born || (broken && !withhold) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Carries one direction until its source has nothing more to say.
    async fn carry(&self, from: ReadHalf<'_>, to: WriteHalf<'_>, way: Way) -> Result<(), End> {
        let (sender, receiver) = mpsc::channel(UNDER_WAY);
        tokio::try_join!(self.read(from, sender, way), self.deliver(receiver, to, way))?;
        Ok(())
    }

    async fn read(
        &self,
        mut from: ReadHalf<'_>,
        chunks: mpsc::Sender<Chunk>,
        way: Way,
    ) -> Result<(), End> {
        let mut window = Vec::new();
        loop {
            let mut chunk = vec![0; CHUNK];
            // A side that was reset is a side that has ended.
            let length = from.read(&mut chunk).await.unwrap_or(0);
            chunk.truncate(length);
            if way == Way::ToServer && length > 0 {
                self.spring_trap(&mut window, &chunk);
            }
            let due = Instant::now() + self.faults.borrow().delay;
            if chunks.send((due, chunk)).await.is_err() || length == 0 {
                return Ok(());
            }
        }
    }

    /// Looks for the trap's pattern in what a client says; `window` holds the end of what it said
    /// before, because a pattern may be spread over two chunks.
    fn spring_trap(&self, window: &mut Vec<u8>, chunk: &[u8]) {
        window.extend_from_slice(chunk);
        let matches = |pattern: &[u8]| {
            pattern.is_empty() || window.windows(pattern.len()).any(|bytes| bytes == pattern)
        };
        let mut keep = 0;
        self.faults.send_if_modified(|faults| {
            let Some(pattern) = &faults.trap else { return false };
            keep = pattern.len().saturating_sub(1);
            if matches(pattern) {
                self.trapped.store(true, Ordering::SeqCst);
                faults.trap = None;
            }
            // Nobody waits for this change.
            false
        });
        let forget = window.len().saturating_sub(keep);
        window.drain(..forget);
    }

    async fn deliver(
        &self,
        mut chunks: mpsc::Receiver<Chunk>,
        mut to: WriteHalf<'_>,
        way: Way,
    ) -> Result<(), End> {
        while let Some((due, chunk)) = chunks.recv().await {
            tokio::time::sleep_until(due).await;
            let end = chunk.is_empty();
            if self.withholds(way, end) {
                self.broken.store(true, Ordering::SeqCst);
                // Lifted in this very moment, when nobody knew yet that something was withheld.
                if !self.faults.borrow().withhold() {
                    return Err(End::Reset);
                }
                continue;
            }
            if end {
                return to.shutdown().await.map_err(|_| End::Closed);
            }
            if way == Way::ToClient && self.trapped.load(Ordering::SeqCst) {
                self.counters.fired.store(true, Ordering::SeqCst);
                return Err(End::Reset);
            }
            self.count_trip(way);
            to.write_all(&chunk).await.map_err(|_| End::Closed)?;
            self.counter(way).fetch_add(chunk.len() as u64, Ordering::SeqCst);
        }
        // Its end was withheld: the other side hears nothing until the fault is lifted.
        std::future::pending().await
    }

    fn withholds(&self, way: Way, end: bool) -> bool {
        let faults = self.faults.borrow();
        faults.silence.covers(way) || (faults.drop_replies && way == Way::ToClient && !end)
    }

    /// Counts the first words of each answer.
    fn count_trip(&self, way: Way) {
        let asks = way == Way::ToServer;
        if self.asked.swap(asks, Ordering::SeqCst) && !asks {
            self.counters.round_trips.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn counter(&self, way: Way) -> &AtomicU64 {
        if way == Way::ToServer { &self.counters.to_server } else { &self.counters.to_client }
    }
}
