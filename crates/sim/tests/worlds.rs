//! Some hundred worlds, each with its own faults, in which every promise is kept; and what the
//! token prevents.

use incumbent_sim::clock::SECOND;
use incumbent_sim::plant::Plant;
use incumbent_sim::run::{Plan, Total, run};
use incumbent_sim::story::Protocol;

const HALF_AN_HOUR: u64 = 1_800 * SECOND;

fn total(protocol: Protocol, seeds: core::ops::Range<u64>, length: u64, fenced: bool) -> Total {
    let (jobs, plant, stop_early) = (2, Plant::Nothing, false);
    let plan = Plan { protocol, seeds, length, jobs, plant, fenced, stop_early };
    run(&plan, |_| {}).expect("stories of seeds can be told")
}

/// Short rollbacks and long ones, of databases that know it and that do not, and under a clock that was
/// set back.
fn assert_rollbacks_are_judged(total: &Total) {
    let (short, long) = (total.tally.short_known, total.tally.long_known);
    assert!(short > 500 && long > 100, "that the database knows: {:?}", total.tally);
    assert!(total.tally.long_unknown > 100, "that nobody knows: {:?}", total.tally);
    assert!(total.tally.lost_behind > 50, "while time is lost, too: {:?}", total.tally);
    assert!(total.tally.back_after_rules > 50, "under new rules: {:?}", total.tally);
}

#[test]
fn every_promise_is_kept_in_hundreds_of_worlds_and_every_kind_of_fault_fires() {
    let total = total(Protocol::Lease, 0..400, HALF_AN_HOUR, true);
    assert_eq!(total.failures, [], "replay with `incumbent-sim replay SEED --hours 0.5 --trace`");
    assert_eq!(total.tally.missing(Protocol::Lease), [], "a run without them is not a pass");
    assert!(total.tally.gained > 10_000 && total.tally.unknown > 10_000, "{:?}", total.tally);
    assert!(total.tally.refused > 100, "writes under an old token were tried: {:?}", total.tally);
    assert_eq!(total.tally.stale, 0);
    let (committed, barred) = (total.tally.committed, total.tally.barred);
    assert!(committed > 100_000 && barred > 100, "fenced transactions: {:?}", total.tally);
    assert!(total.tally.doubted > 1_000, "commits without an answer: {:?}", total.tally);
    let (preempted, drained, forced) =
        (total.tally.preempted, total.tally.drained, total.tally.forced);
    assert!(preempted > 100 && drained > 100 && forced > 100, "hand-overs: {:?}", total.tally);
    assert_rollbacks_are_judged(&total);
}

#[test]
fn every_promise_is_kept_with_rosters_which_grow_shrink_and_lose_members_meanwhile() {
    let total = total(Protocol::Rounds, 0..200, HALF_AN_HOUR, true);
    let replay = "replay with `incumbent-sim replay SEED --protocol rounds --hours 0.5 --trace`";
    assert_eq!(total.failures, [], "{replay}");
    assert_eq!(total.tally.missing(Protocol::Rounds), [], "a run without them is not a pass");
    let (gained, evicted) = (total.tally.gained, total.tally.evicted);
    assert!(gained > 5_000 && evicted > 1_000, "{:?}", total.tally);
    let (longer, shorter) = (total.tally.longer, total.tally.shorter);
    assert!(longer > 1_000 && shorter > 500, "rounds were paced: {:?}", total.tally);
    assert_rollbacks_are_judged(&total);
    assert_eq!(total.tally.stale, 0);
}

#[test]
fn without_a_fence_writes_under_old_tokens_are_accepted_and_the_judges_say_so() {
    let total = total(Protocol::Lease, 0..60, HALF_AN_HOUR, false);
    assert!(total.tally.stale > 0, "{:?}", total.tally);
    let told = total.failures.iter().flat_map(|failure| &failure.violations);
    assert!(told.clone().any(|violation| violation.property == "fence_order"));
    assert!(told.into_iter().all(|violation| violation.property == "fence_order"));
}

#[test]
fn a_sum_does_not_depend_on_how_many_threads_there_were() {
    let plan = |jobs| Plan {
        protocol: Protocol::Rounds,
        seeds: 0..12,
        length: 300 * SECOND,
        jobs,
        plant: Plant::CancelLate,
        fenced: true,
        stop_early: false,
    };
    let (one, many) = (run(&plan(1), |_| {}), run(&plan(3), |_| {}));
    let (one, many) = (one.expect("one thread"), many.expect("three threads"));
    assert!(!one.failures.is_empty());
    assert_eq!(one, many);
}
