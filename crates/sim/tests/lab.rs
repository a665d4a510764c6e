//! The lab: what it measures is what the theory says, and a seed replays a run.

use incumbent_protocol::node::NodeId;
use incumbent_sim::lab::{
    Case, End, Fate, Kind, Links, MESSAGE_TIME, Manner, Outcome, Setting, SettingError, Silence,
    Theory, What, harmonic, numbers, run,
};

const MANNERS: [Manner; 2] = [Manner::Ring, Manner::Bully];

fn node(number: u128) -> NodeId {
    NodeId::given(number)
}

/// Runs a setting, and compares it with what the formulas give.
#[track_caller]
fn agrees_with_theory(setting: &Setting) -> Outcome {
    let theory = Theory::of(setting).expect("a formula applies");
    let outcome = run(setting).expect("a good setting");
    let counts = outcome.trace.counts();
    for (kind, count) in &theory.counts {
        let measured = counts.get(kind).copied().unwrap_or(0);
        assert_eq!(measured, *count, "{kind} in {setting:?}: {}", theory.case);
    }
    assert_eq!(outcome.agreed_at(), Some(theory.time), "{setting:?}: {}", theory.case);
    let live = setting.nodes.iter().copied().filter(|node| setting.is_alive(*node, 0));
    assert_eq!(outcome.agreed(), live.max(), "the highest live node");
    assert_eq!(outcome.end, End::AtRest);
    outcome
}

#[test]
fn the_lectures_example_is_played_message_by_message() {
    let setting = Case::Example.setting(Manner::Bully, None, 0);
    let outcome = agrees_with_theory(&setting);
    let told: Vec<String> = outcome
        .trace
        .letters
        .iter()
        .map(|it| format!("{} {}>{} {}", it.sent / MESSAGE_TIME, it.from, it.to, it.kind))
        .collect();
    let expected = [
        "0 3>4 Election",
        "0 3>5 Election",
        "0 3>6 Election",
        "1 4>3 OK",
        "1 4>5 Election",
        "1 4>6 Election",
        "1 5>3 OK",
        "1 5>6 Election",
        "2 5>4 OK",
        "4 5>6 Coordinator",
        "4 5>1 Coordinator",
        "4 5>2 Coordinator",
        "4 5>3 Coordinator",
        "4 5>4 Coordinator",
    ];
    assert_eq!(told, expected);
    assert_eq!(outcome.agreed_at(), Some(5 * MESSAGE_TIME), "the lecture's five message times");
}

#[test]
fn the_worst_and_the_best_case_of_the_bully_are_those_of_the_lecture() {
    for nodes in 3..=64 {
        let worst = agrees_with_theory(&Case::Worst.setting(Manner::Bully, Some(nodes), 0));
        assert_eq!(worst.trace.counts()[&Kind::Election], nodes * (nodes - 1) / 2);
        assert_eq!(worst.agreed_at(), Some(5 * MESSAGE_TIME));
        let best = agrees_with_theory(&Case::Best.setting(Manner::Bully, Some(nodes), 0));
        assert_eq!(best.trace.letters.len(), nodes - 2, "Coordinator messages and no others");
        assert_eq!(best.agreed_at(), Some(MESSAGE_TIME));
    }
}

#[test]
fn the_worst_and_the_best_case_of_the_ring_are_those_of_the_textbook() {
    for nodes in 2..=64 {
        for (case, total) in [(Case::Worst, 3 * nodes - 1), (Case::Best, 2 * nodes)] {
            let counts =
                agrees_with_theory(&case.setting(Manner::Ring, Some(nodes), 0)).trace.counts();
            assert_eq!(counts[&Kind::Election] + counts[&Kind::Elected], total, "{nodes} {case:?}");
            assert_eq!(counts[&Kind::Unblock], nodes - 1);
        }
    }
}

#[test]
fn every_single_beginner_costs_what_its_place_says() {
    for manner in MANNERS {
        for nodes in 2..=9 {
            for begins in 1..nodes {
                let mut setting = Setting::new(manner, numbers(nodes));
                setting.failures = vec![(node(nodes as u128), 0)];
                setting.initiators = vec![(node(begins as u128), 0)];
                agrees_with_theory(&setting);
            }
        }
    }
}

#[test]
fn dead_neighbours_cost_one_message_each_whoever_and_wherever_they_are() {
    for manner in MANNERS {
        for dead in [vec![7, 6], vec![7, 3], vec![7, 6, 2], vec![7, 5, 4, 3]] {
            let live = (1..7).filter(|it| !dead.contains(it));
            for begins in live {
                let mut setting = Setting::new(manner, numbers(7));
                setting.failures = dead.iter().map(|it| (node(*it), 0)).collect();
                setting.initiators = vec![(node(begins), 0)];
                agrees_with_theory(&setting);
            }
        }
    }
}

#[test]
fn when_all_begin_a_ring_takes_n_log_n_on_average() {
    let nodes = 16;
    let mut sum = 0.0;
    for seed in 0..200 {
        let setting = Case::Average.setting(Manner::Ring, Some(nodes), seed);
        let elections = agrees_with_theory(&setting).trace.counts()[&Kind::Election];
        sum += f64::from(u32::try_from(elections).expect("a small number"));
    }
    let mean = sum / 200.0;
    assert!((mean / harmonic(nodes) - 1.0).abs() < 0.05, "{mean} and {}", harmonic(nodes));
}

/// Everything that can go wrong at once.
fn storm(manner: Manner, seed: u64) -> Setting {
    let mut setting = Case::Example.setting(manner, Some(7), seed);
    let (second, third) = (setting.nodes[5], setting.nodes[4]);
    let first = setting.nodes[6];
    setting.failures.extend([(second, 2_500_000), (third, 9_000_000)]);
    setting.returns = vec![(first, 30 * MESSAGE_TIME), (second, 50 * MESSAGE_TIME)];
    setting.links = Links {
        delay: (MESSAGE_TIME / 2, MESSAGE_TIME),
        loss: 100_000,
        twice: 100_000,
        ..Links::default()
    };
    setting.limit = 1_000 * MESSAGE_TIME;
    setting
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    for manner in MANNERS {
        let one = run(&storm(manner, 7)).expect("runs");
        assert_eq!(one, run(&storm(manner, 7)).expect("runs"));
        assert_ne!(one, run(&storm(manner, 8)).expect("runs"));
    }
}

#[test]
fn in_a_storm_all_agree_once_it_is_over() {
    for manner in MANNERS {
        for seed in 0..1000 {
            let outcome = run(&storm(manner, seed)).expect("runs");
            assert!(outcome.agreed().is_some(), "{manner} seed {seed}: {:?}", outcome.picks);
            let lost = outcome.trace.letters.iter().filter(|it| it.fate == Fate::Lost).count();
            let told = outcome.trace.events.iter().filter(|it| matches!(it.what, What::Lost(_)));
            assert_eq!(lost, told.count());
        }
    }
}

#[test]
fn the_death_of_whoever_was_picked_is_found_and_another_is_picked() {
    for manner in MANNERS {
        let mut setting = Case::Worst.setting(manner, Some(5), 0);
        let highest = setting.nodes[if manner == Manner::Ring { 4 } else { 3 }];
        setting.failures.push((highest, 40 * MESSAGE_TIME));
        assert_eq!(Theory::of(&setting), Err(Silence::Failures));
        let outcome = run(&setting).expect("runs");
        let next = setting.nodes[if manner == Manner::Ring { 3 } else { 2 }];
        assert_eq!(outcome.agreed(), Some(next), "{manner}");
        assert!(outcome.nominees().contains(&highest), "it was picked before");
    }
}

#[test]
fn one_that_comes_back_asks_or_preempts() {
    for manner in MANNERS {
        for preempt in [false, true] {
            let mut setting = Case::Example.setting(manner, None, 0);
            let leader = setting.nodes[5];
            setting.returns = vec![(leader, 40 * MESSAGE_TIME)];
            setting.preempt = preempt;
            let outcome = run(&setting).expect("runs");
            let wanted = setting.nodes[if preempt { 5 } else { 4 }];
            assert_eq!(outcome.agreed(), Some(wanted), "{manner} {preempt}: {:?}", outcome.picks);
        }
    }
}

#[test]
fn where_no_formula_applies_the_reason_is_given() {
    let base = Case::Worst.setting(Manner::Bully, Some(4), 0);
    let with = |change: &dyn Fn(&mut Setting)| {
        let mut setting = base.clone();
        change(&mut setting);
        Theory::of(&setting).map(|theory| theory.case)
    };
    assert_eq!(with(&|it| it.returns = vec![(node(4), 9)]), Err(Silence::Failures));
    assert_eq!(with(&|it| it.links.loss = 1), Err(Silence::Links));
    assert_eq!(with(&|it| it.bound = 2 * MESSAGE_TIME), Err(Silence::Bound));
    assert_eq!(with(&|it| it.failures.clear()), Err(Silence::LeaderLives));
    assert_eq!(with(&|it| it.initiators.push((node(2), 0))), Err(Silence::SeveralBegin));
    let mut ring = Case::Worst.setting(Manner::Ring, Some(4), 0);
    ring.initiators.push((node(2), 0));
    assert_eq!(Theory::of(&ring), Err(Silence::SomeBegin));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |change: &dyn Fn(&mut Setting)| {
        let mut setting = Case::Example.setting(Manner::Ring, None, 0);
        setting.nodes = numbers(6);
        setting.initiators = vec![(node(3), 0)];
        setting.failures = vec![(node(6), 0)];
        change(&mut setting);
        run(&setting).expect_err("refused")
    };
    assert_eq!(refused(&|it| it.nodes.clear()), SettingError::NoNodes);
    assert_eq!(refused(&|it| it.nodes = numbers(513)), SettingError::TooMany(513));
    assert_eq!(refused(&|it| it.nodes.push(node(3))), SettingError::Twice(node(3)));
    assert_eq!(refused(&|it| it.failures.push((node(9), 0))), SettingError::Unknown(node(9)));
    assert_eq!(refused(&|it| it.failures.push((node(6), 5))), SettingError::DeadDies(node(6)));
    assert_eq!(refused(&|it| it.returns.push((node(2), 5))), SettingError::LiveReturns(node(2)));
    assert_eq!(refused(&|it| it.initiators = vec![(node(6), 0)]), SettingError::NobodyBegins);
    assert_eq!(refused(&|it| it.links.delay = (2, 1)), SettingError::Delays);
    assert_eq!(refused(&|it| it.links.delay = (0, 1)), SettingError::Instant);
    assert_eq!(refused(&|it| it.bound = 0), SettingError::Instant);
}

#[test]
fn a_node_on_its_own_picks_itself_and_asks_nobody() {
    for manner in MANNERS {
        let mut setting = Setting::new(manner, numbers(2));
        setting.failures = vec![(node(2), 0)];
        setting.initiators = vec![(node(1), 0)];
        let counts = agrees_with_theory(&setting).trace.counts();
        assert_eq!(counts.get(&Kind::Election), None, "{manner}");
    }
}
