//! Removing an election: `forget`.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Desk, Ended, end, until};

/// A lease that is over soon, because an election is watched for one before it is removed.
const BRIEF: [&str; 2] = ["--lease", "1s"];

/// An election that was led for a moment by bob.
fn held() -> Desk {
    let desk = Desk::new();
    let run = [&["run", "--name", "bob"], &BRIEF[..], &["--", "true"]].concat();
    assert_eq!(desk.ask(&run).code, 0);
    desk
}

fn last_term(desk: &Desk) -> u64 {
    desk.ask(&["status", "--json"]).json()["last_term"].as_u64().expect("a term")
}

#[test]
fn a_forgotten_election_is_gone_and_its_next_token_is_greater() {
    let desk = held();
    let term = last_term(&desk);
    desk.ask(&["cordon", "bob"]);
    let order = ["forget", "default", "--yes", "--actor", "ann", "--reason", "moved"];
    let ended = desk.ask(&order);
    assert_eq!(ended.code, 0, "{ended:?}");
    let words = format!(
        "default is forgotten. Its last term was {term}, led by bob; a later one will be greater.\n"
    );
    assert_eq!(ended.out, words);
    assert_eq!(desk.ask(&["status", "--all", "--json"]).json(), json!([]));
    let history = desk.ask(&["history"]);
    assert_eq!(history.code, 1, "{history:?}");
    assert!(history.out.starts_with("default was forgotten at "), "{history:?}");
    let end = format!(", after term {term}, by ann (moved)\n");
    assert!(history.out.ends_with(&end), "{history:?}");
    desk.ask(&order)
        .refused("no election of that name was ever held here: check the name and the URL");
    // The cordon is gone too.
    let run = [&["run", "--name", "bob"], &BRIEF[..], &["--", "true"]].concat();
    assert_eq!(desk.ask(&run).code, 0);
    assert!(last_term(&desk) > term);
}

#[test]
fn programs_read_what_was_removed() {
    let desk = held();
    let term = last_term(&desk);
    let ended = desk.ask(&["forget", "default", "--yes", "--actor", "ann", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let wanted = json!({
        "order": "forget",
        "election": "default",
        "actor": "ann",
        "reason": Value::Null,
        "term": term,
        "leader": "bob",
    });
    assert_eq!(ended.json(), wanted);
}

#[test]
fn an_election_with_a_leader_or_candidates_is_not_forgotten() {
    let desk = Desk::new();
    // Its line counts for 90 seconds.
    let alice = desk.leader_with("alice", &["--lease", "30s"]);
    let term = last_term(&desk);
    let forget = ["forget", "default", "--yes"];
    let led = format!("alice (term {term}) leads it: stop its candidates first");
    desk.ask(&forget).refused(&led);
    assert_eq!(last_term(&desk), term);
    assert_eq!(desk.ask(&["pause"]).code, 0);
    drop(alice);
    // Killed, it is proved dead, but its line says otherwise for a while.
    let refused = until("the proof of death", || {
        let refused: Ended = desk.ask(&forget);
        (!refused.err.contains("leads it")).then_some(refused)
    });
    refused.refused("the election is paused: resume it first");
    assert_eq!(desk.ask(&["resume"]).code, 0);
    let refused = desk.ask(&forget);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("candidates still take part: alice; stop them"), "{refused:?}");
    assert_eq!(last_term(&desk), term);
}

#[test]
fn a_removal_is_for_the_term_that_is_meant() {
    let desk = held();
    let term = last_term(&desk);
    let words =
        format!("the order was meant for term 7, but the election is in term {term}: look again");
    desk.ask(&["forget", "default", "--yes", "--term", "7"]).refused(&words);
    assert_eq!(last_term(&desk), term);
}

#[test]
fn without_a_terminal_a_removal_needs_a_word() {
    let desk = held();
    let before = desk.standing();
    desk.ask(&["forget", "default"]).failed(
        2,
        "refusing to forget default without confirmation (standard input is not a terminal): pass --yes; nothing was \
         changed",
    );
    assert_eq!(desk.standing(), before);
    let ended = desk.ask(&["forget", "--yes"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("<ELECTION>"), "{ended:?}");
    assert_eq!(desk.standing(), before);
}

#[test]
fn on_a_terminal_a_removal_asks_first() {
    let desk = held();
    let before = desk.standing();
    // `script` gives a terminal to whoever it runs.
    let answer = |word: &str| {
        let program = env!("CARGO_BIN_EXE_incumbent");
        let ours = desk.command(&[]);
        let mut script = Command::new("sh");
        script.envs(ours.get_envs().filter_map(|(key, value)| Some((key, value?))));
        script.env("INCUMBENT_URL", desk.url()).env("SHELL", "/bin/sh");
        let line = format!("{program} forget default --reason moved");
        let piped = format!("echo {word} | script -qec '{line}' /dev/null");
        end({
            script.args(["-c", &piped]);
            script
        })
    };
    let refused = answer("n");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.out.contains("bob led default last, in term "), "{refused:?}");
    assert!(refused.out.contains("Forget it? [y/N] "), "{refused:?}");
    assert!(refused.out.contains("nothing was changed"), "{refused:?}");
    assert_eq!(desk.standing(), before);
    let agreed = answer("y");
    assert_eq!(agreed.code, 0, "{agreed:?}");
    assert!(agreed.out.contains("default is forgotten. Its last term was "), "{agreed:?}");
}
