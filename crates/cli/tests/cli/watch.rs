//! Watching.

use std::process::Command;

use serde_json::Value;

use crate::support::{Desk, end};

#[test]
fn watch_tells_changes_in_order_and_ends_with_success_when_asked_to() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let mut watch = desk.start(&["watch", "--json"]);
    let leader = || {
        let line: Value = serde_json::from_str(&watch.line()).expect("an object a line");
        assert!(
            line["at"].is_string() && line["election"] == "default" && line["change"] == "leader",
            "{line}"
        );
        line["leader"].as_str().map(str::to_owned)
    };
    assert_eq!(leader(), None);
    let mut alice = desk.leader("alice");
    assert_eq!(leader(), Some("alice".to_owned()));
    alice.terminate();
    alice.code();
    assert_eq!(leader(), None);
    let _bob = desk.leader("bob");
    assert_eq!(leader(), Some("bob".to_owned()));
    watch.terminate();
    assert_eq!(watch.code(), 0);
    assert!(watch.is_silent());
}

#[test]
fn watch_begins_with_who_leads() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let watch = desk.start(&["watch"]);
    let line = watch.line();
    assert!(line.contains("  default: alice leads, term "), "{line}");
}

#[test]
fn a_reader_that_goes_away_ends_the_watch_with_success() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let program = env!("CARGO_BIN_EXE_incumbent");
    // Nothing more happens in this election: the watch must notice by itself that nobody reads.
    let script = format!("{{ '{program}' watch; echo $? >code; }} | head -n 1");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(desk.path(""));
    shell.env("HOME", desk.path("")).env("INCUMBENT_URL", desk.url());
    let shown = end(shell);
    assert_eq!(shown.out.lines().count(), 1, "{shown:?}");
    let code = std::fs::read_to_string(desk.path("code")).expect("code");
    assert_eq!(code, "0\n", "{shown:?}");
}

#[test]
fn watch_tells_what_operators_put_in_force_and_lift_again() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let watch = desk.start(&["watch", "--json"]);
    let next = || loop {
        let line: Value = serde_json::from_str(&watch.line()).expect("an object a line");
        if line["change"] == "controls" {
            break line["controls"].clone();
        }
    };
    assert_eq!(desk.ask(&["pause", "--actor", "ann"]).code, 0);
    assert_eq!(next()["paused"]["actor"], "ann");
    assert_eq!(desk.ask(&["cordon", "alice"]).code, 0);
    assert_eq!(next()["cordoned"][0]["name"], "alice");
    assert_eq!(desk.ask(&["resume"]).code, 0);
    assert_eq!(next()["paused"], Value::Null);
}
