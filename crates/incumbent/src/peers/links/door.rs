//! Lets others in.
//!
//! Assumes: anybody may knock, as often as they like.
//! Promises: strangers have a bounded number of tasks and little time. Of the address that has most of
//! them the oldest is sent away first, so that a host that opens connections does not keep others out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::Words;
use super::session::{LinkError, Session};
use super::shared::Shared;
use crate::peers::channel::Side;

/// The pause after the system gave no connection, for want of file descriptors perhaps.
const BREATH: Duration = Duration::from_millis(100);

pub(super) async fn keep_open<M: Words>(shared: Arc<Shared<M>>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let number = shared.table().number();
                let serve = serve(Arc::clone(&shared), stream, from, number);
                shared.receive(serve, number, from.ip());
            }
            Err(error) => {
                shared.complaints.about("the door", &LinkError::Door(error));
                sleep(BREATH).await;
            }
        }
    }
}

async fn serve<M: Words>(shared: Arc<Shared<M>>, stream: TcpStream, from: SocketAddr, number: u64) {
    let stranger = Stranger { shared: &shared, number };
    let begin = Session::begin(&shared, stream, Side::Callee).await;
    // Whoever knows the secret is no stranger.
    drop(stranger);
    let place = from.ip().to_canonical().to_string();
    let end = match begin {
        Ok(session) => {
            if let Ok(_guest) = Arc::clone(&shared.guests).try_acquire_owned() {
                session.run(&shared, &place, std::future::pending()).await
            } else {
                shared.refuse(&place, &LinkError::Crowded);
                Err(LinkError::Crowded)
            }
        }
        Err(error) => {
            shared.refuse(&place, &error);
            Err(error)
        }
    };
    let Err(error) = end else { return };
    shared.complaints.about(&place, &error);
}

/// A task for a connection that has proven nothing.
struct Stranger<'a, M: Words> {
    shared: &'a Shared<M>,
    number: u64,
}

impl<M: Words> Drop for Stranger<'_, M> {
    fn drop(&mut self) {
        self.shared.dismiss(self.number);
    }
}
