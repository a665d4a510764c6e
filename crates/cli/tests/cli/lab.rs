//! The lab: diagrams, drawings, counts beside the theory, and words for what makes no sense.

use serde_json::{Value, json};

use crate::support::{Desk, Ended, text};

fn lab(args: &[&str]) -> Ended {
    Desk::new().call(&[&["lab"], args].concat())
}

/// A page that worked, without what a terminal would not show.
#[track_caller]
fn page(args: &[&str]) -> String {
    let ended = lab(args);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{args:?}");
    ended.out
}

#[test]
fn the_help_page_has_examples_that_work() {
    let help = page(&["--help"]);
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    insta::assert_snapshot!("help", help.join("\n"));
    assert!(help.iter().all(|line| line.chars().count() <= 100), "{help:?}");
    let examples: Vec<&str> =
        help.iter().filter_map(|line| line.strip_prefix("  incumbent lab ")).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        page(&example.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn the_lectures_example_is_what_one_sees_first() {
    let shown = page(&["bully"]);
    insta::assert_snapshot!("example-bully", shown);
    let spelled = page(&["bully", "--nodes", "6", "--fail", "6", "--initiator", "3"]);
    assert_eq!(shown, spelled);
    assert_eq!(shown, page(&["bully", "--case", "example"]));
}

#[test]
fn the_page_of_the_book_shows_what_the_program_prints() {
    let book = include_str!("../../../../docs/reference/lab.md");
    let (_, rest) = book.split_once("```\n$ incumbent lab ").expect("an example");
    let (example, _) = rest.split_once("\n```").expect("its end");
    let (flags, shown) = example.split_once('\n').expect("a command and its page");
    let printed = page(&flags.split(' ').collect::<Vec<_>>());
    assert!(printed.starts_with(&format!("{shown}\n\n")), "{printed}");
}

#[test]
fn the_seeds_ring_is_the_example_of_the_ring() {
    insta::assert_snapshot!("example-ring", page(&["ring"]));
}

#[test]
fn a_storm_is_drawn_with_what_was_lost_and_what_came_twice() {
    let flags = "ring --nodes 4 --fail 4 --initiator 1 --loss 15% --duplicate 15% --seed 3 \
                 --return 4@40 --preempt --acks";
    insta::assert_snapshot!("storm", page(&flags.split_whitespace().collect::<Vec<_>>()));
}

#[test]
fn diagrams_fit_the_terminal_or_say_that_they_do_not() {
    for columns in ["40", "60", "80", "100", "200"] {
        for manner in ["ring", "bully"] {
            for nodes in ["2", "6", "12", "40"] {
                let desk = Desk::new();
                let args = ["lab", manner, "--case", "worst", "--nodes", nodes];
                let mut call = desk.command(&args);
                call.env("COLUMNS", columns);
                let shown = crate::support::end(call).out;
                let (diagram, _) = shown.split_once("picked by").expect("a verdict");
                let most = columns.parse::<usize>().expect("a number");
                let wide = diagram.lines().find(|line| line.chars().count() > most);
                assert_eq!(wide, None, "{manner} {nodes} in {columns}");
                let cut = ["too few for all words", "too few for a diagram", "more rows"];
                let cut = cut.iter().any(|words| shown.replace('\n', " ").contains(words));
                assert_eq!(cut, shown.contains("--svg"), "{manner} {nodes} in {columns}:\n{shown}");
            }
        }
    }
}

#[test]
fn a_sweep_shows_measured_numbers_beside_the_theory() {
    let worst = page(&["bully", "--sweep", "2..64"]);
    assert_eq!(worst.lines().count(), 65);
    let last: Vec<&str> = worst.lines().last().expect("a line").split_whitespace().collect();
    assert_eq!(last, ["64", "2016", "2016", "63", "63", "5", "5"], "N(N - 1)/2 and five times");
    let best = page(&["bully", "--case", "best", "--sweep", "2..64"]);
    let last: Vec<&str> = best.lines().last().expect("a line").split_whitespace().collect();
    assert_eq!(last, ["64", "0", "0", "62", "62", "1", "1"], "N - 2 and one message time");
    let ring = page(&["ring", "--sweep", "2..64"]);
    let last: Vec<&str> = ring.lines().last().expect("a line").split_whitespace().collect();
    assert_eq!(last, ["64", "127", "127", "64", "64", "190", "190"], "3N - 1 = 191 in all");
    let sizes: Value = lab(&["ring", "--case", "average", "--sweep", "5..6", "--json"]).json();
    assert_eq!(sizes.as_array().map(Vec::len), Some(2));
    assert_eq!(sizes[1]["agrees"], true);
}

#[test]
fn programs_read_everything_that_happened() {
    let run = lab(&["bully", "--ids", "2,5,9", "--fail", "9", "--initiator", "5", "--json"]).json();
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
fn the_same_flags_give_the_same_run() {
    let flags = ["ring", "--nodes", "9", "--loss", "20%", "--delay", "0.5..1", "--json"];
    let with = |seed| lab(&[&flags[..], &["--seed", seed]].concat()).out;
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

#[test]
fn nodes_that_do_not_agree_are_a_failure() {
    let ended = lab(&["bully", "--nodes", "4", "--fail", "4", "--initiator", "1", "--limit", "2"]);
    assert_eq!((ended.code, ended.err.as_str()), (1, ""));
    assert!(ended.out.contains("Live nodes do not agree: 1 holds nobody"), "{}", ended.out);
    assert!(ended.out.contains("ended at its limit of 2 message times"), "{}", ended.out);
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
        ("ring --fail x", "\"x\" is no node: write a number like 5"),
        ("ring --fail 3@soon", "\"soon\" is no time: write message times like 3 or 2.5"),
        ("ring --return 3", "\"3\" has no time: write it like 6@30"),
        ("ring --loss 10", "\"10\" is no share: write it like 10% or 0.5%"),
        ("ring --sweep 9", "\"9\" is no range: write it like 2..64"),
        ("ring --case worst --fail 2", "cannot be used with"),
        ("paxos", "invalid value 'paxos'"),
    ] {
        let ended = lab(&flags.split(' ').collect::<Vec<_>>());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{flags}");
        assert!(ended.err.contains(words), "{flags}: {}", ended.err);
    }
    let ended = lab(&["ring", "--svg", "/no/such/folder/ring.svg"]);
    assert_eq!(ended.code, 125, "{ended:?}");
    assert!(ended.err.contains("cannot write /no/such/folder/ring.svg"), "{}", ended.err);
}

#[test]
fn a_drawing_is_well_formed_and_has_an_arrow_for_every_message() {
    for flags in [
        "bully --case worst --nodes 9",
        "ring --nodes 6 --fail 6 --fail 5@3 --return 6@40 --loss 20% --duplicate 20% --seed 4",
    ] {
        let desk = Desk::new();
        let path = desk.path("lab.svg");
        let flags: Vec<&str> = flags.split(' ').collect();
        let args = [&["lab"], &flags[..], &["--svg", text(&path), "--json"]].concat();
        let run = desk.call(&args).json();
        let svg = std::fs::read_to_string(&path).expect("a drawing");
        well_formed(&svg);
        let messages = run["messages"].as_array().expect("a list");
        assert_eq!(svg.matches("<g class=\"message ").count(), messages.len());
        let lost = messages.iter().filter(|message| message["fate"] == "lost").count();
        assert_eq!(svg.matches(" lost\">").count(), lost);
        assert!(svg.contains("prefers-color-scheme:dark"));
        let outside = svg.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("url("), "nothing is fetched");
    }
}

/// Every element ends, in order; attributes are quoted; no sign stands for itself that may not.
fn well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        let words = &rest[..start];
        assert!(
            !words.contains('>')
                && !words
                    .replace("&lt;", "")
                    .replace("&gt;", "")
                    .replace("&amp;", "")
                    .contains('&'),
            "{words}"
        );
        let end = rest[start..].find('>').expect("a tag ends") + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_matches('/').split_whitespace().next().expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let inner = tag.trim_end_matches('/');
        let mut parts = inner.split('"');
        let outside: Vec<&str> = parts.by_ref().step_by(2).collect();
        assert_eq!(inner.matches('"').count() % 2, 0, "{tag}");
        let (last, attributes) = outside.split_last().expect("at least the name");
        assert!(attributes.iter().all(|part| part.ends_with('=')), "{tag}");
        assert!(!last.contains('='), "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}
