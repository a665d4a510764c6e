//! The program `incumbent-sim`, as a person or a gate would use it.

use std::process::{Command, Output};

#[path = "program/lab.rs"]
mod lab;

fn sim(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_incumbent-sim"));
    program.args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_without_broken_promises_ends_with_zero_and_its_totals() {
    let output = sim(&["run", "--seeds", "0..8", "--hours", "0.1", "--jobs", "2"]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("8 worlds") && told.contains("no broken promise found"), "{told}");
}

#[test]
fn a_protocol_with_a_roster_has_worlds_of_its_own() {
    let output = sim(&["run", "--protocol", "rounds", "--seeds", "0..4", "--hours", "0.1"]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("rosters: ") && told.contains("vars_reset"), "{told}");
    let lease = sim(&["run", "--seeds", "0..1", "--hours", "0.1"]);
    assert!(!text(&lease.stdout).contains("vars_reset"));
}

#[test]
fn totals_can_be_had_as_json() {
    let output = sim(&["run", "--seeds", "3", "--hours", "0.1", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["tally"]["runs"], 3);
    assert!(told["tally"]["faults"]["crash"].is_u64());
    assert_eq!(told["failures"], serde_json::json!([]));
}

#[test]
fn a_broken_promise_ends_with_one_and_names_the_seed() {
    let output = sim(&["run", "--seeds", "0..6", "--hours", "0.2", "--plant", "cancel_late"]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("BROKEN in seed ") && told.contains("work_stops_in_time"), "{told}");
}

#[test]
fn questions_that_make_no_sense_end_with_two_and_a_sentence() {
    for (arguments, sentence) in [
        (&["run", "--seeds", "9..3"][..], "holds no seed"),
        (&["run", "--seeds", "many"], "is not a seed"),
        (&["run", "--hours", "0"], "is not a number of hours"),
        (&["run", "--protocol", "raft"], "use lease or rounds"),
        (&["run", "--plant", "gremlin"], "no mistake is called"),
        (&["run", "--plant", "unratified"], "only peers can make"),
        (&["replay", "nowhere.seed"], "neither a seed's number nor a file"),
        (&["replay", file!()], "neither a seed's number nor a file"),
        (
            &["ledger", "--out", "/nowhere/page.md", "--commit", "x", "--date", "y"],
            "cannot write /nowhere",
        ),
        (&["dance"], "unrecognized subcommand"),
    ] {
        let output = sim(arguments);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(sentence), "{arguments:?}: {told}");
    }
}

#[test]
fn a_seed_file_of_another_format_is_refused_with_its_first_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("odd.seed");
    std::fs::write(&file, "incumbent-sim seed 99\n").expect("a file");
    let output = sim(&["replay", file.to_str().expect("a path")]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("odd.seed") && told.contains("seed 99"), "{told}");
}

#[test]
fn a_replay_tells_what_happened_and_writes_a_history_that_can_be_audited() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.ndjson");
    let path = file.to_str().expect("a path");
    let output = sim(&["replay", "5", "--hours", "0.2", "--trace", "--history", path]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("asks: Bid") && told.contains("seed 5: "), "{told}");
    assert!(incumbent_audit::audit(&[&file]).expect("a history").is_clean());
}

#[test]
fn a_shrunk_story_can_be_replayed_from_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("late.seed");
    let path = file.to_str().expect("a path");
    let plant = ["--plant", "cancel_late", "--hours", "0.2"];
    let broken = |seed: &u64| {
        sim(&["replay", &seed.to_string(), plant[0], plant[1], plant[2], plant[3]]).status.code()
            == Some(1)
    };
    let seed = (0..50).find(broken).expect("some seed breaks").to_string();
    let output = sim(&["shrink", &seed, plant[0], plant[1], plant[2], plant[3], "--out", path]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let again = sim(&["replay", path]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stdout));
    let without = sim(&["replay", path, "--plant", "nothing"]);
    assert_eq!(without.status.code(), Some(0), "{}", text(&without.stdout));
}

#[test]
fn a_story_of_peers_is_kept_told_again_and_shrunk_as_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let (kept, shrunk) = (folder.path().join("kept.seed"), folder.path().join("shrunk.seed"));
    let [kept, shrunk] = [&kept, &shrunk].map(|file| file.to_str().expect("a path"));
    let plant = ["--plant", "unratified"];
    let broken = |seed: &u64| {
        let of = ["--protocol", "ring", "--hours", "0.05", "--keep", kept];
        let seed = seed.to_string();
        let output = sim(&[&["replay", &seed], &of[..], &plant[..]].concat());
        assert_ne!(output.status.code(), Some(2), "{}", text(&output.stderr));
        output.status.code() == Some(1)
    };
    (0..100).find(broken).expect("some seed breaks");
    // The file knows of which worlds it is, and which mistake it takes.
    let output = sim(&["shrink", kept, "--out", shrunk]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let lines = |file| std::fs::read_to_string(file).expect("a seed file").lines().count();
    assert!(lines(shrunk) <= lines(kept));
    let again = sim(&["replay", shrunk]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stdout));
    let without = sim(&["replay", shrunk, "--plant", "nothing"]);
    assert_eq!(without.status.code(), Some(0), "{}", text(&without.stdout));
    let odd = sim(&["replay", shrunk, "--plant", "cancel_late"]);
    assert!(odd.status.code() == Some(2) && text(&odd.stderr).contains("peers have none"));
}

#[test]
fn the_same_seed_gives_the_same_history_in_another_process() {
    for protocol in ["lease", "rounds", "ring", "bully"] {
        let of = ["--seeds", "0..4", "--hours", "0.1", "--protocol", protocol];
        let output = sim(&[&["meta"], &of[..]].concat());
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{protocol}: {told}");
        assert!(told.contains("4 worlds three times, in two processes"), "{protocol}: {told}");
    }
}
