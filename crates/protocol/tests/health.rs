//! Properties of health under arbitrary probes: what is told agrees with a second opinion, which is
//! formed from the whole record at the end instead of step by step.
//!
//! Assumes: a driver that is late by less than a probe, or not at all where bounds are judged.
//! Promises: a failing case is printed in its smallest form. `PROPTEST_CASES` and
//! `PROPTEST_RNG_SEED` choose other runs.

use std::cell::Cell;
use std::time::Duration;

use incumbent_protocol::health::{Effect, Fitness, Health, HealthRules, Input};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// What a probe will do: answer after so many milliseconds, and what.
#[derive(Clone, Copy, Debug)]
struct Act {
    after: u64,
    well: bool,
}

/// What came of one probe.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    at: Time,
    passed: bool,
}

/// Everything that happened.
#[derive(Default)]
struct Record {
    verdicts: Vec<Verdict>,
    fitness: Vec<Fitness>,
    began: Vec<Time>,
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn runner() -> TestRunner {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    config.cases = config.cases.max(512);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    TestRunner::new(config)
}

fn rules() -> impl Strategy<Value = HealthRules> {
    (10_u64..200, 1_u64..200, 1_u32..6, 0_u64..1_000).prop_map(|(every, timeout, n, more)| {
        HealthRules::new(ms(every), ms(timeout.min(every)), n, ms(every + more)).expect("rules")
    })
}

/// Phases of health, in which most probes do the same, so that long rows of either come up.
fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = |mostly: bool| {
        (0_u64..250, 0_u8..10).prop_map(move |(after, odd)| Act {
            after: if odd == 1 { after } else { after % 8 },
            well: if odd == 0 { !mostly } else { mostly },
        })
    };
    let phase =
        any::<bool>().prop_flat_map(move |mostly| prop::collection::vec(act(mostly), 1..20));
    prop::collection::vec(phase, 1..8).prop_map(|phases| phases.concat())
}

/// Plays the acts one after the other, waking the judge `late` milliseconds too late.
fn play(rules: HealthRules, acts: &[Act], late: u64) -> Record {
    let mut health = Health::new(rules);
    let mut record = Record::default();
    let mut now = Time::from_nanos(1_000_000_000);
    health.begin(now);
    for act in acts {
        let Some(Effect::Begin(probe)) = health.poll_effect() else { panic!("no probe at {now}") };
        record.began.push(now);
        let (answer_at, deadline) = (now + ms(act.after), now + rules.timeout());
        assert_eq!(health.wake_at(), Some(deadline));
        let passed = if answer_at < deadline {
            now = answer_at;
            let reason = "ill".to_owned();
            let ill = Input::Failed { probe, reason };
            health.handle(now, if act.well { Input::Passed(probe) } else { ill });
            act.well
        } else {
            now = deadline + ms(late);
            health.handle(now, Input::Tick);
            assert_eq!(health.poll_effect(), Some(Effect::GiveUp(probe)));
            false
        };
        record.verdicts.push(Verdict { at: now, passed });
        record.fitness.push(health.fitness().clone());
        if let Some(due) = health.wake_at().filter(|due| now < *due + ms(late)) {
            // A timeout that is as long as the time between probes ends when the next one begins.
            if health.clone().poll_effect().is_none() {
                now = due + ms(late);
                health.handle(now, Input::Tick);
            }
        }
    }
    record
}

/// Whether one is fit after these verdicts, by looking back from the end.
fn second_opinion(rules: &HealthRules, verdicts: &[Verdict]) -> bool {
    let n = rules.failures() as usize;
    let Some(last_pass) = verdicts.iter().rposition(|verdict| verdict.passed) else { return false };
    // So many failures after the last pass end any fitness there was, and a recovery ends with one.
    let failed_since = verdicts.len() - 1 - last_pass;
    if failed_since >= n {
        return false;
    }
    // The last time that so many failed in a row.
    let rows: Vec<usize> = (n..=last_pass)
        .filter(|end| verdicts[end - n..*end].iter().all(|verdict| !verdict.passed))
        .collect();
    let Some(ill_at) = rows.last() else { return true };
    // Since then there must have been a span of passes alone that is as long as the cool-down.
    let mut well_since = None;
    for verdict in &verdicts[*ill_at..] {
        match (verdict.passed, well_since) {
            (false, _) => well_since = None,
            (true, None) => well_since = Some(verdict.at),
            (true, Some(since)) if verdict.at >= since + rules.cool_down() => return true,
            (true, Some(_)) => {}
        }
    }
    false
}

#[test]
fn fitness_is_what_the_whole_record_says() {
    let told = Cell::new([0_u32; 3]);
    let result = runner().run(&(rules(), acts(), 0_u64..20), |(rules, acts, late)| {
        let record = play(rules, &acts, late);
        for (index, fitness) in record.fitness.iter().enumerate() {
            let verdicts = &record.verdicts[..=index];
            prop_assert_eq!(
                fitness.is_fit(),
                second_opinion(&rules, verdicts),
                "{:?} after {:?} by {}",
                fitness,
                verdicts,
                rules
            );
            let [mut fit, mut unfit, mut recovering] = told.get();
            match fitness {
                Fitness::Fit => fit += 1,
                Fitness::Unfit { .. } => unfit += 1,
                Fitness::Recovering { .. } => recovering += 1,
            }
            told.set([fit, unfit, recovering]);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(told.get().iter().all(|times| *times > 500), "too little came up: {:?}", told.get());
}

#[test]
fn probes_never_come_closer_than_the_rules_say() {
    let result = runner().run(&(rules(), acts(), 0_u64..20), |(rules, acts, late)| {
        let record = play(rules, &acts, late);
        for pair in record.began.windows(2) {
            prop_assert!(pair[1].since(pair[0]) >= rules.every(), "{:?} by {}", pair, rules);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn whoever_falls_ill_for_good_is_unfit_within_the_bound() {
    let tried = Cell::new(0_u32);
    let result = runner().run(&(rules(), acts(), any::<bool>()), |(rules, before, silent)| {
        let after = if silent { u64::MAX / 2_000_000 } else { 0 };
        let mut acts = before.clone();
        acts.extend((0..rules.failures()).map(|_| Act { after, well: false }));
        let record = play(rules, &acts, 0);
        let Some(ill_from) = record.began.get(before.len() - 1) else { unreachable!() };
        let last = record.verdicts.last().expect("a verdict");
        prop_assert!(!record.fitness.last().expect("a fitness").is_fit());
        prop_assert!(last.at.since(*ill_from) <= rules.notice_bound(), "{}", rules);
        tried.set(tried.get() + u32::from(record.fitness[before.len() - 1].is_fit()));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(tried.get() > 50, "too few were fit before: {}", tried.get());
}

#[test]
fn whoever_gets_well_for_good_is_fit_within_the_bound() {
    let result = runner().run(&(rules(), acts(), any::<bool>()), |(rules, before, slow)| {
        let after = if slow { u64::try_from(rules.timeout().as_millis()).unwrap() - 1 } else { 0 };
        let probes = rules.cool_down().as_nanos() / rules.every().as_nanos() + 3;
        let mut acts = before.clone();
        acts.extend((0..probes).map(|_| Act { after, well: true }));
        let record = play(rules, &acts, 0);
        let well_from = record.began[before.len() - 1];
        let fit = (before.len()..acts.len()).find(|index| record.fitness[*index].is_fit());
        let fit = record.verdicts[fit.expect("fit in the end")].at;
        prop_assert!(fit.since(well_from) <= rules.recovery_bound(), "{}", rules);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
