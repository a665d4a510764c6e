//! What goes wrong is said in words, with what to do, and with the right code.

use serde_json::{Value, json};
use sqlx::Connection;

use crate::support::{Desk, Ended, end, text};

#[test]
fn an_unknown_scheme_is_answered_with_the_known_ones() {
    Desk::new().call(&["status", "--url", "zookeeper://host"]).failed(
        2,
        "cannot use the URL \"zookeeper://host\": unknown scheme \"zookeeper\"; use sqlite:///absolute/path.db, \
         sqlite:relative/path.db, a plain path that ends in .db, postgres://user:password@host/database, \
         mysql://user:password@host/database, or without a database ring://host1:7600,host2:7600,host3:7600 or \
         bully://host1:7600,host2:7600,host3:7600",
    );
}

#[test]
fn run_waits_no_longer_than_it_was_told_for_a_server_that_never_answers() {
    // Connections are made, and nothing ever comes back.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let url = format!("postgres://app@{address}/app?sslmode=disable");
    let run = ["run", "--url", &url, "--election", "billing", "--wait", "300ms", "--", "true"];
    let gave_up = "gave up: the store did not answer within 300ms";
    Desk::new().call(&run).failed(124, gave_up);
}

#[test]
fn a_folder_that_cannot_be_there_is_named() {
    let desk = Desk::new();
    let file = desk.write("file", "not a folder");
    let url = format!("sqlite:{}/elections.db", file.display());
    desk.call(&["schema", "--apply", "--url", &url]).failed(
        125,
        &format!(
            "cannot use {0}/elections.db: the folder {0} does not exist: make it first",
            file.display()
        ),
    );
    let mut schema = desk.command(&["schema", "--apply"]);
    schema.env("XDG_STATE_HOME", &file);
    let ended = end(schema);
    let start = format!("incumbent: cannot use {}/incumbent: ", file.display());
    assert!(ended.code == 125 && ended.err.starts_with(&start), "{ended:?}");
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let desk = Desk::new();
    let file = desk.write("elections.db", &"certainly not a database\n".repeat(100));
    for command in ["status", "history", "demote", "watch"] {
        desk.ask(&[command]).failed(
            125,
            &format!(
                "{} is damaged or is something else (file is not a database): move it away or restore it; \
                 nothing was written to it",
                file.display()
            ),
        );
    }
    let after = std::fs::read_to_string(file).expect("file");
    assert_eq!(after, "certainly not a database\n".repeat(100));
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_refused() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let mut database = sqlx::SqliteConnection::connect(&desk.url()).await.expect("database");
    let newer = "UPDATE incumbent_meta SET value = '99' WHERE key = 'schema_version'";
    assert_eq!(sqlx::query(newer).execute(&mut database).await.expect("update").rows_affected(), 1);
    database.close().await.expect("close");
    let words =
        "the schema in the store has version 99, this program knows up to 3: upgrade the program";
    desk.ask(&["status"]).failed(125, words);
    desk.ask(&["schema", "--apply"]).failed(125, words);
    assert_eq!(
        error_of(&desk.ask(&["status", "--json"])),
        json!({ "error": words, "retry": "after a change" })
    );
}

#[test]
fn a_missing_database_means_that_nobody_leads() {
    let desk = Desk::new();
    let words = format!(
        "{} does not exist or holds no elections: no election was ever held here",
        desk.path("elections.db").display()
    );
    for command in ["status", "history", "demote", "watch"] {
        desk.ask(&[command]).failed(1, &words);
    }
    desk.ask(&["takeover", "bob", "--yes"]).failed(1, &words);
    assert!(!desk.path("elections.db").exists(), "looking made a database");
}

#[tokio::test]
async fn a_database_of_somebody_else_means_that_nobody_leads_there() {
    let desk = Desk::new();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(desk.path("elections.db"));
    let database = sqlx::SqliteConnection::connect_with(&options.create_if_missing(true)).await;
    let mut database = database.expect("database");
    sqlx::query("CREATE TABLE customers (id)").execute(&mut database).await.expect("table");
    database.close().await.expect("close");
    let words = format!(
        "{} does not exist or holds no elections: no election was ever held here",
        desk.path("elections.db").display()
    );
    desk.ask(&["status"]).failed(1, &words);
}

#[test]
fn timings_that_cannot_work_are_refused_with_both_numbers() {
    let desk = Desk::new();
    desk.ask(&["status", "--lease", "1ms"])
        .failed(2, "the lease is 1ms, but it must be at least 10ms");
    desk.ask(&["run", "--margin", "0s", "--", "true"]).failed(
        2,
        "the margin is 0ns, but it must be at least 60ms, a fiftieth of the lease of 3s, because two clocks never \
         run at exactly the same rate",
    );
}

#[test]
fn an_odd_name_is_refused_with_the_character_and_its_place() {
    let desk = Desk::new();
    let rule = "use ASCII letters, digits and . _ - : / @, beginning with a letter or digit";
    let words = format!("the name \"a b\" has ' ' at position 2: {rule}");
    desk.ask(&["status", "a b"]).failed(2, &words);
    desk.ask(&["status", "--election", "a b"]).failed(2, &words);
    desk.ask(&["run", "--name", "a b", "--", "true"]).failed(2, &words);
    desk.ask(&["status", "--election", ""]).failed(2, "a name must not be empty");
}

#[test]
fn a_password_is_never_shown() {
    let desk = Desk::new();
    for url in ["postgres://me:hunter2@127.0.0.1:1/app", "mysql://me:hunter2@127.0.0.1:1/app"] {
        for command in
            [&["status"][..], &["doctor"], &["schema", "--apply"], &["run", "--", "true"]]
        {
            for json in [&[][..], &["--json"]] {
                let mut call = desk.command(&[command, json].concat());
                call.env("INCUMBENT_URL", url);
                let ended = end(call);
                assert_eq!((ended.code, ended.out.as_str()), (125, ""), "{ended:?}");
                assert!(ended.err.contains("://127.0.0.1:1/app"), "{ended:?}");
                assert!(!ended.err.contains("hunter2"), "{ended:?}");
            }
        }
    }
    let ended = desk.call(&["status", "--url", "postgres://me:hunter2@host/app?bogus=1"]);
    assert!(ended.code == 2 && ended.err.contains("me:***@host"), "{ended:?}");
    let ended = desk.call(&["status", "--url", "sqlite:x.db?key=hunter2"]);
    assert!(ended.code == 2 && ended.err.contains("key"), "{ended:?}");
    assert!(!ended.err.contains("hunter2"), "{ended:?}");
}

#[test]
fn a_span_without_a_unit_is_answered_with_a_hint() {
    let ended = Desk::new().ask(&["status", "--lease", "3"]);
    let words =
        "incumbent: invalid value '3' for '--lease <DURATION>': 3 of what? Write 3s or 3ms\n";
    assert!(ended.code == 2 && ended.err.starts_with(words), "{ended:?}");
}

#[test]
fn an_unknown_key_in_the_file_is_named_with_the_known_ones() {
    let desk = Desk::new();
    let file = desk.write("x.toml", "leese = \"3s\"");
    desk.ask(&["status", "--config", text(&file)]).failed(
        2,
        &format!(
            "{}: unknown key \"leese\"; the known ones are url, election, name, lease, margin, expiry, history, grace, \
             stop_timeout, protocol, round_time, round_limit, round_delta, round_cap, address, label, priority, prefer, preempt_after, \
             hold_down, rolling, drain, metrics, secret_file, data, me, unratified",
            file.display()
        ),
    );
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let desk = Desk::new();
    let file = desk.path("missing.toml");
    desk.ask(&["status", "--config", text(&file)]).failed(
        2,
        &format!(
            "cannot read the configuration {}: No such file or directory (os error 2)",
            file.display()
        ),
    );
}

#[test]
fn a_history_that_cannot_be_written_ends_the_run_before_it_begins() {
    let desk = Desk::new();
    let ended = desk.ask(&["run", "--history", "missing/h.jsonl", "--", "touch", "ran"]);
    let words = "incumbent: cannot write the history missing/h.jsonl: ";
    assert!(ended.code == 125 && ended.err.starts_with(words), "{ended:?}");
    assert!(!desk.path("ran").exists());
}

#[test]
fn programs_read_errors_as_json() {
    let desk = Desk::new();
    let error = error_of(&desk.ask(&["status", "--json", "--lease", "1ms"]));
    let words = "the lease is 1ms, but it must be at least 10ms";
    assert_eq!(error, json!({ "error": words, "retry": "after a change" }));
    let error = error_of(&desk.ask(&["status", "--json", "--bogus"]));
    let words = error["error"].as_str().expect("words");
    assert!(words.starts_with("unexpected argument '--bogus' found"), "{words}");
}

/// What a program would read from standard error; nothing is on standard output.
#[track_caller]
fn error_of(ended: &Ended) -> Value {
    assert_eq!(ended.out, "");
    serde_json::from_str(&ended.err).unwrap_or_else(|error| panic!("{error} in {ended:?}"))
}

#[test]
fn health_that_cannot_be_asked_for_is_wrong_usage() {
    let desk = Desk::new();
    for flags in [
        &["--health", "https://web/"][..],
        &["--health", "http://"],
        &["--health", " "],
        &["--health", "true", "--health-timeout", "6s"],
    ] {
        let ended = desk.ask(&[&["run"], flags, &["--", "true"]].concat());
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
    }
    let said = desk.ask(&["run", "--health", "http://", "--", "true"]).err;
    let words = "--health \"http://\" names no server: write it like http://127.0.0.1:8080/healthz";
    assert!(said.contains(words), "{said}");
    assert!(!desk.path("elections.db").exists(), "nothing was opened");
}
