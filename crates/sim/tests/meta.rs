//! The test of the tests: without it no other result of the simulator means anything.

use incumbent_audit::History;
use incumbent_sim::clock::SECOND;
use incumbent_sim::meta::{difference, history};
use incumbent_sim::story::{Protocol, Story};
use incumbent_sim::{plant::Plant, scribe::Keep, world};

#[test]
fn the_same_seed_gives_the_same_history_byte_for_byte() {
    let stories = |&protocol| (0..25).map(move |seed| Story::of(protocol, seed, 600 * SECOND));
    for story in Protocol::ALL.iter().flat_map(stories) {
        let seed = story.seed;
        let one = history(&story).expect("a story that can be told");
        let two = history(&story).expect("a story that can be told");
        assert!(one.lines().count() > 100, "seed {seed} tells next to nothing");
        assert_eq!(difference(&one, &two), None, "seed {seed}");
    }
}

#[test]
fn different_seeds_give_different_histories() {
    let of = |seed| history(&Story::of_seed(seed, 600 * SECOND)).expect("a story that can be told");
    assert!(difference(&of(1), &of(2)).is_some());
}

#[test]
fn a_history_read_back_from_text_is_judged_as_it_was_while_it_happened() {
    let story = Story::of_seed(7, 600 * SECOND);
    let run = world::run(&story, Plant::Nothing, Keep { history: true, trace: false });
    let run = run.expect("a story that can be told");
    let read = History::parse("run", &run.history).expect("a history of our own");
    let again = incumbent_audit::judge(&read);
    assert!(again.is_clean() && run.report.is_clean());
    assert_eq!(again.lines, run.report.lines);
    assert_eq!(again.terms, run.report.terms);
}
