//! A small world of nomination at one moment, and what is wrong with it.

use std::collections::BTreeSet;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::nomination::{Effect, Input, Notice, Run};
use incumbent_protocol::time::Time;

use super::nominator::Nominator;
use super::setup::{Budget, NODES, Setup};

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Letter<M> {
    pub(super) to: u8,
    pub(super) from: u8,
    pub(super) message: M,
}

impl<M> Letter<M> {
    pub(super) const fn link(&self) -> (u8, u8) {
        (self.to, self.from)
    }
}

/// One node and what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seat<P> {
    pub(super) node: P,
    /// Whether it is still to be told that nobody leads.
    pub(super) begins: bool,
    /// Whether it is still to be told of the node that joins.
    pub(super) learns: bool,
    /// Whether it was told who is dead.
    pub(super) told: bool,
}

/// The world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<P: Nominator> {
    pub(super) now: Time,
    pub(super) seats: [Seat<P>; NODES],
    /// Who died.
    pub(super) crashed: Option<(u8, NodeId)>,
    /// Sorted, so that the order in which they were sent makes no difference where it need not.
    pub(super) letters: Vec<Letter<P::Message>>,
    /// What may still go wrong.
    pub budget: Budget,
    /// What might have gone wrong in the beginning.
    pub most: Budget,
    /// Who picked itself in which run.
    pub picks: BTreeSet<(Run, NodeId)>,
    /// Whether somebody was taken to be picked that had not picked itself in that run.
    pub(super) untrue: bool,
}

impl<P: Nominator> State<P> {
    pub(super) fn new(setup: &Setup<P>) -> Self {
        let all: Vec<NodeId> = setup.numbers.map(NodeId::given).to_vec();
        let seat = |place: u8| {
            let learns = setup.joins && usize::from(place) + 1 < NODES;
            let known = if learns { &all[..NODES - 1] } else { &all[..] };
            let mut node = P::node(setup.node(place), setup.rejoin);
            node.begin(Time::ZERO);
            node.handle(Time::ZERO, Input::Nodes(known.to_vec()));
            Seat { node, begins: setup.initiators.contains(&place), learns, told: false }
        };
        State {
            now: Time::ZERO,
            seats: [seat(0), seat(1), seat(2)],
            crashed: None,
            letters: Vec::new(),
            budget: setup.budget,
            most: setup.budget,
            picks: BTreeSet::new(),
            untrue: false,
        }
    }

    /// Who died.
    pub fn dead(&self) -> Option<NodeId> {
        self.crashed.map(|(_, node)| node)
    }

    /// The newest run that anybody knows of.
    pub fn newest(&self) -> Run {
        self.seats.iter().map(|seat| seat.node.run()).max().unwrap_or_default()
    }

    /// Whether two that live picked themselves in one run.
    pub fn has_double_pick(&self) -> bool {
        let mut living = self.picks.iter().filter(|(_, node)| Some(*node) != self.dead());
        let mut before = living.next();
        living.any(|pick| before.replace(pick).is_some_and(|(run, _)| *run == pick.0))
    }

    /// The places of those who live.
    pub(super) fn living(&self) -> impl Iterator<Item = u8> + use<P> {
        let dead = self.crashed.map(|(place, _)| place);
        (0..3).filter(move |place| Some(*place) != dead)
    }

    fn nominee(&self, place: u8) -> Option<NodeId> {
        self.seats[usize::from(place)].node.nominee()
    }

    /// Whether all who live take the same node to be picked, or none.
    pub(super) fn agrees(&self) -> bool {
        let mut nominees = self.living().map(|place| self.nominee(place));
        let first = nominees.next();
        nominees.all(|other| Some(other) == first)
    }

    /// What is wrong, if anything.
    pub(super) fn problem(&self, setup: &Setup<P>) -> Option<&'static str> {
        if self.untrue {
            return Some("somebody is taken to be picked that is not");
        }
        if self.newest().0 > setup.runs {
            return Some("more runs than there is trouble");
        }
        // Else a node may take a peer for dead that lives, or not know of it.
        let heard = self.budget.losses == self.most.losses
            && self.budget.delays == self.most.delays
            && !setup.joins;
        if heard && self.has_double_pick() {
            return Some("two that live are picked in one run");
        }
        if !self.is_quiet(setup) {
            return None;
        }
        let Some(nominee) = self.living().find_map(|place| self.nominee(place)) else {
            return Some("all is quiet, and nobody is picked");
        };
        if !self.agrees() {
            return Some("all is quiet, and there is no agreement");
        }
        if self.dead() == Some(nominee) {
            return Some("all is quiet, and whoever is picked is dead");
        }
        let highest = self.living().map(|place| setup.numbers[usize::from(place)]).max();
        if heard && highest != Some(nominee.number()) {
            return Some("all is quiet, and whoever is picked is not the highest");
        }
        None
    }

    /// Gives a node something to do, and posts what it says.
    pub(super) fn handle(&mut self, place: u8, input: Input<P::Message>, setup: &Setup<P>) {
        let node = &mut self.seats[usize::from(place)].node;
        node.handle(self.now, input);
        while let Some(notice) = node.poll_notice() {
            let Notice::Picked { run, nominee } = notice else { continue };
            if nominee == setup.node(place) {
                self.picks.insert((run, nominee));
            }
            self.untrue |= !self.picks.contains(&(run, nominee));
        }
        while let Some(Effect::Send { to, message }) = node.poll_effect() {
            let to = (0..3).find(|other| setup.node(*other) == to);
            let to = to.filter(|to| self.crashed.is_none_or(|(dead, _)| dead != *to));
            self.letters.extend(to.map(|to| Letter { to, from: place, message }));
        }
        if setup.ordered {
            self.letters.sort_by_key(Letter::link);
        } else {
            self.letters.sort_unstable();
        }
    }
}
