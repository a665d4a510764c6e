//! How nodes come to have links, lose them, and talk over them.
//!
//! Assumes: a link is a connection as TCP gives them: it is made if both hosts can be reached, and
//! ends for both when one of them ends or nothing was acknowledged for long.
//! Promises: what is said between two processes reaches no other life of either; on a healthy link in
//! order. Where the story says so, it is lost, late, doubled or out of order, which a connection
//! would not allow: the protocols promise to bear it.

use incumbent_protocol::node::NodeId;

use super::{Event, World, small};
use crate::clock::{SECOND, Span};
use crate::peers::wire::Letter;
use crate::peers::words::Message;

const MILLISECOND: Span = 1_000_000;

/// How long what was sent may go without an answer before a link is given up.
const STUCK: Span = 3 * SECOND;

/// So many messages are never on their way at once, unless they breed.
const FLOOD: usize = 100_000;

impl World<'_> {
    /// The place of a node of this number.
    pub(super) fn place(&self, number: NodeId) -> Option<u8> {
        self.nodes.iter().position(|node| node.number == number).map(small)
    }

    pub(super) fn pair(&self, one: u8, other: u8) -> usize {
        usize::from(one.min(other)) * self.nodes.len() + usize::from(one.max(other))
    }

    pub(super) fn ends(&self, pair: usize) -> (u8, u8) {
        (small(pair / self.nodes.len()), small(pair % self.nodes.len()))
    }

    fn is_open(&self, pair: usize) -> bool {
        let (one, other) = (pair / self.nodes.len(), pair % self.nodes.len());
        self.network.is_open(one, other) && self.network.is_open(other, one)
    }

    /// Lets two nodes try soon to have a link.
    pub(super) fn dial_soon(&mut self, pair: usize, least: Span, most: Span) {
        if !core::mem::replace(&mut self.links[pair].dialling, true) {
            let at = self.now + self.random.between(least, most);
            self.queue.push(at, Event::Dial { pair });
        }
    }

    pub(super) fn dial_all(&mut self, node: u8, least: Span, most: Span) {
        for other in 0..small(self.nodes.len()) {
            if other != node {
                self.dial_soon(self.pair(node, other), least, most);
            }
        }
    }

    pub(super) fn dial(&mut self, pair: usize) {
        self.links[pair].dialling = false;
        let (one, other) = self.ends(pair);
        let (first, second) = (&self.nodes[usize::from(one)], &self.nodes[usize::from(other)]);
        if self.links[pair].live || !first.up || !second.up {
            return; // Whoever starts dials.
        }
        if !first.is_running() || !second.is_running() || !self.is_open(pair) {
            self.dial_soon(pair, SECOND / 10, SECOND);
            return;
        }
        let lives = (first.life, second.life);
        self.links[pair].session += 1;
        self.links[pair].dialling = true;
        let session = self.links[pair].session;
        let at = self.now + self.random.between(self.network.latency(), self.network.latency() * 4);
        self.queue.push(at, Event::Linked { pair, session, lives });
    }

    pub(super) fn linked(&mut self, pair: usize, session: u64, lives: (u32, u32)) {
        self.links[pair].dialling = false;
        let (one, other) = self.ends(pair);
        let (first, second) = (&self.nodes[usize::from(one)], &self.nodes[usize::from(other)]);
        let stand = first.up && second.up && (first.life, second.life) == lives;
        if !stand || !self.is_open(pair) {
            self.dial_soon(pair, SECOND / 100, SECOND / 4);
            return;
        }
        let ends = [
            (one, lives.0, other, second.id.incarnation),
            (other, lives.1, one, first.id.incarnation),
        ];
        self.links[pair].live = true;
        for (node, life, peer, incarnation) in ends {
            self.queue.push(self.now, Event::Up { node, life, peer, session, incarnation });
        }
    }

    /// A link ends, and each end hears of it after a while.
    pub(super) fn break_link(&mut self, pair: usize, heard: (Span, Span)) {
        if !core::mem::replace(&mut self.links[pair].live, false) {
            return;
        }
        let session = self.links[pair].session;
        let (one, other) = self.ends(pair);
        for (node, peer, after) in [(one, other, heard.0), (other, one, heard.1)] {
            let life = self.nodes[usize::from(node)].life;
            self.queue.push(self.now + after, Event::Down { node, life, peer, session });
        }
        self.dial_soon(pair, 10 * MILLISECOND, SECOND / 2);
    }

    /// A process ends: its kernel says so to whoever can hear it.
    pub(super) fn hang_up(&mut self, node: u8) {
        for other in (0..small(self.nodes.len())).filter(|&other| other != node) {
            let pair = self.pair(node, other);
            let open = self.network.is_open(usize::from(node), usize::from(other));
            let after = if open { self.network.latency() } else { STUCK };
            self.break_link(pair, (after, after));
        }
    }

    /// Looks, a while after a link was cut, whether it is still.
    pub(super) fn watch_for_stuck(&mut self, pair: usize) {
        let session = self.links[pair].session;
        let at = self.now + STUCK + self.random.between(0, SECOND);
        self.queue.push(at, Event::Stuck { pair, session });
    }

    pub(super) fn stuck(&mut self, pair: usize, session: u64) {
        if self.links[pair].session == session && !self.is_open(pair) {
            let after = self.random.between(0, SECOND / 2);
            self.break_link(pair, (0, after));
        }
    }

    /// Says something to another node, if there is a link as far as the sender knows.
    pub(super) fn say(&mut self, from: u8, session: u64, to: u8, message: Message) {
        self.tally.messages += 1;
        if let Message::Caucus { message, .. } = &message {
            let [from, to] = [from, to].map(|it| &self.nodes[usize::from(it)].id.name);
            self.scribe.trace(self.now, || format!("{from} to {to}: {message:?}"));
        }
        if self.letters.count() > FLOOD {
            // Each is answered by more than one: there would be no end, and no memory for it.
            self.accuse("no_flood", format!("more than {FLOOD} messages are on their way"));
            self.ended = true;
            return;
        }
        let lives = (self.nodes[usize::from(from)].life, self.nodes[usize::from(to)].life);
        let (from_life, to_life) = lives;
        let sure = matches!(message, Message::Contends { .. });
        let letter = Letter { from, from_life, to, to_life, session, message };
        if sure {
            let letter = self.letters.insert(letter);
            let at = self.now + self.network.latency();
            let at = self.letters.in_order(from, to, at);
            self.queue.push(at, Event::Deliver { letter });
            return;
        }
        let ends = (usize::from(from), usize::from(to));
        let passage = self.network.send(&mut self.random, self.now, ends.0, ends.1);
        let first = passage
            .first
            .map(|at| if passage.shuffled { at } else { self.letters.in_order(from, to, at) });
        for at in [first, passage.second].into_iter().flatten() {
            let letter = self.letters.insert(letter.clone());
            self.queue.push(at, Event::Deliver { letter });
        }
    }

    /// Whether a letter that arrives may be read now. One that a connection would send again while it
    /// cannot pass waits.
    pub(super) fn is_delivered(&mut self, id: usize) -> bool {
        let Some(letter) = self.letters.get(id) else { return false };
        let (from, to) = (letter.from, letter.to);
        let lives = self.nodes[usize::from(from)].life == letter.from_life;
        if lives && matches!(letter.message, Message::Contends { .. }) {
            let session = letter.session;
            let link = self.links[self.pair(from, to)];
            if !link.live || link.session != session {
                self.letters.remove(id);
                return false;
            }
            if !self.network.is_open(usize::from(from), usize::from(to)) {
                self.queue.push(self.now + SECOND / 5, Event::Deliver { letter: id });
                return false;
            }
        }
        true
    }
}
