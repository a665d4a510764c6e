//! Orders that stay in force: `pause`, `resume`, `cordon` and `uncordon`.

use serde_json::{Value, json};

use crate::support::Desk;

/// Runs a short command in an election, so that it was held.
fn held(desk: &Desk, election: &str, name: &str) {
    let run = ["run", "--election", election, "--name", name, "--", "true"];
    assert_eq!(desk.ask(&run).code, 0);
}

#[test]
fn a_pause_lets_the_leader_go_on_and_nobody_follow() {
    let desk = Desk::new();
    let mut alice = desk.leader("alice");
    let paused = desk.ask(&["pause", "--reason", "restore", "--actor", "ann", "--json"]);
    assert_eq!(paused.code, 0, "{paused:?}");
    let paused = paused.json();
    assert_eq!((&paused["order"], &paused["ends"]), (&json!("pause"), &json!(false)));
    let by = &paused["controls"]["paused"];
    assert_eq!((&by["actor"], &by["reason"]), (&json!("ann"), &json!("restore")));
    let status = desk.ask(&["status", "--json"]).json();
    assert_eq!((&status["leader"], &status["controls"]["paused"]), (&json!("alice"), by));
    let page = desk.ask(&["status"]).out;
    assert!(page.contains("paused    no new term begins, by order of ann (restore)"), "{page}");
    alice.terminate();
    alice.code();
    let waits = desk.ask(&["run", "--name", "bob", "--wait", "1s", "--", "true"]);
    assert_eq!(waits.code, 124, "{waits:?}");
    let resumed = desk.ask(&["resume"]);
    assert_eq!(resumed.out, "default is resumed: terms begin again.\n", "{resumed:?}");
    held(&desk, "default", "bob");
}

#[test]
fn what_is_so_already_is_refused() {
    let desk = Desk::new();
    held(&desk, "default", "alice");
    desk.ask(&["resume"]).refused("the election is not paused");
    desk.ask(&["uncordon", "alice"]).refused("alice is not cordoned");
    let words = "default is paused: no new term begins until it is resumed; nobody leads.\n";
    assert_eq!(desk.ask(&["pause"]).out, words);
    assert_eq!(desk.ask(&["cordon", "alice"]).code, 0);
    let before = desk.standing();
    desk.ask(&["pause"]).refused("the election is paused already");
    desk.ask(&["cordon", "alice"]).refused("alice is cordoned already");
    assert_eq!(desk.standing(), before);
}

#[test]
fn a_cordoned_leader_goes_on_and_does_not_win_again() {
    let desk = Desk::new();
    let mut alice = desk.leader("alice");
    let cordoned = desk.ask(&["cordon", "alice", "--reason", "repair"]);
    assert_eq!(
        cordoned.out,
        "alice is cordoned in default: it may not win until it is uncordoned. It leads on: transfer or demote it to \
         change that.\n",
        "{cordoned:?}"
    );
    let status = desk.ask(&["status", "--json"]).json();
    assert_eq!((&status["leader"], &status["state"]), (&json!("alice"), &json!("led")));
    let bar = &status["controls"]["cordoned"][0];
    assert_eq!((&bar["name"], &bar["until"]), (&json!("alice"), &Value::Null));
    alice.terminate();
    alice.code();
    let waits = desk.ask(&["run", "--name", "alice", "--wait", "1s", "--", "true"]);
    assert_eq!(waits.code, 124, "{waits:?}");
    held(&desk, "default", "bob");
    let freed = desk.ask(&["uncordon", "alice"]);
    assert_eq!(freed.out, "alice may win default again.\n", "{freed:?}");
    held(&desk, "default", "alice");
}

#[test]
fn every_election_is_reported_when_all_are_meant() {
    let desk = Desk::new();
    for election in ["billing", "reports"] {
        held(&desk, election, "alice");
    }
    held(&desk, "mail", "bob");
    assert_eq!(desk.ask(&["pause", "--election", "billing"]).code, 0);
    let paused = desk.ask(&["pause", "--all", "--reason", "restore", "--json"]);
    assert_eq!(paused.code, 0, "{paused:?}");
    assert_eq!(outcomes(&paused.out), ["billing unchanged", "mail done", "reports done"]);
    let overview = desk.ask(&["status", "--all"]).out;
    assert_eq!(overview.matches("  paused").count(), 3, "{overview}");
    let resumed = desk.ask(&["resume", "--all"]);
    assert_eq!((resumed.code, resumed.out.lines().count()), (0, 3), "{resumed:?}");
    let cordoned = desk.ask(&["cordon", "alice", "--all", "--json"]);
    assert_eq!(outcomes(&cordoned.out), ["billing done", "mail absent", "reports done"]);
    assert_eq!(cordoned.code, 0, "{cordoned:?}");
    let freed = desk.ask(&["uncordon", "alice", "--all"]);
    assert_eq!(freed.code, 0, "{freed:?}");
    assert!(freed.out.contains("mail: unchanged: alice is not cordoned\n"), "{freed:?}");
    let nobody = desk.ask(&["cordon", "nobody", "--all"]);
    assert_eq!(nobody.code, 1, "{nobody:?}");
    let both = desk.ask(&["pause", "--all", "--term", "7"]);
    assert_eq!((both.code, both.out.as_str()), (2, ""), "{both:?}");
}

/// Which election, and what became of the order there.
fn outcomes(lines: &str) -> Vec<String> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let line = |line: &str| -> String {
        let report: Value = serde_json::from_str(line).expect("an object a line");
        format!("{} {}", word(&report["election"]), word(&report["outcome"]))
    };
    lines.lines().map(line).collect()
}

#[test]
fn what_was_ordered_stays_in_the_history_with_who_and_why() {
    let desk = Desk::new();
    held(&desk, "default", "alice");
    for order in [&["pause"][..], &["resume"], &["cordon", "alice"]] {
        let papers = ["--actor", "ann", "--reason", "for the\u{00e9} record"];
        assert_eq!(desk.ask(&[order, &papers].concat()).code, 0);
    }
    let terms = desk.ask(&["history", "--json"]).json();
    let orders = terms[0]["orders"].as_array().expect("orders");
    let verbs: Vec<_> = orders.iter().map(|order| order["order"].clone()).collect();
    assert_eq!(verbs, ["cordon", "resume", "pause"]);
    assert!(orders.iter().all(|order| order["reason"] == "for the\u{00e9} record"), "{orders:?}");
    assert_eq!((&orders[0]["candidate"], &orders[0]["actor"]), (&json!("alice"), &json!("ann")));
    let page = desk.ask(&["history"]).out;
    assert_eq!(page.lines().count(), 5, "{page}");
    assert!(page.lines().nth(1).is_some_and(|line| line.contains("cordon alice")), "{page}");
}
