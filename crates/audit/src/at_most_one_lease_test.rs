//! Forged and clean histories for `at_most_one_lease`.

use incumbent_protocol::history::{Event, Line};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::standing::Reason;

use super::super::forge::*;
use super::AtMostOneLease;

fn is_clean(lines: &[Line]) {
    assert!(clean::<AtMostOneLease>(lines) > 0);
}

#[test]
fn two_leases_at_one_instant_are_told_with_both_terms_and_times() {
    let lines = [gained(1_000, A, 5, 4_000), gained(3_000, B, 6, 6_000)];
    accused::<AtMostOneLease>(
        &lines,
        &[
            "at 3.000s",
            "a#0000000a (term 5, valid until 4.000s)",
            "b#0000000b (term 6, valid until 6.000s)",
            "ledger",
        ],
    );
}

#[test]
fn a_lease_that_ends_as_the_next_begins_does_not_overlap_it() {
    is_clean(&[gained(1_000, A, 5, 4_000), gained(4_000, B, 6, 7_000)]);
}

#[test]
fn a_renewal_that_reaches_into_the_next_lease_is_caught() {
    let lines =
        [gained(1_000, A, 5, 4_000), renewed(2_000, A, 5, 5_000), gained(4_500, B, 6, 7_500)];
    accused::<AtMostOneLease>(&lines, &["term 5, valid until 5.000s", "term 6"]);
}

#[test]
fn a_renewal_of_a_lease_that_ran_out_under_the_next_leader_is_caught() {
    let lines =
        [gained(1_000, A, 5, 4_000), gained(4_500, B, 6, 7_500), renewed(5_000, A, 5, 8_000)];
    accused::<AtMostOneLease>(&lines, &["at 5.000s", "term 5", "term 6"]);
}

#[test]
fn the_same_pair_is_told_once() {
    let lines = [
        gained(1_000, A, 5, 4_000),
        gained(3_000, B, 6, 6_000),
        renewed(3_100, A, 5, 6_100),
        renewed(3_200, B, 6, 6_200),
    ];
    assert_eq!(stories::<AtMostOneLease>(&lines).len(), 1);
}

#[test]
fn a_resigned_or_deposed_lease_ends_when_the_loss_is_told() {
    for reason in [Reason::Resigned, Reason::Deposed] {
        is_clean(&[
            gained(1_000, A, 5, 4_000),
            lost(2_000, A, 5, reason),
            gained(2_000, B, 6, 5_000),
        ]);
    }
}

#[test]
fn lines_of_one_instant_may_come_in_any_order() {
    is_clean(&[
        gained(1_000, A, 5, 4_000),
        gained(2_000, B, 6, 5_000),
        lost(2_000, A, 5, Reason::Resigned),
    ]);
}

#[test]
fn a_lease_that_is_ending_still_counts() {
    let lines =
        [gained(1_000, A, 5, 4_000), lost(3_700, A, 5, Reason::Ending), gained(3_800, B, 6, 6_800)];
    accused::<AtMostOneLease>(&lines, &["term 5", "term 6"]);
}

#[test]
fn a_lease_that_is_ending_is_over_when_its_work_is() {
    is_clean(&[
        gained(1_000, A, 5, 4_000),
        work_began(1_000, A, 5),
        lost(3_700, A, 5, Reason::Ending),
        work_ended(3_750, A, 5),
        gained_by(3_800, B, 6, 6_800, Opening::Released),
    ]);
}

#[test]
fn a_release_does_not_excuse_work_that_still_runs() {
    let lines = [
        gained(1_000, A, 5, 4_000),
        work_began(1_000, A, 5),
        lost(3_700, A, 5, Reason::Ending),
        gained_by(3_800, B, 6, 6_800, Opening::Released),
    ];
    accused::<AtMostOneLease>(&lines, &["term 5", "term 6"]);
}

#[test]
fn a_renewal_does_not_forget_the_work_that_runs() {
    let lines = [
        gained(1_000, A, 5, 4_000),
        work_began(1_000, A, 5),
        renewed(2_000, A, 5, 5_000),
        lost(4_700, A, 5, Reason::Ending),
        gained_by(4_800, B, 6, 6_800, Opening::Released),
    ];
    accused::<AtMostOneLease>(&lines, &["term 5", "term 6"]);
}

#[test]
fn an_unsure_leader_does_not_count_until_it_is_sure_again() {
    let before = [gained(1_000, A, 5, 4_000), unsure(2_000, A, 5), gained(3_000, B, 6, 6_000)];
    is_clean(&before);
    let mut lines = before.to_vec();
    lines.push(renewed(3_500, A, 5, 4_500));
    accused::<AtMostOneLease>(&lines, &["at 3.500s"]);
}

#[test]
fn a_killed_leader_does_not_count() {
    is_clean(&[
        gained(1_000, A, 5, 4_000),
        line(2_000, A, Event::Killed),
        gained(3_000, B, 6, 6_000),
    ]);
}

#[test]
fn a_proof_of_death_is_believed_until_the_dead_writes_again() {
    let before = [gained(1_000, A, 5, 4_000), gained_by(2_000, B, 6, 5_000, Opening::Died)];
    is_clean(&before);
    let mut lines = before.to_vec();
    lines.push(renewed(2_500, A, 5, 5_500));
    let stories = stories::<AtMostOneLease>(&lines);
    assert!(stories[0].contains("proof that a#0000000a was dead"), "{stories:?}");
    assert!(stories[1].contains("at 2.500s both"), "{stories:?}");
}

#[test]
fn a_successor_may_hold_two_terms_of_its_own() {
    is_clean(&[gained(1_000, A, 5, 4_000), gained_by(2_000, A, 6, 5_000, Opening::Own)]);
}

#[test]
fn leases_on_different_clocks_are_not_compared_but_counted() {
    use super::super::{Conditions, Judge};
    let mut judge = Judge::new(Conditions::default());
    for line in [
        opened(0, A, "one"),
        opened(0, B, "two"),
        gained(1_000, A, 5, 4_000),
        gained(2_000, B, 6, 5_000),
        lost(4_000, A, 5, Reason::Expired),
        gained(4_000, A, 7, 9_000),
    ] {
        judge.line(&line);
    }
    let report = judge.finish();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.not_comparable, 2);
}
