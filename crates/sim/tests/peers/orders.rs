//! What operators order among peers, told by hand: pause, cordon, transfer.

use incumbent_protocol::planted::Bug;

use super::*;

/// Three nodes, of which one leads by the time of 20 seconds.
fn three(algorithm: Algorithm, seed: u64) -> (Story, usize) {
    let story = Story::plain(algorithm, seed, 3, 3 * MINUTE);
    let first = leader(&story, 0);
    (story, first)
}

fn each(test: impl Fn(Algorithm, u64)) {
    for algorithm in BOTH {
        (0..4).for_each(|seed| test(algorithm, seed));
    }
}

#[test]
fn nobody_comes_to_lead_while_the_election_is_paused_and_somebody_does_after_that() {
    each(|algorithm, seed| {
        let (mut story, first) = three(algorithm, seed);
        let other = (first + 1) % 3;
        story.faults =
            vec![fault(200, Kind::PauseElection, other, 400), fault(230, Kind::Crash, first, 50)];
        let leaders = leaders(&story);
        assert!(leaders.len() >= 2 && leaders[1].0 >= 600, "{algorithm}, seed {seed}: {leaders:?}");
        assert_kept(&story, 2);
    });
}

#[test]
fn whoever_is_cordoned_goes_on_leading_and_does_not_win_again_before_it_is_let_in() {
    each(|algorithm, seed| {
        let (mut story, first) = three(algorithm, seed);
        let other = (first + 1) % 3;
        let level = i64::try_from(first).expect("a small number");
        story.faults = vec![
            Fault { level, ..fault(200, Kind::Cordon, other, 500) },
            fault(400, Kind::CrashLeader, 0, 10),
            fault(550, Kind::CrashLeader, 0, 10),
        ];
        let leaders = leaders(&story);
        assert!(leaders.len() >= 3 && leaders[1].0 >= 400, "{algorithm}, seed {seed}: {leaders:?}");
        let meanwhile = leaders.iter().skip(1).filter(|(at, _)| *at < 700);
        assert!(meanwhile.into_iter().all(|(_, node)| *node != first), "{leaders:?}");
        assert_kept(&story, 3);
    });
}

#[test]
fn a_leader_that_is_asked_to_hand_over_lets_go_for_whoever_is_named() {
    each(|algorithm, seed| {
        let (mut story, first) = three(algorithm, seed);
        for heir in (0..3).filter(|heir| *heir != first) {
            let level = i64::try_from(heir).expect("a small number");
            story.faults = vec![Fault { level, ..fault(200, Kind::Transfer, first, 0) }];
            assert_eq!(leader(&story, 1), heir, "{algorithm}, seed {seed}");
            let run = told(&story);
            assert!(run.report.is_clean() && run.tally.handed_over == 1, "{}", run.report);
        }
    });
}

/// The judge of orders hears of the terms of peers too.
#[test]
fn a_term_against_what_operators_have_in_force_is_caught() {
    let broken = |algorithm: Algorithm| {
        let (mut story, first) = three(algorithm, 1);
        story.faults = vec![
            fault(200, Kind::PauseElection, (first + 1) % 3, 400),
            fault(230, Kind::Crash, first, 50),
        ];
        let run = run(&story, Some(Bug::ControlsIgnored), Keep::default());
        let violations = run.expect("the story can be told").report.violations;
        violations.iter().any(|violation| violation.property == "no_term_against_orders")
    };
    assert!(BOTH.iter().all(|algorithm| broken(*algorithm)));
}
