//! Judging histories.

use crate::support::Desk;

#[test]
fn a_history_of_a_run_is_clean() {
    let desk = Desk::new();
    for name in ["alice", "bob"] {
        let history = format!("{name}.jsonl");
        assert_eq!(desk.ask(&["run", "--name", name, "--history", &history, "--", "true"]).code, 0);
    }
    let ended = desk.call(&["audit", "alice.jsonl", "bob.jsonl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.ends_with("no broken promise found\n"), "{}", ended.out);
    let report = desk.call(&["audit", "--json", "alice.jsonl", "bob.jsonl"]).json();
    assert_eq!((&report["terms"], &report["candidates"]), (&2.into(), &2.into()));
    assert!(report["checked"]["at_most_one_lease"].as_u64() > Some(0), "{report}");
}

#[test]
fn two_leaders_at_once_are_a_broken_promise() {
    let desk = Desk::new();
    let line = |at: u64, who: &str, event: &str| {
        let incarnation = format!("{:032x}", who.len());
        format!(
            r#"{{"at":{at},"candidate":{{"name":"{who}","incarnation":"{incarnation}"}},{event}}}"#
        ) + "\n"
    };
    let gained = |term: u64, until: u64| {
        format!(
            r#""event":"gained","election":"x","term":{term},"valid_until":{until},"opening":"expired""#
        )
    };
    let opened = r#""event":"opened","version":1,"clock":"c","wall":0"#;
    let history = [
        line(0, "bob", opened),
        line(0, "alice", opened),
        line(1_000, "bob", &gained(5, 9_000)),
        line(2_000, "alice", &gained(6, 9_000)),
    ];
    desk.write("h.jsonl", &history.concat());
    let ended = desk.call(&["audit", "h.jsonl"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.out.contains("at_most_one_lease") && ended.out.contains("BROKEN 1 time"),
        "{}",
        ended.out
    );
    let report = desk.call(&["audit", "--json", "h.jsonl"]);
    assert_eq!(
        (report.code, &report.json()["violations"][0]["property"]),
        (1, &"at_most_one_lease".into())
    );
}

/// A line of a history, about the election `x`.
fn line(at: u64, who: &str, event: &str) -> String {
    let incarnation = format!("{:0>32x}", who.len());
    format!(
        r#"{{"at":{at},"candidate":{{"name":"{who}","incarnation":"{incarnation}"}},"event":{event}}}"#
    ) + "\n"
}

fn opened(at: u64, who: &str, clock: &str) -> String {
    line(at, who, &format!(r#""opened","version":1,"clock":"{clock}","wall":0"#))
}

fn gained(at: u64, who: &str, term: u64, until: u64) -> String {
    let what = format!(
        r#""gained","election":"x","term":{term},"valid_until":{until},"opening":"expired""#
    );
    line(at, who, &what)
}

fn of_term(at: u64, who: &str, event: &str, term: u64) -> String {
    line(at, who, &format!(r#""{event}","election":"x","term":{term}"#))
}

#[test]
fn a_broken_promise_names_the_lines_that_it_rests_on() {
    let desk = Desk::new();
    let one = [opened(0, "bob", "c"), String::from("\n"), gained(1_000, "bob", 5, 9_000)];
    desk.write("one.jsonl", &one.concat());
    desk.write("two.jsonl", &(opened(0, "alice", "c") + &gained(2_000, "alice", 6, 9_000)));
    let ended = desk.call(&["audit", "two.jsonl", "one.jsonl"]);
    assert!(ended.code == 1 && ended.out.contains("[one.jsonl:3, two.jsonl:2]\n"), "{ended:?}");
    let report = desk.call(&["audit", "--json", "two.jsonl", "one.jsonl"]).json();
    assert_eq!(
        report["violations"][0]["places"],
        serde_json::json!(["one.jsonl:3", "two.jsonl:2"])
    );
}

#[test]
fn leases_on_different_clocks_are_not_passed_off_as_compared() {
    let desk = Desk::new();
    desk.write("one", &(opened(0, "bob", "c") + &gained(1_000, "bob", 5, 9_000)));
    desk.write("two", &(opened(0, "alice", "d") + &gained(2_000, "alice", 6, 9_000)));
    let ended = desk.call(&["audit", "one", "two"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let last =
        "no broken promise found, but 1 pair of leases on different clocks could not be compared\n";
    assert!(ended.out.ends_with(last), "{}", ended.out);
    assert!(ended.out.contains("kept where clocks are the same (2 facts)"), "{}", ended.out);
    // Two on one clock are compared all the same.
    desk.write("three", &(opened(0, "bo", "c") + &gained(3_000, "bo", 7, 9_000)));
    let ended = desk.call(&["audit", "one", "two", "three"]);
    assert!(ended.code == 1 && ended.out.contains("[one:2, three:2]"), "{ended:?}");
}

#[test]
fn an_audit_notes_exceptions_and_signs_of_missing_lines() {
    const SECOND: u64 = 1_000_000_000;
    let desk = Desk::new();
    let frozen = [
        opened(0, "bob", "c"),
        gained(SECOND, "bob", 5, 4 * SECOND),
        of_term(SECOND, "bob", "work_began", 5),
        of_term(9 * SECOND, "bob", "work_ended", 5),
        line(9 * SECOND + 1, "bob", r#""lost","election":"x","term":5,"reason":"expired""#),
        of_term(9 * SECOND + 2, "bob", "work_ended", 5),
    ];
    let leader = r#"{"name":"bob","incarnation":"00000000000000000000000000000003"}"#;
    let saw = format!(r#""saw","election":"x","leader":{leader},"term":3"#);
    desk.write("bob", &frozen.concat());
    desk.write("alice", &(opened(0, "alice", "c") + &line(10, "alice", &saw)));
    let ended = desk.call(&["audit", "bob", "alice"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let notes: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 3, "{notes:#?}");
    assert!(notes[0].contains("lines are missing") && notes[0].ends_with("[alice:2]"), "{notes:?}");
    assert!(notes[1].contains("a documented exception"), "{notes:?}");
    assert!(notes[1].ends_with("[bob:2, bob:4, bob:5]"), "{notes:?}");
    assert!(
        notes[2].contains("the first counts") && notes[2].ends_with("[bob:4, bob:6]"),
        "{notes:?}"
    );
}

#[test]
fn files_in_which_nothing_happens_are_wrong_usage() {
    let desk = Desk::new();
    let who = r#""candidate":{"name":"a","incarnation":"0000000000000000000000000000000a"}"#;
    let opened =
        format!(r#"{{"at":1,{who},"event":"opened","version":1,"clock":"c","wall":0}}"#) + "\n";
    let closed = format!(r#"{{"at":2,{who},"event":"closed"}}"#) + "\n";
    desk.write("empty", "");
    desk.write("headers", &(opened + &closed));
    for json in [&[][..], &["--json"]] {
        let ended = desk.call(&[&["audit", "empty", "headers"], json].concat());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
        assert!(ended.err.contains("empty, headers: nothing to judge"), "{ended:?}");
    }
    desk.write("good", &(self::opened(0, "bob", "c") + &gained(1_000, "bob", 5, 9_000)));
    let ended = desk.call(&["audit", "good", "empty"]);
    assert!(ended.code == 2 && ended.err.contains(": empty: nothing to judge"), "{ended:?}");
}

#[test]
fn a_foreign_or_missing_file_is_wrong_usage() {
    let desk = Desk::new();
    desk.write("notes.txt", "buy milk\n");
    let ended = desk.call(&["audit", "notes.txt"]);
    assert!(
        ended.code == 2 && ended.err.starts_with("incumbent: notes.txt:1: not a line of a history"),
        "{ended:?}"
    );
    desk.call(&["audit", "missing"]).failed(2, "missing: No such file or directory (os error 2)");
}
