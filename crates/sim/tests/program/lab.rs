//! `incumbent-sim lab`: what happened, counts beside the theory, and words for what makes no sense.

use serde_json::{Value, json};

use super::{sim, text};

fn lab(flags: &str) -> (Option<i32>, String, String) {
    let arguments: Vec<&str> = ["lab"].into_iter().chain(flags.split_whitespace()).collect();
    let output = sim(&arguments);
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A page that worked.
#[track_caller]
fn page(flags: &str) -> String {
    let (code, out, err) = lab(flags);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{flags}");
    out
}

fn run(flags: &str) -> Value {
    serde_json::from_str(&page(&format!("{flags} --json"))).expect("JSON")
}

#[test]
fn the_help_page_has_examples_that_work() {
    let help = page("--help");
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    insta::assert_snapshot!("help", help.join("\n"));
    assert!(help.iter().all(|line| line.chars().count() <= 100), "{help:?}");
    let examples: Vec<&str> =
        help.iter().filter_map(|line| line.strip_prefix("  incumbent-sim lab ")).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        page(example);
    }
}

#[test]
fn the_lectures_example_is_what_one_sees_first() {
    let shown = page("bully");
    insta::assert_snapshot!("example-bully", shown);
    assert_eq!(shown, page("bully --nodes 6 --fail 6 --initiator 3"));
    assert_eq!(shown, page("bully --case example"));
}

#[test]
fn the_page_of_the_book_shows_what_the_program_prints() {
    let book = include_str!("../../../../docs/reference/lab.md");
    let (_, rest) = book.split_once("```\n$ incumbent-sim lab ").expect("an example");
    let (example, _) = rest.split_once("\n```").expect("its end");
    let (flags, shown) = example.split_once('\n').expect("a command and its page");
    assert!(page(flags).starts_with(&format!("{shown}\n\n")), "{}", page(flags));
}

#[test]
fn the_seeds_ring_is_the_example_of_the_ring() {
    insta::assert_snapshot!("example-ring", page("ring"));
}

#[test]
fn a_storm_is_listed_with_what_was_lost_and_what_came_twice() {
    let flags = "ring --nodes 4 --fail 4 --initiator 1 --loss 15% --duplicate 15% --seed 3 \
                 --return 4@40 --preempt --acks";
    insta::assert_snapshot!("storm", page(flags));
}

#[test]
fn programs_read_everything_that_happened() {
    let run = run("bully --ids 2,5,9 --fail 9 --initiator 5");
    assert_eq!((&run["agreed"], &run["agreed_at"]), (&json!("5"), &json!(1.0)));
    assert_eq!(run["counts"], json!({ "Coordinator": 1 }));
    assert_eq!(run["theory"]["counts"]["Coordinator"], 1);
    assert_eq!(run["picks"], json!({ "2": "5", "5": "5" }));
    let message = &run["messages"][0];
    assert_eq!((&message["from"], &message["to"]), (&json!("5"), &json!("2")));
    assert_eq!((&message["fate"], &message["at"]), (&json!("arrived"), &json!(1.0)));
    let events = run["events"].as_array().expect("a list");
    let told: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(told, ["crashed", "found", "began", "picked", "sent", "arrived", "began", "picked"]);
}

#[test]
fn long_runs_are_cut_and_say_so() {
    let shown = page("bully --case worst --nodes 40");
    assert!(shown.contains(" more rows: --json shows all"), "{shown}");
}

#[test]
fn the_same_flags_give_the_same_run() {
    let with =
        |seed| page(&format!("ring --nodes 9 --loss 20% --delay 0.5..1 --json --seed {seed}"));
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn nodes_that_do_not_agree_are_a_failure() {
    let (code, out, err) = lab("bully --nodes 4 --fail 4 --initiator 1 --limit 2");
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert!(out.contains("Live nodes do not agree: 1 holds nobody"), "{out}");
    assert!(out.contains("ended at its limit of 2 message times"), "{out}");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    for (flags, words) in [
        ("bully --nodes 5 --fail 9", "node 9 does not take part"),
        ("bully --ids 2,5,2", "two nodes have the number 2: numbers must differ"),
        ("ring --nodes 3 --return 2@5", "node 2 comes back while it is alive"),
        ("ring --nodes 3 --fail 2,2@5", "node 2 dies while it is dead"),
        ("ring --nodes 1 --fail 1", "nobody begins an election"),
        ("ring --nodes 0", "a lab needs at least one node"),
        ("ring --nodes 9999", "a lab has room for 512 nodes, not for 9999"),
        ("ring --fail x", "\"x\" is not a node: write a number like 5"),
        ("ring --fail 3@soon", "\"soon\" is not a time: write message times like 3 or 2.5"),
        ("ring --return 3", "\"3\" has no time: write it like 6@30"),
        ("ring --loss 10", "\"10\" is not a percentage: write it like 10% or 0.5%"),
        ("ring --case worst --fail 2", "cannot be used with"),
        ("paxos", "invalid value 'paxos'"),
    ] {
        let (code, out, err) = lab(flags);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{flags}");
        assert!(err.contains(words), "{flags}: {err}");
    }
}
