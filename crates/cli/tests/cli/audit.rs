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
