//! Whether a candidate may be picked, by what its store answers.

use incumbent_protocol::candidacy::Effect;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, Incarnation};
use incumbent_protocol::lease::request::{Denied, Done};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::policy::Policy;
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::succession::Settings;
use incumbent_protocol::time::{AskedAt, HeardAt, StoreTime};
use std::time::Duration;
use tokio::sync::oneshot;

use super::*;
use crate::contest::Contest;

#[test]
fn whoever_gets_no_answer_twice_may_not_be_picked_until_it_gets_one() {
    let mut now = Time::from_nanos(1);
    let mut seat = seat(now);
    let (winner, _waits) = oneshot::channel();
    seat.campaign(winner);
    seat.handle(now, Input::Wish(Wish::Lead));
    assert_eq!(seat.part(now), None, "it has not looked yet");
    let may_be_picked = |seat: &Seat, now| seat.part(now).expect("it takes part").eligible;
    answer(&mut seat, &mut now, Outcome::Committed(Done::Looked(vacant())));
    assert!(may_be_picked(&seat, now));
    answer(&mut seat, &mut now, Outcome::Unknown);
    assert!(may_be_picked(&seat, now), "once is bad luck");
    answer(&mut seat, &mut now, Outcome::Unknown);
    assert!(!may_be_picked(&seat, now), "no majority is in reach");
    answer(&mut seat, &mut now, Outcome::Committed(Done::Looked(vacant())));
    assert!(may_be_picked(&seat, now));
}

fn seat(now: Time) -> Seat {
    let me = CandidateId::new("one".parse().expect("a name"), Incarnation::from_random(7));
    let timing = Timing::of_lease(Duration::from_secs(8)).expect("good timings");
    let succession = Settings {
        profile: Profile::default(),
        priority: 0,
        policy: Policy::default(),
        drain: Duration::from_secs(1),
        every: Duration::from_secs(1),
    };
    let contest = Contest { timing, rounds: None, succession };
    let mut seat = Seat::new("billing".parse().expect("a name"), me, contest, now);
    seat.nomination = Some(Nominated::default());
    seat.handle(now, Input::Nominated(false));
    seat
}

/// Lets time pass until it asks, and answers so.
fn answer(seat: &mut Seat, now: &mut Time, outcome: Outcome<Done, Denied>) {
    let ticket = loop {
        match seat.effect() {
            Some(Effect::Ask { ticket, .. }) => break ticket,
            None => {
                *now = seat.wake_at().expect("it will ask").max(*now);
                seat.handle(*now, Input::Wake);
            }
        }
    };
    let (asked_at, heard_at) = (AskedAt::before_sending(*now), HeardAt::after_answer(*now));
    seat.handle(*now, Input::Answer { ticket, asked_at, heard_at, outcome });
}

/// What a store shows of an election that nobody ever won.
fn vacant() -> Snapshot {
    let (now, controls) = (StoreTime::default(), Controls::default());
    Snapshot { record: None, now, holder_died: false, replaced: None, controls }
}
