//! Forged and clean histories for `work_stops_in_time`.

use incumbent_protocol::history::Event;
use incumbent_protocol::standing::Reason::{Deposed, Ending, Expired, Resigned};
use incumbent_protocol::time::Time;

use super::super::forge::*;
use super::super::{Cast, Checker};
use super::WorkStopsInTime;

#[test]
fn work_inside_its_lease_is_clean() {
    let lines = [
        gained(1, A, 5, 4),
        work_began(1, A, 5),
        renewed(3, A, 5, 6),
        lost(5, A, 5, Ending),
        work_ended(6, A, 5),
        gained(7, B, 6, 9),
        work_began(7, B, 6),
    ];
    assert_eq!(clean::<WorkStopsInTime>(&lines), 3);
}

#[test]
fn work_of_a_deposed_leader_may_use_what_is_left_of_the_lease() {
    let lines =
        [gained(1, A, 5, 4), work_began(1, A, 5), lost(2, A, 5, Deposed), work_ended(3, A, 5)];
    assert_eq!(clean::<WorkStopsInTime>(&lines), 2);
}

#[test]
fn work_that_outlives_its_lease_is_told() {
    let lines = [gained(1, A, 5, 4), work_began(1, A, 5), work_ended(5, A, 5)];
    accused::<WorkStopsInTime>(&lines, &["a#", "term 5 ended at 0.005s", "lease ended at 0.004s"]);
}

#[test]
fn work_that_outlives_a_resignation_is_told() {
    let lines =
        [gained(1, A, 5, 4), work_began(1, A, 5), lost(2, A, 5, Resigned), work_ended(3, A, 5)];
    accused::<WorkStopsInTime>(&lines, &["term 5 ended at 0.003s", "resigned at 0.002s"]);
}

#[test]
fn work_that_begins_outside_a_sure_and_valid_lease_is_told() {
    for (before, why) in [
        (renewed(2, A, 5, 3), "ended at 0.003s"),
        (unsure(2, A, 5), "was in doubt"),
        (lost(2, A, 5, Ending), "was ending at 0.002s"),
    ] {
        let lines = [gained(1, A, 5, 4), before, work_began(3, A, 5)];
        accused::<WorkStopsInTime>(&lines, &["a#", "began work under term 5", why]);
    }
}

#[test]
fn work_that_overlaps_a_successors_is_told() {
    let lines = [
        gained(1, A, 5, 9),
        work_began(1, A, 5),
        lost(2, A, 5, Deposed),
        gained(3, B, 6, 9),
        work_began(3, B, 6),
        work_ended(4, A, 5),
    ];
    accused::<WorkStopsInTime>(&lines, &["a#", "ended at 0.004s", "b#", "began at 0.003s"]);
}

#[test]
fn work_that_begins_beside_anothers_while_clocks_differ_is_not_told() {
    let lines = [
        gained(1, A, 5, 9),
        work_began(1, A, 5),
        lost(2, A, 5, Deposed),
        gained(3, B, 6, 9),
        work_began(3, B, 6),
        work_ended(4, A, 5),
    ];
    for (from, until, broken) in [(2, 3, 0), (3, 9, 0), (0, 2, 1), (4, 9, 1)] {
        let (mut judge, mut cast) = (WorkStopsInTime::default(), Cast::default());
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        judge.uneven(at(from), at(until));
        for line in &lines {
            judge.line(&cast.fact(line));
        }
        assert_eq!(judge.finish(&cast).broken.len(), broken, "{from} to {until}");
    }
}

#[test]
fn a_gain_on_top_of_running_work_is_told() {
    let lines =
        [gained(1, A, 5, 4), work_began(1, A, 5), lost(3, A, 5, Ending), gained(5, A, 6, 8)];
    accused::<WorkStopsInTime>(&lines, &["gained term 6", "work under term 5 had not ended"]);
}

#[test]
fn a_process_that_was_paused_when_its_lease_ended_is_excused() {
    let lines = [
        gained(1, A, 5, 4),
        work_began(1, A, 5),
        line(3, A, Event::Paused),
        gained(5, B, 6, 8),
        work_began(5, B, 6),
        line(6, A, Event::Resumed),
        work_ended(6, A, 5),
    ];
    assert_eq!(clean::<WorkStopsInTime>(&lines), 3);
}

#[test]
fn a_pause_that_was_over_in_time_excuses_nothing() {
    let lines = [
        gained(1, A, 5, 4),
        work_began(1, A, 5),
        line(2, A, Event::Paused),
        line(3, A, Event::Resumed),
        work_ended(5, A, 5),
    ];
    accused::<WorkStopsInTime>(&lines, &["ended at 0.005s"]);
}

#[test]
fn work_of_a_killed_process_is_dead() {
    let lines = [
        gained(1, A, 5, 4),
        work_began(1, A, 5),
        line(2, A, Event::Killed),
        gained(5, B, 6, 8),
        work_began(5, B, 6),
    ];
    assert_eq!(clean::<WorkStopsInTime>(&lines), 2);
}

#[test]
fn a_pause_excuses_work_only_until_its_process_resumes() {
    let lines = [
        gained(1_000, A, 5, 10_000),
        work_began(1_000, A, 5),
        line(9_000, A, Event::Paused),
        gained(12_000, B, 6, 4_000_000),
        work_began(12_000, B, 6),
        line(20_000, A, Event::Resumed),
        work_ended(3_600_000, A, 5),
        work_ended(3_700_000, B, 6),
    ];
    let stories = stories::<WorkStopsInTime>(&lines);
    assert_eq!(stories.len(), 2, "{stories:#?}");
    assert!(stories[0].contains("a#") && stories[0].contains("resumed at 20.000s"), "{stories:?}");
    assert!(stories[1].contains("b#") && stories[1].contains("began at 12.000s"), "{stories:?}");
}

#[test]
fn a_resumed_process_may_use_the_grace_and_be_paused_again_meanwhile() {
    let lines = |ended| {
        [
            gained(1_000, A, 5, 4_000),
            work_began(1_000, A, 5),
            line(3_000, A, Event::Paused),
            line(6_000, A, Event::Resumed),
            line(6_100, A, Event::Paused),
            line(8_000, A, Event::Resumed),
            work_ended(ended, A, 5),
        ]
    };
    assert_eq!(clean::<WorkStopsInTime>(&lines(8_250)), 2);
    accused::<WorkStopsInTime>(&lines(8_251), &["resumed at 8.000s"]);
}

#[test]
fn work_without_an_end_is_told_if_its_process_is_heard_of_later() {
    let lines = [
        gained(1_000, A, 5, 10_000),
        work_began(1_000, A, 5),
        gained(12_000, B, 6, 40_000),
        work_began(12_000, B, 6),
        work_ended(30_000, B, 6),
        line(5_000_000, A, Event::Closed),
    ];
    let stories = stories::<WorkStopsInTime>(&lines);
    assert_eq!(stories.len(), 2, "{stories:#?}");
    assert!(stories[0].contains("had not ended at 5000.000s, but its lease ended at 10.000s"));
    assert!(stories[1].contains("b#") && stories[1].contains("began at 12.000s"), "{stories:?}");
}

#[test]
fn silence_is_a_sign_of_death_only_where_kills_are_not_marked() {
    let lines = [
        gained(1_000, A, 5, 10_000),
        work_began(1_000, A, 5),
        gained(12_000, B, 6, 40_000),
        work_began(12_000, B, 6),
        work_ended(30_000, B, 6),
    ];
    assert_eq!(clean::<WorkStopsInTime>(&lines), 3);
    let (mut cast, mut judge) = (Cast::default(), WorkStopsInTime::new(true));
    for line in &lines {
        judge.line(&cast.fact(line));
    }
    assert_eq!(judge.finish(&cast).broken.len(), 2, "late, and beside its successor's");
}

/// What is noted of these lines, in which no promise is broken.
fn noted(lines: &[incumbent_protocol::history::Line]) -> Vec<String> {
    let (mut cast, mut judge) = (Cast::default(), WorkStopsInTime::default());
    for line in lines {
        judge.line(&cast.fact(line));
    }
    let found = judge.finish(&cast);
    assert_eq!(found.broken, []);
    found.noted.into_iter().map(|told| told.story).collect()
}

/// The work of a leader after a freeze: when it ended, and when the leader told that its lease was
/// over. Its successor's work began at `beside`.
fn frozen(ended: u64, told: u64, beside: u64) -> Vec<incumbent_protocol::history::Line> {
    let mut lines = vec![
        gained(1_000, A, 5, 4_000),
        work_began(1_000, A, 5),
        gained(6_000, B, 6, 40_000),
        work_began(beside, B, 6),
        work_ended(ended, A, 5),
        lost(told, A, 5, Expired),
        work_ended(30_000, B, 6),
    ];
    lines.sort_by_key(|line| line.at);
    lines
}

#[test]
fn a_supervisor_and_a_guard_that_were_stopped_together_are_a_documented_exception() {
    for (ended, told) in [(9_001, 9_002), (9_003, 9_001), (9_250, 9_000), (9_000, 9_250)] {
        let noted = noted(&frozen(ended, told, 10_000));
        assert_eq!(noted.len(), 1, "late: {noted:#?}");
        assert!(noted[0].contains("a documented exception"), "{noted:?}");
    }
}

#[test]
fn a_freeze_is_no_excuse_for_work_beside_a_successors() {
    for (ended, told) in [(9_001, 9_002), (9_003, 9_001), (9_250, 9_000), (9_000, 9_250)] {
        let lines = frozen(ended, told, 6_000);
        let stories = stories::<WorkStopsInTime>(&lines);
        assert_eq!(stories.len(), 1, "{stories:#?}");
        let words = ["b#", "began at 6.000s", "stopped together"];
        assert!(words.iter().all(|word| stories[0].contains(word)), "{stories:?}");
    }
}

#[test]
fn work_is_late_if_its_supervisor_or_its_guard_was_not_stopped() {
    for (ended, told) in [(9_251, 9_000), (9_000, 9_251), (9_000, 3_900)] {
        let stories = stories::<WorkStopsInTime>(&frozen(ended, told, 6_000));
        assert_eq!(stories.len(), 2, "{stories:#?}");
    }
}

#[test]
fn where_pauses_are_marked_silence_is_no_sign_of_a_freeze() {
    for (ended, told) in [(9_001, 9_002), (9_003, 9_001), (9_250, 9_000)] {
        let (mut cast, mut judge) = (Cast::default(), WorkStopsInTime::new(true));
        for line in &frozen(ended, told, 6_000) {
            judge.line(&cast.fact(line));
        }
        assert_eq!(judge.finish(&cast).broken.len(), 2, "ended at {ended}, told at {told}");
    }
}

#[test]
fn a_late_second_end_of_work_is_noted_and_one_in_time_is_not() {
    let lines = |second| {
        [
            gained(1_000, A, 5, 4_000),
            work_began(1_000, A, 5),
            work_ended(3_900, A, 5),
            work_ended(second, A, 5),
        ]
    };
    assert_eq!(noted(&lines(4_000)), [""; 0]);
    let noted = noted(&lines(4_001));
    assert!(noted.len() == 1 && noted[0].contains("3.900s and again at 4.001s"), "{noted:?}");
}

#[test]
fn work_that_was_late_when_its_process_was_killed_is_told() {
    let lines = [gained(1, A, 5, 4), work_began(1, A, 5), line(9, A, Event::Killed)];
    accused::<WorkStopsInTime>(&lines, &["killed at 0.009s", "lease ended at 0.004s"]);
}
