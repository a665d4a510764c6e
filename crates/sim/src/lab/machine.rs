//! How the machines of ring and bully stand on the floor of a lab.
//!
//! Assumes: nothing.
//! Promises: the machines are those of production; nothing here decides anything for them.

use core::time::Duration;

use incumbent_protocol::bully::{self, Bully};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice, Run};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ring::{self, Rejoin, Ring};

use super::kind::Kind;
use super::setting::Setting;

/// What is shown of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Face {
    pub(super) kind: Kind,
    pub(super) about: Option<NodeId>,
    pub(super) run: Run,
}

/// A machine that picks a peer.
pub(super) trait Machine:
    Protocol<
        Input = Input<<Self as Machine>::Message>,
        Effect = Effect<<Self as Machine>::Message>,
        Notice = Notice,
    >
{
    /// What it says to peers.
    type Message: Clone;

    /// The machine of one node.
    fn seated(node: NodeId, setting: &Setting) -> Self;

    /// Whether one that begins is told that the dead leader cannot be reached.
    fn knows(_node: NodeId, _dead: NodeId, _setting: &Setting) -> bool {
        true
    }

    /// What is shown of a message.
    fn face(message: &<Self as Machine>::Message) -> Face;
}

impl Machine for Ring {
    type Message = ring::Message;

    fn seated(node: NodeId, setting: &Setting) -> Self {
        let timeouts = ring::Timeouts::of_message_time(Duration::from_nanos(setting.bound));
        let timeouts = timeouts.expect("a bound that passed its check");
        let timeouts = if setting.repeats() { timeouts } else { timeouts.without_repeats() };
        Ring::new(node, timeouts, rejoin(setting))
    }

    fn face(message: &ring::Message) -> Face {
        use ring::{Message, Word};
        let (kind, about, run) = match *message {
            Message::Hop(Word::Election { run, best }) => (Kind::Election, best, run),
            Message::Hop(Word::Elected { run, nominee }) => (Kind::Elected, Some(nominee), run),
            Message::Ack(word) => (Kind::Ack, None, word.run()),
            Message::Unblock { run, .. } => (Kind::Unblock, None, run),
            Message::Ask => (Kind::Ask, None, Run::default()),
            Message::Current { run, nominee } => (Kind::Current, nominee, run),
        };
        Face { kind, about, run }
    }
}

impl Machine for Bully {
    type Message = bully::Message;

    fn seated(node: NodeId, setting: &Setting) -> Self {
        let timeouts = bully::Timeouts::of_message_time(Duration::from_nanos(setting.bound));
        let timeouts = timeouts.expect("a bound that passed its check");
        let timeouts = if setting.repeats() { timeouts } else { timeouts.without_repeats() };
        Bully::new(node, timeouts, rejoin(setting))
    }

    /// The lecture lets a node that finds the leader dead ask every higher one, the dead leader
    /// included, unless it knows that none of them lives.
    fn knows(node: NodeId, dead: NodeId, setting: &Setting) -> bool {
        !setting.nodes.iter().any(|other| *other > node && *other != dead)
    }

    fn face(message: &bully::Message) -> Face {
        use bully::Message;
        let (kind, about, run) = match *message {
            Message::Election { run } => (Kind::Election, None, run),
            Message::Ok { run } => (Kind::Answer, None, run),
            Message::Coordinator { run } => (Kind::Coordinator, None, run),
            Message::Ask => (Kind::Ask, None, Run::default()),
            Message::Current { run, nominee } => (Kind::Current, nominee, run),
        };
        Face { kind, about, run }
    }
}

fn rejoin(setting: &Setting) -> Rejoin {
    if setting.preempt { Rejoin::Preempting } else { Rejoin::Sticky }
}
