//! The doctor on SQLite, as people and programs read it.

use serde_json::json;

use crate::support::Desk;

#[test]
fn a_report_says_what_was_seen_how_long_it_took_and_what_is_promised() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let ended = desk.ask(&["doctor", "--lease", "1m"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{ended:?}");
    insta::assert_snapshot!("doctor-sqlite", crate::mask::mask(&ended.out));
}

#[test]
fn programs_read_the_same_in_seconds() {
    let desk = Desk::new();
    let ended = desk.ask(&["doctor", "--json", "--lease", "1m"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let seen = ended.json();
    assert_eq!((&seen["product"], &seen["failover"]["lease"]), (&json!("SQLite"), &json!(60.0)));
    assert_eq!(seen["failover"]["bound"], 95.0);
    assert!(seen["question"]["best"].as_f64() > Some(0.0), "{seen}");
    let findings = seen["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|it| it["verdict"] == "good"), "{seen}");
    assert_eq!(seen["promises"][0]["name"], "by lease");
    assert!(!desk.path("elections.db").exists(), "the doctor made a database");
}

#[test]
fn a_store_that_is_refused_ends_with_code_1_and_says_what_to_do() {
    let desk = Desk::new();
    desk.write("elections.db", &"certainly not a database\n".repeat(100));
    let ended = desk.ask(&["doctor"]);
    assert_eq!((ended.code, ended.err.as_str()), (1, ""), "{ended:?}");
    assert!(ended.out.contains("\nrefuse    schema "), "{}", ended.out);
    assert!(ended.out.contains("\nnot given by lease "), "{}", ended.out);
    assert!(ended.out.ends_with("before this is changed: 1 refusal.\n"), "{}", ended.out);
}
