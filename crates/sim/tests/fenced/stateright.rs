//! A world of fenced transactions through another model checker, which must count the same states.

use incumbent_sim::model::fenced::{Budget, Level, Setup, State, Step};
use incumbent_sim::model::{Model as _, explore};
use stateright::{Checker, Model, Property};

/// A small world as stateright wants it.
struct World(Setup);

impl Model for World {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![self.0.first()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        actions.extend(state.steps(&self.0));
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        Some(state.after(step, &self.0))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no stale write, no wrong answer", |_, state: &State| {
                state.broken.is_none()
            }),
            Property::sometimes("a successor's claim", |_, state: &State| state.store.version > 0),
            Property::sometimes("a client without an answer", |_, state: &State| {
                !state.orphans.is_empty()
            }),
        ]
    }
}

#[test]
fn two_model_checkers_agree_on_every_property_and_on_the_number_of_states() {
    let budget = Budget { unknown: 1, stops: 1, crashes: 1, ..super::PLAIN };
    let setup = super::world(Level::ReadCommitted, 2, budget);
    let checker = World(setup.clone()).checker().spawn_bfs().join();
    checker.assert_properties();
    assert_eq!(checker.unique_state_count(), explore(&setup).states);
}
