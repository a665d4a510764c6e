//! Forged and clean histories for `work_stops_in_time`.

use incumbent_protocol::history::Event;
use incumbent_protocol::standing::Reason::{Deposed, Ending, Resigned};

use super::super::forge::*;
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
