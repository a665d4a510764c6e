//! Mistakes on purpose: each is caught by a judge within a thousand worlds, in the worlds of every
//! protocol that can have it.

use incumbent_protocol::planted::Bug;
use incumbent_sim::clock::SECOND;
use incumbent_sim::plant::Plant;
use incumbent_sim::run::{Plan, run};
use incumbent_sim::story::Protocol;

/// Makes a mistake in one world after the other, until one of the promises is broken that it must
/// break.
fn assert_caught(protocol: Protocol, plant: Plant, promises: &[&str]) {
    assert!(plant.is_available(), "tests are built with the feature `planted`");
    for seed in 0..1_000 {
        let seeds = seed..seed + 1;
        let length = 1_800 * SECOND;
        let plan = Plan { protocol, seeds, length, jobs: 1, plant, fenced: true, stop_early: true };
        let total = run(&plan, |_| {}).expect("stories of seeds can be told");
        let mut told = total.failures.iter().flat_map(|failure| &failure.violations);
        if let Some(violation) = told.find(|violation| promises.contains(&violation.property)) {
            #[expect(clippy::print_stdout, reason = "which seed it was is for people to read")]
            {
                println!(
                    "{plant}, in worlds of {protocol}: seed {seed} breaks {}",
                    violation.property
                );
            }
            return;
        }
    }
    panic!("{plant} broke none of {promises:?} in 1,000 worlds of {protocol}");
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
        an_evicted_candidate_that_keeps_its_id_is_caught:
            Plant::Protocol(Bug::EvictedKeepsId) => "ids_grow";
        a_round_that_shrinks_at_once_is_caught:
            Plant::Protocol(Bug::ShrunkAtOnce) => "at_most_one_lease";
        a_roster_that_was_read_before_the_lock_is_caught:
            Plant::StaleRoster => "at_most_one_lease";
    }
}
