//! Says what is wrong with others, once.
//!
//! Assumes: strangers may do wrong as often as they like.
//! Promises: one line for each address, or node, and kind of wrong, until it did right or an hour
//! has passed; a bounded number of lines an hour for all addresses together.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use incumbent_protocol::node::NodeId;

use super::session::LinkError;
use crate::peers::channel::ChannelError;
use crate::peers::frame::FrameError;
use crate::peers::hello::HelloError;
use crate::peers::numbers::Refused;

/// Most lines in an hour.
const MOST: usize = 256;

const HOUR: Duration = Duration::from_hours(1);

#[derive(Debug, Default)]
pub(super) struct Complaints {
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    since: Option<Instant>,
    count: usize,
    about: HashSet<(String, Kind)>,
}

/// What to do about two secrets in one cluster.
const ANOTHER_SECRET: &str = "give all nodes of a cluster the same secret";

/// One kind of wrong.
type Kind = (Discriminant<LinkError>, Option<&'static str>);

impl Complaints {
    /// Says what is wrong with whoever is at that place, unless it was said.
    pub(super) fn about(&self, place: &str, error: &LinkError) {
        let Some(advice) = advice(error) else {
            tracing::debug!(place, %error, "a link ended");
            return;
        };
        let peer = node_of(error).map(|node| node.to_string());
        match self.is_new(peer.as_deref().unwrap_or(place), (discriminant(error), Some(advice))) {
            Some(true) if is_grave(error) => {
                tracing::error!(place, %error, "no link with a peer: {advice}");
            }
            Some(true) => tracing::warn!(place, %error, "no link with a peer: {advice}"),
            Some(false) => {
                tracing::warn!("there is too much trouble with peers to tell; more in an hour");
            }
            None => tracing::debug!(place, %error, "no link with a peer, as said before"),
        }
    }

    /// Whether the last that was said of that place is that it has another secret.
    pub(super) fn has_another_secret(&self, place: &str) -> bool {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.about
            .iter()
            .any(|(other, (_, advice))| other == place && *advice == Some(ANOTHER_SECRET))
    }

    /// Makes the next complaint about that place a new one.
    pub(super) fn forgive(&self, place: &str) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.about.retain(|(other, _)| other != place);
    }

    /// Some if there is something to say; true if it is this.
    fn is_new(&self, place: &str, kind: Kind) -> Option<bool> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.since.is_none_or(|since| since.elapsed() >= HOUR) {
            *made = Made { since: Some(Instant::now()), ..Made::default() };
        }
        if made.count > MOST || !made.about.insert((place.to_owned(), kind)) {
            return None;
        }
        made.count += 1;
        Some(made.count <= MOST)
    }
}

impl LinkError {
    /// For what a connection was refused; none for what happens in ordinary life.
    pub(super) const fn cause(&self) -> Option<Refused> {
        let error = match self {
            LinkError::Dial(_)
            | LinkError::Door(_)
            | LinkError::Resolve(_)
            | LinkError::Ending
            | LinkError::Stuck => return None,
            LinkError::Late => return Some(Refused::Late),
            LinkError::Replaced { .. } => return Some(Refused::Twin),
            LinkError::Crowded => return Some(Refused::Crowded),
            LinkError::Hello(error) => error,
        };
        match error {
            HelloError::Itself => None,
            HelloError::Version { .. } => Some(Refused::Version),
            HelloError::Twin(_) => Some(Refused::Twin),
            HelloError::Way { .. } => Some(Refused::Way),
            HelloError::Name(_) => Some(Refused::Rubbish),
            HelloError::Channel(error) => match error {
                ChannelError::Frame(
                    FrameError::Closed | FrameError::Truncated | FrameError::Io(_),
                )
                | ChannelError::Exhausted => None,
                ChannelError::Secret | ChannelError::Rejected => Some(Refused::Secret),
                ChannelError::Forged | ChannelError::Frame(_) | ChannelError::Noise(_) => {
                    Some(Refused::Rubbish)
                }
            },
        }
    }
}

/// Whether somebody has to do something, or the group cannot be complete.
const fn is_grave(error: &LinkError) -> bool {
    matches!(error, LinkError::Hello(HelloError::Way { .. }))
}

/// Who is meant, if it said so: two nodes that dial each other meet at two places.
fn node_of(error: &LinkError) -> Option<NodeId> {
    match error {
        LinkError::Hello(HelloError::Way { other, .. }) => Some(other.node),
        _ => None,
    }
}

/// What to do about it; none for what happens in ordinary life.
fn advice(error: &LinkError) -> Option<&'static str> {
    let error = match error {
        // Of twins is spoken elsewhere.
        LinkError::Dial(_) | LinkError::Ending | LinkError::Stuck | LinkError::Replaced { .. } => {
            return None;
        }
        LinkError::Door(_) => return Some("check how many files this process may open"),
        LinkError::Resolve(_) => return Some("check the name of the host in the list of nodes"),
        LinkError::Late => {
            return Some("check that it is a node of this cluster, and not overloaded");
        }
        LinkError::Crowded => return Some("check how many processes look at this cluster"),
        LinkError::Hello(error) => error,
    };
    match error {
        HelloError::Itself | HelloError::Twin(_) => None,
        HelloError::Version { .. } => Some("run the same release on all nodes"),
        HelloError::Way { .. } => Some(
            "give all processes of a group the same URL, bully:// or ring://, and all or none of them --unratified",
        ),
        HelloError::Name(_) => Some("check the name of that candidate"),
        HelloError::Channel(error) => match error {
            ChannelError::Frame(FrameError::Closed | FrameError::Truncated | FrameError::Io(_))
            | ChannelError::Exhausted => None,
            ChannelError::Secret | ChannelError::Rejected => Some(ANOTHER_SECRET),
            ChannelError::Forged => Some("check who can change what is sent between nodes"),
            ChannelError::Frame(_) => Some("check that only nodes connect to this port"),
            ChannelError::Noise(_) => Some("report this as a mistake of the program"),
        },
    }
}
