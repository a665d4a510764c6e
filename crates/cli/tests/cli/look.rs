//! Looking on: `status`, `history` and `schema`.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use crate::support::{Desk, until};

#[test]
fn status_names_a_leader_with_everything_that_programs_ask_for() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let ended = desk.ask(&["status", "--json"]);
    assert_eq!(ended.code, 0);
    let seen = ended.json();
    assert_eq!((&seen["election"], &seen["state"]), (&json!("default"), &json!("led")));
    assert_eq!((&seen["leader"], &seen["last_holder"]), (&json!("alice"), &json!("alice")));
    assert_eq!(seen["incarnation"].as_str().map(str::len), Some(32));
    assert!(seen["term"].as_u64() > Some(0));
    assert_eq!((&seen["token"], &seen["last_term"]), (&seen["term"], &seen["term"]));
    assert_eq!((&seen["lease"], &seen["margin"]), (&json!(3.0), &json!(0.3)));
    let remaining = seen["remaining"].as_f64().expect("seconds");
    assert!(remaining > 0.0 && remaining <= 3.0, "{remaining}");
    let since = seen["since"].as_str().expect("since");
    assert!(since < seen["now"].as_str().expect("now") && since.ends_with('Z'), "{since}");
    let page = desk.ask(&["status"]);
    assert!(
        page.out.contains("state     led: ") && page.out.contains("leader    alice#"),
        "{}",
        page.out
    );
}

#[test]
fn status_names_nobody_once_the_leader_let_go() {
    let desk = Desk::new();
    let mut alice = desk.leader("alice");
    alice.terminate();
    alice.code();
    let ended = desk.ask(&["status", "--json"]);
    assert_eq!(ended.code, 1);
    let seen = ended.json();
    assert_eq!((&seen["state"], &seen["last_holder"]), (&json!("vacant"), &json!("alice")));
    for field in ["leader", "incarnation", "term", "token", "since"] {
        assert_eq!(seen[field], Value::Null, "{field}");
    }
    assert_eq!(seen["remaining"], 0.0);
}

#[test]
fn status_names_nobody_once_the_leader_is_dead() {
    let desk = Desk::new();
    drop(desk.leader("alice"));
    // The guard and the command follow the supervisor within moments; the last of them takes the
    // proof of life along.
    let seen = until("the proof of death", || {
        let ended = desk.ask(&["status", "--json"]);
        (ended.code == 1).then(|| ended.json())
    });
    assert_eq!((&seen["leader"], &seen["last_holder"]), (&Value::Null, &json!("alice")));
    assert!(["died", "overdue"].contains(&seen["state"].as_str().expect("state")), "{seen}");
}

#[test]
fn status_of_all_elections_is_a_success_only_if_all_are_led() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let all = desk.ask(&["status", "--all", "--json"]);
    assert_eq!((all.code, all.json().as_array().map(Vec::len)), (0, Some(1)));
    assert_eq!(desk.ask(&["run", "--election", "other", "--", "true"]).code, 0);
    let all = desk.ask(&["status", "--all"]);
    assert_eq!((all.code, all.out.lines().count()), (1, 3), "{}", all.out);
    assert!(all.out.starts_with("ELECTION  STATE   LEADER  TERM"), "{}", all.out);
}

#[test]
fn status_of_an_election_that_nobody_ever_held_says_so() {
    let desk = Desk::new();
    assert_eq!(desk.ask(&["schema", "--apply"]).code, 0);
    let ended = desk.ask(&["status", "billing"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.out,
        "election  billing\nstate     vacant: no election of this name was ever held here\n"
    );
}

#[test]
fn history_tells_terms_newest_first() {
    let desk = Desk::new();
    for name in ["alice", "bob", "carol"] {
        assert_eq!(desk.ask(&["run", "--name", name, "--", "true"]).code, 0);
    }
    let terms = desk.ask(&["history", "--json"]).json();
    let leaders: Vec<_> =
        terms.as_array().expect("array").iter().map(|t| t["leader"].clone()).collect();
    assert_eq!(leaders, ["carol", "bob", "alice"]);
    let (newest, first) = (&terms[0], &terms[2]);
    assert_eq!((&newest["opening"], &newest["ending"]), (&json!("released"), &json!("resigned")));
    assert_eq!(first["opening"], "first");
    assert!(newest["ended"].as_str() > newest["began"].as_str());
    assert!(newest["duration"].as_f64() > Some(0.0));
    let page = desk.ask(&["history", "--limit", "2"]);
    assert_eq!((page.code, page.out.lines().count()), (0, 3), "{}", page.out);
    assert!(page.out.starts_with("TERM "), "{}", page.out);
}

#[test]
fn the_printed_schema_is_the_one_that_is_applied() {
    let desk = Desk::new();
    let printed = desk.call(&["schema"]);
    assert!(printed.code == 0 && printed.out.contains("CREATE TABLE"), "{printed:?}");
    let json = desk.call(&["schema", "--json"]).json();
    assert_eq!(json["sql"].as_str().map(str::trim_end), Some(printed.out.trim_end()));
    assert!(!desk.path(".local").exists(), "printing made a folder");
    let first = desk.ask(&["schema", "--apply"]);
    assert!(first.code == 0 && first.out.ends_with(": made, version 3\n"), "{first:?}");
    let second = desk.ask(&["schema", "--apply"]);
    assert!(second.code == 0 && second.out.ends_with(": version 3, as before\n"), "{second:?}");
}

#[test]
fn the_schema_and_the_rights_of_a_server_are_printed_without_asking_it() {
    let desk = Desk::new();
    let (postgres, mysql) = ("postgres://me:hunter2@nowhere/app", "mysql://me:hunter2@nowhere/app");
    for url in [postgres, mysql] {
        let tables = desk.call(&["schema", "--url", url]);
        assert!(tables.code == 0 && tables.out.contains("incumbent_guard"), "{tables:?}");
    }
    let grants = desk.call(&["schema", "--grants", "app", "--url", postgres]);
    assert!(grants.out.contains("ON incumbent_meta TO \"app\";"), "{grants:?}");
    let grants = desk.call(&["schema", "--grants", "app@10.0.0.1", "--json", "--url", mysql]);
    let sql = grants.json()["sql"].as_str().map(str::to_owned).expect("statements");
    assert!(sql.contains("ON incumbent_meta TO 'app'@'10.0.0.1';"), "{sql}");
    let grants = desk.call(&["schema", "--grants", "app@10.0.0.%", "--url", mysql]);
    assert!(grants.out.contains("TO 'app'@'10.0.0.%';"), "{grants:?}");
    for odd in ["a'b", "a\"b", "", "app@", "a;b"] {
        let refused = desk.ask(&["schema", "--grants", odd, "--url", mysql]);
        assert!(refused.code == 2 && refused.err.contains("use NAME or NAME@HOST"), "{refused:?}");
    }
    let ended = desk.ask(&["schema", "--grants", "app"]);
    assert!(ended.code == 2 && ended.err.contains("SQLite has no users"), "{ended:?}");
}

#[test]
fn a_term_is_reserved_only_for_as_long_as_somebody_can_take_it() {
    let desk = Desk::new();
    let mut bob = desk.leader_with("bob", &["--lease", "1s"]);
    bob.terminate();
    bob.code();
    let mut alice = desk.leader_with("alice", &["--lease", "1s"]);
    assert_eq!(desk.ask(&["takeover", "bob", "--yes", "--lease", "1s"]).code, 0);
    alice.terminate();
    alice.code();
    let seen = until("the end of the reservation", || {
        let seen = desk.ask(&["status", "--json"]).json();
        seen["successor"].is_null().then_some(seen)
    });
    assert_eq!(seen["state"], "vacant");
    assert!(!desk.ask(&["status"]).out.contains("reserved"));
}

#[test]
fn history_of_nothing_is_a_no_and_no_terms_at_all_cannot_be_asked_for() {
    let desk = Desk::new();
    let mut alice = desk.leader("alice");
    alice.terminate();
    alice.code();
    assert_eq!(desk.ask(&["history"]).code, 0);
    let never = desk.ask(&["history", "--election", "other"]);
    assert_eq!((never.code, never.out.as_str()), (1, "nobody ever led other here\n"));
    let json = desk.ask(&["history", "--election", "other", "--json"]);
    assert_eq!((json.code, json.json()), (1, json!([])));
    let none = desk.ask(&["history", "--limit", "0"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:?}");
}

#[test]
fn everything_that_is_about_one_election_takes_it_as_an_argument() {
    let desk = Desk::new();
    let _leader = desk.leader_with("alice", &["--election", "billing"]);
    let waiting = desk.candidate("bob", &["--election", "billing"]);
    until("a line of the roll", || {
        let seen = desk.ask(&["members", "billing", "--json"]).json();
        let ready = |it: &Value| it["name"] == "bob" && it["presence"] == "ready";
        seen["members"].as_array()?.iter().any(ready).then_some(())
    });
    for look in
        [&["status", "billing"][..], &["history", "billing"], &["explain", "bob", "billing"]]
    {
        let ended = desk.ask(look);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    assert!(desk.start(&["watch", "billing"]).line().contains("alice"));
    for order in [
        &["pause", "billing"][..],
        &["resume", "billing"],
        &["cordon", "bob", "billing"],
        &["uncordon", "bob", "billing"],
        &["takeover", "bob", "billing", "--dry-run"],
        &["demote", "billing", "--hold-off", "1h"],
    ] {
        let ended = desk.ask(order);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    assert_eq!(waiting.line(), "begun");
    let ended = desk.ask(&["transfer", "typo", "--to", "bob"]);
    assert!(ended.code == 1 && ended.err.contains("election typo: "), "{ended:?}");
    let ended = desk.ask(&["pause", "billing", "--all"]);
    assert_eq!(ended.code, 2, "{ended:?}");
}

#[test]
fn whoever_keeps_the_write_lock_of_a_file_is_named() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    assert_eq!(desk.ask(&["status", "--json"]).json()["held_up_by"], json!([]));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _writer = runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(desk.path("elections.db"));
        let patient = options.busy_timeout(Duration::from_secs(30));
        let mut writer = patient.connect().await.expect("connects");
        sqlx::query("BEGIN IMMEDIATE").execute(&mut writer).await.expect("has the lock");
        writer
    });
    let me = format!("process {} (", std::process::id());
    let ended = desk.ask(&["status", "--json"]).json();
    let named = ended["held_up_by"][0].as_str().expect("somebody is named");
    assert!(named.starts_with(&me) && named.contains("SQLite's write lock"), "{named}");
    let explained = desk.ask(&["explain", "bob", "--json"]).json();
    assert_eq!(explained["causes"][0]["cause"], "held_up", "{explained}");
}

/// Whoever writes all the time has the lock whenever it is looked at, and keeps nobody waiting for long.
#[test]
fn whoever_writes_one_transaction_after_the_other_is_not_named() {
    let desk = Desk::new();
    let _alice = desk.leader("alice");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let options = SqliteConnectOptions::new().filename(desk.path("elections.db"));
    let mut writer = runtime.block_on(async {
        let patient = options.busy_timeout(Duration::from_secs(30));
        let mut writer = patient.connect().await.expect("connects");
        sqlx::query("CREATE TABLE work (at INTEGER)").execute(&mut writer).await.expect("a table");
        writer
    });
    let busy = runtime.spawn(async move {
        loop {
            for statement in ["BEGIN IMMEDIATE", "INSERT INTO work VALUES (1)"] {
                sqlx::query(statement).execute(&mut writer).await.expect("writes");
            }
            tokio::time::sleep(Duration::from_millis(60)).await;
            sqlx::query("COMMIT").execute(&mut writer).await.expect("commits");
        }
    });
    for _ in 0..3 {
        assert_eq!(desk.ask(&["status", "--json"]).json()["held_up_by"], json!([]));
    }
    assert!(!busy.is_finished());
    busy.abort();
}
