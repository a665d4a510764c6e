//! Complete state spaces of small worlds over the shipping `rounds` protocol.
//!
//! A round is three ticks at first and four at most, a lease two rounds, the margin of the first one
//! tick. Worlds of three begin with three calm ticks, in which all join; those whose rounds have grown
//! with as many as it takes until a leader makes them shorter.

use incumbent_sim::model::{Budget, Protocol, Setup, explore};

use super::{NONE, explored, world};

fn rounds(candidates: usize, horizon: u64, budget: Budget) -> Setup {
    let calm = if candidates > 2 { 3 } else { 0 };
    Setup { calm, ..world(candidates, horizon, budget).with(Protocol::Rounds) }
}

/// A world in which a leader announces a shorter round at the tick 121, and settles it a lease later.
fn shrinking(horizon: u64, budget: Budget) -> Setup {
    Setup { calm: 118, ..world(2, horizon, budget).with(Protocol::GrownRounds) }
}

const BY_THE_SECOND: &str = "a takeover after expiry by the second in line";
const RETURN: &str = "a return with a new id";
const GROWN: &str = "a round that has grown";
const ANNOUNCED: &str = "a shorter round that is announced";
const SHRUNK: &str = "a round that has shrunk";

#[test]
fn a_calm_world_has_one_leader_and_hardly_any_states() {
    explored(&rounds(2, 12, NONE), 402, &["a first leader"]);
}

#[test]
fn two_candidates_with_slow_requests_and_answers() {
    let budget = Budget { delays: 3, ..NONE };
    let sights = [BY_THE_SECOND, "a takeover after release", "a lease that is ending"];
    explored(&rounds(2, 12, budget), 173_631, &sights);
}

#[test]
fn two_candidates_with_an_unknown_outcome() {
    let budget = Budget { delays: 1, unknown: 1, ..NONE };
    let own = "a claim over a term of its own that it never heard of";
    explored(&rounds(2, 10, budget), 142_256, &[own, BY_THE_SECOND, RETURN]);
}

#[test]
fn two_candidates_with_two_unknown_outcomes() {
    let budget = Budget { unknown: 2, ..NONE };
    explored(&rounds(2, 10, budget), 208_123, &[BY_THE_SECOND]);
}

#[test]
fn two_candidates_with_a_crash_and_proof_of_it() {
    let budget = Budget { delays: 2, crashes: 1, ..NONE };
    let setup = Setup { proof: true, ..rounds(2, 12, budget) };
    explored(&setup, 146_236, &["a takeover on proof of death"]);
}

#[test]
fn two_candidates_with_a_crash_and_no_proof() {
    let budget = Budget { delays: 2, crashes: 1, ..NONE };
    explored(&rounds(2, 12, budget), 117_210, &[BY_THE_SECOND]);
}

#[test]
fn two_candidates_with_a_pause() {
    let budget = Budget { delays: 1, pauses: 1, ..NONE };
    explored(&rounds(2, 12, budget), 421_960, &[BY_THE_SECOND, RETURN, GROWN]);
}

#[test]
fn two_candidates_with_a_demotion() {
    let budget = Budget { delays: 1, demotions: 1, ..NONE };
    explored(&rounds(2, 12, budget), 152_074, &["a demotion that is heard"]);
}

#[test]
fn two_candidates_with_a_resignation_and_a_jump_of_a_clock() {
    let budget = Budget { resignations: 1, jumps: 1, ..NONE };
    explored(&rounds(2, 12, budget), 110_208, &["a takeover after release", GROWN]);
}

#[test]
fn two_candidates_whose_store_is_replaced_by_an_empty_one() {
    let budget = Budget { delays: 1, losses: 1, ..NONE };
    explored(&rounds(2, 12, budget), 180_606, &[RETURN]);
}

#[test]
fn two_candidates_one_of_whom_is_evicted_for_no_reason() {
    let budget = Budget { delays: 1, evictions: 1, ..NONE };
    explored(&rounds(2, 12, budget), 166_237, &[BY_THE_SECOND, RETURN, GROWN]);
}

#[test]
fn two_candidates_whose_vars_are_removed_under_them() {
    let budget = Budget { delays: 1, resets: 1, ..NONE };
    let sights = ["a demotion that is heard", "a takeover after expiry", RETURN];
    explored(&rounds(2, 12, budget), 251_752, &sights);
}

#[test]
fn clocks_whose_rates_differ_by_as_much_as_the_margin_allows() {
    let budget = Budget { delays: 1, pauses: 1, ..NONE };
    let setup = Setup { rates: vec![1_000, 1_200], ..rounds(2, 10, budget) };
    explored(&setup, 223_739, &[BY_THE_SECOND]);
}

#[test]
fn three_candidates_with_slow_requests_and_answers() {
    let budget = Budget { delays: 2, ..NONE };
    explored(&rounds(3, 11, budget), 103_237, &[BY_THE_SECOND, "a lease that is ending"]);
}

#[test]
fn three_candidates_with_an_unknown_outcome() {
    let budget = Budget { unknown: 1, ..NONE };
    explored(&rounds(3, 11, budget), 31_399, &[BY_THE_SECOND]);
}

#[test]
fn three_candidates_with_two_crashes() {
    let budget = Budget { crashes: 2, ..NONE };
    explored(&rounds(3, 12, budget), 10_319, &[BY_THE_SECOND, "a takeover after expiry"]);
}

#[test]
fn three_candidates_with_a_pause() {
    let budget = Budget { pauses: 1, ..NONE };
    explored(&rounds(3, 14, budget), 101_870, &[BY_THE_SECOND, RETURN, GROWN]);
}

#[test]
fn three_candidates_with_a_resignation() {
    let budget = Budget { resignations: 1, ..NONE };
    explored(&rounds(3, 12, budget), 8_796, &["a takeover after release"]);
}

#[test]
fn three_candidates_one_of_whom_is_evicted_for_no_reason() {
    let budget = Budget { evictions: 1, ..NONE };
    explored(&rounds(3, 12, budget), 32_665, &[BY_THE_SECOND, RETURN, GROWN]);
}

#[test]
fn three_candidates_whose_vars_are_removed_under_them() {
    let budget = Budget { resets: 1, ..NONE };
    explored(&rounds(3, 11, budget), 51_636, &["a demotion that is heard", RETURN]);
}

#[test]
fn a_round_that_shrinks_in_calm_takes_nothing_from_its_leader() {
    let setup = world(2, 150, NONE).with(Protocol::GrownRounds);
    explored(&setup, 3_516, &[ANNOUNCED, SHRUNK]);
    let report = explore(&setup);
    let lost = ["a takeover after expiry", "a takeover after release", "a lease that is ending"];
    let seen = report.sights.iter().filter(|(name, _)| lost.contains(name));
    assert_eq!(seen.map(|(_, seen)| seen).sum::<usize>(), 0, "{report}");
}

#[test]
fn a_pause_while_the_round_shrinks() {
    let budget = Budget { pauses: 1, ..NONE };
    explored(&shrinking(142, budget), 105_366, &[ANNOUNCED, SHRUNK, BY_THE_SECOND, RETURN]);
}

#[test]
fn unknown_outcomes_while_the_round_shrinks() {
    let budget = Budget { unknown: 2, ..NONE };
    explored(&shrinking(134, budget), 315_734, &[ANNOUNCED, SHRUNK, BY_THE_SECOND]);
}

#[test]
fn a_crash_and_a_slow_answer_while_the_round_shrinks() {
    let budget = Budget { delays: 1, crashes: 1, ..NONE };
    explored(&shrinking(146, budget), 134_133, &[ANNOUNCED, SHRUNK, BY_THE_SECOND]);
}

#[test]
fn two_candidates_with_one_of_several_troubles_after_another() {
    let budget = Budget { unknown: 1, crashes: 1, resignations: 1, resets: 1, ..NONE };
    let setup = Setup { proof: true, calm: 1, ..rounds(2, 7, budget) };
    let sights = ["a takeover on proof of death", "a takeover after release", RETURN];
    explored(&setup, 360_609, &sights);
}
