//! Complete state spaces of small worlds of nomination: three nodes of a ring or of a bully election,
//! of which one or all begin, while messages are lost, doubled and late and one node dies.
//!
//! The numbers of states are asserted, as those of the other small worlds are, and so is how many runs
//! it takes at most. Mistakes that the explorer must find are in `nominate/mistakes.rs`, each with the
//! shortest way to it.

#[path = "nominate/bully.rs"]
mod bully;
#[path = "nominate/mistakes.rs"]
mod mistakes;
#[path = "nominate/ring.rs"]
mod ring;
#[path = "nominate/stateright.rs"]
mod second_opinion;

use incumbent_protocol::caucus::Rejoin;
use incumbent_sim::model::explore;
use incumbent_sim::model::nominate::{Budget, Nominator, Setup};

const NOTHING: Budget = Budget { losses: 0, doubles: 0, delays: 0, crashes: 0 };
const CRASH: Budget = Budget { crashes: 1, ..NOTHING };
const LOSS: Budget = Budget { losses: 1, ..NOTHING };
const DELAY: Budget = Budget { delays: 1, ..NOTHING };
/// A node dies, a message is lost and one is doubled.
const TROUBLE: Budget = Budget { crashes: 1, losses: 1, doubles: 1, ..NOTHING };

const LOST: &str = "a message was lost";
const LATE: &str = "a message was late";
const DIED: &str = "a node died that was picked";
const FOLLOWS: &str = "a run follows a run";
const TWO: &str = "two that live are picked in one run";

/// The node at each place begins, in a world of its own.
const EACH: [&[u8]; 3] = [&[0], &[1], &[2]];
const ALL: &[u8] = &[0, 1, 2];

/// Nodes that begin at once instead of asking first who leads.
fn preempting<P: Nominator>(initiators: &'static [u8]) -> Setup<P> {
    Setup { rejoin: Rejoin::Preempting, ..Setup::new(initiators) }
}

/// Explores a world in which nothing may be wrong and exactly these sights occur.
fn explored<P: Nominator>(setup: &Setup<P>, states: usize, sights: &[&str]) {
    let report = explore(setup);
    assert_eq!(report.problem, None, "{report}");
    for (name, seen) in &report.sights {
        assert_eq!(*seen > 0, sights.contains(name), "{name}: {report}");
    }
    assert_eq!(report.states, states, "{report}");
    if setup.runs > 1 {
        let fewer = explore(&Setup { runs: setup.runs - 1, ..setup.clone() });
        let problem = fewer.problem.map(|(problem, _)| problem);
        assert_eq!(problem, Some("more runs than there is trouble"), "it takes fewer runs");
    }
}
