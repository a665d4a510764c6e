//! How a word reaches the next neighbour that lives.
//!
//! Assumes: whoever receives a word acknowledges it, whatever it thinks of it. Promises: a neighbour
//! that does not is passed over, and the one after it too, until the word arrived or came round.

use super::Ring;
use super::words::{Message, Word};
use crate::node::NodeId;
use crate::planted::{self, Bug};
use crate::time::Time;

/// A word on its way to a neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    word: Word,
    to: NodeId,
    /// When it counts as not arrived.
    pub(super) until: Time,
}

impl Ring {
    /// Sends a word to the next neighbour.
    pub(super) fn send_word(&mut self, now: Time, word: Word) {
        self.send_after(now, self.peers.me(), word);
    }

    /// The word arrived.
    pub(super) fn hear_ack(&mut self, word: Word) {
        self.hops.retain(|hop| hop.word != word);
    }

    /// Whoever did not acknowledge in time is passed over.
    pub(super) fn pass_over_the_silent(&mut self, now: Time) {
        while let Some(at) = self.hops.iter().position(|hop| hop.until <= now) {
            let Hop { word, to, .. } = self.hops.remove(at);
            if planted::is(Bug::DeadNeighbour) {
                self.send_hop(now, to, word);
                continue;
            }
            self.lose(now, to);
            self.send_after(now, to, word);
        }
    }

    /// This node cannot be reached: whatever is on its way to it goes to the next at once.
    pub(super) fn pass_over(&mut self, now: Time, node: NodeId) {
        while let Some(at) = self.hops.iter().position(|hop| hop.to == node) {
            let hop = self.hops.remove(at);
            self.send_after(now, node, hop.word);
        }
    }

    /// The same for those who do not take part any more.
    pub(super) fn pass_over_those_who_left(&mut self, now: Time) {
        let left: Vec<NodeId> = self.hops.iter().map(|hop| hop.to).collect();
        for node in left.into_iter().filter(|node| !self.peers.has(*node)).collect::<Vec<_>>() {
            self.pass_over(now, node);
        }
    }

    fn send_after(&mut self, now: Time, node: NodeId, word: Word) {
        match self.peers.next_after(node) {
            Some(next) => self.send_hop(now, next, word),
            None => self.come_round(now, word),
        }
    }

    fn send_hop(&mut self, now: Time, to: NodeId, word: Word) {
        self.hops.push(Hop { word, to, until: now + self.timeouts.hop() });
        self.send(to, Message::Hop(word));
    }

    /// Nobody else is there: its own words have come round; the rest has nowhere to go.
    fn come_round(&mut self, now: Time, word: Word) {
        let me = self.peers.me();
        match word {
            Word::Election { best, .. } if best == Some(me) && self.nominee.is_none() => {
                self.win(now);
            }
            Word::Elected { nominee, .. } if nominee == me => self.finish(),
            _ => {}
        }
    }
}
