//! A world of ratification through another model checker, which must count the same states.

use incumbent_sim::model::ratify::{Setup, State, Step};
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
        state.after(step, &self.0)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one chain", |_, state: &State| state.chain.broken.is_none()),
            Property::sometimes("two changes", |_, state: &State| {
                state.chain.chosen(1).count() > 1
            }),
        ]
    }
}

#[test]
fn two_model_checkers_agree_on_every_property_and_on_the_number_of_states() {
    let setup = Setup { losses: 1, ..Setup::new(2, &[1, 1]) };
    let checker = World(setup.clone()).checker().spawn_bfs().join();
    checker.assert_properties();
    assert_eq!(checker.unique_state_count(), explore(&setup).states);
}
