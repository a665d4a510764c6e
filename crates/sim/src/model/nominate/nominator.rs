//! What ring and bully have in common.

use core::fmt::Debug;
use core::hash::Hash;
use core::time::Duration;

use incumbent_protocol::bully::{self, Bully};
use incumbent_protocol::caucus::Rejoin;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice, Run};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ring::{self, Ring};

/// The bound on the time of one message. Only its proportion to other waits counts.
const MESSAGE: Duration = Duration::from_nanos(997);

/// A protocol by which peers pick one of them.
pub trait Nominator:
    Protocol<Input = Input<Self::Message>, Effect = Effect<Self::Message>, Notice = Notice>
    + Clone
    + Debug
    + Eq
    + Hash
    + 'static
{
    /// What nodes say.
    type Message: Copy + Debug + Ord + Hash + 'static;

    /// A node that says once that it was picked.
    fn node(me: NodeId, rejoin: Rejoin) -> Self;

    /// The newest run that it knows of.
    fn run(&self) -> Run;

    /// Whom that run picked.
    fn nominee(&self) -> Option<NodeId>;

    /// What whoever was picked says again and again.
    fn repeated(&self) -> Self::Message;
}

impl Nominator for Ring {
    type Message = ring::Message;

    fn node(me: NodeId, rejoin: Rejoin) -> Self {
        let timeouts = ring::Timeouts::of_message_time(MESSAGE).expect("the usual proportions");
        Ring::new(me, timeouts.without_repeats(), rejoin)
    }

    fn run(&self) -> Run {
        self.run()
    }

    fn nominee(&self) -> Option<NodeId> {
        self.nominee()
    }

    fn repeated(&self) -> ring::Message {
        ring::Message::Current { run: self.run(), nominee: self.nominee() }
    }
}

impl Nominator for Bully {
    type Message = bully::Message;

    fn node(me: NodeId, rejoin: Rejoin) -> Self {
        let timeouts = bully::Timeouts::of_message_time(MESSAGE).expect("the usual proportions");
        Bully::new(me, timeouts.without_repeats(), rejoin)
    }

    fn run(&self) -> Run {
        self.run()
    }

    fn nominee(&self) -> Option<NodeId> {
        self.nominee()
    }

    fn repeated(&self) -> bully::Message {
        bully::Message::Current { run: self.run(), nominee: self.nominee() }
    }
}
