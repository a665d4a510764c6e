//! The network: directed links between numbered nodes, each with its own faults.
//!
//! Assumes: the world draws chance and keeps the time; the network only says what becomes of a
//! message.
//! Promises: faults of several causes add up and go away one by one; a healthy link delivers once,
//! within its latency.

use crate::clock::{At, Span};
use crate::random::Random;

/// The number of a node.
pub type Node = usize;

/// What is wrong with a directed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// Nothing passes.
    pub cut: bool,
    /// How many messages in a million are lost.
    pub loss: u32,
    /// How many messages in a million arrive twice.
    pub twice: u32,
    /// Every message takes so much longer.
    pub delay: Span,
    /// Each message takes up to so much longer, so that later ones overtake it.
    pub jitter: Span,
}

/// Names one trouble, so that it can be taken away again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TroubleId(u64);

/// What becomes of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// When it arrives, if it does.
    pub first: Option<At>,
    /// When it arrives once more, if it does.
    pub second: Option<At>,
    /// Whether trouble made it late.
    pub late: bool,
    /// Whether trouble may have changed the order of messages.
    pub shuffled: bool,
    /// Whether the link was cut, rather than having lost this one.
    pub cut: bool,
}

/// All links between all nodes.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: usize,
    least: Span,
    most: Span,
    links: Vec<Trouble>,
    troubles: Vec<(TroubleId, Node, Node, Trouble)>,
    named: u64,
}

impl Network {
    /// Healthy links between so many nodes, each message taking from `least` to `most`.
    pub fn new(nodes: usize, least: Span, most: Span) -> Self {
        Network {
            nodes,
            least,
            most,
            links: vec![Trouble::default(); nodes * nodes],
            troubles: Vec::new(),
            named: 0,
        }
    }

    /// The longest that a message takes on a healthy link.
    pub const fn latency(&self) -> Span {
        self.most
    }

    /// Sends a message.
    pub fn send(&self, random: &mut Random, now: At, from: Node, to: Node) -> Passage {
        let link = &self.links[from * self.nodes + to];
        let usual = now + random.between(self.least, self.most);
        if *link == Trouble::default() {
            return Passage { first: Some(usual), ..Passage::default() };
        }
        let cut = link.cut;
        if cut || random.chance(link.loss) {
            return Passage { cut, ..Passage::default() };
        }
        let first = usual + link.delay + random.between(0, link.jitter);
        let again = random.chance(link.twice);
        Passage {
            first: Some(first),
            second: again.then(|| first + random.between(0, link.jitter.max(self.most * 8))),
            late: link.delay > 0,
            shuffled: link.jitter > 0,
            cut: false,
        }
    }

    /// Breaks a directed link in one more way.
    pub fn trouble(&mut self, from: Node, to: Node, trouble: Trouble) -> TroubleId {
        let id = TroubleId(self.named);
        self.named += 1;
        self.troubles.push((id, from, to, trouble));
        self.sum_up(from, to);
        id
    }

    /// Takes one trouble away.
    pub fn relieve(&mut self, id: TroubleId) {
        let Some(place) = self.troubles.iter().position(|&(it, ..)| it == id) else {
            return;
        };
        let (_, from, to, _) = self.troubles.swap_remove(place);
        self.sum_up(from, to);
    }

    /// Takes all troubles away.
    pub fn heal(&mut self) {
        self.troubles.clear();
        self.links.fill(Trouble::default());
    }

    /// Whether a message could pass right now.
    pub fn is_open(&self, from: Node, to: Node) -> bool {
        !self.links[from * self.nodes + to].cut
    }

    fn sum_up(&mut self, from: Node, to: Node) {
        let of_link = |&&(_, f, t, _): &&(TroubleId, Node, Node, Trouble)| (f, t) == (from, to);
        let mut sum = Trouble::default();
        for &(_, _, _, trouble) in self.troubles.iter().filter(of_link) {
            sum.cut |= trouble.cut;
            sum.loss = sum.loss.max(trouble.loss);
            sum.twice = sum.twice.max(trouble.twice);
            sum.delay = sum.delay.max(trouble.delay);
            sum.jitter = sum.jitter.max(trouble.jitter);
        }
        self.links[from * self.nodes + to] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::MILLION;

    fn network() -> (Network, Random) {
        (Network::new(3, 10, 20), Random::from_seed(5))
    }

    fn cut() -> Trouble {
        Trouble { cut: true, ..Trouble::default() }
    }

    #[test]
    fn a_healthy_link_delivers_once_within_its_latency() {
        let (network, mut random) = network();
        for _ in 0..100 {
            let passage = network.send(&mut random, 1_000, 0, 1);
            assert!((1_010..=1_020).contains(&passage.first.unwrap_or(0)));
            assert_eq!(passage.second, None);
        }
    }

    #[test]
    fn a_cut_in_one_direction_leaves_the_other_open() {
        let (mut network, mut random) = network();
        network.trouble(0, 1, cut());
        assert_eq!(network.send(&mut random, 0, 0, 1).first, None);
        assert!(network.send(&mut random, 0, 1, 0).first.is_some());
        assert!(network.send(&mut random, 0, 0, 2).first.is_some());
    }

    #[test]
    fn overlapping_cuts_end_one_by_one() {
        let (mut network, _) = network();
        let (one, two) = (network.trouble(0, 1, cut()), network.trouble(0, 1, cut()));
        network.relieve(one);
        assert!(!network.is_open(0, 1));
        network.relieve(two);
        assert!(network.is_open(0, 1));
        network.relieve(two);
    }

    #[test]
    fn loss_doubling_and_delay_do_what_they_say() {
        let (mut network, mut random) = network();
        let flood = Trouble { twice: MILLION, delay: 500, jitter: 100, ..Trouble::default() };
        network.trouble(0, 1, flood);
        let passage = network.send(&mut random, 0, 0, 1);
        assert!(passage.late && passage.shuffled && passage.second >= passage.first);
        assert!(passage.first.is_some_and(|at| (510..=620).contains(&at)));
        let deaf = Trouble { loss: MILLION, ..Trouble::default() };
        network.trouble(0, 1, deaf);
        assert_eq!(network.send(&mut random, 0, 0, 1), Passage::default());
        network.heal();
        assert!(network.send(&mut random, 0, 0, 1).first.is_some());
    }
}
