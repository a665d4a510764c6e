//! A ring or a bully, behind one face.
//!
//! Assumes: all nodes of an election have the same manner; a message of the other is ignored.
//! Promises: nothing of its own; it only passes on.

use core::time::Duration;

use super::waits::Rejoin;
use super::words::{Effect, Message};
use crate::bully::{self, Bully};
use crate::node::NodeId;
use crate::nomination::{self, Notice, Run};
use crate::protocol::Protocol;
use crate::ring::{self, Ring};
use crate::time::Time;

/// How peers pick one of them, and how long they wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Manner {
    /// By a ring.
    Ring(ring::Timeouts),
    /// By asking the higher.
    Bully(bully::Timeouts),
}

pub(super) type Input = nomination::Input<Message>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Machine {
    Ring(Box<Ring>),
    Bully(Box<Bully>),
}

impl Machine {
    pub(super) fn new(me: NodeId, manner: Manner, rejoin: Rejoin) -> Self {
        match manner {
            Manner::Ring(timeouts) => Machine::Ring(Box::new(Ring::new(me, timeouts, rejoin))),
            Manner::Bully(timeouts) => Machine::Bully(Box::new(Bully::new(me, timeouts, rejoin))),
        }
    }

    pub(super) const fn run(&self) -> Run {
        match self {
            Machine::Ring(ring) => ring.run(),
            Machine::Bully(bully) => bully.run(),
        }
    }

    pub(super) const fn is_electing(&self) -> bool {
        match self {
            Machine::Ring(ring) => ring.is_electing(),
            Machine::Bully(bully) => bully.is_electing(),
        }
    }

    pub(super) const fn message_time(&self) -> Duration {
        match self {
            Machine::Ring(ring) => ring.timeouts().message(),
            Machine::Bully(bully) => bully.timeouts().message(),
        }
    }

    pub(super) fn reach(&mut self, node: NodeId) {
        match self {
            Machine::Ring(ring) => ring.reach(node),
            Machine::Bully(bully) => bully.reach(node),
        }
    }

    pub(super) fn handle(&mut self, now: Time, input: Input) {
        match self {
            Machine::Ring(ring) => {
                let to_ring = |message| match message {
                    Message::Ring(message) => Some(message),
                    Message::Bully(_) => None,
                };
                if let Some(input) = translate(input, to_ring) {
                    ring.handle(now, input);
                }
            }
            Machine::Bully(bully) => {
                let to_bully = |message| match message {
                    Message::Bully(message) => Some(message),
                    Message::Ring(_) => None,
                };
                if let Some(input) = translate(input, to_bully) {
                    bully.handle(now, input);
                }
            }
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        match self {
            Machine::Ring(ring) => ring.wake_at(),
            Machine::Bully(bully) => bully.wake_at(),
        }
    }

    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        match self {
            Machine::Ring(ring) => ring.poll_effect().map(|effect| {
                let nomination::Effect::Send { to, message } = effect;
                Effect::Send { to, message: Message::Ring(message) }
            }),
            Machine::Bully(bully) => bully.poll_effect().map(|effect| {
                let nomination::Effect::Send { to, message } = effect;
                Effect::Send { to, message: Message::Bully(message) }
            }),
        }
    }

    pub(super) fn poll_notice(&mut self) -> Option<Notice> {
        match self {
            Machine::Ring(ring) => ring.poll_notice(),
            Machine::Bully(bully) => bully.poll_notice(),
        }
    }
}

fn translate<M>(
    input: Input,
    message_of: impl FnOnce(Message) -> Option<M>,
) -> Option<nomination::Input<M>> {
    use nomination::Input as In;
    Some(match input {
        In::Wake => In::Wake,
        In::Nodes(nodes) => In::Nodes(nodes),
        In::Eligible(eligible) => In::Eligible(eligible),
        In::Vacant => In::Vacant,
        In::Led(leader) => In::Led(leader),
        In::Unreachable(node) => In::Unreachable(node),
        In::Message { from, message } => In::Message { from, message: message_of(message)? },
    })
}
