//! Forged histories of fenced transactions.

use incumbent_protocol::history::Line;

use super::super::forge::*;
use super::*;

fn issued(millis: u64, number: u64, to: u8) -> Line {
    let event = Event::Issued { election: election(), term: term(number), to: id(to) };
    line(millis, WORLD, event)
}

fn committed(millis: u64, from: u8, number: u64, work: u64, position: u64) -> Line {
    let (election, term, from) = (election(), term(number), id(from));
    line(millis, WORLD, Event::Committed { election, term, from, work, position })
}

fn concluded(millis: u64, who: u8, number: u64, work: u64, outcome: Conclusion) -> Line {
    let (election, term) = (election(), term(number));
    line(millis, who, Event::Concluded { election, term, work, outcome })
}

fn rewound(millis: u64, newest: Option<u64>, position: u64) -> Line {
    let (election, newest) = (election(), newest.map(term));
    line(millis, WORLD, Event::Rewound { election, newest, position })
}

#[test]
fn work_of_each_term_before_the_next_term_is_in_order() {
    let lines = [
        issued(0, 5, A),
        committed(1, A, 5, 1, 1),
        concluded(2, A, 5, 1, Conclusion::Committed),
        committed(3, A, 5, 2, 2),
        concluded(3, A, 5, 2, Conclusion::Unknown),
        issued(4, 6, B),
        concluded(5, A, 5, 3, Conclusion::Refused),
        committed(6, B, 6, 1, 3),
    ];
    assert_eq!(clean::<ByTransaction>(&lines), 6);
}

#[test]
fn work_that_commits_after_the_claim_of_a_higher_term_is_told() {
    let lines = [issued(0, 5, A), issued(1, 6, B), committed(2, A, 5, 1, 1)];
    accused::<ByTransaction>(&lines, &["work of a#", "term 5 of ledger", "term 6", "at 0.001s"]);
}

#[test]
fn work_under_the_term_of_another_is_told() {
    let lines = [issued(0, 5, A), committed(1, B, 5, 1, 1)];
    accused::<ByTransaction>(&lines, &["work of b#", "issued to a#"]);
}

#[test]
fn two_commits_in_one_place_are_told() {
    let lines = [issued(0, 5, A), committed(1, A, 5, 1, 7), committed(2, A, 5, 2, 7)];
    accused::<ByTransaction>(&lines, &["in place 7, after place 7"]);
}

#[test]
fn a_commit_that_was_told_and_never_happened_is_told() {
    let lines =
        [issued(0, 5, A), committed(1, A, 5, 1, 1), concluded(2, A, 5, 2, Conclusion::Committed)];
    accused::<ByTransaction>(&lines, &["work 2 of a#", "told to be committed, and never was"]);
}

#[test]
fn nothing_is_missed_in_a_store_that_keeps_no_history() {
    assert_eq!(clean::<ByTransaction>(&[concluded(2, A, 5, 2, Conclusion::Committed)]), 1);
}

#[test]
fn a_commit_that_was_told_to_be_refused_is_told_whichever_line_comes_first() {
    let store = committed(1, A, 5, 1, 1);
    let client = concluded(2, A, 5, 1, Conclusion::Refused);
    for lines in [[store.clone(), client.clone()], [client, store]] {
        accused::<ByTransaction>(
            &lines,
            &["work 1 of a#", "told to be refused, and was committed"],
        );
    }
}

#[test]
fn work_that_is_committed_twice_is_told() {
    let lines = [committed(1, A, 5, 1, 1), committed(2, A, 5, 1, 2)];
    accused::<ByTransaction>(&lines, &["work 1 of a#", "committed twice"]);
}

#[test]
fn an_unknown_outcome_is_neither_and_accuses_nobody() {
    let late = [concluded(1, A, 5, 1, Conclusion::Unknown), committed(2, A, 5, 1, 1)];
    assert_eq!(clean::<ByTransaction>(&late), 2);
    let never = [committed(1, A, 5, 1, 1), concluded(2, A, 5, 2, Conclusion::Unknown)];
    assert_eq!(clean::<ByTransaction>(&never), 2);
}

#[test]
fn a_store_that_went_back_is_judged_by_what_it_then_has() {
    let lines = [
        issued(0, 5, A),
        committed(1, A, 5, 1, 1),
        issued(2, 6, B),
        committed(3, B, 6, 1, 2),
        rewound(4, Some(5), 1),
        committed(5, A, 5, 2, 2),
        issued(6, 7, B),
    ];
    assert_eq!(clean::<ByTransaction>(&lines), 3);
    let again = [&lines[..], &[committed(7, A, 5, 3, 3)]].concat();
    accused::<ByTransaction>(&again, &["term 5", "term 7"]);
}

#[test]
fn work_in_a_term_that_was_lost_is_told() {
    let lines =
        [issued(0, 5, A), issued(2, 6, B), rewound(4, Some(5), 0), committed(5, B, 6, 1, 1)];
    accused::<ByTransaction>(&lines, &["work of b#", "term 6", "lost when the store went back"]);
    let lines = [issued(0, 5, A), rewound(4, None, 0), committed(5, A, 5, 1, 1)];
    accused::<ByTransaction>(&lines, &["work of a#", "term 5", "lost when the store went back"]);
}

#[test]
fn the_term_that_a_store_went_back_to_is_still_that_of_its_candidate() {
    let lines =
        [issued(0, 5, A), issued(2, 6, B), rewound(4, Some(5), 0), committed(5, B, 5, 1, 1)];
    accused::<ByTransaction>(&lines, &["work of b#", "term 5", "issued to a#"]);
}
