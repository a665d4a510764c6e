//! Complete state spaces of small worlds over the shipping `lease` protocol; those of `rounds` are in
//! `rounds`.
//!
//! The numbers of states are asserted: a change of the protocol or of the model that changes them
//! must be looked at, and the new numbers written down. Larger worlds run through the simulator's
//! program.

#[path = "model/flaws.rs"]
mod flaws;
#[path = "model/rounds.rs"]
mod rounds;
#[path = "model/stateright.rs"]
mod second_opinion;

use incumbent_sim::model::{Budget, Setup, explore};

/// No trouble at all.
const NONE: Budget = Budget {
    delays: 0,
    unknown: 0,
    crashes: 0,
    pauses: 0,
    demotions: 0,
    resignations: 0,
    jumps: 0,
    losses: 0,
    evictions: 0,
    resets: 0,
    removals: 0,
    rewinds: 0,
};

fn world(candidates: usize, horizon: u64, budget: Budget) -> Setup {
    Setup { budget, ..Setup::calm(candidates, horizon) }
}

/// Explores a world in which nothing may be wrong, and in which these sights must occur.
fn explored(setup: &Setup, states: usize, sights: &[&str]) {
    let report = explore(setup);
    assert_eq!(report.problem, None, "{report}");
    for sight in sights {
        let seen = report.sights.iter().find(|(name, _)| name == sight);
        assert!(seen.is_some_and(|(_, seen)| *seen > 0), "no {sight}: {report}");
    }
    assert_eq!(report.states, states, "{report}");
}

#[test]
fn a_calm_world_has_one_leader_and_hardly_any_states() {
    explored(&world(2, 12, NONE), 85, &["a first leader"]);
}

#[test]
fn two_candidates_with_slow_requests_and_answers() {
    let budget = Budget { delays: 3, ..NONE };
    let sights = [
        "a takeover after expiry",
        "a takeover after release",
        "a lease that is ending",
        "somebody leading twice",
    ];
    explored(&world(2, 10, budget), 47_833, &sights);
}

#[test]
fn two_candidates_with_an_unknown_outcome() {
    let budget = Budget { delays: 1, unknown: 1, ..NONE };
    let sights =
        ["a claim over a term of its own that it never heard of", "a takeover after expiry"];
    explored(&world(2, 9, budget), 51_577, &sights);
}

#[test]
fn two_candidates_with_a_crash_and_proof_of_it() {
    let budget = Budget { delays: 2, crashes: 1, ..NONE };
    let setup = Setup { proof: true, ..world(2, 10, budget) };
    explored(&setup, 38_501, &["a takeover on proof of death"]);
}

#[test]
fn two_candidates_with_a_crash_and_no_proof() {
    let budget = Budget { delays: 2, crashes: 1, ..NONE };
    explored(&world(2, 10, budget), 31_196, &["a takeover after expiry"]);
}

#[test]
fn two_candidates_with_a_pause() {
    let budget = Budget { delays: 1, pauses: 1, ..NONE };
    explored(&world(2, 9, budget), 55_483, &["a takeover after expiry"]);
}

#[test]
fn two_candidates_with_a_demotion() {
    let budget = Budget { delays: 1, demotions: 1, ..NONE };
    explored(&world(2, 10, budget), 46_073, &["a demotion that is heard"]);
}

#[test]
fn two_candidates_with_a_resignation_and_a_jump_of_a_clock() {
    let budget = Budget { resignations: 1, jumps: 1, ..NONE };
    explored(&world(2, 10, budget), 13_573, &["a takeover after release"]);
}

#[test]
fn two_candidates_whose_store_is_replaced_by_an_empty_one() {
    let budget = Budget { delays: 1, losses: 1, ..NONE };
    explored(&world(2, 10, budget), 48_686, &["somebody leading twice"]);
}

#[test]
fn clocks_whose_rates_differ_by_as_much_as_the_margin_allows() {
    let budget = Budget { delays: 1, pauses: 1, ..NONE };
    let setup = Setup { rates: vec![1_000, 1_250], ..world(2, 8, budget) };
    explored(&setup, 51_423, &["a takeover after expiry"]);
}

#[test]
fn three_candidates_with_slow_requests_and_answers() {
    let budget = Budget { delays: 1, ..NONE };
    explored(&world(3, 10, budget), 17_289, &["a takeover after expiry"]);
}

#[test]
fn three_candidates_with_a_crash_and_proof_of_it() {
    let budget = Budget { delays: 1, crashes: 1, ..NONE };
    let setup = Setup { proof: true, ..world(3, 9, budget) };
    explored(&setup, 90_364, &["a takeover on proof of death"]);
}

#[test]
fn two_candidates_with_one_of_several_troubles_after_another() {
    let budget = Budget { unknown: 1, crashes: 1, demotions: 1, resignations: 1, ..NONE };
    let setup = Setup { proof: true, ..world(2, 8, budget) };
    let sights = [
        "a takeover on proof of death",
        "a takeover after release",
        "a demotion that is heard",
        "a claim over a term of its own that it never heard of",
    ];
    explored(&setup, 930_650, &sights);
}
