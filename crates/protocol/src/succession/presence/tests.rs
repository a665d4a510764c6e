//! When presence is written and read, and of what.

use crate::identity::{CandidateId, CandidateName, Incarnation};
use crate::rounds::register::Profile;
use crate::time::StoreTime;

use super::*;

const EVERY: Duration = Duration::from_secs(3);

struct Seated {
    election: ElectionName,
    there: bool,
}

impl Participant for Seated {
    fn election(&self) -> &ElectionName {
        &self.election
    }

    fn takes_part(&self) -> bool {
        self.there
    }

    fn row(&self) -> Peer {
        let name = CandidateName::new("ann").expect("a name");
        Peer {
            id: CandidateId::new(name, Incarnation::from_random(1)),
            profile: Profile::default(),
            priority: 0,
            presence: Presence::Ready,
            why: None,
            prefers: String::new(),
            started: StoreTime::default(),
            beaten_at: StoreTime::default(),
            every: EVERY,
        }
    }

    fn every(&self) -> Duration {
        EVERY
    }
}

fn seats(count: usize) -> Vec<Seated> {
    let seat = |at| {
        let election = ElectionName::new(format!("e-{at:05}")).expect("a name");
        Seated { election, there: true }
    };
    (0..count).map(seat).collect()
}

/// Every call of one pass, each of which succeeds.
fn pass(schedule: &mut Schedule, now: Time, seats: &[Seated]) -> Vec<Call> {
    let mut calls = Vec::new();
    while let Some(call) = schedule.call(now, seats.iter()) {
        assert!(call.rows.len() <= TOGETHER && call.elections.len() <= TOGETHER);
        assert_eq!(schedule.came_back(now, EVERY, true, true), None);
        calls.push(call);
        assert!(calls.len() < 1_000, "without an end");
    }
    calls
}

fn written(calls: &[Call]) -> Vec<&ElectionName> {
    calls.iter().flat_map(|call| call.rows.keys()).collect()
}

#[test]
fn ten_thousand_elections_are_written_and_read_once_an_interval_in_bounded_calls() {
    let (all, mut schedule, mut now) = (seats(10_000), Schedule::new(), Time::ZERO + EVERY);
    for _ in 0..3 {
        let calls = pass(&mut schedule, now, &all);
        assert_eq!(calls.len(), 10_000 / TOGETHER);
        assert_eq!(written(&calls), all.iter().map(|seat| &seat.election).collect::<Vec<_>>());
        assert_eq!(calls.iter().map(|call| call.elections.len()).sum::<usize>(), 10_000);
        assert_eq!(schedule.wake_at(all.iter()), Some(now + EVERY));
        // Notifications and news do not add passes while each is as long as this.
        schedule.notify(now, EVERY);
        schedule.hurry(now, EVERY);
        assert!(schedule.call(now + EVERY / 2, all.iter()).is_none());
        now = now + EVERY;
    }
}

#[test]
fn a_call_that_failed_is_made_again_before_the_next() {
    let (all, mut schedule, now) = (seats(500), Schedule::new(), Time::ZERO + EVERY);
    let first = schedule.call(now, all.iter()).expect("due");
    schedule.came_back(now, EVERY, true, true);
    let second = schedule.call(now, all.iter()).expect("due");
    schedule.came_back(now, EVERY, false, true);
    assert!(schedule.call(now, all.iter()).is_none(), "not at once");
    let later = now + EVERY;
    assert_eq!(schedule.wake_at(all.iter()), Some(later));
    let calls = pass(&mut schedule, later, &all);
    let (first, again) = (first.rows.len(), written(&calls));
    assert_eq!(again[..TOGETHER], second.rows.keys().collect::<Vec<_>>());
    // What had not been written yet comes next, and only then a new pass.
    assert_eq!(again[..500 - first], all[first..].iter().map(|s| &s.election).collect::<Vec<_>>());
}

#[test]
fn a_candidate_that_takes_part_no_more_says_so_once() {
    let (mut all, mut schedule, now) = (seats(3), Schedule::new(), Time::ZERO + EVERY);
    pass(&mut schedule, now, &all);
    all[1].there = false;
    let calls = pass(&mut schedule, now + EVERY, &all);
    let left = |(_, row): &(&ElectionName, &Peer)| row.presence == Presence::Left;
    let gone: Vec<_> = calls.iter().flat_map(|call| &call.rows).filter(left).collect();
    assert_eq!(gone.len(), 1);
    assert_eq!((calls.len(), calls[0].elections.len()), (1, 2));
    let calls = pass(&mut schedule, now + EVERY + EVERY, &all);
    assert_eq!(written(&calls).len(), 2);
}

#[test]
fn calls_that_keep_failing_are_told_of_once() {
    let (all, mut schedule, mut now) = (seats(1), Schedule::new(), Time::ZERO + EVERY);
    let mut told = Vec::new();
    // Two of three fail, then all succeed.
    for at in 0..60 {
        now = now + Duration::from_mins(5);
        schedule.call(now, all.iter()).expect("due");
        told.extend(schedule.came_back(now, EVERY, at % 3 == 0 || at >= 30, true));
    }
    assert_eq!(told, [News::Fails, News::Well]);
    // A failure now and then is nobody's concern.
    for at in 0..60 {
        now = now + Duration::from_mins(5);
        schedule.call(now, all.iter()).expect("due");
        assert_eq!(schedule.came_back(now, EVERY, at % 5 != 0, true), None);
    }
}
