//! What two nodes tell each other first, and whether they go on.
//!
//! Assumes: the conversation is sealed; a node tells the truth about itself.
//! Promises: nodes that speak different versions part with an error that says so, on both sides, and
//! so do nodes that pick leaders in different ways; a node never talks to itself, nor to another
//! process that uses its number.

use std::fmt;

use incumbent_protocol::identity::{CandidateName, Incarnation};
use incumbent_protocol::node::NodeId;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

use super::channel::{ChannelError, Receiver, Sender};
use super::frame;
use super::way::Way;

/// The version of all messages between peers.
pub(crate) const VERSION: u8 = 3;

/// Longest encoded [`Hello`].
pub(crate) const HELLO_MAX: usize = 1024;

/// Who a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The version of the messages that it speaks; stands in front of each of them, too.
    pub(crate) version: u8,
    /// Its number.
    pub(crate) node: NodeId,
    /// Which life of it this is.
    pub(crate) incarnation: Incarnation,
    /// The name of the candidate, as people know it.
    pub(crate) name: String,
    /// Where others can dial it; none for onlookers.
    pub(crate) address: Option<String>,
    /// How it picks leaders; none for onlookers, who pick nobody.
    pub(crate) way: Option<Way>,
    /// Reserved: one day, which of several clusters of one secret.
    pub(crate) cluster: u64,
}

/// Why two nodes part after the first words. *Standing:* unchanged.
#[derive(Debug, Error)]
pub(crate) enum HelloError {
    /// A node of another release.
    #[error(
        "it speaks version {theirs} of the messages and this node speaks version {ours}: bring both to one release"
    )]
    Version {
        /// What it speaks.
        theirs: u8,
        /// What is spoken here.
        ours: u8,
    },
    /// This very process.
    #[error("it is this node itself")]
    Itself,
    /// Another process with the number of this one.
    #[error("it has the number {} of this node", .0.node)]
    Twin(Box<Hello>),
    /// A node that elects in another way: neither would understand the other's messages, or one would
    /// lead without the vote for which the other waits.
    #[error("{other} picks leaders by {theirs} and this node by {ours}")]
    Way {
        /// Who.
        other: Box<Hello>,
        /// How it does.
        theirs: Way,
        /// How this node does.
        ours: Way,
    },
    /// A name that cannot be shown.
    #[error("its name cannot be used: {0}")]
    Name(#[from] incumbent_protocol::identity::NameError),
    /// No conversation.
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

impl Hello {
    /// A node that speaks the version of this release.
    pub(crate) fn new(
        node: NodeId,
        incarnation: Incarnation,
        name: impl Into<String>,
        address: Option<String>,
    ) -> Self {
        let (version, name) = (VERSION, name.into());
        Hello { version, node, incarnation, name, address, way: None, cluster: 0 }
    }

    /// The same for one that picks leaders in that way.
    pub(crate) fn by(self, way: Way) -> Self {
        Hello { way: Some(way), ..self }
    }

    /// Says who this node is, and learns who the other one is.
    pub(crate) async fn exchange<R, W>(
        &self,
        from: &mut Receiver<R>,
        to: &mut Sender<W>,
    ) -> Result<Hello, HelloError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let own = frame::encode(self.version, self, HELLO_MAX).map_err(ChannelError::from)?;
        to.seal(&own)?;
        to.flush().await?;
        let theirs = from.receive(HELLO_MAX).await?;
        self.judge(&theirs)
    }

    /// What the other one said, if one goes on with it.
    fn judge(&self, bytes: &[u8]) -> Result<Hello, HelloError> {
        let hello: Hello = frame::decode(self.version, bytes).map_err(|error| match error {
            frame::FrameError::Version { theirs, ours } => HelloError::Version { theirs, ours },
            error => HelloError::Channel(error.into()),
        })?;
        if hello.version != self.version {
            return Err(HelloError::Version { theirs: hello.version, ours: self.version });
        }
        CandidateName::new(&hello.name)?;
        match (hello.node == self.node, hello.incarnation == self.incarnation) {
            (_, true) => Err(HelloError::Itself),
            (true, false) => Err(HelloError::Twin(Box::new(hello))),
            (false, false) => match (hello.way, self.way) {
                (Some(theirs), Some(ours)) if theirs != ours => {
                    Err(HelloError::Way { other: Box::new(hello), theirs, ours })
                }
                _ => Ok(hello),
            },
        }
    }
}

/// For people: its name, and where it is.
impl fmt::Display for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Some(address) => write!(f, "{} at {address}", self.name),
            None => write!(f, "{}, which does not listen,", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::way::Scheme;

    fn hello(node: u128, life: u128) -> Hello {
        Hello::new(NodeId::given(node), Incarnation::from_random(life), "host-1", None)
    }

    fn judged(other: &Hello) -> Result<Hello, HelloError> {
        let bytes = frame::encode(other.version, other, HELLO_MAX).expect("short");
        hello(1, 1).judge(&bytes)
    }

    #[test]
    fn another_node_is_welcome() {
        assert_eq!(judged(&hello(2, 2)).expect("welcome"), hello(2, 2));
    }

    #[test]
    fn itself_and_a_twin_are_told_apart() {
        assert!(matches!(judged(&hello(1, 1)), Err(HelloError::Itself)));
        let Err(HelloError::Twin(twin)) = judged(&hello(1, 2)) else { panic!("a twin") };
        assert_eq!(*twin, hello(1, 2));
    }

    #[test]
    fn another_version_is_named_even_if_its_words_cannot_be_read() {
        let error = hello(1, 1).judge(&[9, 255, 255]).expect_err("another version").to_string();
        let ours = format!("version {VERSION}");
        assert!(error.contains("version 9") && error.contains(&ours), "{error}");
    }

    #[test]
    fn another_way_is_refused_and_an_onlooker_has_none() {
        let judge = |mine: Hello, other: &Hello| {
            mine.judge(&frame::encode(VERSION, other, HELLO_MAX).expect("short"))
        };
        let way = |scheme, ratified| Way { scheme, ratified };
        let ring = hello(2, 2).by(way(Scheme::Ring, true));
        for other in [way(Scheme::Bully, true), way(Scheme::Ring, false)] {
            let error = judge(hello(1, 1).by(other), &ring).expect_err("another way");
            assert!(matches!(error, HelloError::Way { .. }), "{error}");
            let text = format!("picks leaders by ring:// and this node by {other}");
            assert!(error.to_string().ends_with(&text), "{error}");
            assert!(error.to_string().contains("host-1"), "{error}");
            let welcome = judge(hello(1, 1).by(other), &hello(2, 2)).expect("an onlooker there");
            assert_eq!(welcome, hello(2, 2));
        }
        assert_eq!(judge(hello(1, 1).by(way(Scheme::Ring, true)), &ring).expect("the same"), ring);
        assert_eq!(judge(hello(1, 1), &ring).expect("an onlooker here"), ring);
    }

    #[test]
    fn odd_names_and_odd_bytes_are_refused() {
        let odd = Hello { name: "a\nb".to_owned(), ..hello(2, 2) };
        assert!(matches!(judged(&odd), Err(HelloError::Name(_))));
        assert!(matches!(hello(1, 1).judge(&[VERSION, 1]), Err(HelloError::Channel(_))));
        assert!(matches!(hello(1, 1).judge(&[]), Err(HelloError::Channel(_))));
    }
}
