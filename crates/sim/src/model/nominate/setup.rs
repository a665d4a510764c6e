//! The bounds of a small world of nomination.

use core::marker::PhantomData;

use incumbent_protocol::caucus::Rejoin;
use incumbent_protocol::node::NodeId;

use super::nominator::Nominator;
use super::state::State;
use super::step::Step;
use crate::model::{Hope, Model, SightOf};

/// How many nodes there are.
pub const NODES: usize = 3;

/// How much may go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// How many messages may be lost.
    pub losses: u8,
    /// How many may arrive twice.
    pub doubles: u8,
    /// How often time passes though messages are under way.
    pub delays: u8,
    /// How many nodes may die.
    pub crashes: u8,
}

/// The bounds of a world.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a bound of its own")]
pub struct Setup<P> {
    /// The numbers of the nodes, in ring order.
    pub numbers: [u128; NODES],
    /// Which of them are told that nobody leads, each once and at any time.
    pub initiators: &'static [u8],
    /// What a node does that is new.
    pub rejoin: Rejoin,
    /// How much may go wrong.
    pub budget: Budget,
    /// Whether those who live are told that a node is dead. Else only waits show it, and a caucus that
    /// watches whoever was picked.
    pub told: bool,
    /// Whether messages from one node to another arrive in the order in which they were sent, as on a
    /// link. Else in any.
    pub ordered: bool,
    /// Whether whoever takes itself to be picked says so again when all is quiet and others disagree.
    pub repeats: bool,
    /// Whether the last node is not known to the others at first. They learn of it one by one, before
    /// any wait ends.
    pub joins: bool,
    /// How many runs there may be.
    pub runs: u64,
    /// By which protocol they pick.
    pub protocol: PhantomData<P>,
}

impl<P: Nominator> Setup<P> {
    /// Three nodes of which these begin; nothing goes wrong.
    pub const fn new(initiators: &'static [u8]) -> Self {
        Setup {
            numbers: [1, 2, 3],
            initiators,
            rejoin: Rejoin::Sticky,
            budget: Budget { losses: 0, doubles: 0, delays: 0, crashes: 0 },
            told: true,
            ordered: false,
            repeats: false,
            joins: false,
            runs: 1,
            protocol: PhantomData,
        }
    }

    pub(super) const fn node(&self, place: u8) -> NodeId {
        NodeId::given(self.numbers[place as usize])
    }
}

impl<P: Nominator> Model for Setup<P> {
    type State = State<P>;
    type Step = Step;

    fn first(&self) -> State<P> {
        State::new(self)
    }

    fn steps(&self, state: &State<P>) -> Vec<Step> {
        state.steps(self)
    }

    fn after(&self, state: &State<P>, step: Step) -> Option<State<P>> {
        state.after(step, self)
    }

    fn problem(&self, state: &State<P>) -> Option<&'static str> {
        state.problem(self)
    }

    fn sights(&self) -> &'static [SightOf<State<P>>] {
        &[
            ("a message was lost", |state| state.budget.losses < state.most.losses),
            ("a message was late", |state| state.budget.delays < state.most.delays),
            ("a node died that was picked", |state| {
                state.dead().is_some_and(|dead| state.picks.iter().any(|(_, node)| *node == dead))
            }),
            ("a run follows a run", |state| state.newest().0 > 1),
            ("two that live are picked in one run", |state| state.has_double_pick()),
        ]
    }

    fn hope(&self) -> Option<Hope<Self>> {
        Some(Hope {
            problem: "it cannot get quiet any more",
            is_met: |setup, state| state.is_quiet(setup),
            is_counted_on: |_, step| step.is_counted_on(),
        })
    }
}
