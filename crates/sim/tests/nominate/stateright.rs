//! Worlds of nomination through another model checker, which must count the same states.

use incumbent_protocol::bully::Bully;
use incumbent_protocol::ring::Ring;
use incumbent_sim::model::nominate::{Nominator, Setup, State, Step};
use incumbent_sim::model::{Model as _, explore};
use stateright::{Checker, Model, Property};

use super::{CRASH, TROUBLE};

/// A small world as stateright wants it.
struct World<P>(Setup<P>);

impl<P> Model for World<P>
where
    P: Nominator + Send + Sync,
    P::Message: Send + Sync,
{
    type State = State<P>;
    type Action = Step;

    fn init_states(&self) -> Vec<State<P>> {
        vec![self.0.first()]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Step>) {
        actions.extend(self.0.steps(state));
    }

    fn next_state(&self, state: &State<P>, step: Step) -> Option<State<P>> {
        self.0.after(state, step)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no problem", |world: &Self, state: &State<P>| {
                world.0.problem(state).is_none()
            }),
            Property::sometimes("a run after a run", |_, state: &State<P>| state.newest().0 > 1),
        ]
    }
}

fn agrees<P>(setup: &Setup<P>)
where
    P: Nominator + Send + Sync,
    P::Message: Send + Sync,
{
    let checker = World(setup.clone()).checker().spawn_bfs().join();
    checker.assert_properties();
    assert_eq!(checker.unique_state_count(), explore(setup).states);
}

#[test]
fn two_model_checkers_agree_on_every_property_and_on_the_number_of_states() {
    agrees::<Bully>(&Setup { budget: TROUBLE, told: false, runs: 3, ..Setup::new(&[1]) });
    agrees::<Ring>(&Setup { budget: CRASH, ordered: true, runs: 2, ..Setup::new(&[2]) });
}
