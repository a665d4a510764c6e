//! Mistakes on purpose: each is caught by a judge within five hundred worlds, in the worlds of every
//! protocol that can have it.

use std::collections::BTreeSet;

use incumbent_protocol::planted::Bug;
use incumbent_sim::clock::{SECOND, Span};
use incumbent_sim::fault::{Fault, Kind};
use incumbent_sim::plant::Plant;
use incumbent_sim::scribe::Keep;
use incumbent_sim::story::{Protocol, Setting, Story};
use incumbent_sim::world;

/// Most worlds that a mistake may take until it is caught.
const MOST: u64 = 500;

/// Makes a mistake in one world after the other, until one of the promises is broken that it must
/// break.
fn assert_caught(protocol: Protocol, plant: Plant, promises: &[&str]) {
    let story = match (protocol, plant) {
        (Protocol::Rounds, Plant::Protocol(Bug::BidWhileDraining)) => cut_off_until_the_end,
        _ => Story::of,
    };
    assert_caught_in(protocol, plant, promises, story);
}

fn assert_caught_in(
    protocol: Protocol,
    plant: Plant,
    promises: &[&str],
    story: fn(Protocol, u64, Span) -> Story,
) {
    assert!(plant.is_available(), "tests are built with the feature `planted`");
    let mut others = BTreeSet::new();
    for seed in 0..MOST {
        let story = story(protocol, seed, 1_800 * SECOND);
        let run = world::run(&story, plant, Keep::default()).expect("the story can be told");
        let broken: BTreeSet<&str> = run.report.violations.iter().map(|it| it.property).collect();
        if let Some(promise) = broken.iter().find(|promise| promises.contains(promise)) {
            #[expect(clippy::print_stdout, reason = "which seed it was is for people to read")]
            {
                println!("{plant}, in worlds of {protocol}: seed {seed} breaks {promise}");
            }
            let right = world::run(&story, Plant::Nothing, Keep::default());
            let right = right.expect("the story can be told").report.violations;
            assert_eq!(right, [], "the mistake is not needed for that");
            return;
        }
        others.extend(broken);
    }
    panic!("{plant} broke none of {promises:?} in {MOST} worlds of {protocol}, but {others:?}");
}

/// Again and again all are cut off, for about as long as a leader keeps its work.
fn cut_off_until_the_end(protocol: Protocol, seed: u64, length: Span) -> Story {
    let mut story = Story::of(protocol, seed, length);
    let Setting { lease, margin, grace, beat, candidates, .. } = story.setting;
    let (end, pause) = (story.setting.heals_at(), lease * 10 + beat / 7);
    let span = lease - margin - grace / 2 - beat / 2;
    story.faults.clear();
    let mut at = lease * 10;
    while at + pause < end {
        let cut = |target| Fault { at, kind: Kind::Cut, target, span, level: 0 };
        story.faults.extend((0..candidates).map(cut));
        at += pause;
    }
    story
}

/// Again and again the answer to a renewal is lost, the next one comes late, and whoever waited for it is
/// cut off then.
fn unheard_then_late(protocol: Protocol, seed: u64, length: Span) -> Story {
    let mut story = Story::of(protocol, seed, length);
    let Setting { lease, beat, timeout, candidates, .. } = story.setting;
    let (end, pause) = (story.setting.heals_at(), lease * 8 + beat / 7);
    let level = i64::try_from(timeout * 3 / 4).expect("a span of a few seconds");
    story.faults.clear();
    let (mut at, mut target) = (lease * 10, 0);
    while at + pause < end {
        let lost = Fault { at, kind: Kind::AnswerLost, target, span: 0, level: 0 };
        let (later, span) = (at + beat * 3 / 4, lease * 3);
        let late = Fault { at: later, kind: Kind::AnswerLate, target, span, level };
        story.faults.extend([lost, late]);
        at += pause;
        target = (target + 1) % candidates;
    }
    story
}

#[test]
fn a_renewal_that_counts_from_its_answer_once_another_went_unheard_is_caught() {
    let plant = Plant::Protocol(Bug::RenewedFromAnswer);
    for protocol in [Protocol::Lease, Protocol::Rounds] {
        assert_caught_in(protocol, plant, &["at_most_one_lease"], unheard_then_late);
    }
}

macro_rules! caught {
    ($protocol:expr; $($name:ident: $plant:expr => $($promise:literal)|+;)+) => {
        use super::*;

        $(
            #[test]
            fn $name() {
                assert_caught($protocol, $plant, &[$($promise),+]);
            }
        )+

        #[test]
        fn every_mistake_has_a_test() {
            let tested = [$($plant),+];
            assert!(tested.iter().all(|plant| plant.fits($protocol)));
            assert!(Plant::of($protocol).all(|plant| tested.contains(&plant)));
        }
    };
}

mod lease {
    caught! { Protocol::Lease;
        a_lease_that_counts_from_the_answer_is_caught:
            Plant::LeaseFromAnswer => "at_most_one_lease";
        an_observation_that_counts_from_before_the_request_is_caught:
            Plant::HeardBeforeAsking => "at_most_one_lease";
        suspicion_by_counting_reads_is_caught:
            Plant::Protocol(Bug::CountedReads) => "at_most_one_lease";
        a_timer_that_bursts_is_caught:
            Plant::BurstingTimer => "at_most_one_lease";
        a_lease_without_a_margin_is_caught:
            Plant::Protocol(Bug::NoMargin) => "at_most_one_lease";
        a_clock_that_stops_while_the_host_sleeps_is_caught:
            Plant::MonotonicClock => "at_most_one_lease";
        an_unknown_outcome_taken_for_a_refusal_is_caught:
            Plant::Protocol(Bug::UnknownAsRefused) => "deposed_by_store";
        an_unknown_outcome_taken_for_a_yes_is_caught:
            Plant::Protocol(Bug::UnknownAsCommitted) => "at_most_one_lease";
        terms_that_everyone_counts_alone_are_caught:
            Plant::Protocol(Bug::LocalTerms) => "token_growth";
        a_term_that_is_reused_after_a_forced_takeover_is_caught:
            Plant::Protocol(Bug::TermReused) => "token_growth";
        a_fence_that_trusts_names_is_caught:
            Plant::FenceByName => "fence_order";
        work_that_is_cancelled_when_the_lease_ends_is_caught:
            Plant::CancelLate => "work_stops_in_time";
        a_loss_that_the_supervisor_does_not_hear_of_is_caught:
            Plant::NoticeDropped => "work_stops_in_time";
        candidates_told_apart_by_name_alone_are_caught:
            Plant::Protocol(Bug::SameName) => "at_most_one_lease";
        a_takeover_that_does_not_compare_the_beat_is_caught:
            Plant::UnguardedClaim => "renewed_or_taken";
        a_suspicion_carried_over_a_clock_jump_is_caught:
            Plant::Protocol(Bug::JumpIgnored) => "at_most_one_lease";
        a_lease_revived_by_a_late_answer_is_caught:
            Plant::Protocol(Bug::LeaseRevived) => "loss_told_once" | "at_most_one_lease";
        a_term_against_what_operators_have_in_force_is_caught:
            Plant::Protocol(Bug::ControlsIgnored) => "no_term_against_orders";
        a_fenced_commit_without_a_guard_is_caught:
            Plant::UnguardedCommit => "by_transaction";
        a_fenced_commit_that_is_guarded_at_its_beginning_only_is_caught:
            Plant::GuardAtBegin => "by_transaction";
        a_guard_that_does_not_lock_what_it_reads_is_caught:
            Plant::UnlockedGuard => "by_transaction";
        a_fenced_commit_of_unknown_outcome_that_counts_as_done_is_caught:
            Plant::LostCommitAsDone => "by_transaction";
        a_replaced_store_that_is_believed_is_caught:
            Plant::Protocol(Bug::ReplacementIgnored) => "at_most_one_lease";
        an_observation_carried_over_to_another_store_is_caught:
            Plant::Protocol(Bug::ReplacementForgotten) => "at_most_one_lease";
        a_claim_that_waits_for_what_an_old_row_names_is_caught:
            Plant::Protocol(Bug::LongestForgotten) => "at_most_one_lease";
        a_challenger_that_waits_for_the_shorter_lease_is_caught:
            Plant::Protocol(Bug::ShorterLease) => "at_most_one_lease";
        a_term_that_is_renewed_though_an_order_ended_it_is_caught:
            Plant::Protocol(Bug::EndingRenewed) => "orders_hold";
        a_successor_that_neither_pause_nor_bar_keeps_from_winning_is_caught:
            Plant::Protocol(Bug::ChosenUnbarred) => "no_term_against_orders";
        a_pause_that_any_order_lifts_is_caught:
            Plant::Protocol(Bug::PauseLifted) => "orders_hold";
        a_cordon_that_does_not_hold_is_caught:
            Plant::Protocol(Bug::CordonLapsed) => "no_term_against_orders" | "orders_hold";
        a_reserved_term_that_is_kept_for_one_lease_is_caught:
            Plant::Protocol(Bug::ReservedOnce) => "orders_hold";
        a_reserved_term_that_is_not_kept_once_it_was_let_go_of_is_caught:
            Plant::Protocol(Bug::ReleasedUnreserved) => "orders_hold";
        an_order_for_an_older_term_that_is_carried_out_is_caught:
            Plant::Protocol(Bug::OlderTermOrdered) => "orders_hold";
        a_leader_that_is_asked_for_its_place_before_the_hold_down_is_over_is_caught:
            Plant::Protocol(Bug::HoldDownIgnored) => "handover_in_order";
        a_hand_over_that_is_never_forced_is_caught:
            Plant::Protocol(Bug::HandoverNotForced) => "handover_in_order";
        a_first_lease_without_a_margin_is_caught:
            Plant::Protocol(Bug::FirstUncut) => "at_most_one_lease";
        an_old_resignation_that_ends_a_newer_term_is_caught:
            Plant::Protocol(Bug::NewerResigned) => "at_most_one_lease";
        a_bid_while_work_still_runs_is_caught:
            Plant::Protocol(Bug::BidWhileDraining) => "work_stops_in_time";
        a_released_row_of_a_store_that_went_back_is_caught:
            Plant::Protocol(Bug::ReleasedAtOnce) => "at_most_one_lease";
        a_late_claim_that_is_not_given_back_is_caught:
            Plant::Protocol(Bug::LateClaimKept) => "given_back";
        a_loss_that_is_told_when_the_lease_ends_is_caught:
            Plant::Protocol(Bug::NoGrace) => "work_stops_in_time";
        a_suspicion_that_counts_against_later_beats_is_caught:
            Plant::Protocol(Bug::TermCovered) => "at_most_one_lease";
    }
}

mod rounds {
    caught! { Protocol::Rounds;
        a_lease_that_counts_from_the_answer_is_caught:
            Plant::LeaseFromAnswer => "at_most_one_lease";
        an_observation_that_counts_from_before_the_request_is_caught:
            Plant::HeardBeforeAsking => "at_most_one_lease";
        suspicion_by_counting_reads_is_caught:
            Plant::Protocol(Bug::CountedReads) => "at_most_one_lease";
        a_timer_that_bursts_is_caught:
            Plant::BurstingTimer => "at_most_one_lease";
        a_lease_without_a_margin_is_caught:
            Plant::Protocol(Bug::NoMargin) => "at_most_one_lease";
        a_clock_that_stops_while_the_host_sleeps_is_caught:
            Plant::MonotonicClock => "at_most_one_lease";
        an_unknown_outcome_taken_for_a_refusal_is_caught:
            Plant::Protocol(Bug::UnknownAsRefused) => "deposed_by_store";
        an_unknown_outcome_taken_for_a_yes_is_caught:
            Plant::Protocol(Bug::UnknownAsCommitted) => "at_most_one_lease";
        terms_that_everyone_counts_alone_are_caught:
            Plant::Protocol(Bug::LocalTerms) => "token_growth";
        a_term_that_is_reused_after_a_forced_takeover_is_caught:
            Plant::Protocol(Bug::TermReused) => "token_growth";
        a_fence_that_trusts_names_is_caught:
            Plant::FenceByName => "fence_order";
        work_that_is_cancelled_when_the_lease_ends_is_caught:
            Plant::CancelLate => "work_stops_in_time";
        a_loss_that_the_supervisor_does_not_hear_of_is_caught:
            Plant::NoticeDropped => "work_stops_in_time";
        candidates_told_apart_by_name_alone_are_caught:
            Plant::Protocol(Bug::SameName) => "at_most_one_lease";
        a_suspicion_carried_over_a_clock_jump_is_caught:
            Plant::Protocol(Bug::JumpIgnored) => "at_most_one_lease";
        a_lease_revived_by_a_late_answer_is_caught:
            Plant::Protocol(Bug::LeaseRevived) => "loss_told_once" | "at_most_one_lease";
        a_term_against_what_operators_have_in_force_is_caught:
            Plant::Protocol(Bug::ControlsIgnored) => "no_term_against_orders";
        a_fenced_commit_without_a_guard_is_caught:
            Plant::UnguardedCommit => "by_transaction";
        a_fenced_commit_that_is_guarded_at_its_beginning_only_is_caught:
            Plant::GuardAtBegin => "by_transaction";
        a_guard_that_does_not_lock_what_it_reads_is_caught:
            Plant::UnlockedGuard => "by_transaction";
        a_fenced_commit_of_unknown_outcome_that_counts_as_done_is_caught:
            Plant::LostCommitAsDone => "by_transaction";
        a_replaced_store_that_is_believed_is_caught:
            Plant::Protocol(Bug::ReplacementIgnored) => "at_most_one_lease";
        an_observation_carried_over_to_another_store_is_caught:
            Plant::Protocol(Bug::ReplacementForgotten) => "at_most_one_lease";
        a_challenger_that_waits_for_the_shorter_lease_is_caught:
            Plant::Protocol(Bug::ShorterLease) => "at_most_one_lease";
        a_term_that_is_renewed_though_an_order_ended_it_is_caught:
            Plant::Protocol(Bug::EndingRenewed) => "orders_hold";
        a_successor_that_neither_pause_nor_bar_keeps_from_winning_is_caught:
            Plant::Protocol(Bug::ChosenUnbarred) => "no_term_against_orders";
        a_pause_that_any_order_lifts_is_caught:
            Plant::Protocol(Bug::PauseLifted) => "orders_hold";
        a_cordon_that_does_not_hold_is_caught:
            Plant::Protocol(Bug::CordonLapsed) => "no_term_against_orders" | "orders_hold";
        a_reserved_term_that_is_kept_for_one_lease_is_caught:
            Plant::Protocol(Bug::ReservedOnce) => "orders_hold";
        a_reserved_term_that_is_not_kept_once_it_was_let_go_of_is_caught:
            Plant::Protocol(Bug::ReleasedUnreserved) => "orders_hold";
        an_order_for_an_older_term_that_is_carried_out_is_caught:
            Plant::Protocol(Bug::OlderTermOrdered) => "orders_hold";
        a_leader_that_is_asked_for_its_place_before_the_hold_down_is_over_is_caught:
            Plant::Protocol(Bug::HoldDownIgnored) => "handover_in_order";
        a_hand_over_that_is_never_forced_is_caught:
            Plant::Protocol(Bug::HandoverNotForced) => "handover_in_order";
        a_first_lease_without_a_margin_is_caught:
            Plant::Protocol(Bug::FirstUncut) => "at_most_one_lease";
        an_old_resignation_that_ends_a_newer_term_is_caught:
            Plant::Protocol(Bug::NewerResigned) => "at_most_one_lease";
        a_bid_while_work_still_runs_is_caught:
            Plant::Protocol(Bug::BidWhileDraining) => "work_stops_in_time";
        a_late_claim_that_is_not_given_back_is_caught:
            Plant::Protocol(Bug::LateClaimKept) => "given_back";
        a_loss_that_is_told_when_the_lease_ends_is_caught:
            Plant::Protocol(Bug::NoGrace) => "work_stops_in_time";
        a_suspicion_that_counts_against_later_beats_is_caught:
            Plant::Protocol(Bug::TermCovered) => "at_most_one_lease";
        an_evicted_candidate_that_keeps_its_id_is_caught:
            Plant::Protocol(Bug::EvictedKeepsId) => "ids_grow";
        a_round_that_shrinks_at_once_is_caught:
            Plant::Protocol(Bug::ShrunkAtOnce) => "at_most_one_lease";
        a_shorter_round_outwaited_by_its_own_lease_is_caught:
            Plant::Protocol(Bug::ShorterOutwaited) => "paced_as_announced";
        a_shorter_round_outwaited_by_one_round_is_caught:
            Plant::Protocol(Bug::RoundOutwaited) => "paced_as_announced";
        a_roster_that_was_read_before_the_lock_is_caught:
            Plant::StaleRoster => "at_most_one_lease";
    }
}
