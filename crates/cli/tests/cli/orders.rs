//! Orders about the present term: `transfer`, `demote` and `takeover`.

use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Desk, end, until};

/// A lease so long that nothing runs out on a slow machine, with lines of the roll often enough.
const CALM: [&str; 2] = ["--lease", "30s"];

#[test]
fn demote_says_how_long_the_old_leader_may_act_and_what_follows() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let ended = desk.ask(&["demote", "--reason", "stuck"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.starts_with("alice cannot renew default any more (term "), "{}", ended.out);
    assert!(
        ended.out.contains("at most, and nobody else leads before.\nThen anyone may win"),
        "{}",
        ended.out
    );
    let term = newest_ended(&desk);
    assert_eq!((&term["ending"], &term["note"]), (&json!("demoted"), &json!("stuck")));
    let actor = term["actor"].as_str().expect("actor");
    assert!(
        actor.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()),
        "{actor}"
    );
}

/// The newest term that has come to its end.
fn newest_ended(desk: &Desk) -> Value {
    let terms = desk.ask(&["history", "--json"]).json();
    let terms = terms.as_array().expect("terms").clone();
    terms.into_iter().find(|term| term["ended"] != Value::Null).expect("one that ended")
}

#[test]
fn a_demoted_leader_is_held_off_for_as_long_as_was_said() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let order = ["demote", "--hold-off", "10m", "--actor", "ann", "--reason", "stuck", "--json"];
    let ended = desk.ask(&order);
    assert_eq!(ended.code, 0, "{ended:?}");
    let order = ended.json();
    assert_eq!((&order["order"], &order["hold_off"]), (&json!("demote"), &json!(600.0)));
    assert_eq!((&order["actor"], &order["reason"]), (&json!("ann"), &json!("stuck")));
    let held_off = &order["controls"]["cordoned"][0];
    assert_eq!((&held_off["name"], &held_off["actor"]), (&json!("alice"), &json!("ann")));
    assert!(held_off["until"].as_str() > held_off["at"].as_str(), "{held_off}");
    let status = desk.ask(&["status"]);
    assert!(status.out.contains("held off  alice, for another "), "{}", status.out);
    // The others are free to win.
    let bob = desk.candidate("bob", &[]);
    assert_eq!(bob.line(), "begun");
    let explained = desk.ask(&["explain", "alice"]);
    assert!(explained.out.contains("it is held off for another "), "{}", explained.out);
}

#[test]
fn takeover_waits_until_the_named_candidate_leads() {
    let desk = Desk::new();
    let _alice = desk.leader_with("alice", &CALM);
    let bob = desk.waiting("bob", &CALM);
    let ended = desk.ask(&["takeover", "bob", "--yes", "--wait-for", "50s", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let order = ended.json();
    assert_eq!((&order["order"], &order["deposed"]), (&json!("takeover"), &json!("alice")));
    assert_eq!((&order["successor"], &order["next_leader"]), (&json!("bob"), &json!("bob")));
    assert!(order["next_term"].as_u64() > order["term"].as_u64());
    let may_act = order["may_act"].as_f64().expect("seconds");
    assert!(may_act > 0.0 && may_act <= 30.0, "{may_act}");
    assert_eq!(bob.line(), "begun");
}

#[test]
fn an_order_that_nobody_can_follow_is_no_success() {
    let desk = Desk::new();
    for name in ["bob", "alice"] {
        assert_eq!(desk.ask(&["run", "--name", name, "--", "true"]).code, 0);
    }
    let ended = desk.ask(&["takeover", "bob", "--yes", "--wait-for", "100ms"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(
        ended.out,
        "Nobody leads default.\n\
         The next term is reserved for bob, for 3.0 s; after that anyone may take it.\n\
         nobody else leads after 100 ms\n"
    );
}

#[test]
fn a_takeover_is_shown_and_nothing_is_changed() {
    let desk = Desk::new();
    let _alice = desk.leader_with("alice", &CALM);
    let _bob = desk.waiting("bob", &CALM);
    let before = desk.standing();
    let shown = desk.ask(&["takeover", "bob", "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.starts_with("alice leads default, term "), "{}", shown.out);
    assert!(shown.out.contains("might act for another "), "{}", shown.out);
    let end = "The next term would be reserved for bob, for 30.0 s.\nNothing was changed.\n";
    assert!(shown.out.ends_with(end), "{}", shown.out);
    let shown = desk.ask(&["takeover", "bob", "--dry-run", "--json"]).json();
    assert_eq!((&shown["dry_run"], &shown["deposed"]), (&json!(true), &json!("alice")));
    assert_eq!(desk.standing(), before);
}

#[test]
fn without_a_terminal_a_takeover_needs_a_word() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let before = desk.standing();
    desk.ask(&["takeover", "bob"]).failed(
        2,
        "a takeover needs your word: there is no terminal to ask on, so say --yes; nothing was changed",
    );
    assert_eq!(desk.standing(), before);
}

#[test]
fn on_a_terminal_a_takeover_asks_first() {
    let desk = Desk::new();
    let _alice = desk.leader_with("alice", &CALM);
    let bob = desk.waiting("bob", &CALM);
    let before = desk.standing();
    // `script` gives a terminal to whoever it runs.
    let answer = |word: &str| {
        let program = env!("CARGO_BIN_EXE_incumbent");
        let ours = desk.command(&[]);
        let mut script = Command::new("sh");
        script.envs(ours.get_envs().filter_map(|(key, value)| Some((key, value?))));
        script.env("INCUMBENT_URL", desk.url()).env("SHELL", "/bin/sh");
        let line = format!("{program} takeover bob --reason repair");
        let piped = format!("echo {word} | script -qec '{line}' /dev/null");
        end({
            script.args(["-c", &piped]);
            script
        })
    };
    let refused = answer("n");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.out.contains("alice leads default, term "), "{refused:?}");
    assert!(refused.out.contains("Take over? [y/N] "), "{refused:?}");
    assert!(refused.out.contains("nothing was changed"), "{refused:?}");
    assert_eq!(desk.standing(), before);
    let agreed = answer("y");
    assert_eq!(agreed.code, 0, "{agreed:?}");
    assert!(agreed.out.contains("The next term is reserved for bob"), "{agreed:?}");
    assert_eq!(bob.line(), "begun");
}

#[test]
fn a_transfer_lets_the_leader_go_on_and_says_until_when() {
    let desk = Desk::new();
    let _alice = desk.leader_with("alice", &CALM);
    let _bob = desk.waiting("bob", &CALM);
    let term = desk.ask(&["status", "--json"]).json()["term"].clone();
    let ended = desk.ask(&["transfer", "--to", "bob", "--drain", "10m", "--reason", "repair"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let start = format!(
        "alice was asked to end its work and to hand default over to bob (term {term}).\n\
         It keeps leading until then. If its work has not ended within 10 min 0 s, at about "
    );
    assert!(ended.out.starts_with(&start), "{}", ended.out);
    let terms = desk.ask(&["history", "--json"]).json();
    let first = terms.as_array().expect("terms").last().expect("a term").clone();
    let order = &first["orders"][0];
    assert_eq!((&order["order"], &order["candidate"]), (&json!("transfer"), &json!("bob")));
    assert_eq!(order["reason"], json!("repair"));
}

#[test]
fn a_transfer_lets_the_work_end_first() {
    let desk = Desk::new();
    let _alice = desk.leader_with("alice", &[]);
    let bob = desk.waiting("bob", &[]);
    let order = ["transfer", "--to", "bob", "--drain", "40s", "--wait-for", "50s", "--json"];
    let ended = desk.ask(&order);
    assert_eq!(ended.code, 0, "{ended:?}");
    let order = ended.json();
    assert_eq!((&order["order"], &order["candidate"]), (&json!("transfer"), &json!("bob")));
    assert_eq!((&order["ends"], &order["deposed"]), (&json!(false), &Value::Null));
    let transfer = &order["controls"]["transfer"];
    assert_eq!((&transfer["to"], &transfer["drain"]), (&json!("bob"), &json!(40.0)));
    assert_eq!((&order["ends_by"], &order["term"]), (&transfer["ends_by"], &transfer["term"]));
    assert_eq!(order["next_leader"], json!("bob"));
    assert_eq!(bob.line(), "begun");
    assert_eq!(newest_ended(&desk)["ending"], "resigned", "its work was cut off");
}

#[test]
fn work_that_does_not_end_within_the_drain_holds_nobody_up() {
    let desk = Desk::new();
    // Deaf to TERM.
    let work = ["--", "sh", "-c", "trap '' TERM; echo begun; while :; do sleep 0.1; done"];
    let alice = desk.start(&[&["run", "--name", "alice"][..], &work].concat());
    assert_eq!(alice.line(), "begun");
    let bob = desk.waiting("bob", &[]);
    let order = ["transfer", "--to", "bob", "--drain", "500ms", "--wait-for", "50s", "--json"];
    let ended = desk.ask(&order);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.json()["next_leader"], json!("bob"));
    assert_eq!(bob.line(), "begun");
}

#[test]
fn a_transfer_from_a_leader_whose_process_is_gone_reserves_the_next_term_at_once() {
    let desk = Desk::new();
    let alice = desk.leader_with("alice", &CALM);
    let bob = desk.waiting("bob", &CALM);
    bob.signal(Signal::STOP);
    drop(alice);
    until("the proof of death", || {
        let state = desk.ask(&["status", "--json"]).json()["state"].clone();
        (state == "died").then_some(())
    });
    let ended = desk.ask(&["transfer", "--to", "bob"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        ended.out,
        "alice no longer leads default: it is dead or its lease has run out.\n\
         The next term is reserved for bob, for 30.0 s; after that anyone may take it.\n"
    );
    let status = desk.ask(&["status"]);
    assert!(status.out.contains("next      reserved for bob"), "{}", status.out);
    bob.signal(Signal::CONT);
    assert_eq!(bob.line(), "begun");
}

#[test]
fn an_order_for_another_term_is_refused() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let _bob = desk.waiting("bob", &[]);
    let term = desk.ask(&["status", "--json"]).json()["term"].as_u64().expect("term");
    let words =
        format!("the order was meant for term 7, but the election is in term {term}: look again");
    for order in [
        &["demote"][..],
        &["takeover", "bob", "--yes"],
        &["transfer", "--to", "bob"],
        &["pause"],
        &["resume"],
        &["cordon", "bob"],
        &["uncordon", "bob"],
    ] {
        desk.ask(&[order, &["--term", "7"]].concat()).refused(&words);
    }
    desk.ask(&["demote", "--term", "0"]).refused("0 is not the number of a term: look again");
    let leads = format!("alice already leads it, in term {term}");
    desk.ask(&["takeover", "alice", "--yes"]).refused(&leads);
    desk.ask(&["transfer", "--to", "alice"]).refused(&leads);
    assert_eq!(desk.ask(&["demote", "--term", &term.to_string()]).code, 0);
}
