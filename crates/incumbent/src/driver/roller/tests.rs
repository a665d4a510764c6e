//! When the roll is called, and about what.

use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::time::StoreTime;

use super::*;

const EVERY: Duration = Duration::from_secs(3);

struct Seated {
    election: ElectionName,
    there: bool,
}

impl Part for Seated {
    fn election(&self) -> &ElectionName {
        &self.election
    }

    fn takes_part(&self) -> bool {
        self.there
    }

    fn line(&self) -> Peer {
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
fn pass(roller: &mut Roller, now: Time, seats: &[Seated]) -> Vec<Call> {
    let mut calls = Vec::new();
    while let Some(call) = roller.call(now, seats.iter()) {
        assert!(call.lines.len() <= TOGETHER && call.elections.len() <= TOGETHER);
        assert_eq!(roller.came_back(now, EVERY, true, true), None);
        calls.push(call);
        assert!(calls.len() < 1_000, "without an end");
    }
    calls
}

fn written(calls: &[Call]) -> Vec<&ElectionName> {
    calls.iter().flat_map(|call| call.lines.keys()).collect()
}

#[test]
fn ten_thousand_elections_are_written_and_read_once_an_interval_in_bounded_calls() {
    let (all, mut roller, mut now) = (seats(10_000), Roller::new(), Time::ZERO + EVERY);
    for _ in 0..3 {
        let calls = pass(&mut roller, now, &all);
        assert_eq!(calls.len(), 10_000 / TOGETHER);
        assert_eq!(written(&calls), all.iter().map(|seat| &seat.election).collect::<Vec<_>>());
        assert_eq!(calls.iter().map(|call| call.elections.len()).sum::<usize>(), 10_000);
        assert_eq!(roller.wake_at(all.iter()), Some(now + EVERY));
        // Rings and news do not add passes while each is as long as this.
        roller.ring(now, EVERY);
        roller.hurry(now, EVERY);
        assert!(roller.call(now + EVERY / 2, all.iter()).is_none());
        now = now + EVERY;
    }
}

#[test]
fn a_call_that_failed_is_made_again_before_the_next() {
    let (all, mut roller, now) = (seats(500), Roller::new(), Time::ZERO + EVERY);
    let first = roller.call(now, all.iter()).expect("due");
    roller.came_back(now, EVERY, true, true);
    let second = roller.call(now, all.iter()).expect("due");
    roller.came_back(now, EVERY, false, true);
    assert!(roller.call(now, all.iter()).is_none(), "not at once");
    let later = now + EVERY;
    assert_eq!(roller.wake_at(all.iter()), Some(later));
    let calls = pass(&mut roller, later, &all);
    let (first, again) = (first.lines.len(), written(&calls));
    assert_eq!(again[..TOGETHER], second.lines.keys().collect::<Vec<_>>());
    // What had not been written yet comes next, and only then a new pass.
    assert_eq!(again[..500 - first], all[first..].iter().map(|s| &s.election).collect::<Vec<_>>());
}

#[test]
fn whoever_takes_part_no_more_says_so_once() {
    let (mut all, mut roller, now) = (seats(3), Roller::new(), Time::ZERO + EVERY);
    pass(&mut roller, now, &all);
    all[1].there = false;
    let calls = pass(&mut roller, now + EVERY, &all);
    let left = |(_, line): &(&ElectionName, &Peer)| line.presence == Presence::Left;
    let gone: Vec<_> = calls.iter().flat_map(|call| &call.lines).filter(left).collect();
    assert_eq!(gone.len(), 1);
    assert_eq!((calls.len(), calls[0].elections.len()), (1, 2));
    let calls = pass(&mut roller, now + EVERY + EVERY, &all);
    assert_eq!(written(&calls).len(), 2);
}

#[test]
fn calls_that_keep_failing_are_told_of_once() {
    let (all, mut roller, mut now) = (seats(1), Roller::new(), Time::ZERO + EVERY);
    let mut told = Vec::new();
    // Two of three fail, then all succeed.
    for at in 0..60 {
        now = now + Duration::from_mins(5);
        roller.call(now, all.iter()).expect("due");
        told.extend(roller.came_back(now, EVERY, at % 3 == 0 || at >= 30, true));
    }
    assert_eq!(told, [News::Fails, News::Well]);
    // A failure now and then is nobody's concern.
    for at in 0..60 {
        now = now + Duration::from_mins(5);
        roller.call(now, all.iter()).expect("due");
        assert_eq!(roller.came_back(now, EVERY, at % 5 != 0, true), None);
    }
}
