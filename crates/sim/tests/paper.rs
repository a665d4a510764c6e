//! The published loop breaks its own theorem; suspicion by elapsed time does not.

use incumbent_sim::check::judge;
use incumbent_sim::paper::{Rule, Schedule, Timeline, Timer};
use incumbent_sim::random::Random;

const HOUR: u64 = 3_600_000;

/// In how many of the first so many seeds two leases were valid at one instant.
fn broken(processes: usize, rule: Rule, timer: Timer, seeds: u64) -> usize {
    let breaks = |seed: &u64| {
        let schedule = Schedule::Seed(Random::from_seed(*seed));
        let timeline = Timeline::new(processes, rule, timer, schedule).until(HOUR / 4);
        let report = judge(&timeline.history());
        assert!(report.terms > 0, "a run in which nobody leads proves nothing");
        let two = |v: &incumbent_sim::check::Violation| v.property == "at_most_one_lease";
        report.violations.iter().any(two)
    };
    (0..seeds).filter(breaks).count()
}

#[test]
fn the_printed_loop_lets_two_processes_lead_at_once() {
    assert!(broken(2, Rule::Printed, Timer::AfterEach, 40) > 0);
    assert!(broken(3, Rule::Printed, Timer::AfterEach, 40) > 0);
}

#[test]
fn a_history_without_retries_is_not_enough_under_a_timer_that_bursts() {
    assert_eq!(broken(2, Rule::RetriesLeaveNoHistory, Timer::AfterEach, 40), 0);
    assert!(broken(2, Rule::RetriesLeaveNoHistory, Timer::Bursting, 40) > 0);
}

#[test]
fn suspicion_by_elapsed_time_keeps_the_theorem_under_both_timers() {
    for timer in [Timer::AfterEach, Timer::Bursting] {
        for processes in [2, 3, 5] {
            assert_eq!(broken(processes, Rule::Elapsed, timer, 40), 0);
        }
    }
}

/// What each round of A and of B takes, in milliseconds: B misses its rounds and is evicted, comes
/// back just after A's round, and A's next round is late.
fn script() -> Schedule {
    Schedule::Script(vec![vec![10, 10, 10, 10, 10, 10, 600], vec![10, 10, 5_560, 10, 10, 10, 10]])
}

fn scripted(rule: Rule) -> Timeline {
    Timeline::new(2, rule, Timer::AfterEach, script()).until(15_000)
}

#[test]
fn the_mistake_as_a_play() {
    let timeline = scripted(Rule::Printed);
    let report = judge(&timeline.history());
    let stories: Vec<String> = report.violations.iter().map(|v| v.story.clone()).collect();
    let play = format!("{}\n{}\n", timeline.play(), stories.join("\n"));
    let expected = include_str!("../testdata/paper-two-leaders.play");
    assert!(play == expected, "the play has changed:\n{play}");
    assert!(stories.iter().any(|story| story.contains("hold a valid lease")), "{stories:?}");
}

#[test]
fn the_same_timeline_is_harmless_under_the_other_rules() {
    for rule in [Rule::RetriesLeaveNoHistory, Rule::Elapsed] {
        let timeline = scripted(rule);
        let report = judge(&timeline.history());
        assert!(report.is_clean(), "{rule:?}: {report}\n{}", timeline.play());
    }
}
