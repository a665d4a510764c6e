//! The published loop breaks its own theorem; suspicion by elapsed time does not, and neither does the
//! protocol that is shipped.

use incumbent_audit::judge;
use incumbent_sim::paper::{Late, Rule, Schedule, Shipped, Timeline, Timer};
use incumbent_sim::random::Random;

const HOUR: u64 = 3_600_000;

/// How many seeds are compared side by side. The page about the paper tells of 2,000.
const SEEDS: u64 = 40;

/// In how many of the first so many seeds two leases were valid at one instant.
fn broken(processes: usize, rule: Rule, timer: Timer, seeds: u64) -> usize {
    let breaks = |seed: &u64| {
        let schedule = Schedule::Seed(Random::from_seed(*seed));
        let timeline = Timeline::new(processes, rule, timer, schedule).until(HOUR / 4);
        let report = judge(&timeline.history());
        assert!(report.terms > 0, "a run in which nobody leads proves nothing");
        let two = |v: &incumbent_audit::Violation| v.property == "at_most_one_lease";
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

/// A run of the printed loop, and of what is shipped in its outages.
fn side_by_side(processes: usize, late: Late, seed: u64) -> (Timeline, Shipped) {
    let schedule = || Schedule::Seed(Random::from_seed(seed));
    let printed = Timeline::new(processes, Rule::Printed, Timer::AfterEach, schedule());
    let printed = printed.until(HOUR / 4);
    let ordinary = Schedule::Ordinary(Random::from_seed(seed));
    let shipped = Shipped::new(processes, late, printed.outages(), ordinary).until(HOUR / 4);
    (printed, shipped)
}

/// In how many of these seeds the printed loop breaks; the other one never may.
fn broken_beside_the_shipped(processes: usize, late: Late, seeds: u64) -> usize {
    let breaks = |seed: &u64| {
        let (printed, shipped) = side_by_side(processes, late, *seed);
        let report = judge(&shipped.history());
        assert!(
            report.is_clean(),
            "{processes} processes, seed {seed}: {report}\n{}",
            shipped.play()
        );
        assert!(report.terms > 0, "a run in which nobody leads proves nothing");
        !judge(&printed.history()).is_clean()
    };
    (0..seeds).filter(breaks).count()
}

#[test]
fn where_the_printed_loop_breaks_what_is_shipped_holds() {
    for late in [Late::Requests, Late::Process] {
        assert!(broken_beside_the_shipped(2, late, SEEDS) > 0);
        assert!(broken_beside_the_shipped(3, late, SEEDS) > 0);
        broken_beside_the_shipped(5, late, SEEDS);
    }
}

/// Every request is as likely to be late as a round of the printed loop, and there are more of them.
#[test]
fn what_is_shipped_holds_with_outages_of_its_own() {
    for processes in [2, 3, 5] {
        for seed in 0..SEEDS {
            let schedule = Schedule::Seed(Random::from_seed(seed));
            let shipped = Shipped::new(processes, Late::Requests, &[], schedule).until(HOUR / 4);
            let report = judge(&shipped.history());
            assert!(report.is_clean(), "{processes} processes, seed {seed}: {report}");
        }
    }
}

#[test]
fn the_scripted_outages_are_harmless_to_what_is_shipped() {
    let printed = scripted(Rule::Printed);
    for late in [Late::Requests, Late::Process] {
        let ordinary = Schedule::Script(Vec::new());
        let shipped = Shipped::new(2, late, printed.outages(), ordinary).until(15_000);
        let report = judge(&shipped.history());
        assert!(report.is_clean() && report.terms == 1, "{report}\n{}", shipped.play());
    }
}

/// The seed of the page about the paper.
#[test]
fn seed_34_side_by_side() {
    let (printed, shipped) = side_by_side(2, Late::Requests, 34);
    let late = printed.outages().iter().filter(|outage| (45_000..64_000).contains(&outage.from));
    let late: Vec<String> = late
        .map(|o| format!("{} is late from {} ms to {} ms", ["A", "B"][o.seat], o.from, o.until))
        .collect();
    let story = judge(&printed.history()).violations.first().map(|v| v.story.clone());
    let play = format!(
        "{}\n\nprinted:\n{}\n{}\n\nshipped:\n{}\n",
        late.join("\n"),
        between(printed.play(), 45, 64),
        story.expect("the printed loop breaks"),
        between(shipped.play(), 45, 64),
    );
    let expected = include_str!("../testdata/paper-seed-34.play");
    assert!(play == expected, "the play has changed:\n{play}");
    assert!(judge(&shipped.history()).is_clean());
}

/// The lines of a play from one second to another.
fn between(play: &str, from: u64, until: u64) -> String {
    let second = |line: &&str| line.split('.').next().and_then(|word| word.parse().ok());
    let lines =
        play.lines().filter(|line| second(line).is_some_and(|at| (from..until).contains(&at)));
    lines.collect::<Vec<_>>().join("\n")
}
