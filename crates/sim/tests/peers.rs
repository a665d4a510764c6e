//! Worlds of peers: ring and bully, ratified by a quorum. Many drawn by chance, and some by hand: the
//! ways in which such elections are known to have failed elsewhere.

use incumbent_audit::History;
use incumbent_protocol::history::Event;
use incumbent_sim::clock::SECOND;
use incumbent_sim::meta::difference;
use incumbent_sim::peers::batch::{Plan, Total, all};
use incumbent_sim::peers::fault::{Fault, Kind};
use incumbent_sim::peers::story::{Algorithm, Numbers};
use incumbent_sim::peers::{Run, Story, run};
use incumbent_sim::scribe::Keep;

#[path = "peers/orders.rs"]
mod orders;

const BOTH: [Algorithm; 2] = [Algorithm::Ring, Algorithm::Bully];
const MINUTE: u64 = 60 * SECOND;

fn worlds(algorithm: Algorithm, jobs: usize, seeds: u64) -> Total {
    let plan = Plan { algorithm, seeds: 0..seeds, length: 4 * MINUTE, jobs, bug: None };
    all(&plan, |_| {}).expect("stories of seeds can be told")
}

fn told(story: &Story) -> Run {
    let keep = Keep { history: true, trace: false };
    run(story, None, keep).expect("the story can be told")
}

/// Nothing is broken, and somebody leads more than so many times.
fn assert_kept(story: &Story, gained: u64) {
    let run = told(story);
    assert!(run.report.is_clean(), "{:?}\n{}", story.setting, run.report);
    assert!(run.tally.gained >= gained, "{} leaderships\n{}", run.tally.gained, run.history);
}

/// Who came to lead and when, in tenths of a second, from the first on.
fn leaders(story: &Story) -> Vec<(u64, usize)> {
    let history = History::parse("run", &told(story).history).expect("a history of our own");
    let gained = history.lines.iter().filter(|line| matches!(line.event, Event::Gained { .. }));
    let node = |name: &str| name.strip_prefix("node-").and_then(|number| number.parse().ok());
    let gained = gained.map(|line| {
        let at = line.at.as_nanos() / (SECOND / 10);
        (at, node(line.candidate.name.as_str()).expect("one of the nodes"))
    });
    gained.collect()
}

/// Which node is the nth to lead.
fn leader(story: &Story, nth: usize) -> usize {
    leaders(story).get(nth).expect("a leader").1
}

fn fault(at: u64, kind: Kind, target: usize, span: u64) -> Fault {
    Fault { at: at * SECOND / 10, kind, target, span: span * SECOND / 10, level: 0 }
}

/// Every promise is kept, every kind of fault did something, and the worlds were worth judging.
fn assert_busy_and_kept(algorithm: Algorithm) {
    let Total { tally, failures } = worlds(algorithm, 2, 60);
    assert_eq!(failures, [], "replay with `incumbent-sim replay SEED --protocol {algorithm}`");
    assert_eq!(tally.missing(), [], "a run without them is not a pass");
    assert!(tally.gained > 300 && tally.began > 1_000, "leaderships and runs: {tally:?}");
    assert!(tally.followed > 100, "somebody else followed: {tally:?}");
    assert!(tally.unheard > 50, "majorities were lost: {tally:?}");
    assert!(tally.accepted > 1_000 && tally.refused > 10, "fenced writes: {tally:?}");
    assert!(tally.unknown > 100, "requests without an answer: {tally:?}");
    assert!(tally.ordered > 50 && tally.amended > 5, "operators were heeded: {tally:?}");
    assert!(tally.handed_over > 5, "leaders handed over: {tally:?}");
}

#[test]
fn worlds_of_a_ring_are_busy_and_break_no_promise() {
    assert_busy_and_kept(Algorithm::Ring);
}

#[test]
fn worlds_of_bullies_are_busy_and_break_no_promise() {
    assert_busy_and_kept(Algorithm::Bully);
}

#[test]
fn the_same_story_gives_the_same_history_and_a_sum_does_not_depend_on_threads() {
    for algorithm in BOTH {
        for seed in 0..4 {
            let story = Story::of(algorithm, seed, 4 * MINUTE);
            assert_eq!(difference(&told(&story).history, &told(&story).history), None, "{seed}");
        }
        assert_eq!(worlds(algorithm, 1, 4), worlds(algorithm, 3, 4));
    }
}

#[test]
fn a_first_start_of_all_at_one_instant_gives_one_leader_that_stays() {
    for algorithm in BOTH {
        for nodes in 1..=7 {
            let run = told(&Story::plain(algorithm, 1, nodes, 3 * MINUTE));
            assert!(run.report.is_clean(), "{nodes} nodes: {}", run.report);
            assert_eq!(run.tally.gained, 1, "{nodes} nodes");
        }
    }
}

#[test]
fn the_highest_number_follows_a_leader_that_died_and_ten_is_more_than_nine() {
    for algorithm in BOTH {
        for seed in 0..4 {
            let mut story = Story::plain(algorithm, seed, 4, 3 * MINUTE);
            story.setting.numbers = Numbers::From(8);
            let first = leader(&story, 0);
            story.faults = vec![fault(200, Kind::Crash, first, 400)];
            let highest = (0..4).rfind(|node| *node != first);
            assert_eq!(Some(leader(&story, 1)), highest, "{algorithm:?}, seed {seed}");
            assert_kept(&story, 2);
        }
    }
}

#[test]
fn a_second_failure_during_an_election_does_not_stop_it() {
    for algorithm in BOTH {
        for seed in 0..8 {
            let mut story = Story::plain(algorithm, seed, 5, 3 * MINUTE);
            story.faults = vec![
                fault(200, Kind::CrashLeader, 0, 300),
                fault(208 + seed, Kind::CrashNominee, 0, 300),
            ];
            assert_kept(&story, 2);
        }
    }
}

#[test]
fn a_leader_that_fails_twice_is_followed_twice() {
    for algorithm in BOTH {
        let mut story = Story::plain(algorithm, 3, 3, 3 * MINUTE);
        story.faults =
            vec![fault(200, Kind::CrashLeader, 0, 150), fault(400, Kind::CrashLeader, 0, 150)];
        assert_kept(&story, 3);
    }
}

#[test]
fn lost_messages_cost_time_and_nothing_else() {
    for algorithm in BOTH {
        for seed in 0..4 {
            let mut story = Story::plain(algorithm, seed, 5, 3 * MINUTE);
            let loss = |target| Fault { level: 300_000, ..fault(30, Kind::Loss, target, 700) };
            story.faults = (0..5).map(loss).collect();
            story.faults.push(fault(300, Kind::CrashLeader, 0, 200));
            assert_kept(&story, 2);
        }
    }
}

#[test]
fn whoever_joins_during_an_election_or_a_block_takes_part() {
    for algorithm in BOTH {
        for seed in 0..10 {
            let mut story = Story::plain(algorithm, seed, 4, 3 * MINUTE);
            story.setting.voters = 3;
            // The fourth comes while the others look for a successor.
            story.setting.starts[3] = 20 * SECOND + 700_000_000 + seed * 20_000_000;
            story.faults = vec![fault(200, Kind::CrashLeader, 0, 400)];
            assert_kept(&story, 2);
        }
    }
}

#[test]
fn a_coordinator_of_before_the_cut_is_not_followed_after_it() {
    for algorithm in BOTH {
        for seed in 0..4 {
            let mut story = Story::plain(algorithm, seed, 5, 3 * MINUTE);
            // Whoever leads is cut off; whatever it says on its return is late.
            let leader = leader(&story, 0);
            story.faults = vec![
                fault(200, Kind::Cut, leader, 200),
                Fault { level: 2_000_000_000, ..fault(390, Kind::Delay, leader, 100) },
            ];
            assert_kept(&story, 2);
        }
    }
}

#[test]
fn two_dozen_bullies_at_once_elect_one() {
    let mut story = Story::plain(Algorithm::Bully, 4, 24, 3 * MINUTE);
    story.setting.voters = 5;
    let run = told(&story);
    assert!(run.report.is_clean(), "{}", run.report);
    assert_eq!(run.tally.gained, 1);
}

/// Whichever two nodes lose each other: a leader that reaches a majority leads on.
#[test]
fn two_nodes_that_lose_each_other_depose_nobody() {
    for algorithm in BOTH {
        for (seed, (one, other)) in (0..).zip([(0, 1), (0, 2), (1, 2)].repeat(4)) {
            let mut story = Story::plain(algorithm, seed, 3, 3 * MINUTE);
            // So slow that there is no time for a second attempt at a renewal.
            (story.setting.latency_most, story.setting.disk_most) = (SECOND / 25, SECOND / 10);
            story.faults = vec![Fault { level: other, ..fault(200, Kind::CutPair, one, 1_200) }];
            let run = told(&story);
            assert!(run.report.is_clean(), "{algorithm}, seed {seed}: {}", run.report);
            assert_eq!(run.tally.fired(Kind::CutPair), 1);
            assert_eq!(run.tally.gained, 1, "{algorithm}, seed {seed}, {one} and {other}");
        }
    }
}
