//! The judge of probes, step by step: a probe every 100 ms, 40 ms of patience, three failures, a
//! cool-down of 250 ms.

use core::time::Duration;

use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

fn begun() -> Health {
    let mut health = Health::new(HealthRules::new(ms(100), ms(40), 3, ms(250)).expect("rules"));
    health.begin(at(0));
    health
}

fn unfit(since: u64, reason: &str) -> Fitness {
    Fitness::Unfit { since: at(since), reason: reason.to_owned() }
}

fn effects(health: &mut Health) -> Vec<Effect> {
    std::iter::from_fn(|| health.poll_effect()).collect()
}

fn notices(health: &mut Health) -> Vec<Fitness> {
    std::iter::from_fn(|| health.poll_notice()).collect()
}

/// Lets the probe of this instant begin and answer five milliseconds later.
fn probe(health: &mut Health, millis: u64, result: Result<(), &str>) {
    health.handle(at(millis), Input::Tick);
    let probe = match effects(health).last() {
        Some(Effect::Begin(probe)) => *probe,
        other => panic!("no probe began at {millis}: {other:?}"),
    };
    let answer = match result {
        Ok(()) => Input::Passed(probe),
        Err(reason) => Input::Failed { probe, reason: reason.to_owned() },
    };
    health.handle(at(millis + 5), answer);
}

#[test]
fn nobody_is_fit_before_a_probe_has_passed() {
    let mut health = begun();
    assert_eq!(*health.fitness(), unfit(0, "no probe has passed yet"));
    assert_eq!(effects(&mut health), [Effect::Begin(1)]);
    assert_eq!(notices(&mut health), []);
    health.handle(at(5), Input::Passed(1));
    assert_eq!(notices(&mut health), [Fitness::Fit]);
}

#[test]
fn a_failure_at_the_start_is_told_and_does_not_cost_a_cool_down() {
    let mut health = begun();
    health.handle(at(5), Input::Failed { probe: 1, reason: "starting".to_owned() });
    assert_eq!(notices(&mut health), [unfit(0, "starting")]);
    effects(&mut health);
    probe(&mut health, 100, Ok(()));
    assert_eq!(notices(&mut health), [Fitness::Fit]);
}

#[test]
fn one_that_fails_too_often_at_the_start_has_to_cool_down_like_any_other() {
    let mut health = begun();
    health.handle(at(5), Input::Failed { probe: 1, reason: "starting".to_owned() });
    effects(&mut health);
    probe(&mut health, 100, Err("starting"));
    probe(&mut health, 200, Err("starting"));
    probe(&mut health, 300, Ok(()));
    assert_eq!(*health.fitness(), Fitness::Recovering { until: at(555) });
}

#[test]
fn so_many_failures_in_a_row_and_not_fewer_make_it_unfit() {
    let mut health = begun();
    health.handle(at(5), Input::Passed(1));
    effects(&mut health);
    for (millis, result) in [
        (100, Err("one")),
        (200, Err("two")),
        (300, Ok(())),
        (400, Err("one again")),
        (500, Err("two again")),
    ] {
        probe(&mut health, millis, result);
        assert!(health.fitness().is_fit(), "at {millis}");
    }
    probe(&mut health, 600, Err("three"));
    assert_eq!(notices(&mut health), [Fitness::Fit, unfit(605, "three")]);
}

#[test]
fn an_illness_keeps_its_date_and_tells_its_latest_reason() {
    let mut health = ill();
    probe(&mut health, 300, Err("worse"));
    assert_eq!(notices(&mut health), [unfit(205, "worse")]);
    probe(&mut health, 400, Err("worse"));
    assert_eq!(notices(&mut health), [], "nothing changed");
}

#[test]
fn who_gets_well_is_fit_only_when_a_probe_passes_after_the_cool_down() {
    let mut health = ill();
    probe(&mut health, 300, Ok(()));
    assert_eq!(notices(&mut health), [Fitness::Recovering { until: at(555) }]);
    probe(&mut health, 400, Ok(()));
    probe(&mut health, 500, Ok(()));
    health.handle(at(560), Input::Tick);
    assert_eq!(notices(&mut health), [], "time alone proves nothing");
    probe(&mut health, 600, Ok(()));
    assert_eq!(notices(&mut health), [Fitness::Fit]);
}

#[test]
fn one_failure_restarts_the_cool_down() {
    let mut health = ill();
    probe(&mut health, 300, Ok(()));
    probe(&mut health, 400, Err("again"));
    probe(&mut health, 500, Ok(()));
    let ill = unfit(205, "again");
    let (first, second) = (at(555), at(755));
    assert_eq!(
        notices(&mut health),
        [Fitness::Recovering { until: first }, ill, Fitness::Recovering { until: second }]
    );
    probe(&mut health, 600, Ok(()));
    probe(&mut health, 700, Ok(()));
    assert!(!health.fitness().is_fit());
    probe(&mut health, 800, Ok(()));
    assert!(health.fitness().is_fit());
}

#[test]
fn a_probe_without_an_answer_is_given_up_and_has_failed() {
    let mut health = begun();
    assert_eq!(health.wake_at(), Some(at(40)));
    health.handle(at(39), Input::Tick);
    assert_eq!(effects(&mut health), [Effect::Begin(1)]);
    health.handle(at(40), Input::Tick);
    assert_eq!(effects(&mut health), [Effect::GiveUp(1)]);
    assert_eq!(*health.fitness(), unfit(0, "no answer within 40ms"));
    assert_eq!(health.wake_at(), Some(at(100)));
}

#[test]
fn an_answer_that_comes_too_late_counts_as_none() {
    let mut health = begun();
    health.handle(at(40), Input::Passed(1));
    assert_eq!(effects(&mut health), [Effect::Begin(1), Effect::GiveUp(1)]);
    assert_eq!(*health.fitness(), unfit(0, "no answer within 40ms"));
    health.handle(at(100), Input::Tick);
    health.handle(at(105), Input::Passed(1));
    assert!(!health.fitness().is_fit(), "an old answer is not that of the present probe");
    health.handle(at(106), Input::Passed(2));
    assert!(health.fitness().is_fit());
}

#[test]
fn an_answer_counts_once() {
    let mut health = begun();
    health.handle(at(5), Input::Passed(1));
    for millis in 6..20 {
        health.handle(at(millis), Input::Failed { probe: 1, reason: "echo".to_owned() });
    }
    assert!(health.fitness().is_fit());
}

#[test]
fn one_that_was_asleep_fails_once_and_does_not_catch_up_in_a_burst() {
    let mut health = begun();
    health.handle(at(5), Input::Passed(1));
    health.handle(at(100), Input::Tick);
    effects(&mut health);
    health.handle(at(90_000), Input::Tick);
    assert_eq!(effects(&mut health), [Effect::GiveUp(2), Effect::Begin(3)]);
    health.handle(at(90_001), Input::Tick);
    assert_eq!(effects(&mut health), []);
    assert!(health.fitness().is_fit(), "one failure is not three");
}

/// Fit at 5, unfit since 205; everything that was told is taken.
fn ill() -> Health {
    let mut health = Health::new(HealthRules::new(ms(100), ms(40), 2, ms(250)).expect("rules"));
    health.begin(at(0));
    health.handle(at(5), Input::Passed(1));
    effects(&mut health);
    probe(&mut health, 100, Err("one"));
    probe(&mut health, 200, Err("two"));
    assert_eq!(notices(&mut health), [Fitness::Fit, unfit(205, "two")]);
    health
}
