//! Dials one address, again and again.
//!
//! Assumes: names may lead elsewhere later, so they are looked up at every attempt.
//! Promises: pauses between attempts double from the first to the longest, each shortened at random
//! by up to a half, so that nodes that lost each other at once do not return at once; a link that
//! lasted for the longest pause makes the next one the first again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use incumbent_protocol::node::NodeId;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::session::{LinkError, Session};
use super::shared::Shared;
use super::{Limits, Words};
use crate::peers::channel::Side;
use crate::peers::hello::HelloError;

/// The pause after this node dialled itself, which will not change soon.
const ITSELF: Duration = Duration::from_secs(30);

/// How many addresses of one name are tried in one attempt.
const ADDRESSES: usize = 8;

pub(super) async fn keep<M: Words>(
    shared: Arc<Shared<M>>,
    address: String,
    mut stop: watch::Receiver<()>,
) {
    let mut state = State { pause: shared.limits.first_pause, node: None };
    loop {
        let attempt = tokio::select! {
            () = left(&mut stop) => return,
            attempt = dial(&shared, &address) => attempt,
        };
        let begun = Instant::now();
        let end = match attempt {
            Ok(session) => {
                state.node = Some(session.hello.node);
                session.run(&*shared, &address, left(&mut stop)).await
            }
            Err(error) => {
                shared.refuse(&address, &error);
                Err(error)
            }
        };
        if begun.elapsed() >= shared.limits.longest_pause {
            state.pause = shared.limits.first_pause;
        }
        let pause = state.after(&shared, &address, end).await;
        tokio::select! {
            () = left(&mut stop) => return,
            () = sleep(pause) => {}
        }
    }
}

/// Waits until the address is left. May be asked again after that.
async fn left(stop: &mut watch::Receiver<()>) {
    while stop.changed().await.is_ok() {}
}

/// What is known of an address.
struct State {
    pause: Duration,
    /// Who was found there, until it was said that nobody is.
    node: Option<NodeId>,
}

impl State {
    /// Says what there is to say about the end of an attempt; returns the pause after it.
    async fn after<M: Words>(
        &mut self,
        shared: &Shared<M>,
        address: &str,
        end: Result<(), LinkError>,
    ) -> Duration {
        match end {
            Ok(()) => {}
            Err(LinkError::Hello(HelloError::Itself)) => return ITSELF,
            Err(error) => {
                if is_refusal(&error)
                    && let Some(node) = self.node.take()
                {
                    shared.refused(node).await;
                }
                shared.complaints.about(address, &error);
            }
        }
        self.next(&shared.limits)
    }

    fn next(&mut self, limits: &Limits) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(limits.longest_pause);
        shortened(pause, getrandom::u64().unwrap_or_default())
    }
}

/// Between a half and all of it.
fn shortened(pause: Duration, random: u64) -> Duration {
    let parts = u32::try_from(random % 1024).unwrap_or_default();
    pause.saturating_sub(pause * parts / 2048)
}

async fn dial<M: Words>(shared: &Shared<M>, address: &str) -> Result<Session, LinkError> {
    let found = timeout(shared.limits.dial, lookup_host(address));
    let found = found.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let mut end = LinkError::Resolve(io::ErrorKind::NotFound.into());
    for place in found.map_err(LinkError::Resolve)?.take(ADDRESSES) {
        let stream = timeout(shared.limits.dial, TcpStream::connect(place)).await;
        match stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => return Session::begin(shared, stream, Side::Caller).await,
            Err(error) => end = LinkError::Dial(error),
        }
    }
    Err(end)
}

fn is_refusal(error: &LinkError) -> bool {
    matches!(error, LinkError::Dial(error) if error.kind() == io::ErrorKind::ConnectionRefused)
}
