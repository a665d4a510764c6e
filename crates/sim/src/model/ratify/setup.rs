//! The bounds of a small world of ratification.

use std::collections::BTreeSet;

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::ratify::amend::Change;
use incumbent_protocol::term::Term;

use super::chain::Value;
use super::state::State;
use super::step::Step;
use crate::model::{Model, SightOf};

/// The bounds of a world.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a bound of its own")]
pub struct Setup {
    /// How many nodes there are.
    pub nodes: u8,
    /// How many of them vote in the beginning.
    pub voters: u8,
    /// How often each writer may begin to change the register.
    pub writes: &'static [u8],
    /// Whether a writer may begin while it is not through with what it began before.
    pub at_once: bool,
    /// Whether writers may hear from others who votes by now.
    pub learns: bool,
    /// Changes of the voters, each by somebody of its own.
    pub changes: &'static [Change],
    /// Whether a change begins only after the one before it is complete.
    pub in_turn: bool,
    /// How often whoever changes the voters may begin anew after it was overruled.
    pub retries: u8,
    /// How often a writer may relay what a voter accepted.
    pub relays: u8,
    /// How many answers may be lost. Questions may always be.
    pub losses: u8,
    /// How often voters crash.
    pub crashes: u8,
    /// Whether the register is an election, which writers bid for and renew.
    pub election: bool,
}

impl Setup {
    /// Voters, and writers of so many changes each; nothing else happens.
    pub const fn new(voters: u8, writes: &'static [u8]) -> Self {
        Setup {
            nodes: voters,
            voters,
            writes,
            at_once: false,
            learns: false,
            changes: &[],
            in_turn: true,
            retries: 0,
            relays: 0,
            losses: 0,
            crashes: 0,
            election: false,
        }
    }

    /// Those who vote in the beginning.
    pub fn first_electorate(&self) -> Electorate {
        Electorate::first((0..self.voters).map(node))
    }
}

/// A node by its place.
pub(super) const fn node(place: u8) -> NodeId {
    NodeId::given(place as u128)
}

impl Model for Setup {
    type State = State;
    type Step = Step;

    fn first(&self) -> State {
        State::new(self)
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        state.steps(self)
    }

    fn after(&self, state: &State, step: Step) -> Option<State> {
        state.after(step, self)
    }

    fn problem(&self, state: &State) -> Option<&'static str> {
        state.chain.broken
    }

    fn sights(&self) -> &'static [SightOf<State>] {
        const SIGHTS: &[SightOf<State>] = &[
            ("two changes are chosen", |state| state.chain.chosen(1).count() > 1),
            ("a change upon a change of somebody else", |state| {
                state.chain.chosen(1).any(|(_, value)| writers_of(value).len() > 1)
            }),
            ("a writer is overruled", |state| state.writers.iter().any(|it| it.overruled)),
            ("a shortcut is taken", |state| {
                state.chain.chosen(1).any(|(ballot, _)| ballot.is_shortcut())
            }),
            ("a change of the voters is complete", |state| state.amenders.iter().any(|it| it.done)),
            ("all changes of the voters are complete", |state| {
                !state.amenders.is_empty() && state.amenders.iter().all(|it| it.done)
            }),
            ("a writer learns of other voters", |state| {
                state.writers.iter().any(|it| it.electorate.number() > 0)
            }),
            ("a term follows a term", |state| {
                let terms = state.chain.chosen(1).filter_map(|(_, value)| term_of(value));
                terms.collect::<BTreeSet<_>>().len() > 1
            }),
        ];
        SIGHTS
    }
}

fn term_of(value: &Value) -> Option<Term> {
    match value {
        Value::Page(page) => page.record.as_ref().map(|record| record.term),
        _ => None,
    }
}

/// Who made the changes: their places are the tens.
fn writers_of(value: &Value) -> BTreeSet<u8> {
    match value {
        Value::Changes(changes) => changes.iter().map(|change| change / 10).collect(),
        _ => BTreeSet::new(),
    }
}
