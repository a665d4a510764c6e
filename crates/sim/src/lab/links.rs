//! The links between the nodes of a lab: how long a message takes, and whether it arrives.
//!
//! Assumes: nothing.
//! Promises: what becomes of a message depends on the seed and on how many were sent before it,
//! and on nothing else.

use incumbent_protocol::node::NodeId;

use crate::clock::{At, Span};
use crate::random::Random;

/// One message time: the unit in which labs count. How long it is elsewhere does not matter here.
pub const MESSAGE_TIME: Span = 1_000_000;

/// A link from one node to another that is unlike the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// From whom.
    pub from: NodeId,
    /// To whom; the other direction is a link of its own.
    pub to: NodeId,
    /// How long a message takes on it.
    pub delay: Span,
}

/// How links behave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// How long a message takes, at least and at most.
    pub delay: (Span, Span),
    /// Links that are unlike the others.
    pub unlike: Vec<Link>,
    /// How often a message is lost, in a million.
    pub loss: u32,
    /// How often a message arrives twice, in a million.
    pub twice: u32,
}

impl Default for Links {
    fn default() -> Self {
        Links { delay: (MESSAGE_TIME, MESSAGE_TIME), unlike: Vec::new(), loss: 0, twice: 0 }
    }
}

/// What becomes of a message: when it arrives, and when once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) first: Option<At>,
    pub(super) again: Option<At>,
}

impl Links {
    /// The longest that a message takes.
    pub fn slowest(&self) -> Span {
        self.unlike.iter().map(|link| link.delay).fold(self.delay.1, Span::max)
    }

    /// Whether every message arrives once, after one message time.
    pub fn are_ideal(&self) -> bool {
        let even = self.unlike.iter().all(|link| link.delay == MESSAGE_TIME);
        let unit = self.delay == (MESSAGE_TIME, MESSAGE_TIME);
        even && unit && self.loss == 0 && self.twice == 0
    }

    /// Sends a message. Draws equally often whatever comes of it, so that a change of one chance does
    /// not shift the others.
    pub(super) fn send(&self, random: &mut Random, now: At, from: NodeId, to: NodeId) -> Passage {
        let unlike = self.unlike.iter().rfind(|link| (link.from, link.to) == (from, to));
        let drawn = random.between(self.delay.0, self.delay.1);
        let delay = unlike.map_or(drawn, |link| link.delay);
        let (lost, twice) = (random.chance(self.loss), random.chance(self.twice));
        let later = random.between(1, MESSAGE_TIME);
        let first = (!lost).then_some(now + delay);
        Passage { first, again: first.filter(|_| twice).map(|at| at + later) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::MILLION;

    const ONE: NodeId = NodeId::given(1);
    const TWO: NodeId = NodeId::given(2);

    #[test]
    fn an_ideal_link_takes_one_message_time() {
        let (links, mut random) = (Links::default(), Random::from_seed(1));
        assert!(links.are_ideal());
        let passage = links.send(&mut random, 5, ONE, TWO);
        assert_eq!(passage, Passage { first: Some(5 + MESSAGE_TIME), again: None });
    }

    #[test]
    fn a_link_of_its_own_is_slow_in_one_direction_only() {
        let unlike = vec![Link { from: ONE, to: TWO, delay: 9 }];
        let (links, mut random) = (Links { unlike, ..Links::default() }, Random::from_seed(1));
        assert!(!links.are_ideal());
        assert_eq!(links.send(&mut random, 0, ONE, TWO).first, Some(9));
        assert_eq!(links.send(&mut random, 0, TWO, ONE).first, Some(MESSAGE_TIME));
    }

    #[test]
    fn losses_and_doubles_come_as_often_as_they_should() {
        let mut random = Random::from_seed(3);
        let links = Links { loss: MILLION, twice: MILLION, ..Links::default() };
        assert_eq!(links.send(&mut random, 0, ONE, TWO), Passage::default());
        let links = Links { loss: 0, ..links };
        let passage = links.send(&mut random, 0, ONE, TWO);
        assert!(passage.again > passage.first && passage.first.is_some());
    }
}
