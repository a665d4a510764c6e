//! The same worlds through another model checker, which must count the same states.

use incumbent_sim::model::{Budget, Protocol, Setup, State, Step, explore};
use stateright::{Checker, Model, Property};

/// A small world as stateright wants it.
struct World(Setup);

impl Model for World {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::first(&self.0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        actions.extend(state.steps(&self.0));
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        state.after(step, &self.0)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "at most one valid lease, and terms that grow",
                |world: &World, state: &State| state.problem(&world.0).is_none(),
            ),
            Property::sometimes("a takeover after expiry", |_, state| sees(state, 1)),
            Property::sometimes("a takeover on proof of death", |_, state| sees(state, 3)),
            Property::sometimes("a lease that is ending", |_, state| sees(state, 6)),
            Property::sometimes("somebody leading twice", |_, state| sees(state, 7)),
            Property::sometimes("a crash", |_, state: &State| {
                state.seats.iter().any(|seat| seat.candidacy.is_none())
            }),
        ]
    }
}

fn sees(state: &State, sight: usize) -> bool {
    State::SIGHTS[sight].1(state)
}

#[test]
fn two_model_checkers_agree_on_every_property_and_on_the_number_of_states() {
    let budget = Budget { delays: 2, crashes: 1, ..super::NONE };
    for protocol in [Protocol::Lease, Protocol::Rounds] {
        let setup = Setup { budget, proof: true, ..Setup::calm(2, 10) }.with(protocol);
        let checker = World(setup.clone()).checker().spawn_bfs().join();
        checker.assert_properties();
        assert_eq!(checker.unique_state_count(), explore(&setup).states);
    }
}
