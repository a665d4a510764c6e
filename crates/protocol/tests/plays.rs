//! Plays: scenarios that people can read, each with the transcript that the protocol gives.
//!
//! `testdata/*.play` hold commands and what they print. A difference fails the test and is shown; `UPDATE=1 cargo test -p
//! incumbent-protocol --test plays` writes the transcripts anew, for a person to read before they are kept.
//!
//! Assumes: a checkout with the scripts. Promises: every script is played, and every list of commands is judged by the
//! referee too, unless the play says that it goes beyond all promises.

mod support;

#[path = "plays/diff.rs"]
mod diff;
#[path = "plays/script.rs"]
mod script;
#[path = "plays/stage.rs"]
mod stage;
#[path = "plays/transcript.rs"]
mod transcript;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use script::Script;
use stage::Stage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether to write transcripts is the one thing that the environment decides"
)]
fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value != "0")
}

fn play(name: &str) {
    let path = folder().join(name).with_extension("play");
    let text = fs::read_to_string(&path).expect("a readable play");
    let mut stage = Stage::default();
    let played = Script::parse(&text).replayed(|commands| stage.perform(commands)).text();
    if text == played {
        return;
    }
    if updating() {
        fs::write(&path, played).expect("a writable play");
        return;
    }
    panic!(
        "{name}.play came out differently (UPDATE=1 accepts it):\n{}",
        diff::diff(&text, &played)
    );
}

macro_rules! plays {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                play(stringify!($name));
            }
        )*

        #[test]
        fn every_script_is_played() {
            let names = fs::read_dir(folder()).expect("a folder of plays").map(|entry| {
                let path = entry.expect("an entry").path();
                path.file_stem().expect("a name").to_string_lossy().into_owned()
            });
            let played = [$(stringify!($name)),*].map(str::to_owned);
            assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(played));
        }
    };
}

plays! {
    a_crashed_leader_is_succeeded_after_a_full_lease,
    a_lost_reply_is_neither_yes_nor_no,
    a_paused_leader_finds_its_lease_over_before_it_does_anything,
    a_proof_of_death_opens_the_election_at_once,
    a_resignation_hands_over_without_waiting,
    a_store_that_went_back_is_not_believed_for_a_lease,
    a_takeover_for_a_dead_candidate_blocks_for_two_leases_at_most,
    a_takeover_waits_for_the_old_leader_and_then_names_the_new_one,
    clocks_at_different_rates_within_the_margin_do_no_harm,
    demoted_means_held_off_for_a_lease,
    other_rules_are_rejected_while_a_leader_beats,
    the_database_clock_decides_where_the_rules_say_so,
    the_first_candidate_wins_at_once_and_keeps_renewing,
    what_was_asked_before_a_clock_jump_earns_no_lease,
    a_late_bid_does_not_depose_its_own_sender,
    a_release_is_not_forgotten_when_the_last_renewal_is_refused,
    a_reservation_outlives_an_unused_term_of_another,
    in_rounds_the_line_moves_up_when_a_leader_dies,
    in_rounds_an_evicted_candidate_returns_and_the_round_grows,
    in_rounds_a_graceful_stop_hands_over_at_once,
    in_rounds_vars_that_are_removed_are_made_anew,
    in_rounds_another_round_limit_is_refused,
    a_pause_holds_back_a_takeover_until_it_is_resumed,
    a_cordoned_candidate_never_wins_and_another_does,
    a_demoted_leader_is_held_off_for_as_long_as_was_ordered,
    an_heir_does_not_defer_to_those_who_are_preferred,
    an_heir_has_a_lease_to_take_what_was_left_to_it,
    whoever_is_less_preferred_waits_a_step_and_then_wins,
    whoever_is_named_after_a_demotion_is_not_held_off_any_more,
    whoever_need_not_defer_any_more_bids_at_once,
    in_rounds_stepping_back_lets_the_next_in_line_go_first,
    in_rounds_stepping_back_does_not_hasten_the_end_of_a_doubtful_term,
    in_rounds_a_cordoned_candidate_does_not_hold_up_the_line,
    a_row_that_was_deleted_by_hand_is_not_believed_for_a_lease,
    a_late_renewal_counts_from_before_it_was_asked_for,
    a_stray_renewal_does_not_hide_that_the_store_went_back,
}

#[test]
fn a_script_survives_parsing() {
    let text = "# a play\n\nlead alice\nrun 1s\n----\none\ntwo\n\n# the end\n";
    assert_eq!(Script::parse(text).text(), text);
}

#[test]
fn a_difference_is_shown_by_its_lines_alone() {
    assert_eq!(diff::diff("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
}
