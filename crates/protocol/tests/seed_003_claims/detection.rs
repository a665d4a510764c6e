//! *Architecture*: a two-sided heartbeat. Whoever gets no reply within 700 ms triggers an election.

use core::time::Duration;
use std::collections::BTreeSet;

use incumbent_protocol::detector::{Detector, Effect, Input, Manner, Message, Notice};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use crate::lockstep::node;

const fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Two processes that watch each other; the second dies at some moment. When the first suspects it.
fn suspected_after(dies: u64) -> u64 {
    let mut pair = [1, 2].map(|_| Detector::new(Manner::default()));
    for (own, detector) in pair.iter_mut().enumerate() {
        detector.begin(at(0));
        let other = node(2 - own as u64);
        detector.handle(at(0), Input::Watch(BTreeSet::from([other])));
    }
    for millis in 0..10_000 {
        for own in 0..2 {
            if own == 1 && millis >= dies {
                continue;
            }
            pair[own].handle(at(millis), Input::Wake);
            while let Some(Effect::Send { message, .. }) = pair[own].poll_effect() {
                let from = node(own as u64 + 1);
                // Answers are asked for as soon as a message arrives, which takes no time here.
                if own == 0 && millis >= dies {
                    continue;
                }
                pair[1 - own].handle(at(millis), Input::Message { from, message });
                while let Some(Effect::Send { message, .. }) = pair[1 - own].poll_effect() {
                    let from = node(2 - own as u64);
                    pair[own].handle(at(millis), Input::Message { from, message });
                }
            }
            if let Some(notice) = pair[own].poll_notice() {
                assert_eq!((own, notice), (0, Notice::Suspected(node(2))));
                return millis - dies;
            }
        }
    }
    panic!("not suspected");
}

/// Whenever a process dies, it is suspected after 700 ms at the earliest and a ping later at the latest.
#[test]
fn a_dead_leader_is_suspected_after_700_ms_and_a_ping() {
    let every = Duration::from_millis(700) / 3;
    assert_eq!(Manner::default(), Manner::Timeout { every, timeout: Duration::from_millis(700) });
    for dies in (1_000..2_000).step_by(7) {
        let took = suspected_after(dies);
        assert!((700..=700 + 235).contains(&took), "died at {dies}: {took} ms");
    }
}

/// Two-sided: the leader watches as it is watched, and a reply goes to whoever asked.
#[test]
fn heartbeats_go_both_ways() {
    let mut leader = Detector::new(Manner::default());
    leader.begin(at(0));
    leader.handle(at(0), Input::Watch([2, 3].map(node).into()));
    let pinged: Vec<_> = core::iter::from_fn(|| leader.poll_effect()).collect();
    assert_eq!(pinged.len(), 2, "it pings everybody");
    leader.handle(at(1), Input::Message { from: node(2), message: Message::Ping(77) });
    let answer = Effect::Send { to: node(2), message: Message::Pong(77) };
    assert_eq!(leader.poll_effect(), Some(answer));
}

/// In the original a late reply to one ping masks the miss of the next.
#[test]
fn a_late_reply_does_not_mask_a_miss() {
    let mut detector = Detector::new(Manner::default());
    detector.begin(at(0));
    detector.handle(at(0), Input::Watch(BTreeSet::from([node(2)])));
    let mut late = None;
    let mut suspected = None;
    for millis in 0..3_000 {
        detector.handle(at(millis), Input::Wake);
        while let Some(Effect::Send { message: Message::Ping(number), .. }) = detector.poll_effect()
        {
            late.get_or_insert(number);
        }
        if millis == 699 {
            // The very first ping is answered at last; the others never are.
            let message = Message::Pong(late.expect("a ping"));
            detector.handle(at(millis), Input::Message { from: node(2), message });
        }
        if let Some(Notice::Suspected(_)) = detector.poll_notice() {
            suspected.get_or_insert(millis);
        }
    }
    let second = 700 / 3 + 1;
    assert_eq!(suspected, Some(second + 700), "700 ms after the second ping");
}
