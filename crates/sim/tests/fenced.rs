//! Complete state spaces of small worlds of fenced transactions: a leader's work against every
//! takeover that can come between two of its statements.
//!
//! The numbers of states are asserted, as those of the other small worlds are. Mistakes that the
//! explorer must find are in `fenced/flaws.rs`, each with the shortest way to it.

#[path = "fenced/flaws.rs"]
mod flaws;
#[path = "fenced/stateright.rs"]
mod second_opinion;

use incumbent_sim::model::explore;
use incumbent_sim::model::fenced::{Budget, Level, Setup};

/// One bid against one transaction of each candidate, and no trouble.
const PLAIN: Budget = Budget {
    works: 1,
    bids: 1,
    renewals: 0,
    resignations: 0,
    demotions: 0,
    unknown: 0,
    stops: 0,
    kills: 0,
    crashes: 0,
    drops: 0,
};

/// A world in which a process that stops need not go on, unless it is the one writer.
fn world(level: Level, candidates: usize, budget: Budget) -> Setup {
    Setup { candidates, budget, goes_on: level == Level::OneWriter, ..Setup::new(level) }
}

/// Explores a world at several levels, in which nothing may be wrong and these sights must occur.
fn explored(candidates: usize, budget: Budget, states: &[(Level, usize)], sights: &[&str]) {
    let mut counted = Vec::new();
    for &(level, _) in states {
        let report = explore(&world(level, candidates, budget));
        assert_eq!(report.problem, None, "{level:?}: {report}");
        for sight in sights {
            let seen = report.sights.iter().find(|(name, _)| name == sight);
            assert!(seen.is_some_and(|(_, seen)| *seen > 0), "{level:?}: no {sight}: {report}");
        }
        counted.push((level, report.states));
    }
    assert_eq!(counted, states, "the numbers of states");
}

#[test]
fn two_works_of_each_of_two_candidates_against_two_takeovers() {
    let budget = Budget { works: 2, bids: 2, ..PLAIN };
    let counts = [(Level::ReadCommitted, 831), (Level::Snapshot, 831)];
    let sights = [
        "a fenced commit",
        "work that is refused when it begins",
        "work that is refused by its guard",
        "a takeover that waits for a fenced commit",
        "a guard that waits for a takeover",
        "a takeover in the midst of a transaction",
        "a successor's commit",
    ];
    explored(2, budget, &counts, &sights);
}

#[test]
fn one_writer_at_a_time_shuts_takeovers_out_from_beginning_to_end() {
    let budget = Budget { works: 2, bids: 2, ..PLAIN };
    let sights =
        ["work that is refused when it begins", "a takeover that waits for a fenced commit"];
    explored(2, budget, &[(Level::OneWriter, 469)], &sights);
    let report = explore(&world(Level::OneWriter, 2, budget));
    for never in ["work that is refused by its guard", "a takeover in the midst of a transaction"] {
        assert!(report.sights.contains(&(never, 0)), "{report}");
    }
}

#[test]
fn renewals_do_not_wait_for_a_guarded_commit() {
    let budget = Budget { bids: 2, renewals: 2, ..PLAIN };
    let counts = [(Level::ReadCommitted, 11_775), (Level::Snapshot, 11_775)];
    explored(2, budget, &counts, &["a renewal while work is between guard and commit"]);
    explored(2, budget, &[(Level::OneWriter, 5_272)], &[]);
}

#[test]
fn a_resignation_and_a_demotion_under_running_work() {
    let budget = Budget { works: 2, resignations: 1, demotions: 1, ..PLAIN };
    explored(
        2,
        budget,
        &[(Level::ReadCommitted, 11_525), (Level::OneWriter, 5_179)],
        &["a successor's commit"],
    );
    // The price of a strict level: a demotion changes the row, so work that began before is refused
    // though its term stands.
    let sights = ["work that is refused though its term stands"];
    explored(2, budget, &[(Level::Snapshot, 16_313)], &sights);
}

#[test]
fn lost_requests_and_lost_answers() {
    let budget = Budget { works: 2, bids: 2, unknown: 2, ..PLAIN };
    let counts = [(Level::ReadCommitted, 58_525), (Level::Snapshot, 58_525)];
    let sights = [
        "an unknown outcome that was kept",
        "an unknown outcome that was not kept",
        "work that is done again after an unknown outcome",
        "two works between guard and commit",
    ];
    explored(2, budget, &counts, &sights);
}

#[test]
fn processes_that_stop_anywhere_and_may_never_go_on() {
    let budget = Budget { works: 2, bids: 2, renewals: 1, stops: 2, ..PLAIN };
    let sights = ["a stopped process that keeps a row locked"];
    let counts =
        [(Level::ReadCommitted, 93_690), (Level::Snapshot, 93_690), (Level::OneWriter, 37_696)];
    explored(2, budget, &counts, &sights);
}

#[test]
fn processes_that_are_killed_anywhere() {
    let budget = Budget { works: 2, bids: 2, renewals: 1, kills: 1, ..PLAIN };
    let counts =
        [(Level::ReadCommitted, 19_820), (Level::Snapshot, 19_820), (Level::OneWriter, 5_384)];
    explored(2, budget, &counts, &["a takeover that waits for a fenced commit"]);
}

#[test]
fn crashes_of_the_server_and_losses_of_all_connections() {
    let budget = Budget { works: 2, bids: 2, crashes: 1, drops: 1, ..PLAIN };
    let counts = [(Level::ReadCommitted, 42_490), (Level::Snapshot, 42_490)];
    let sights = ["an unknown outcome that was kept", "an unknown outcome that was not kept"];
    explored(2, budget, &counts, &sights);
}

#[test]
fn three_candidates_of_which_two_bid_at_once() {
    let budget = Budget { works: 2, bids: 2, ..PLAIN };
    let counts =
        [(Level::ReadCommitted, 23_424), (Level::Snapshot, 23_424), (Level::OneWriter, 7_844)];
    explored(3, budget, &counts, &["a successor's commit"]);
}

#[test]
fn three_candidates_one_of_which_stops_and_one_outcome_unknown() {
    let budget = Budget { bids: 2, unknown: 1, stops: 1, ..PLAIN };
    explored(3, budget, &[(Level::ReadCommitted, 93_674)], &["an unknown outcome that was kept"]);
}

#[test]
fn one_of_each_trouble_after_another() {
    let budget =
        Budget { demotions: 1, unknown: 1, stops: 1, crashes: 1, drops: 1, renewals: 1, ..PLAIN };
    let counts = [(Level::ReadCommitted, 317_104), (Level::Snapshot, 437_880)];
    explored(2, budget, &counts, &["an unknown outcome that was kept", "a successor's commit"]);
}
