//! Who is in line: `members`, on the embedded store.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Desk, Running, until};

/// Starts a candidate of an election by rounds, and waits until it is in line.
fn in_line(desk: &Desk, name: &str, flags: &[&str]) -> Running {
    let running = desk.candidate(name, &[&["--protocol", "rounds"], flags].concat());
    until("a place in line", || {
        let ended = desk.ask(&["members", "--json"]);
        ended.out.contains(&format!("\"name\":\"{name}\"")).then_some(())
    });
    running
}

/// Names and roles, first in line first.
fn line(seen: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let members = seen["members"].as_array().expect("members");
    members.iter().map(|member| (word(&member["name"]), word(&member["position"]))).collect()
}

fn pair(name: &str, position: &str) -> (String, String) {
    (name.to_owned(), position.to_owned())
}

/// A lease so long that nobody is overdue on a slow machine.
const CALM: [&str; 2] = ["--lease", "20s"];

#[test]
fn members_shows_who_leads_who_is_next_and_what_they_say_about_themselves() {
    let desk = Desk::new();
    let told = ["--address", "10.0.0.1:80", "--label", "zone=a", "--label", "rack=7"];
    let ann = in_line(&desk, "ann", &[&CALM[..], &told].concat());
    assert_eq!(ann.line(), "begun");
    let _bob = in_line(&desk, "bob", &CALM);
    let _cat = in_line(&desk, "cat", &CALM);
    let ended = desk.ask(&["members", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let seen = ended.json();
    let roles = [pair("ann", "leader"), pair("bob", "second"), pair("cat", "waiting")];
    assert_eq!(line(&seen), roles);
    assert_eq!((&seen["protocol"], &seen["state"]), (&json!("rounds"), &json!("led")));
    assert_eq!((&seen["leader"], &seen["second"]), (&json!("ann"), &json!("bob")));
    assert_eq!((&seen["round_time"], &seen["round_limit"]), (&json!(10.0), &json!(2)));
    assert_eq!((&seen["lease"], &seen["margin"]), (&json!(20.0), &json!(2.0)));
    let first = &seen["members"][0];
    assert_eq!(first["labels"], json!({ "rack": "7", "zone": "a" }));
    assert_eq!(first["address"], "10.0.0.1:80");
    assert_eq!(seen["members"][1]["address"], Value::Null);
    assert!(first["joined"].as_str() < seen["now"].as_str(), "{seen}");
    let page = desk.ask(&["members"]);
    let head = format!("default: ann leads, term {}; round time 10.0 s, ", seen["term"]);
    assert!(page.out.starts_with(&head), "{}", page.out);
    assert!(page.out.contains("ADDRESS      LABELS         IDLE"), "{}", page.out);
    assert!(page.out.contains("10.0.0.1:80  zone=a,rack=7  "), "{}", page.out);
    assert_eq!(page.out.lines().count(), 5, "{}", page.out);
}

#[test]
fn a_killed_leader_goes_off_the_roster_and_the_second_leads() {
    let desk = Desk::new();
    let ann = in_line(&desk, "ann", &CALM);
    assert_eq!(ann.line(), "begun");
    let bob = in_line(&desk, "bob", &CALM);
    let _cat = in_line(&desk, "cat", &CALM);
    drop(ann);
    assert_eq!(bob.line(), "begun");
    let ended = desk.ask(&["members", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(line(&ended.json()), [pair("bob", "leader"), pair("cat", "second")]);
    let status = desk.ask(&["status", "--json"]).json();
    assert_eq!((&status["protocol"], &status["expiry"]), (&json!("rounds"), &json!("observed")));
    let terms = desk.ask(&["history", "--json"]).json();
    assert_eq!((&terms[0]["leader"], &terms[0]["opening"]), (&json!("bob"), &json!("died")));
}

#[test]
fn a_leader_that_stops_hands_over_to_the_second_without_waiting_for_its_lease() {
    let desk = Desk::new();
    let flags = ["--lease", "40s", "--history", "h.jsonl"];
    let mut ann = in_line(&desk, "ann", &flags);
    assert_eq!(ann.line(), "begun");
    let bob = in_line(&desk, "bob", &flags);
    let _cat = in_line(&desk, "cat", &flags);
    let asked = Instant::now();
    ann.terminate();
    assert_eq!(bob.line(), "begun");
    assert!(asked.elapsed() < Duration::from_secs(20), "waited for a lease: {:?}", asked.elapsed());
    assert_eq!(ann.code(), 143);
    let seen = desk.ask(&["members", "--json"]).json();
    assert_eq!(line(&seen), [pair("bob", "leader"), pair("cat", "second")]);
    let audit = desk.call(&["audit", "h.jsonl"]);
    assert_eq!(audit.code, 0, "{audit:?}");
}

#[test]
fn a_line_that_everybody_left_is_empty_and_nobody_leads() {
    let desk = Desk::new();
    let run = ["run", "--protocol", "rounds", "--name", "ann", "--", "true"];
    assert_eq!(desk.ask(&run).code, 0);
    let ended = desk.ask(&["members"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(
        ended.out,
        "default: nobody leads; round time 1.5 s, round limit 2, lease 3.0 s\nnobody is in line\n\
         1 more left or were not heard of: --gone shows them\n"
    );
}

#[test]
fn by_lease_everybody_is_shown_too_best_first() {
    let desk = Desk::new();
    let told = ["--address", "10.0.0.1:80", "--label", "zone=a", "--prefer", "zone=a"];
    let _ann = desk.leader_with("ann", &told);
    let _bob = desk.waiting("bob", &["--prefer", "zone=a"]);
    let _cat = desk.waiting("cat", &["--prefer", "zone=a", "--label", "zone=a"]);
    let _dan = desk.waiting("dan", &["--prefer", "zone=a", "--priority", "7"]);
    assert_eq!(desk.ask(&["cordon", "dan"]).code, 0);
    // Lines are written slowly: the first one of ann's may be older than her term.
    let ended = until("ann to say that she leads", || {
        let ended = desk.ask(&["members", "--json"]);
        (ended.json()["members"][0]["presence"] == "leading").then_some(ended)
    });
    assert_eq!(ended.code, 0, "{ended:?}");
    let seen = ended.json();
    let roles = ["leader", "waiting", "second", "waiting"];
    let roles = ["ann", "dan", "cat", "bob"].into_iter().zip(roles);
    assert_eq!(line(&seen), roles.map(|(name, role)| pair(name, role)).collect::<Vec<_>>());
    assert_eq!((&seen["protocol"], &seen["second"]), (&json!("lease"), &json!("cat")));
    assert_eq!((&seen["round_time"], &seen["lease"]), (&Value::Null, &json!(3.0)));
    let (ann, dan) = (&seen["members"][0], &seen["members"][1]);
    assert_eq!((&ann["presence"], &ann["address"]), (&json!("leading"), &json!("10.0.0.1:80")));
    assert_eq!((&ann["id"], &ann["labels"]), (&Value::Null, &json!({ "zone": "a" })));
    assert_eq!((&dan["priority"], &dan["cordoned"]), (&json!(7), &json!(true)));
    assert_eq!((&dan["presence"], &dan["prefers"]), (&json!("ready"), &json!("zone=a")));
    let page = desk.ask(&["members"]).out;
    assert!(page.contains("dan   waiting   ready, cordoned  7 "), "{page}");
}

#[test]
fn whoever_left_is_shown_on_request() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["run", "--name", "ann", "--", "true"]).code, 0);
    let ended = desk.ask(&["members"]);
    assert_eq!((ended.code, ended.err.as_str()), (1, ""), "{ended:?}");
    let words = "default: nobody leads\nnobody takes part\n\
                 1 more left or were not heard of: --gone shows them\n";
    assert_eq!(ended.out, words);
    let seen = desk.ask(&["members", "--json"]).json();
    assert_eq!((&seen["members"], &seen["gone"]), (&json!([]), &json!(1)));
    let seen = desk.ask(&["members", "--gone", "--json"]).json();
    assert_eq!((line(&seen), &seen["gone"]), (vec![pair("ann", "left")], &json!(0)));
    let other = desk.ask(&["members", "other"]);
    let words = "no election named other was ever held here\n";
    assert_eq!((other.code, other.out.as_str()), (1, words), "{other:?}");
}

#[test]
fn watch_tells_who_comes_who_goes_and_how_the_pace_changes() {
    let desk = Desk::new();
    let ann = in_line(&desk, "ann", &[]);
    assert_eq!(ann.line(), "begun");
    let watch = desk.start(&["watch", "--json"]);
    let next = |changes: &[&str], name: Option<&str>| loop {
        let line: Value = serde_json::from_str(&watch.line()).expect("an object a line");
        let change = line["change"].as_str().expect("a word");
        if changes.contains(&change) && name.is_none_or(|name| line["candidate"] == name) {
            break line;
        }
    };
    assert_eq!(next(&["leader"], None)["leader"], "ann");
    let mut bob = in_line(&desk, "bob", &[]);
    let came = next(&["came"], Some("bob"));
    // A candidate that is stopped looks dead, is evicted, and comes back: rounds are too short.
    bob.signal(Signal::STOP);
    assert_eq!(next(&["died"], Some("bob"))["id"], came["id"]);
    bob.signal(Signal::CONT);
    assert!(next(&["paced"], None)["round_time"].as_f64() > Some(1.5));
    bob.terminate();
    bob.code();
    // Looks that are too far apart, on a slow machine, cannot tell that it was not overdue.
    next(&["gone", "died"], Some("bob"));
}

#[test]
fn orders_are_carried_out_by_rounds_too() {
    let desk = Desk::new();
    let ann = in_line(&desk, "ann", &[]);
    assert_eq!(ann.line(), "begun");
    let _bob = in_line(&desk, "bob", &[]);
    let cat = in_line(&desk, "cat", &[]);
    let order = desk.ask(&["takeover", "cat", "--yes", "--wait-for", "1m"]);
    assert_eq!(order.code, 0, "{order:?}");
    assert_eq!(cat.line(), "begun");
    assert_eq!(desk.ask(&["demote", "--wait-for", "1m"]).code, 0);
    let terms = desk.ask(&["history", "--json"]).json();
    let endings: Vec<_> = (1..3).map(|at| terms[at]["ending"].clone()).collect();
    assert_eq!(endings, ["demoted", "takeover"]);
}
