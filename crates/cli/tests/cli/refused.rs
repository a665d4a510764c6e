//! Orders that cannot be carried out: clear words, the right code, and nothing is changed.

use serde_json::Value;

use crate::support::{Desk, end};

/// Every order, for a candidate of this name.
fn orders(name: &str) -> Vec<Vec<String>> {
    let lines = [
        format!("transfer --to {name}"),
        "demote".to_owned(),
        format!("takeover {name} --yes"),
        "pause".to_owned(),
        "resume".to_owned(),
        format!("cordon {name}"),
        format!("uncordon {name}"),
    ];
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn words(order: &[String]) -> Vec<&str> {
    order.iter().map(String::as_str).collect()
}

#[test]
fn a_candidate_that_was_never_seen_is_refused() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let before = desk.standing();
    let unknown = "no candidate of the name nobody was ever seen in this election: `members` lists them; \
        if it has just started, wait until it says that it contends";
    desk.ask(&["transfer", "--to", "nobody"]).refused(unknown);
    desk.ask(&["takeover", "nobody", "--yes"]).refused(unknown);
    desk.ask(&["takeover", "nobody", "--dry-run"]).refused(unknown);
    desk.ask(&["cordon", "nobody"]).refused(unknown);
    desk.ask(&["uncordon", "nobody"]).refused("nobody is not cordoned");
    assert_eq!(desk.standing(), before);
}

#[test]
fn a_transfer_to_one_that_is_cordoned_or_gone_is_refused() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let mut bob = desk.waiting("bob", &[]);
    assert_eq!(desk.ask(&["cordon", "bob"]).code, 0);
    let before = desk.standing();
    let cordoned = "bob is cordoned: uncordon it first, or name another";
    desk.ask(&["transfer", "--to", "bob"]).refused(cordoned);
    desk.ask(&["takeover", "bob", "--yes"]).refused(cordoned);
    assert_eq!(desk.standing(), before);
    assert_eq!(desk.ask(&["uncordon", "bob"]).code, 0);
    bob.terminate();
    bob.code();
    let before = desk.standing();
    let ended = desk.ask(&["transfer", "--to", "bob"]);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{ended:?}");
    assert!(
        ended.err.starts_with("incumbent: election default: bob would not take over: it "),
        "{ended:?}"
    );
    assert_eq!(desk.standing(), before);
}

#[test]
fn a_paused_election_keeps_its_term() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let _bob = desk.waiting("bob", &[]);
    assert_eq!(desk.ask(&["pause"]).code, 0);
    let before = desk.standing();
    let paused = "the election is paused: resume it first";
    desk.ask(&["transfer", "--to", "bob"]).refused(paused);
    desk.ask(&["takeover", "bob", "--yes"]).refused(paused);
    desk.ask(&["demote"]).refused(paused);
    assert_eq!(desk.standing(), before);
}

#[test]
fn an_election_that_was_never_held_takes_no_orders() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let unknown = "no election of that name was ever held here: check the name and the URL";
    for order in orders("bob") {
        desk.ask(&[&words(&order)[..], &["--election", "typo"]].concat())
            .refused_in("typo", unknown);
    }
    let all = desk.ask(&["pause", "--all"]);
    assert_eq!((all.code, all.out.as_str()), (1, "no election was ever held here\n"), "{all:?}");
    assert_eq!(desk.ask(&["status", "--all", "--json"]).out, "[]\n");
}

#[test]
fn a_store_that_is_down_is_a_failure_of_every_order() {
    let desk = Desk::new();
    for url in ["postgres://me:hunter2@127.0.0.1:1/app", "mysql://me:hunter2@127.0.0.1:1/app"] {
        for order in orders("bob").into_iter().chain([vec!["explain".to_owned()]]) {
            let mut call = desk.command(&words(&order));
            call.env("INCUMBENT_URL", url);
            let ended = end(call);
            assert_eq!((ended.code, ended.out.as_str()), (125, ""), "{order:?} {ended:?}");
            assert!(ended.err.contains("127.0.0.1:1/app"), "{order:?} {ended:?}");
            assert!(!ended.err.contains("hunter2"), "{order:?} {ended:?}");
        }
    }
}

#[test]
fn odd_words_are_wrong_usage() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let before = desk.standing();
    let rule = "use ASCII letters, digits and . _ - : / @, beginning with a letter or digit";
    let odd = format!("the name \"a b\" has ' ' at position 2: {rule}");
    desk.ask(&["transfer", "--to", "a b"]).failed(2, &odd);
    desk.ask(&["takeover", "a b", "--yes"]).failed(2, &odd);
    desk.ask(&["cordon", "a b"]).failed(2, &odd);
    desk.ask(&["explain", "a b"]).failed(2, &odd);
    let rule = "it must be one line of text, of 1000 bytes at most";
    desk.ask(&["pause", "--reason", "a\nb"]).failed(2, &format!("cannot use this reason: {rule}"));
    desk.ask(&["pause", "--actor", ""]).failed(2, &format!("cannot use this actor: {rule}"));
    let long = "x".repeat(1_001);
    desk.ask(&["demote", "--reason", &long]).failed(2, &format!("cannot use this reason: {rule}"));
    let ended = desk.ask(&["transfer"]);
    assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
    let ended = desk.ask(&["transfer", "--to", "bob", "--drain", "25h"]);
    assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
    assert_eq!(desk.standing(), before);
}

#[test]
fn a_transfer_that_is_under_way_is_not_crossed_by_another_nor_by_a_pause() {
    let desk = Desk::new();
    let work = "trap '' TERM; echo begun; while :; do sleep 0.1; done";
    let alice = desk.start(&["run", "--name", "alice", "--", "sh", "-c", work]);
    assert_eq!(alice.line(), "begun");
    let (_bob, _cat) = (desk.waiting("bob", &[]), desk.waiting("cat", &[]));
    assert_eq!(desk.ask(&["transfer", "--to", "bob", "--drain", "1h"]).code, 0);
    let before = desk.standing();
    let under_way = "a transfer to bob is under way: wait for it, or end the term with `demote` or \
                     `takeover`";
    desk.ask(&["transfer", "--to", "cat"]).refused(under_way);
    desk.ask(&["pause"]).refused(under_way);
    desk.ask(&["cordon", "bob"]).refused(under_way);
    assert_eq!(desk.standing(), before);
    assert!(desk.ask(&["status"]).out.contains("\ntransfer  to bob when the work has ended, in "));
    assert_eq!(desk.ask(&["demote"]).code, 0);
    assert_eq!(desk.ask(&["status", "--json"]).json()["controls"]["transfer"], Value::Null);
}
