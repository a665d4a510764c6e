//! What a node does with what it hears, from peers and from its own handles.
//!
//! Assumes: links that prove who speaks.
//! Promises: it answers at once or passes on: what waits for the disk is put to the voter.

use incumbent_protocol::caucus;
use incumbent_protocol::detector;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use super::{Pending, Task};
use crate::clock;
use crate::peers::booth::{Question, What};
use crate::peers::message::Message;
use crate::peers::node::Word;

impl Task {
    pub(super) fn heard(&mut self, now: Time, from: NodeId, message: Message) {
        match message {
            Message::Ask { id, electorate, asks } => {
                self.put(Question { from, id, electorate, what: What::Asks(asks) });
            }
            Message::Inventory { id, electorate } => {
                self.put(Question { from, id, electorate, what: What::Inventory });
            }
            Message::Answer { id, .. }
            | Message::Registers { id, .. }
            | Message::Rolled { id, .. } => self.answered(id, from, message),
            Message::Roll { id, lines, elections } => {
                let lines = self.roll(lines, &elections);
                self.say(from, Message::Rolled { id, lines });
            }
            Message::Rung { ended } => {
                let higher = self.state.neighbours.keys();
                let higher = higher.filter(|node| **node > self.node && **node != from).count();
                self.state.lookout.rung(now, !ended.is_empty(), higher);
                for (election, term) in ended {
                    if let Some(group) = self.state.groups.get_mut(&election) {
                        group.ended(now, term);
                    }
                }
            }
            Message::Beat(message) => {
                self.detector.handle(now, detector::Input::Message { from, message });
            }
            Message::Caucus { election, message } => {
                if let Some(group) = self.state.groups.get_mut(&election) {
                    group.handle(now, caucus::Input::Message { from, message });
                }
            }
            Message::Contends(elections) => self.contending(now, from, elections),
            Message::Listen(addresses) => {
                for address in addresses {
                    let own = self.state.strangers.contains_key(&address);
                    if !own && !self.seats.iter().any(|seat| seat.address == address) {
                        self.stranger(address);
                    }
                }
            }
        }
    }

    fn put(&self, question: Question) {
        if let Some(booth) = &self.booth {
            booth.put(question);
        }
    }

    fn answered(&mut self, id: u64, from: NodeId, message: Message) {
        if let Some(pending) = self.state.pending.get_mut(&id) {
            pending.waiting.remove(&from);
            let _ = pending.answers.send((from, message));
        }
    }

    /// Says something to another node, or to this one.
    fn say(&mut self, to: NodeId, message: Message) {
        if to == self.node {
            self.heard(clock::now(), to, message);
        } else {
            self.links.send(to, &message);
        }
    }

    pub(super) fn told(&mut self, word: Word) {
        let now = clock::now();
        match word {
            Word::Question { id, to, message, answers } => {
                let waiting = to.clone();
                self.state
                    .pending
                    .insert(id, Pending { message: message.clone(), waiting, answers });
                for node in to {
                    self.say(node, message.clone());
                }
            }
            Word::Again(id) => {
                let again = self.state.pending.get(&id);
                let again = again.map(|it| (it.waiting.clone(), it.message.clone()));
                if let Some((waiting, message)) = again {
                    for node in waiting {
                        self.say(node, message.clone());
                    }
                }
            }
            Word::Forget(id) => drop(self.state.pending.remove(&id)),
            Word::Heard(message) => self.heard(now, self.node, message),
            Word::Ring { ended } => {
                let rung = Message::Rung { ended };
                for node in self.state.neighbours.keys() {
                    self.links.send(*node, &rung);
                }
            }
            Word::Electorate(electorate) => {
                self.electorate = electorate;
                self.show_reach();
            }
            Word::Takes { election, part } => self.takes(now, &election, part),
            Word::Reach { done } => drop(done.send(self.reach())),
            Word::Nominee { election, done } => drop(done.send(self.nominee(&election))),
            Word::Acquaintances { done } => drop(done.send(self.acquaintances())),
            // Answered where words are taken.
            Word::Close { .. } => {}
        }
    }
}
