//! Why does this one not lead?

use serde_json::{Value, json};

use crate::support::Desk;

#[test]
fn one_that_leads_one_that_waits_and_one_that_nobody_knows_are_told_apart() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let _bob = desk.waiting("bob", &[]);
    let alice = desk.ask(&["explain", "alice", "--json"]);
    assert_eq!(alice.code, 0, "{alice:?}");
    let alice = alice.json();
    assert_eq!((&alice["leads"], &alice["election"]), (&json!(true), &json!("default")));
    assert_eq!(alice["causes"][0]["cause"], json!("leads"));
    let bob = desk.ask(&["explain", "bob"]);
    assert_eq!(bob.code, 0, "{bob:?}");
    assert!(bob.out.starts_with("bob in default:\n  alice leads, for "), "{}", bob.out);
    assert!(bob.out.ends_with(", and whoever leads stays\n"), "{}", bob.out);
    let nobody = desk.ask(&["explain", "nobody"]);
    assert_eq!(nobody.code, 1, "{nobody:?}");
    let start =
        "nobody in default:\n  it was never seen in this election: check its name, or start it\n";
    assert!(nobody.out.starts_with(start), "{}", nobody.out);
    let other = desk.ask(&["explain", "bob", "--election", "typo"]);
    let words = "bob in typo:\n  the election was never held here: check its name\n";
    assert_eq!((other.code, other.out.as_str()), (1, words), "{other:?}");
}

#[test]
fn preferences_and_orders_are_named_what_weighs_most_first() {
    let desk = Desk::new();
    let prefer = ["--prefer", "zone=a"];
    let _alice = desk.leader_with("alice", &[&prefer[..], &["--label", "zone=a"]].concat());
    let _bob = desk.waiting("bob", &[&prefer[..], &["--label", "zone=b"]].concat());
    let _cat = desk.waiting("cat", &[&prefer[..], &["--priority", "5"]].concat());
    assert_eq!(desk.ask(&["cordon", "bob", "--actor", "ann"]).code, 0);
    assert_eq!(desk.ask(&["pause", "--actor", "ann"]).code, 0);
    let causes = desk.ask(&["explain", "bob", "--json"]).json();
    let causes = causes["causes"].as_array().expect("causes");
    let words: Vec<_> = causes.iter().map(|cause| cause["cause"].clone()).collect();
    assert_eq!(words, ["paused", "cordoned", "led", "outranked", "outranked"]);
    let last: Vec<_> = causes[3..].iter().map(|cause| cause["words"].clone()).collect();
    assert_eq!(
        last,
        [
            "cat is preferred: its priority is 5, this one's is 0",
            "alice is preferred: zone=a counts, its zone is a, this one's is b"
        ]
    );
    let everybody = desk.ask(&["explain"]);
    assert_eq!((everybody.code, everybody.out.lines().count()), (0, 4), "{everybody:?}");
    let bob = everybody.out.lines().find(|line| line.starts_with("bob ")).expect("bob");
    assert!(bob.contains("the election is paused by order of ann"), "{bob}");
    assert!(bob.ends_with("(and 4 more)"), "{bob}");
}

#[test]
fn two_lives_of_one_name_are_found_out() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let _bob = desk.waiting("bob", &[]);
    let _twin = desk.candidate("bob", &[]);
    let seen = crate::support::until("the twin", || {
        let seen = desk.ask(&["members", "--json"]).json();
        let bobs = seen["members"].as_array()?.iter().filter(|member| member["name"] == "bob");
        let bobs: Vec<Value> = bobs.cloned().collect();
        (bobs.len() == 2).then_some(bobs)
    });
    assert!(seen.iter().all(|bob| bob["duplicate"] == true), "{seen:?}");
    let told = desk.ask(&["explain", "bob"]).out;
    assert!(told.contains("2 live processes use this name"), "{told}");
}

#[test]
fn by_rounds_the_place_in_line_is_told() {
    let desk = Desk::new();
    let rounds = ["--protocol", "rounds", "--lease", "20s"];
    let _alice = desk.leader_with("alice", &rounds);
    let _bob = desk.waiting("bob", &rounds);
    let _cat = desk.waiting("cat", &rounds);
    let told = |name: &str| desk.ask(&["explain", name]).out;
    assert!(told("bob").ends_with("  it is the next in line\n"), "{}", told("bob"));
    assert!(told("cat").ends_with("  one is before it in line\n"), "{}", told("cat"));
}
