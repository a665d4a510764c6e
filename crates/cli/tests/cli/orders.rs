//! Orders of operators: `takeover` and `demote`.

use serde_json::json;

use crate::support::Desk;

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
    let term = &desk.ask(&["history", "--json"]).json()[0];
    assert_eq!((&term["ending"], &term["note"]), (&json!("demoted"), &json!("stuck")));
    let actor = term["actor"].as_str().expect("actor");
    assert!(
        actor.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()),
        "{actor}"
    );
}

#[test]
fn takeover_waits_until_the_named_candidate_leads() {
    let desk = Desk::new();
    // A long lease, so that the term stays reserved for however long it takes to start a process.
    let alice = desk.candidate("alice", &["--lease", "30s"]);
    assert_eq!(alice.line(), "begun");
    let bob = desk.candidate("bob", &["--lease", "30s"]);
    let ended = desk.ask(&["takeover", "bob", "--wait-for", "50s", "--json"]);
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
    let mut alice = desk.leader("alice");
    alice.terminate();
    alice.code();
    let ended = desk.ask(&["takeover", "bob", "--wait-for", "100ms"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(
        ended.out,
        "Nobody leads default.\n\
         The next term is reserved for bob, for 3.0 s; after that anyone may take it.\n\
         nobody else leads after 100 ms\n"
    );
}

#[test]
fn an_order_for_another_term_is_refused() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let term = desk.ask(&["status", "--json"]).json()["term"].as_u64().expect("term");
    let words =
        format!("the order was meant for term 7, but the election is in term {term}: look again");
    desk.ask(&["demote", "--term", "7"]).failed(1, &words);
    desk.ask(&["takeover", "alice"]).failed(1, &format!("alice already leads it, in term {term}"));
    assert_eq!(desk.ask(&["demote", "--term", &term.to_string()]).code, 0);
}

#[test]
fn an_order_in_an_election_that_was_never_held_is_refused() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let words = "no election of that name was ever held here: check the name and the URL";
    desk.ask(&["demote", "--election", "typo"]).failed(1, words);
}
