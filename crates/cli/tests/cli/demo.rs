//! The demo, from end to end.

use serde_json::json;

use crate::support::Desk;

/// A folder for temporary files of its own, so that what is left behind can be seen.
fn demo(desk: &Desk, args: &[&str]) -> crate::support::Ended {
    std::fs::create_dir_all(desk.path("tmp")).expect("folder");
    let mut command = desk.command(&[&["demo"], args].concat());
    command.env("TMPDIR", desk.path("tmp"));
    // The user's own settings must not matter to it.
    command.env("INCUMBENT_URL", "sqlite:mine.db").env("INCUMBENT_NAME", "me");
    crate::support::end(command)
}

#[track_caller]
fn left_nothing(desk: &Desk) {
    let left: Vec<_> = std::fs::read_dir(desk.path("tmp")).expect("folder").collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!desk.path("mine.db").exists() && !desk.path(".local").exists());
}

#[test]
fn the_demo_tells_a_failover_and_a_handover_in_plain_lines() {
    let desk = Desk::new();
    let ended = demo(&desk, &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "alice, bob, carol contend for one election; the lease is 3.0 s\n",
        " is killed without warning\n",
        " leads after ",
        " starts again, as a follower\n",
        " is asked to stop\n",
        "everybody is asked to stop; every process is gone\n",
        "\nfailover   ",
        "\nhand-over  ",
        "\norphans    none\n",
        ", 0 broken promises\n",
    ] {
        assert!(ended.out.contains(words), "{words:?} is missing in\n{}", ended.out);
    }
    assert!(ended.out.ends_with("every promise was kept\n"), "{}", ended.out);
    assert!(!ended.out.contains('\x1b'), "codes for terminals");
    left_nothing(&desk);
}

#[test]
fn the_demo_can_be_held_by_rounds() {
    let desk = Desk::new();
    let ended = demo(&desk, &["--protocol", "rounds", "--round-time", "1s"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("contend for one election; the lease is 2.0 s\n"), "{}", ended.out);
    assert!(ended.out.ends_with("every promise was kept\n"), "{}", ended.out);
    left_nothing(&desk);
}

#[test]
fn programs_read_one_object() {
    let desk = Desk::new();
    let ended = demo(&desk, &["--json", "--lease", "2s"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary = ended.json();
    assert_eq!(
        (&summary["ok"], &summary["failed"], &summary["orphans"]),
        (&json!(true), &json!([]), &json!([]))
    );
    assert_eq!((&summary["lease"], &summary["audit"]["terms"]), (&json!(2.0), &json!(3)));
    for change in ["failover", "handover"] {
        let change = &summary[change];
        assert!(
            change["seconds"].as_f64() > Some(0.0) && change["from"] != change["to"],
            "{summary}"
        );
    }
    left_nothing(&desk);
}

#[test]
fn a_demo_that_runs_out_of_time_fails_and_cleans_up() {
    let desk = Desk::new();
    let ended = demo(&desk, &["--limit", "300ms"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.out.contains("failed     the demo did not end within 300 ms\n"), "{}", ended.out);
    left_nothing(&desk);
}

#[test]
fn an_interrupted_demo_cleans_up() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("tmp")).expect("folder");
    let mut command = desk.command(&["demo"]);
    command.env("TMPDIR", desk.path("tmp"));
    let mut demo = crate::support::Running::start(command);
    assert!(demo.line().contains(" contend for one election"));
    assert!(demo.line().contains(" leads: its command runs"));
    demo.terminate();
    assert_eq!(demo.code(), 1);
    left_nothing(&desk);
}
