//! The door of the board: who connects to it cannot take what the candidate needs.
//!
//! Assumes: one answer for each connection.
//! Promises: few connections are held, none of them for long. If there are too many, the oldest is
//! closed and not the newest, so that a flood of silent ones keeps nobody out.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// How many connections are held at once.
const HELD: usize = 64;

/// How long a connection may take, from its beginning to the end of its answer.
const LIMIT: Duration = Duration::from_secs(5);

/// A listener, and whom it holds, the oldest first. Each is closed when its sender is dropped.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    held: VecDeque<oneshot::Sender<()>>,
}

impl Door {
    pub(super) const fn new(listener: TcpListener) -> Self {
        Door { listener, held: VecDeque::new() }
    }
}

impl Listener for Door {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        self.held.retain(|visit| !visit.is_closed());
        if self.held.len() >= HELD {
            self.held.pop_front();
        }
        let (sender, closed) = oneshot::channel();
        self.held.push_back(sender);
        let over = Box::pin(async move { drop(tokio::time::timeout(LIMIT, closed).await) });
        (Visit { stream, over: Some(over) }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when its time is over.
pub(super) struct Visit {
    stream: TcpStream,
    /// Completes when its time is over; `None` once it has.
    over: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Visit {
    /// The stream, or an error once its time is over.
    fn stream(&mut self, context: &mut Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        if self.over.as_mut().is_some_and(|over| over.as_mut().poll(context).is_ready()) {
            self.over = None;
        }
        match self.over {
            Some(_) => Ok(Pin::new(&mut self.stream)),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl AsyncRead for Visit {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream(context)?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Visit {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream(context)?.poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream(context)?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream(context)?.poll_shutdown(context)
    }
}
